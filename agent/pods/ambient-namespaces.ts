// Which namespaces are in Istio's ambient mesh by their label, from the API server. Used by agent.ts where pods.namespaces is set.
// Promises: only namespaces with the label are ever read, and of those only the name is kept; see kube/reflector.ts for the rest.

import type { KubeClient } from '../kube/client.js';
import { createReflector } from '../kube/reflector.js';
import type { Metrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { joinWatched, mapWatched } from '../runtime/watched.js';
import { dataplaneModeLabel } from './pod.js';
import type { Selection } from './selection.js';

export interface AmbientNamespacesOptions {
  /** As whoever may list and watch namespaces. */
  readonly client: KubeClient;
  /** Their names from before a restart, which count until they have been read. Default: none are known. */
  readonly restored?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface AmbientNamespaces {
  readonly names: Watched<NonNullable<Selection['ambientNamespaces']>>;
  /** Why they are missing or may be old. */
  readonly reason: Watched<Reason | undefined>;
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAmbientNamespaces({ restored, ...options }: AmbientNamespacesOptions): AmbientNamespaces {
  const before = restored === undefined ? 'unread' : new Set(restored);
  const { snapshot, run } = createReflector<string>({
    ...options,
    path: '/api/v1/namespaces',
    query: { labelSelector: `${dataplaneModeLabel}=ambient` },
    resource: 'namespaces',
    project: ({ metadata }) => metadata?.name,
    unread: { code: 'namespaces-unread', detail: '' },
  });
  return {
    names: mapWatched(snapshot, ({ objects, complete }) => (complete ? new Set(objects.values()) : before)),
    reason: mapWatched(snapshot, ({ reason }) => reason),
    run,
  };
}

/** The selection, with what is known of the namespaces. */
export function selectionWith(select: Watched<Selection>, { names }: Pick<AmbientNamespaces, 'names'>): Watched<Selection> {
  return mapWatched(joinWatched<unknown>([select, names]), () => ({ ...select.value, ambientNamespaces: names.value }));
}
