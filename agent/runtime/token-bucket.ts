// A token bucket: so much at once, and so much a second after that. Bounds what peers cause: streams, log lines, frames.

import type { Clock } from './time.js';

export interface TokenBucket {
  /** Takes one token; false when there is none. */
  take(): boolean;
  /** Whether nothing was taken that has not come back. */
  readonly isFull: boolean;
}

/** A full bucket of `burst` tokens, which fills again at `perSecond`. */
export function createTokenBucket(clock: Clock, burst: number, perSecond: number): TokenBucket {
  let tokens = burst;
  let filledAt = clock.monotonic();
  const fill = (): void => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
  };
  return {
    take() {
      fill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    get isFull() {
      fill();
      return tokens >= burst;
    },
  };
}
