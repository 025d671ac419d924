// Time: the wall and monotonic clock, one-shot alarms, back-off and deadlines. The only user of timers and Date.
// Everything that waits takes a Clock, so that tests advance time instead of sleeping.

import { SignetError } from './errors.js';

export interface Alarm {
  /** Idempotent; after it the callback never runs. */
  cancel(): void;
}

export interface Clock {
  /** Wall clock in ms since the epoch; may step. Due times come from it. */
  now(): number;
  /** Monotonic clock in ms from an arbitrary start; stands still while the machine sleeps. Deadlines come from it. */
  monotonic(): number;
  /** Runs `fire` once after `delayMs`, clamped to 0 ms … 24 h (setTimeout overflows above 2^31-1 ms). */
  alarm(delayMs: number, fire: () => void): Alarm;
}

export const maxAlarmMs = 24 * 3_600_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  alarm(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(delayMs, 0), maxAlarmMs));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves in the next turn of the event loop: whatever is ready (sockets, callbacks, microtasks) goes first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** An instant (ms since the epoch) as RFC 3339 text in UTC, e.g. `2026-01-01T00:00:00.000Z`. */
export function formatInstant(at: number): string {
  return new Date(at).toISOString();
}

/** The instant of an RFC 3339 text in UTC with whole seconds or milliseconds, or undefined when there is no such instant (February 30). */
export function parseInstant(text: string): number | undefined {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const full = formatInstant(at);
  return full === text || full.replace('.000Z', 'Z') === text ? at : undefined;
}

export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Wait before try `attempt` (1 = the first retry): doubles from minMs to maxMs, then jitter takes off up to a half. */
export function backoff(attempt: number, options: BackoffOptions, random: () => number = Math.random): number {
  const ceiling = Math.min(options.maxMs, options.minMs * 2 ** Math.min(attempt - 1, 30));
  return ceiling * (1 - random() / 2);
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves after `delayMs`, or rejects with `cancelled` as soon as the signal aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new SignetError('cancelled', 'wait cancelled'));
      return;
    }
    const onAbort = (): void => {
      alarm.cancel();
      reject(new SignetError('cancelled', 'wait cancelled'));
    };
    const alarm = clock.alarm(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Runs `work` with a signal that aborts at the deadline or with the given signal, and settles then even if `work` does
 * not. Rejects with kind `deadline` ("<what> took too long") or `cancelled`; a deadline that is the reason of the given signal
 * stays one.
 */
export async function withDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  return await new Promise<T>((resolve, reject) => {
    const finish = (settle: () => void): void => {
      alarm.cancel();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const stop = (error: SignetError): void =>
      finish(() => {
        reject(error);
        own.abort(error);
      });
    const onAbort = (): void => {
      const { reason } = signal as { readonly reason: unknown };
      stop(reason instanceof SignetError && reason.kind === 'deadline' ? reason : new SignetError('cancelled', `${what} was cancelled`));
    };
    const alarm = clock.alarm(deadlineMs, () => stop(tooLong(what, deadlineMs)));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    // Called in an async function, so that a `work` that throws before its first await is settled like any other.
    (async () => await work(own.signal))().then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
}

/** As `withDeadline`, for work that nothing stops: what it comes to after the deadline is dropped. */
export async function settleWithin<T>(clock: Clock, deadlineMs: number, what: string, work: () => Promise<T>): Promise<T> {
  let alarm: Alarm | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    alarm = clock.alarm(deadlineMs, () => reject(tooLong(what, deadlineMs)));
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    alarm?.cancel();
  }
}

function tooLong(what: string, deadlineMs: number): SignetError {
  return new SignetError('deadline', `${what} took too long`, { fields: { deadlineMs } });
}
