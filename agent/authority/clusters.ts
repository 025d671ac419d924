// The clusters whose pods the CA signs for: who calls from each, and its pods. Made by the wiring, used by the service.

import type { Authenticated, TokenAuthenticatorOptions } from '../kube/token-authenticator.js';
import { createTokenAuthenticator } from '../kube/token-authenticator.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { PodIndex } from './pod-index.js';
import { createPodIndex } from './pod-index.js';
import type { PodLookup } from './pod-lookup.js';
import { createPodLookup } from './pod-lookup.js';

export interface Cluster {
  /** What its callers send as `clusterid`. */
  readonly id: string;
  /** Who holds the token, and how that is known. Throws like `TokenReviewer.review`. */
  authenticate(token: string): Promise<Authenticated>;
  readonly pods: Pick<PodIndex, 'byName' | 'on' | 'staleMs'>;
  readonly lookup: PodLookup;
}

/** A cluster with what keeps it up to date. */
export interface WatchedCluster extends Cluster {
  readonly aliases: readonly string[];
  readonly pods: PodIndex;
  run(signal: AbortSignal): Promise<void>;
}

export interface ClusterOptions extends TokenAuthenticatorOptions {
  readonly id: string;
  /** Other ids that callers send. */
  readonly aliases: readonly string[];
  readonly metrics: AuthorityMetrics;
}

export function createCluster(options: ClusterOptions): WatchedCluster {
  const { id, aliases, client, clock, metrics } = options;
  const log = options.log.child({ cluster: id });
  const callers = createTokenAuthenticator({ ...options, log });
  const pods = createPodIndex({ client, cluster: id, onGone: (uid) => callers.forgetPod(uid), clock, log, metrics });
  return {
    id,
    aliases,
    authenticate: callers.authenticate,
    pods,
    lookup: createPodLookup({ client, clock, metrics }),
    async run(signal) {
      await Promise.all([pods.run(signal), callers.run(signal)]);
    },
  };
}
