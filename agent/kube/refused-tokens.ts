// Tokens that the API server has refused, so that one which is sent again and again does not cost a review each time. Used by
// token-review.ts.
// Promises: a refusal counts for no longer than the token has been refused already, and ten seconds at most: whatever made it wrong,
// nobody waits for longer than that lasted; a token that is so new that it may become good is asked about each time; the memory is
// bounded, and holds a token as its hash alone.

import type { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';

export interface RefusedTokens {
  /** The refusal, while it counts. */
  get(hash: string): SignetError | undefined;
  /** The API server refuses it; `notBefore`: what the token says of its beginning, ms since the epoch. */
  add(hash: string, refusal: SignetError, notBefore: number): void;
  /** It is good after all. */
  delete(hash: string): void;
}

interface Refused {
  readonly refusal: SignetError;
  /** Monotonic. */
  readonly since: number;
  readonly until: number;
}

const maxAgeMs = 10_000;
/** Until then clocks may differ, and an API server may not have seen the pod of the token. */
const settledAfterMs = 60_000;
const forgottenAfterMs = 60_000;
const maxKept = 1_024;

export function createRefusedTokens(clock: Clock): RefusedTokens {
  /** In the order of their last refusals. */
  const refused = new Map<string, Refused>();
  const dropOld = (now: number): void => {
    for (const [hash, { until }] of refused) {
      if (refused.size < maxKept && until + forgottenAfterMs > now) break;
      refused.delete(hash);
    }
  };
  return {
    get(hash) {
      const known = refused.get(hash);
      return known !== undefined && clock.monotonic() < known.until ? known.refusal : undefined;
    },
    add(hash, refusal, notBefore) {
      if (notBefore + settledAfterMs > clock.now()) return;
      const now = clock.monotonic();
      const since = refused.get(hash)?.since ?? now;
      refused.delete(hash);
      dropOld(now);
      refused.set(hash, { refusal, since, until: now + Math.min(now - since, maxAgeMs) });
    },
    delete: (hash) => void refused.delete(hash),
  };
}
