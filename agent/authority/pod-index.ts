// All pods of a cluster that have an account and a node, kept up to date by list and watch. Used by the server, which decides on
// them. Promises: a change costs the same however many pods there are; nothing is known before everything was read once; how old
// it may be is known at any time.

import type { KubeClient, WatchEvent } from '../kube/client.js';
import type { ObjectSink } from '../kube/copy.js';
import { reflect } from '../kube/reflector.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Account, ClusterPod, PodView } from './cluster-pod.js';
import { formatAccount, toClusterPod } from './cluster-pod.js';

export interface PodIndex extends PodView {
  /** All of them. */
  all(): Iterable<ClusterPod>;
  /** Why it is not what the API server has now. */
  readonly reason: Watched<Reason | undefined>;
  /** For how long it has not been followed, in ms: 0 while it is, Infinity before it was read. */
  staleMs(): number;
  run(signal: AbortSignal): Promise<void>;
}

export interface PodIndexOptions {
  readonly client: KubeClient;
  /** Id of the cluster, for metrics. */
  readonly cluster: string;
  /** Called with the UID of each pod that went. */
  readonly onGone: (uid: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AuthorityMetrics;
}

export function createPodIndex(options: PodIndexOptions): PodIndex {
  const { client, cluster, onGone, clock, log, metrics } = options;
  const pods = new PodSet();
  const reason = new WatchedValue<Reason | undefined>({ code: 'index-unread', detail: cluster });
  let lostAt = -Infinity;

  const note = (next: Reason | undefined): void => {
    if (next !== undefined && reason.value === undefined) lostAt = clock.monotonic();
    reason.set(next);
    metrics.indexSynced.set({ cluster }, next === undefined ? 1 : 0);
    metrics.indexedPods.set({ cluster }, pods.size);
  };
  const sink: ObjectSink<ClusterPod> = {
    get reason() {
      return reason.value;
    },
    apply(event) {
      const gone = applyEvent(pods, event);
      if (gone !== undefined) onGone(gone);
      metrics.indexedPods.set({ cluster }, pods.size);
    },
    replace(objects) {
      for (const { uid } of pods.all()) if (!objects.has(uid)) onGone(uid);
      pods.replace(objects.values());
      note(undefined);
    },
    explain(next) {
      if (next?.code !== reason.value?.code || next?.detail !== reason.value?.detail) note(next);
    },
  };
  note(reason.value);

  return {
    byName: (namespace, name) => pods.byName(namespace, name),
    on: (node, account) => pods.on(node, account),
    all: () => pods.all(),
    reason,
    staleMs: () => (reason.value === undefined ? 0 : clock.monotonic() - lostAt),
    run: (signal) => reflect({ client, path: '/api/v1/pods', resource: 'pods', project: toClusterPod, clock, log, metrics }, sink, signal),
  };
}

/** Tells the UID of the pod that went, if one did. */
function applyEvent(pods: PodSet, { type, object }: WatchEvent): string | undefined {
  const uid = object.metadata?.uid;
  if (uid === undefined || type === 'BOOKMARK' || type === 'ERROR') return undefined;
  const pod = type === 'DELETED' ? undefined : toClusterPod(object);
  if (pod !== undefined) pods.put(pod);
  else pods.remove(uid);
  return type === 'DELETED' ? uid : undefined;
}

/** Pods by what they are asked for by. */
export class PodSet implements PodView {
  readonly #byUid = new Map<string, ClusterPod>();
  readonly #byName = new Map<string, ClusterPod>();
  readonly #byPlace = new Map<string, Set<ClusterPod>>();

  constructor(pods: Iterable<ClusterPod> = []) {
    for (const pod of pods) this.put(pod);
  }

  get size(): number {
    return this.#byUid.size;
  }

  all(): Iterable<ClusterPod> {
    return this.#byUid.values();
  }

  byName(namespace: string, name: string): ClusterPod | undefined {
    return this.#byName.get(`${namespace}/${name}`);
  }

  on(node: string, account: Account): Iterable<ClusterPod> {
    return this.#byPlace.get(placeOf(node, account)) ?? [];
  }

  put(pod: ClusterPod): void {
    this.remove(pod.uid);
    this.#byUid.set(pod.uid, pod);
    this.#byName.set(`${pod.namespace}/${pod.name}`, pod);
    const place = placeOf(pod.node, pod);
    this.#byPlace.set(place, (this.#byPlace.get(place) ?? new Set()).add(pod));
  }

  remove(uid: string): void {
    const pod = this.#byUid.get(uid);
    if (pod === undefined) return;
    this.#byUid.delete(uid);
    const name = `${pod.namespace}/${pod.name}`;
    // Its name may be that of a new pod already.
    if (this.#byName.get(name) === pod) this.#byName.delete(name);
    const place = placeOf(pod.node, pod);
    const there = this.#byPlace.get(place);
    there?.delete(pod);
    if (there?.size === 0) this.#byPlace.delete(place);
  }

  replace(pods: Iterable<ClusterPod>): void {
    this.#byUid.clear();
    this.#byName.clear();
    this.#byPlace.clear();
    for (const pod of pods) this.put(pod);
  }
}

function placeOf(node: string, account: Account): string {
  return `${node} ${formatAccount(account)}`;
}
