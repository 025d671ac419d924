// The calls under way of one service: how many there may be, and when there are none left. Used by gRPC services that are answered in
// bounded time.

import type { Gauge, Histogram } from 'prom-client';
import { SignetError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { settleWithin } from '../runtime/time.js';

export interface CallsOptions {
  /** Calls under way at once. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: { readonly inFlight: Pick<Gauge, 'set'>; readonly seconds: Pick<Histogram, 'observe'> };
}

export interface Calls {
  /** Counts a call in until `leave` is called, once; undefined when there are as many as may be. */
  enter(): { readonly leave: () => void } | undefined;
  /** Settles when no call is under way, or at the deadline. */
  idle(deadlineMs: number): Promise<void>;
}

export function createCalls({ limit, clock, log, metrics }: CallsOptions): Calls {
  let inFlight = 0;
  let onIdle = (): void => {};
  const count = (change: number): void => {
    inFlight += change;
    metrics.inFlight.set(inFlight);
  };
  return {
    enter() {
      if (inFlight >= limit) return undefined;
      const startedAt = clock.monotonic();
      count(1);
      return {
        leave: () => {
          count(-1);
          metrics.seconds.observe((clock.monotonic() - startedAt) / 1_000);
          if (inFlight === 0) onIdle();
        },
      };
    },
    async idle(deadlineMs) {
      const ended = inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => (onIdle = resolve));
      await settleWithin(clock, deadlineMs, 'the calls under way', () => ended).catch((error: unknown) => {
        if (kindOf(error) !== 'deadline') throw error;
        log.warn('calls were still under way at the end', { calls: inFlight });
      });
    },
  };
}

/** What a call fails with, whatever was thrown: a deadline without a reason is that of the call. */
export function toCallError(error: unknown): SignetError {
  if (!(error instanceof SignetError)) return new SignetError('internal', 'the call failed', { cause: error });
  if (error.kind !== 'deadline' || reasonOf(error) !== undefined) return error;
  return new SignetError('deadline', 'the call took too long', { cause: error, reason: 'call-late' });
}
