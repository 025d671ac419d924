// The pods of this node from the API server, by list and watch. Used by agent.ts.
// Promises: every call names the node, so that a node's credential suffices; see kube/reflector.ts for the rest.

import type { KubeClient } from '../kube/client.js';
import { createReflector } from '../kube/reflector.js';
import type { Metrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { mapWatched } from '../runtime/watched.js';
import { toPod } from './kube-pod.js';
import type { PodSource } from './pod.js';

export interface ApiServerSourceOptions {
  readonly client: KubeClient;
  /** Name of this node, as spec.nodeName has it. */
  readonly node: string;
  /** For logs, metrics and status. Default `apiserver`. */
  readonly name?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createApiServerSource({ client, node, name = 'apiserver', clock, log, metrics }: ApiServerSourceOptions): PodSource {
  const reflector = createReflector({
    client,
    path: '/api/v1/pods',
    query: { fieldSelector: `spec.nodeName=${node}` },
    resource: 'pods',
    project: toPod,
    unread: { code: 'pods-unread', detail: name },
    clock,
    log,
    metrics,
  });
  return {
    name,
    population: 'cluster',
    view: mapWatched(reflector.snapshot, ({ objects, complete, reason }) => ({ pods: objects, complete, reason })),
    async run(signal) {
      let failing = false;
      reflector.snapshot.subscribe(({ complete, reason }) => {
        metrics.podSourceUp.set({ source: name }, complete && reason === undefined ? 1 : 0);
        const fails = reason !== undefined && reason.code !== 'pods-unread';
        if (fails && !failing) metrics.podSourceErrors.inc({ source: name });
        failing = fails;
      }, signal);
      await reflector.run(signal);
    },
  };
}
