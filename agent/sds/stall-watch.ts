// Finds writes that do not get done: one alarm for all of them, set for the oldest. A timer per write would cost more than
// the write itself.

import type { Alarm, Clock } from '../runtime/time.js';

export interface StallWatch<T> {
  begin(writer: T): void;
  /** The write is done or given up. */
  end(writer: T): void;
}

/** Calls `onStalled` once for each writer whose write is not done `limitMs` after it began. */
export function createStallWatch<T>(clock: Clock, limitMs: number, onStalled: (writer: T) => void): StallWatch<T> {
  // Insertion order is the order of begin: the first is the oldest.
  const since = new Map<T, number>();
  let alarm: Alarm | undefined;
  const arm = (delayMs: number): void => {
    alarm = clock.alarm(delayMs, look);
  };
  const look = (): void => {
    alarm = undefined;
    const now = clock.monotonic();
    for (const [writer, at] of since) {
      if (at + limitMs > now) return arm(at + limitMs - now);
      since.delete(writer);
      onStalled(writer);
    }
  };
  return {
    begin(writer) {
      since.set(writer, clock.monotonic());
      if (alarm === undefined) arm(limitMs);
    },
    end(writer) {
      since.delete(writer);
      if (since.size > 0) return;
      alarm?.cancel();
      alarm = undefined;
    },
  };
}
