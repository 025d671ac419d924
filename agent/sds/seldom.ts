// Says whether something may be logged again: once for each key in a time, with a bounded memory. Used by the peer policy.

import type { Clock } from '../runtime/time.js';

const maxKeys = 1024;

/** Returns a function that is true the first time for a key, and again when `everyMs` have passed since it last was. */
export function createSeldom(clock: Clock, everyMs: number): (key: string) => boolean {
  // All last equally long, so the order of insertion is the order in which they end.
  const saidAt = new Map<string, number>();
  return (key) => {
    const now = clock.monotonic();
    for (const [known, at] of saidAt) {
      if (now - at < everyMs) break;
      saidAt.delete(known);
    }
    // With the memory full, silence is the bound.
    if (saidAt.has(key) || saidAt.size >= maxKeys) return false;
    saidAt.set(key, now);
    return true;
  };
}
