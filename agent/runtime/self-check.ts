// The self-check: looks again and again whether what the agent needs from outside is there, before a certificate is missing.
// Put together by agent.ts. Promises: nothing waits for it; one look at a time, each bounded by those who look; a line when a
// fault is found, becomes another or is gone; what cannot be told changes nothing.

import { isDeepStrictEqual } from 'node:util';
import type { Bell } from './bell.js';
import { createBell } from './bell.js';
import { describeError } from './errors.js';
import type { Logger } from './log.js';
import type { Reason } from './reasons.js';
import { reasons } from './reasons.js';
import type { Clock } from './time.js';
import { backoff, sleep } from './time.js';
import type { Watched } from './watched.js';
import { WatchedValue, joinWatched } from './watched.js';

/** Some checks that are made together. */
export interface Checks {
  readonly names: readonly string[];
  /** The fault by name, undefined where there is none. A name that is left out cannot be told now. */
  look(signal: AbortSignal): Promise<ReadonlyMap<string, Reason | undefined>>;
}

export interface Checked {
  readonly name: string;
  /** What was found when it could be told last. */
  readonly fault: Watched<Reason | undefined>;
  /** Whether the last look could tell. */
  readonly isTold: Watched<boolean>;
}

export interface SelfCheckOptions {
  readonly checks: readonly Checks[];
  /** A new one among these is a cause to look again soon. */
  readonly signs: readonly Watched<Reason | undefined>[];
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
}

export interface SelfCheck {
  readonly checks: readonly Checked[];
  /** When it last looked, in ms since the epoch; undefined before the first time. */
  readonly lookedAt: Watched<number | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

/** The start has better things to do. */
const firstAfterMs = 1_000;

/** How long a look that has a cause is put off at most, drawn anew each time: what an API server does many nodes meet in one moment. */
const spreadMs = 5_000;

/** Between looks while there is no fault; a tenth less at most, so that the nodes of a cluster do not look in step. */
const everyMs = 600_000;

/** Between looks while there is one. */
const withFault = { minMs: 15_000, maxMs: everyMs };

/** The least time between looks, whatever happens. */
const atLeastMs = 10_000;

export function createSelfCheck({ checks, signs, clock, log, random = Math.random }: SelfCheckOptions): SelfCheck {
  const all = new Map(checks.flatMap(({ names }) => names.map((name) => [name, createChecked(name)])));
  const lookedAt = new WatchedValue<number | undefined>(undefined);

  const tell = (name: string, found: Reason | undefined): void => {
    const fault = all.get(name)?.fault;
    const before = fault?.value;
    if (fault === undefined || isDeepStrictEqual(before, found)) return;
    fault.set(found);
    if (found !== undefined) log.warn('self-check found a fault', { check: name, reason: found.code, ...wordsOf(found) });
    else if (before !== undefined) log.info('self-check: a fault is gone', { check: name, reason: before.code });
  };

  const lookAtAll = async (signal: AbortSignal): Promise<void> => {
    for (const each of checks) {
      let found: ReadonlyMap<string, Reason | undefined> = new Map();
      try {
        found = await each.look(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug('self-check cannot tell', { checks: each.names, error: describeError(error) });
      }
      for (const name of each.names) all.get(name)?.isTold.set(found.has(name));
      for (const [name, fault] of found) tell(name, fault);
    }
    lookedAt.set(clock.now());
  };

  return {
    checks: [...all.values()],
    lookedAt,
    async run(signal) {
      if (checks.length === 0) return;
      const changed = createBell(clock, signal);
      followCodes(signs, changed, signal);
      await pause(clock, firstAfterMs, signal);
      for (let attempt = 0; !signal.aborted;) {
        changed.forget();
        await lookAtAll(signal);
        const any = [...all.values()].some(({ fault }) => fault.value !== undefined);
        attempt = any ? attempt + 1 : 0;
        const delayMs = any ? backoff(attempt, withFault, random) : everyMs * (1 - random() / 10);
        await pause(clock, atLeastMs, signal);
        if (await changed.wait(delayMs - atLeastMs)) await pause(clock, random() * spreadMs, signal);
      }
    },
  };
}

function createChecked(name: string) {
  return { name, fault: new WatchedValue<Reason | undefined>(undefined, isDeepStrictEqual), isTold: new WatchedValue(false) };
}

function wordsOf({ code, detail }: Reason): { readonly detail: string; readonly sentence: string; readonly action: string } {
  const { sentence, action } = reasons[code];
  return { detail, sentence, action };
}

/** Ends early, and quietly, when the signal aborts, which the caller looks at. */
async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, delayMs, signal).catch(() => undefined);
}

/** Rings when the reason of one of them is another. */
function followCodes(signs: readonly Watched<Reason | undefined>[], bell: Bell, signal: AbortSignal): void {
  let known = '';
  joinWatched(signs).subscribe((now) => {
    const codes = now.map((reason) => reason?.code ?? '').join();
    if (codes !== known) bell.ring();
    known = codes;
  }, signal);
}
