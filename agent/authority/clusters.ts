// The clusters whose pods the CA signs for: who calls from each, and its pods. Made by the wiring, used by the service.

import type { KubeClient } from '../kube/client.js';
import type { IssuerKeys } from '../kube/issuer-keys.js';
import { createIssuerKeys } from '../kube/issuer-keys.js';
import type { TokenHolder, TokenReviewer } from '../kube/token-review.js';
import { createTokenReviewer } from '../kube/token-review.js';
import type { AuthorityMetrics } from '../metrics.js';
import { reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { AuthMode } from './audit.js';
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

export interface Authenticated {
  readonly holder: TokenHolder;
  readonly mode: AuthMode;
}

/** A cluster with what keeps it up to date. */
export interface WatchedCluster extends Cluster {
  readonly aliases: readonly string[];
  readonly pods: PodIndex;
  run(signal: AbortSignal): Promise<void>;
}

export interface ClusterOptions {
  readonly id: string;
  /** Other ids that callers send. */
  readonly aliases: readonly string[];
  readonly client: KubeClient;
  readonly audiences: readonly string[];
  /** What happens to calls while the API server cannot be asked. */
  readonly whenApiServerAway: 'unavailable' | 'jwks';
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AuthorityMetrics;
}

export function createCluster(options: ClusterOptions): WatchedCluster {
  const { id, aliases, client, whenApiServerAway, clock, metrics } = options;
  const log = options.log.child({ cluster: id });
  const reviewer = createTokenReviewer(options);
  const keys = whenApiServerAway === 'jwks' ? createIssuerKeys({ ...options, log }) : undefined;
  const pods = createPodIndex({ client, cluster: id, onGone: (uid) => reviewer.forgetPod(uid), clock, log, metrics });
  return {
    id,
    aliases,
    authenticate: (token) => authenticate(token, reviewer, keys),
    pods,
    lookup: createPodLookup({ client, clock, metrics }),
    async run(signal) {
      await Promise.all([pods.run(signal), keys?.run(signal)]);
    },
  };
}

const away: ReadonlySet<string | undefined> = new Set(['kube-unavailable', 'kube-deadline']);

async function authenticate(token: string, reviewer: TokenReviewer, keys: IssuerKeys | undefined): Promise<Authenticated> {
  try {
    return { holder: await reviewer.review(token), mode: 'token-review' };
  } catch (error) {
    if (keys === undefined || !away.has(reasonOf(error))) throw error;
    return { holder: keys.verify(token), mode: 'jwks' };
  }
}
