// Which bytes a client refused a moment ago, across its streams: a client that answers a bad secret by a new stream must not
// be fed the same bytes in a loop. Kept by connection: a proxy that was mended and started again does not wait for what the
// one before it refused, and nobody waits for others. Bounded, and forgotten after `refusalMs`.

import type { Clock } from '../runtime/time.js';
import type { Refusal } from './subscriptions.js';
import { refusalMs } from './subscriptions.js';

const maxRefusals = 4096;

export interface Refusals {
  add(connection: string, name: string, version: string): void;
  /** The refusal that still holds back a secret of this name. */
  find(connection: string, name: string): Refusal | undefined;
}

export function createRefusals(clock: Clock): Refusals {
  // All last equally long, so the order of insertion is the order in which they end.
  const refusals = new Map<string, Refusal>();
  const forget = (now: number): void => {
    for (const [key, refusal] of refusals) {
      if (refusal.until > now && refusals.size <= maxRefusals) return;
      refusals.delete(key);
    }
  };
  const keyOf = (connection: string, name: string): string => `${connection} ${name}`;
  return {
    add(connection, name, version) {
      const key = keyOf(connection, name);
      refusals.delete(key);
      refusals.set(key, { version, until: clock.monotonic() + refusalMs });
      forget(clock.monotonic());
    },
    find(connection, name) {
      if (refusals.size === 0) return undefined;
      forget(clock.monotonic());
      return refusals.get(keyOf(connection, name));
    },
  };
}
