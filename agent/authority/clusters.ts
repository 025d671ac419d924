// The clusters whose pods the CA signs for: who may call from each, and its pods. Made by the wiring, used by the service.

import type { KubeClient } from '../kube/client.js';
import type { TokenReviewer } from '../kube/token-review.js';
import { createTokenReviewer } from '../kube/token-review.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { PodIndex } from './pod-index.js';
import { createPodIndex } from './pod-index.js';
import type { PodLookup } from './pod-lookup.js';
import { createPodLookup } from './pod-lookup.js';

export interface Cluster {
  /** What its callers send as `clusterid`. */
  readonly id: string;
  readonly reviewer: Pick<TokenReviewer, 'review'>;
  readonly pods: PodIndex;
  readonly lookup: PodLookup;
}

export interface ClusterOptions {
  readonly id: string;
  readonly client: KubeClient;
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AuthorityMetrics;
}

export function createCluster({ id, client, audiences, clock, log, metrics }: ClusterOptions): Cluster {
  const reviewer = createTokenReviewer({ client, audiences, clock, metrics });
  return {
    id,
    reviewer,
    pods: createPodIndex({ client, cluster: id, onGone: (uid) => reviewer.forgetPod(uid), clock, log, metrics }),
    lookup: createPodLookup({ client, clock, metrics }),
  };
}
