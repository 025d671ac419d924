// A lock that one of several processes holds: a Lease of coordination.k8s.io/v1, after the algorithm of client-go. Used by
// signet ca for work that one replica does. Promises: work is told to stop before another process can hold the lock, as long as
// clocks run alike; it is no fence: what must not happen twice is written under the resourceVersion that it was decided on.

import { setMaxListeners } from 'node:events';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { backoff, formatInstant, sleep } from '../runtime/time.js';
import type { KubeClient, KubeObject } from './client.js';
import { statusOf } from './status.js';

export interface LeaseOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Who we are: of no other process, e.g. the name of the pod. */
  readonly holder: string;
  /** Others may take the lock when it was not renewed for this long, in ms; up to a second longer if it is no whole second. Default 15 s. */
  readonly durationMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Lease {
  /**
   * Runs `work` each time the lock is ours, until the signal aborts. The signal of `work` aborts when the lock is lost; `work`
   * then has to settle. The lock is given back at the end.
   */
  run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
}

export function leasePath({ namespace, name }: Pick<LeaseOptions, 'namespace' | 'name'>): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
}

const defaultDurationMs = 15_000;
/** Of the duration: we renew it after this much of it, and give it up when we could not for that much, sooner than others take it. */
const renewAfter = 1 / 3;
const renewWithin = 2 / 3;
/** Of a call; with it, giving up still comes in time. */
const callDeadline = 1 / 4;
const retry = { minMs: 1_000, maxMs: 2_000 };

/** What the lock says, as of the last look. */
interface LeaseRecord {
  readonly version: string;
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireTime: unknown;
  readonly transitions: number;
}

/** A record, and since when (monotonic) we have seen no other: the clock of its holder does not count. */
interface Seen {
  readonly record: LeaseRecord;
  readonly at: number;
}

export function createLease(options: LeaseOptions): Lease {
  const { client, namespace, name, holder, durationMs = defaultDurationMs, clock, log } = options;
  const deadlineMs = durationMs * callDeadline;
  const path = leasePath(options);
  let seen: Seen | undefined;

  const note = (answer: unknown): LeaseRecord => {
    const record = readLease(answer);
    if (seen?.record.version !== record.version) seen = { record, at: clock.monotonic() };
    return record;
  };
  const write = async (current: LeaseRecord | undefined, own: boolean, signal: AbortSignal): Promise<void> => {
    const now = formatInstant(clock.now()).replace('Z', '000Z');
    const isRenewal = current?.holder === holder;
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace, ...(current === undefined ? {} : { resourceVersion: current.version }) },
      spec: {
        holderIdentity: own ? holder : '',
        leaseDurationSeconds: own ? Math.ceil(durationMs / 1_000) : 1,
        acquireTime: isRenewal ? current.acquireTime : now,
        renewTime: now,
        leaseTransitions: current === undefined ? 0 : current.transitions + (isRenewal ? 0 : 1),
      },
    };
    note(
      current === undefined
        ? await client.request({ method: 'POST', path: path.slice(0, path.lastIndexOf('/')), body, deadlineMs }, signal)
        : await client.request({ method: 'PUT', path, body, deadlineMs }, signal),
    );
  };

  /** Whether the lock is ours now. */
  const tryAcquire = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const current = await client.request({ path, deadlineMs }, signal).then(note).catch(unlessStatus(404));
      if (current !== undefined && !isFree(current)) return false;
      await write(current, true, signal);
      return true;
    } catch (error) {
      // Another one was faster.
      if (statusOf(error) === 409) return false;
      throw error;
    }
  };
  const isFree = (record: LeaseRecord): boolean =>
    record.holder === '' || record.holder === holder || (seen !== undefined && clock.monotonic() - seen.at >= record.durationMs);

  /** Settles when the lock is lost or the signal aborts. */
  const keep = async (signal: AbortSignal): Promise<void> => {
    let renewedAt = clock.monotonic();
    while (!signal.aborted) {
      const left = renewedAt + durationMs * renewWithin - clock.monotonic();
      if (left <= 0) return log.warn('lost the lock, it could not be renewed in time', { lease: name });
      // Rejects only when the signal aborts, which ends the loop.
      await sleep(clock, Math.min(durationMs * renewAfter, left), signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const startedAt = clock.monotonic();
        if (seen === undefined || seen.record.holder !== holder) return;
        await write(seen.record, true, signal);
        renewedAt = startedAt;
      } catch (error) {
        if (statusOf(error) === 409 || statusOf(error) === 404) return log.warn('lost the lock to another process', { lease: name });
        if (!signal.aborted) log.warn('cannot renew the lock', { lease: name, ...errorFields(error) });
      }
    }
  };

  const release = async (): Promise<void> => {
    if (seen?.record.holder !== holder) return;
    // Whoever waits gets it when it runs out, if this fails.
    await write(seen.record, false, new AbortController().signal).catch((error: unknown) =>
      log.info('cannot give the lock back', { lease: name, ...errorFields(error) }),
    );
  };

  return {
    async run(work, signal) {
      for (let failures = 0; !signal.aborted;) {
        let acquired = false;
        try {
          acquired = await tryAcquire(signal);
          failures = 0;
        } catch (error) {
          failures += 1;
          if (failures === 1 && !signal.aborted) log.warn('cannot ask for the lock', { lease: name, ...errorFields(error) });
        }
        if (acquired) {
          log.info('holds the lock', { lease: name, holder });
          await whileKept(keep, work, signal);
        }
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, backoff(1, retry), signal).catch(() => undefined);
      }
      await release();
    },
  };
}

/** Runs both until one of them settles; the other is told to. */
async function whileKept(
  keep: (signal: AbortSignal) => Promise<void>,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const own = new AbortController();
  // Every part of the work listens to it: that is no leak.
  setMaxListeners(0, own.signal);
  const stop = (): void => own.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await Promise.all([keep(own.signal).finally(stop), work(own.signal).finally(stop)]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function unlessStatus(status: number): (error: unknown) => undefined {
  return (error) => {
    if (statusOf(error) === status) return undefined;
    throw error;
  };
}

function readLease(answer: unknown): LeaseRecord {
  const { metadata, spec } = answer as KubeObject & { readonly spec?: Readonly<Record<string, unknown>> };
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime } = spec ?? {};
  if (metadata?.resourceVersion === undefined)
    throw new SignetError('unavailable', 'the answer is no lease', { reason: 'kube-answer-invalid' });
  return {
    version: metadata.resourceVersion,
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1_000 : defaultDurationMs,
    acquireTime,
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
}
