// The first of several pod sources that works, in their order, and why those before it do not. Used by agent.ts for `auto`.
// Promises: one source at a time; the view of the last one that worked stays until another is complete; a source that has been
// failing for a minute is left for the others; a warning says that the one in use fails or that none works, and nothing else does.

import type { Logger } from '../runtime/log.js';
import { reasonFields } from '../runtime/log.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { sleep } from '../runtime/time.js';
import { WatchedValue } from '../runtime/watched.js';
import type { PodSource, PodView } from './pod.js';

export interface AutoSourceOptions {
  /** At least one, in the order in which they are tried. */
  readonly candidates: readonly PodSource[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface AutoSource extends PodSource {
  /** What is in use and why nothing before it is, for people. */
  explain(): string;
}

/** For a candidate: what it says of itself is no warning, as another may work and is perhaps the one that is meant. */
export function logOfCandidate(log: Logger): Logger {
  return { ...log, warn: (message, fields) => log.info(message, fields), child: (fields) => logOfCandidate(log.child(fields)) };
}

/** How long a source may take to be complete before the next one is tried. */
const tryMs = 15_000;

/** How long one that worked may fail before the others are tried. */
const leaveAfterMs = 60_000;

/** Between two rounds in which none works. */
const pauseMs = 10_000;

export function createAutoSource({ candidates, clock, log }: AutoSourceOptions): AutoSource {
  const view = new WatchedValue<PodView>({ pods: new Map(), complete: false, reason: { code: 'pods-unread', detail: 'auto' } });
  let passedOver: string[] = [];
  let current: PodSource | undefined;
  /** The last one that worked: when none does, what is wrong with it is what is wrong. */
  let chosen: PodSource | undefined;

  /** Runs one candidate as long as it works; resolves with why it is left. */
  const use = async (candidate: PodSource, signal: AbortSignal): Promise<Reason> => {
    const own = new AbortController();
    const stop = (): void => own.abort();
    signal.addEventListener('abort', stop, { once: true });
    let patience = { cancel: (): void => {} };
    let waited = 0;
    const wait = (delayMs: number): void => {
      if (waited === delayMs) return;
      patience.cancel();
      waited = delayMs;
      if (delayMs > 0) patience = clock.alarm(delayMs, stop);
    };
    wait(tryMs);
    // What it says at first is of an earlier round.
    let isNews = false;
    candidate.view.subscribe((next) => {
      const { complete, reason } = next;
      if (!isNews) return;
      if (complete && reason === undefined) {
        wait(0);
        choose(candidate);
        view.set(next);
      } else if (current === candidate) {
        // It worked before: time to recover, its own view meanwhile.
        wait(leaveAfterMs);
        if (view.value.reason === undefined) {
          const why = reason === undefined ? {} : reasonFields(reason);
          log.warn('the source of pods fails, keeping what was read', { source: candidate.name, ...why });
        }
        view.set({ ...view.value, reason });
      } else if (reason !== undefined && reason.code !== 'pods-unread') {
        stop();
      }
    }, own.signal);
    isNews = true;
    try {
      await candidate.run(own.signal);
    } finally {
      patience.cancel();
      signal.removeEventListener('abort', stop);
    }
    return candidate.view.value.reason ?? { code: 'pods-unread', detail: 'not in time' };
  };

  const choose = (candidate: PodSource): void => {
    if (current === candidate) return;
    current = candidate;
    chosen = candidate;
    log.info('pods are read from a source that works', { source: candidate.name, passedOver });
  };

  return {
    get name() {
      return current === undefined ? 'auto' : `auto: ${current.name}`;
    },
    population: 'cluster',
    view,
    explain: () => [current === undefined ? 'no source works' : `uses ${current.name}`, ...passedOver].join('; '),
    async run(signal) {
      let isTold = false;
      while (!signal.aborted) {
        passedOver = [];
        let code: ReasonCode = 'pods-unread';
        for (const candidate of candidates) {
          const reason = await use(candidate, signal);
          if (signal.aborted) return;
          if (current !== undefined) break;
          passedOver.push(`${candidate.name}: ${reason.code} (${reason.detail})`);
          // Where none ever worked, one that refuses is there, and what it refuses can be granted: the others are perhaps not meant.
          if (chosen === undefined ? !code.endsWith('-denied') : candidate === chosen) code = reason.code;
          if (passedOver.length === candidates.length) view.set({ ...view.value, reason: { code, detail: passedOver.join('; ') } });
        }
        if (current === undefined && !isTold) log.warn('no source of pods works', { passedOver });
        isTold = current === undefined;
        current = undefined;
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, pauseMs, signal).catch(() => undefined);
      }
    },
  };
}
