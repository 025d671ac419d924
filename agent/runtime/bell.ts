// Wakes a loop that has nothing to do when something happened. For loops that look at the state of things each time: how often it
// rang does not count, and a ring while the loop is busy is not lost. One waiter at a time.

import type { Clock } from './time.js';
import type { Watched } from './watched.js';

export interface Bell {
  readonly ring: () => void;
  /** Forgets that it rang. */
  forget(): void;
  /**
   * After `delayMs` (at most 24 h), or at the next ring; at once when it rang since the last wait, or when the signal has aborted.
   * Tells whether it rang.
   */
  wait(delayMs: number): Promise<boolean>;
}

/** The end of the signal ends every wait. */
export function createBell(clock: Clock, signal: AbortSignal): Bell {
  let rung = false;
  let wake = (): void => {};
  signal.addEventListener('abort', () => wake(), { once: true });
  return {
    ring: () => {
      rung = true;
      wake();
    },
    forget: () => {
      rung = false;
    },
    async wait(delayMs) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((settle) => {
          const alarm = clock.alarm(delayMs, settle);
          wake = () => {
            alarm.cancel();
            settle();
          };
        });
      }
      wake = () => {};
      const rang = rung;
      rung = false;
      return rang;
    },
  };
}

/** A bell that changes of a value ring, from now on. */
export function watchChanges(source: Watched<unknown>, clock: Clock, signal: AbortSignal): Bell {
  const bell = createBell(clock, signal);
  source.subscribe(bell.ring, signal);
  // The first call brings what is there already.
  bell.forget();
  return bell;
}
