// How many log lines one peer may cause by what it sends: so many at once, and one a second after that. Used by whoever keeps an account
// of each peer. Promise: what is left out is counted, and the next line that is written says how many.

import type { Fields } from './errors.js';
import type { Clock } from './time.js';
import { createTokenBucket } from './token-bucket.js';

export interface LineBound {
  /** What the line has to say beside its own fields (`suppressed`, if any were left out), or undefined: it is left out. */
  take(): Fields | undefined;
  /** Whether nothing was taken that has not come back. */
  readonly isFull: boolean;
}

/** `burst`: lines at once. */
export function createLineBound(clock: Clock, burst: number): LineBound {
  const lines = createTokenBucket(clock, burst, 1);
  let suppressed = 0;
  return {
    take() {
      if (!lines.take()) {
        suppressed += 1;
        return undefined;
      }
      const fields = suppressed > 0 ? { suppressed } : {};
      suppressed = 0;
      return fields;
    },
    get isFull() {
      return lines.isFull;
    },
  };
}
