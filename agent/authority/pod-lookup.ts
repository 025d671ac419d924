// Pods that the index lacks, looked up at the API server: what was just scheduled may be asked for before the watch brings it.
// Used by the service, once on a miss. Promises: calls for the same pods are one call, and what one node's calls cause is bounded.

import { parseSpiffeId } from '../identity/spiffe-id.js';
import type { KubeClient } from '../kube/client.js';
import { listAll } from '../kube/list.js';
import type { AuthorityMetrics } from '../metrics.js';
import { kindOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';
import type { TokenBucket } from '../runtime/token-bucket.js';
import { createTokenBucket } from '../runtime/token-bucket.js';
import type { Account, ClusterPod, PodView } from './cluster-pod.js';
import { toClusterPod } from './cluster-pod.js';
import type { Decision, Request } from './node-authorizer.js';
import { PodSet } from './pod-index.js';

/** Pods of one namespace. */
export interface PodQuery {
  readonly namespace: string;
  readonly fieldSelector: string;
}

export interface PodLookup {
  /** Undefined when `owner` has looked up too much already. Throws when the API server cannot be asked. */
  find(query: PodQuery, owner: string): Promise<readonly ClusterPod[] | undefined>;
}

export interface PodLookupOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly metrics: Pick<AuthorityMetrics, 'liveLookups'>;
}

/** For one owner: a node's pods may come all at once. */
const burst = 50;
const perSecond = 10;
const maxOwners = 20_000;
const deadlineMs = 3_000;

export function createPodLookup({ client, clock, metrics }: PodLookupOptions): PodLookup {
  const underWay = new Map<string, Promise<readonly ClusterPod[]>>();
  const buckets = new Map<string, TokenBucket>();

  const bucketOf = (owner: string): TokenBucket => {
    const bucket = buckets.get(owner) ?? createTokenBucket(clock, burst, perSecond);
    if (buckets.size >= maxOwners) for (const [name, { isFull }] of buckets) if (isFull) buckets.delete(name);
    buckets.set(owner, bucket);
    return bucket;
  };
  const ask = async (key: string, { namespace, fieldSelector }: PodQuery): Promise<readonly ClusterPod[]> => {
    try {
      const never = new AbortController().signal;
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const { items } = await withDeadline(clock, deadlineMs, 'look-up of pods', never, (signal) =>
        listAll(client, { path, query: { fieldSelector }, newest: true }, signal),
      );
      const found = items.map(toClusterPod).filter((pod) => pod !== undefined);
      metrics.liveLookups.inc({ result: found.length === 0 ? 'none' : 'found' });
      return found;
    } catch (error) {
      metrics.liveLookups.inc({ result: kindOf(error) });
      throw error;
    } finally {
      underWay.delete(key);
    }
  };

  return {
    async find(query, owner) {
      const key = `${query.namespace} ${query.fieldSelector}`;
      const pending = underWay.get(key);
      if (pending !== undefined) return await pending;
      if (!bucketOf(owner).take()) {
        metrics.liveLookups.inc({ result: 'limited' });
        return undefined;
      }
      const asked = ask(key, query);
      underWay.set(key, asked);
      return await asked;
    },
  };
}

/** The pods that would have to be there for another decision; undefined when none can change it. */
export function missedBy(decision: Decision, { caller, identity }: Request, pods: PodView): PodQuery | undefined {
  if (decision.granted) return undefined;
  const { reason } = decision;
  if (reason === 'caller-pod-gone' || reason === 'caller-pod-replaced') {
    return { namespace: caller.namespace, fieldSelector: `metadata.name=${caller.pod?.name ?? ''}` };
  }
  if (reason !== 'identity-not-on-node' && reason !== 'identity-finished') return undefined;
  const node = pods.byName(caller.namespace, caller.pod?.name ?? '')?.node ?? '';
  // It was parsed, or the decision would be another.
  const { namespace, serviceAccount } = parseSpiffeId(identity ?? '');
  return { namespace, fieldSelector: `spec.nodeName=${node},spec.serviceAccountName=${serviceAccount}` };
}

/** The view with pods that are newer than what it has. */
export function withPods(view: PodView, newer: readonly ClusterPod[]): PodView {
  const found = new PodSet(newer);
  return {
    byName: (namespace, name) => found.byName(namespace, name) ?? view.byName(namespace, name),
    on: (node: string, account: Account) => {
      const known = new Set(newer.map(({ uid }) => uid));
      return [...found.on(node, account), ...[...view.on(node, account)].filter(({ uid }) => !known.has(uid))];
    },
  };
}
