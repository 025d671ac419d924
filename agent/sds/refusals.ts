// Which bytes a client refused a moment ago, across its streams: a client that answers a bad secret by a new stream must not
// be fed the same bytes in a loop. One owner's refusals never delay another's. Bounded, and forgotten after `refusalMs`.

import type { Clock } from '../runtime/time.js';
import type { Refusal } from './subscriptions.js';
import { refusalMs } from './subscriptions.js';

const maxRefusals = 4096;

export interface Refusals {
  add(owner: string, name: string, version: string): void;
  /** The refusal that still holds back a secret of this name. */
  find(owner: string, name: string): Refusal | undefined;
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
  const keyOf = (owner: string, name: string): string => `${owner} ${name}`;
  return {
    add(owner, name, version) {
      const key = keyOf(owner, name);
      refusals.delete(key);
      refusals.set(key, { version, until: clock.monotonic() + refusalMs });
      forget(clock.monotonic());
    },
    find(owner, name) {
      if (refusals.size === 0) return undefined;
      forget(clock.monotonic());
      return refusals.get(keyOf(owner, name));
    },
  };
}
