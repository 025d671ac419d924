// Waits for changes of a watched value, none of which is missed while its reader does something else. Used by the loops of the
// CA that bring the cluster to what is wanted.

import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';

export interface Changes {
  /** Settles at once when there was a change since the last time; else at the next one, after `delayMs` (at most 24 h), or at the abort. */
  next(delayMs: number): Promise<void>;
}

/** Listens until the signal aborts. */
export function watchChanges(source: Watched<unknown>, clock: Clock, signal: AbortSignal): Changes {
  let changed = false;
  let wake = (): void => {};
  source.subscribe(() => {
    changed = true;
    wake();
  }, signal);
  signal.addEventListener('abort', () => wake(), { once: true });
  // The first call brings what is there already.
  changed = false;
  return {
    next(delayMs) {
      return new Promise((resolve) => {
        const alarm = clock.alarm(delayMs, () => wake());
        wake = () => {
          alarm.cancel();
          wake = () => {};
          changed = false;
          resolve();
        };
        if (changed || signal.aborted) wake();
      });
    },
  };
}
