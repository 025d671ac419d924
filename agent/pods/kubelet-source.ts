// The pods of this node from its kubelet (GET /pods), for when the API server may not or cannot be asked. Used by agent.ts.
// Promises: one poll at a time, faster while a pod is starting; a pod that is missing is gone only when it stayed so for a
// minute, since a kubelet that starts lists what it has found so far; whatever fails, the last good view stays.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { detailOf, retryAfterOf } from '../kube/status.js';
import type { Metrics } from '../metrics.js';
import { SignetError, describeError, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, sleep } from '../runtime/time.js';
import { toPod } from './kube-pod.js';
import type { Pod, PodSource } from './pod.js';
import { createPublishedView } from './published-view.js';

export interface KubeletSourceOptions {
  /** Of the kubelet. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
}

/** Between polls while nothing happens, and while pods are starting. */
const quietMs = 10_000;
const busyMs = 1_000;

/** A pod that does not start for this long is not waited for any more. */
const busyForMs = 60_000;

const confirmGoneMs = 60_000;

const retryAfter = { minMs: 2_000, maxMs: 30_000 };

const maxBytes = 64 * 1024 * 1024;

export function createKubeletSource({ client, clock, log, metrics, random = Math.random }: KubeletSourceOptions): PodSource {
  const source = 'kubelet';
  const { view, publish, fail } = createPublishedView({ source, metrics });
  const missingSince = new Map<string, number>();
  let pending = '';
  let busyUntil = -Infinity;

  const take = (listed: ReadonlyMap<string, Pod>): void => {
    const now = clock.monotonic();
    publish(keepMissing(view.value.pods, listed, missingSince, now));
    const starting = [...listed.values()]
      .filter(({ phase }) => phase === 'Pending')
      .map(({ uid }) => uid)
      .sort()
      .join();
    if (starting !== pending) busyUntil = starting === '' ? -Infinity : now + busyForMs;
    pending = starting;
  };
  return {
    name: source,
    population: 'cluster',
    view,
    async run(signal) {
      for (let failures = 0; !signal.aborted;) {
        let delay: number;
        try {
          take(readPods(await client.request({ path: '/pods', maxBytes }, signal)));
          failures = 0;
          delay = clock.monotonic() < busyUntil ? busyMs : quietMs;
        } catch (error) {
          if (signal.aborted) return;
          if (fail(toReason(error))) log.warn('cannot read the pods of the kubelet, keeping the last good view', errorFields(error));
          failures += 1;
          delay = Math.max(retryAfterOf(error) ?? 0, backoff(failures, retryAfter, random));
        }
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, delay, signal).catch(() => undefined);
      }
    },
  };
}

/** The listed pods, and those that are missing from the list but not for long enough. */
function keepMissing(
  before: ReadonlyMap<string, Pod>,
  listed: ReadonlyMap<string, Pod>,
  missingSince: Map<string, number>,
  now: number,
): ReadonlyMap<string, Pod> {
  const pods = new Map(listed);
  for (const uid of missingSince.keys()) if (listed.has(uid)) missingSince.delete(uid);
  for (const [uid, pod] of before) {
    if (listed.has(uid)) continue;
    const since = missingSince.get(uid) ?? now;
    const isOver = pod.phase === 'Succeeded' || pod.phase === 'Failed';
    if (isOver || now - since >= confirmGoneMs) {
      missingSince.delete(uid);
      continue;
    }
    missingSince.set(uid, since);
    pods.set(uid, pod);
  }
  return pods;
}

function toReason(error: unknown): Reason {
  return { code: reasonOf(error) ?? 'kubelet-answer-invalid', detail: detailOf(error) || describeError(error) };
}

function readPods(answer: unknown): ReadonlyMap<string, Pod> {
  const { kind, items } = (answer ?? {}) as { kind?: unknown; items?: unknown };
  if (kind !== 'PodList') throw new SignetError('unavailable', 'the answer is not a list of pods', { reason: 'kubelet-answer-invalid' });
  const pods = new Map<string, Pod>();
  // Go writes `items: null` for a list that has none.
  for (const item of Array.isArray(items) ? items : []) {
    const pod = typeof item === 'object' && item !== null ? toPod(item as KubeObject) : undefined;
    if (pod !== undefined) pods.set(pod.uid, pod);
  }
  return pods;
}
