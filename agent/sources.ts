// The wiring of what is read from outside: from the settings to the sources of pods and of roots. Called by agent.ts.
// No logic of its own.

import type { Config, OutsideRoots, PodSourceSettings, RootSourceSettings } from './config.js';
import type { KubeAccess } from './kube/access.js';
import { createKubeClient } from './kube/client.js';
import { createKubeletCredential } from './kube/kubelet-credential.js';
import type { Metrics } from './metrics.js';
import type { AmbientNamespaces } from './pods/ambient-namespaces.js';
import { createAmbientNamespaces } from './pods/ambient-namespaces.js';
import { createApiServerSource } from './pods/apiserver-source.js';
import { createAutoSource, logOfCandidate } from './pods/auto-source.js';
import { createFileSource } from './pods/file-source.js';
import { createKubeletPodsApiSource, podsApiSocket } from './pods/kubelet-pods-api-source.js';
import { createKubeletSource } from './pods/kubelet-source.js';
import type { PodSource } from './pods/pod.js';
import type { Logger } from './runtime/log.js';
import type { Clock } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { WatchedValue } from './runtime/watched.js';
import type { RootSource } from './trust-bundle.js';
import { createFileRootSource, createWatchedRootSource } from './trust-bundle.js';
import { createClusterTrustBundleSource, createConfigMapRootSource } from './trust-bundle/cluster-sources.js';
import type { Certificate } from './x509/certificate.js';

interface Services {
  readonly kube: KubeAccess;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What namespaces say of their pods, where that is wanted. */
export function createNamespaces(
  { pods }: { readonly pods: Pick<Config['pods'], 'namespaces'> },
  { kube, ...services }: Services,
  restored?: readonly string[],
): AmbientNamespaces | undefined {
  return pods.namespaces ? createAmbientNamespaces({ client: kube.own, restored, ...services }) : undefined;
}

type PodSettings = Pick<Config['pods'], 'sources' | 'kubelet'>;

export function createPodSources(
  { pods, node }: { readonly pods: PodSettings; readonly node: string },
  services: Services,
): readonly PodSource[] {
  return pods.sources.map((settings) => createPodSource(settings, pods.kubelet, node, services));
}

type KubeletSettings = Config['pods']['kubelet'];

function createPodSource(settings: PodSourceSettings, kubelet: KubeletSettings, node: string, services: Services): PodSource {
  const { clock, log, metrics } = services;
  switch (settings.kind) {
    case 'file':
      return createFileSource({ path: settings.path, node, clock, log, metrics });
    case 'apiserver':
      return createApiServer(settings.as ?? 'own', node, services);
    case 'kubelet':
      return createKubelet(kubelet, services);
    case 'kubelet-pods-api':
      return createKubeletPodsApiSource({ socket: settings.socket ?? podsApiSocket, clock, log, metrics });
    case 'auto': {
      const tried = { ...services, log: logOfCandidate(log) };
      // From the one that takes no right at the API server to the one whose right says most.
      return createAutoSource({
        candidates: [
          createKubeletPodsApiSource({ socket: podsApiSocket, clock, log: tried.log, metrics }),
          createApiServer('node', node, tried),
          createApiServer('own', node, tried),
          createKubelet(kubelet, tried),
        ],
        clock,
        log,
      });
    }
  }
}

/** As the node or as the own account; both may be configured, so that each has a name of its own. */
function createApiServer(as: 'node' | 'own', node: string, { kube, clock, log, metrics }: Services): PodSource {
  const caller = as === 'node' ? { client: kube.asNode, name: 'apiserver-as-node' } : { client: kube.own };
  return createApiServerSource({ ...caller, node, clock, log, metrics });
}

function createKubelet({ address, ca, serverName, pin }: KubeletSettings, { kube, clock, log, metrics }: Services): PodSource {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  const server = new URL(`https://${host}:${address.port}`);
  const credential = createKubeletCredential({ credential: kube.credential, server, ca, serverName, pin });
  return createKubeletSource({ client: createKubeClient({ credential, target: 'kubelet', clock, metrics }), clock, log, metrics });
}

/** `issuer`: the roots of the built-in upstream, if there is one. */
export function createRootSources(
  settings: readonly RootSourceSettings[],
  issuer: Watched<readonly Certificate[]> | undefined,
  services: Services,
): readonly RootSource[] {
  return settings.map((source) =>
    source.kind === 'issuer' ? createWatchedRootSource('issuer', issuer ?? new WatchedValue([])) : createOutsideRoots(source, services),
  );
}

export function createOutsideRoots(source: OutsideRoots, { kube, clock, log, metrics }: Services): RootSource {
  switch (source.kind) {
    case 'file':
      return createFileRootSource({ path: source.path, clock, log, metrics });
    case 'configmap': {
      const { namespace, name, key = 'root-cert.pem' } = source;
      return createConfigMapRootSource({ client: kube.own, namespace, name, key, clock, log, metrics });
    }
    case 'cluster-trust-bundle': {
      const { name = '', signerName } = source;
      return createClusterTrustBundleSource({
        client: kube.own,
        select: signerName === undefined ? { name } : { signerName },
        clock,
        log,
        metrics,
      });
    }
  }
}
