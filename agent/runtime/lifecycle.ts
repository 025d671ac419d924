// Start and stop: a group of tasks that run until told to stop, and readiness as a set of named reasons against it.
// Stop is drain (stop taking), then a deadline, then abort; `close` is idempotent.

import { setMaxListeners } from 'node:events';
import type { Clock } from './time.js';
import type { Logger } from './log.js';
import { errorFields } from './log.js';
import { kindOf } from './errors.js';
import type { Watched } from './watched.js';
import { WatchedValue } from './watched.js';
import type { Reason } from './reasons.js';

export interface ReadinessState {
  /** True once no needed reason has been left, until the drain: a later fault shows as a reason, not as unready. */
  readonly ready: boolean;
  /** Why it is not ready or what is degraded, by name. */
  readonly reasons: ReadonlyMap<string, Reason>;
}

/** Whether a reason keeps the process from becoming ready, or is only shown. */
export type Weight = 'needed' | 'noted';

export interface Readiness {
  readonly state: Watched<ReadinessState>;
  /**
   * Shows the reason under `name` as long as there is one. What may be `needed` is followed before anything runs. The
   * weight may depend on the reason: of one name some may be degradations.
   */
  follow(name: string, reason: Watched<Reason | undefined>, weight: Weight | ((reason: Reason) => Weight)): void;
  /** For good: not ready any more. */
  drain(): void;
}

export function createReadiness(): Readiness {
  const shown = new Map<string, Reason>();
  const weights = new Map<string, Weight | ((reason: Reason) => Weight)>();
  const state = new WatchedValue<ReadinessState>({ ready: false, reasons: new Map() });
  let latched = false;
  let draining = false;
  const isNeeded = ([name, reason]: readonly [string, Reason]): boolean => {
    const weight = weights.get(name);
    return (typeof weight === 'function' ? weight(reason) : weight) === 'needed';
  };
  const publish = (): void => {
    const reasons = new Map(shown);
    if (draining) reasons.set('process', { code: 'draining', detail: '' });
    state.set({ ready: latched && !draining, reasons });
  };
  const latch = (): void => {
    if (latched || [...shown].some(isNeeded)) return;
    latched = true;
    publish();
  };
  return {
    state,
    follow(name, reason, weight) {
      weights.set(name, weight);
      reason.subscribe((next) => {
        // Not at once: what else is followed in this turn counts too.
        queueMicrotask(latch);
        const before = shown.get(name);
        if (before?.code === next?.code && before?.detail === next?.detail) return;
        if (next === undefined) shown.delete(name);
        else shown.set(name, next);
        publish();
      });
    },
    drain() {
      draining = true;
      publish();
    },
  };
}

export interface TaskGroup {
  /** Starts a task that runs until its signal aborts. A task that ends by an error before that is a bug and stops the group. */
  start(name: string, run: (signal: AbortSignal) => Promise<void>): void;
  /** Settles when a task failed (rejects) or the group was stopped (resolves). */
  readonly ended: Promise<void>;
  /** Aborts all tasks and waits for them, at most `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}

export function createTaskGroup(clock: Clock, log: Logger): TaskGroup {
  const controller = new AbortController();
  // Every part listens to it, some with several listeners: that is no leak.
  setMaxListeners(0, controller.signal);
  const running = new Set<Promise<void>>();
  let settleEnded: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    settleEnded = { resolve, reject };
  });
  // A failure is reported by whoever awaits `ended`; without a waiter it must not become an unhandled rejection.
  ended.catch(() => {});
  return {
    ended,
    start(name, run) {
      const task = run(controller.signal).then(
        () => {
          running.delete(task);
        },
        (error: unknown) => {
          running.delete(task);
          if (controller.signal.aborted && kindOf(error) === 'cancelled') return;
          log.error('a task ended with an error', { task: name, ...errorFields(error) });
          settleEnded?.reject(error);
        },
      );
      running.add(task);
    },
    async stop(deadlineMs) {
      controller.abort();
      let alarm = { cancel: (): void => {} };
      const deadline = new Promise<void>((resolve) => {
        alarm = clock.alarm(deadlineMs, resolve);
      });
      await Promise.race([Promise.all(running), deadline]);
      alarm.cancel();
      if (running.size > 0) log.warn('tasks did not end in time', { tasks: running.size });
      settleEnded?.resolve();
    },
  };
}
