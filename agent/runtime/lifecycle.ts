// Start and stop: a group of tasks that run until told to stop, and readiness as named gates.
// Stop is drain (stop taking), then a deadline, then abort; `close` is idempotent.

import type { Clock } from './time.js';
import type { Logger } from './log.js';
import { errorFields } from './log.js';
import { kindOf } from './errors.js';
import type { Watched } from './watched.js';
import { WatchedValue } from './watched.js';
import type { Reason } from './reasons.js';

export interface ReadinessState {
  /** True from the moment all gates have been open together once, until the drain: a later fault shows as a reason, not as unready. */
  readonly ready: boolean;
  /** Why it is not ready or what is degraded, by gate. */
  readonly reasons: ReadonlyMap<string, Reason>;
}

export interface Gate {
  open(): void;
  close(reason: Reason): void;
}

export interface Readiness {
  readonly state: Watched<ReadinessState>;
  /** A new gate, closed for the given reason. All gates are made before anything runs. */
  gate(name: string, reason: Reason): Gate;
  /** For good: not ready any more. */
  drain(): void;
}

export function createReadiness(): Readiness {
  const reasons = new Map<string, Reason>();
  const state = new WatchedValue<ReadinessState>({ ready: false, reasons: new Map() });
  let latched = false;
  let draining = false;
  const publish = (): void => {
    if (reasons.size === 0) latched = true;
    const shown = new Map(reasons);
    if (draining) shown.set('process', { code: 'draining', detail: '' });
    state.set({ ready: latched && !draining, reasons: shown });
  };
  return {
    state,
    gate(name, reason) {
      const set = (next: Reason | undefined): void => {
        const before = reasons.get(name);
        if (next === undefined ? before === undefined : before?.code === next.code && before.detail === next.detail) return;
        if (next === undefined) reasons.delete(name);
        else reasons.set(name, next);
        publish();
      };
      set(reason);
      return { open: () => set(undefined), close: (why) => set(why) };
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
