// What the self-check looks at: from the settings to what they need of the API server. Called by agent.ts. No logic of its own.

import type { Config, OutsideRoots } from './config.js';
import type { KubeAccess } from './kube/access.js';
import type { KubeNeed } from './kube/checks.js';
import { createKubeChecks } from './kube/checks.js';
import type { Right } from './kube/reviews.js';
import type { PodSource } from './pods/pod.js';
import type { Checks } from './runtime/self-check.js';
import type { Clock } from './runtime/time.js';

export interface KubeSelfCheckOptions {
  readonly config: Pick<Config, 'node' | 'pods' | 'trustBundle' | 'upstreams'>;
  readonly kube: KubeAccess;
  /** As in the settings, in their order. */
  readonly podSources: readonly PodSource[];
  /** As whom workload tokens are asked for. */
  readonly tokensAs: 'node' | 'own';
  readonly clock: Clock;
}

/** None when nothing is needed of an API server. */
export function createKubeSelfChecks({ config, kube, podSources, tokensAs, clock }: KubeSelfCheckOptions): readonly Checks[] {
  const { node, pods, trustBundle, upstreams } = config;
  const istio = upstreams.filter((upstream) => upstream.kind === 'istio');
  const audiences = new Set(istio.filter(({ auth }) => auth === 'workload').map(({ audience }) => audience));
  const chains = upstreams.map((upstream) => (upstream.kind === 'built-in' ? undefined : upstream.roots));
  const roots = [...trustBundle.sources.filter((source) => source.kind !== 'issuer'), ...istio.map(({ tls }) => tls.roots), ...chains];
  const namespaces: KubeNeed = { name: 'namespaces', kind: { rights: listAndWatch({ group: '', resource: 'namespaces' }) } };
  const needs = [
    ...pods.sources.flatMap((source, index) => podNeeds(source.kind, node, podSources[index], 'as' in source && source.as === 'node')),
    ...(pods.namespaces ? [namespaces] : []),
    ...roots.flatMap((source) => (source === undefined ? [] : rootNeeds(source))),
    ...upstreams.flatMap(({ kind }) => requestNeeds(kind)),
    ...[...audiences].map((audience): KubeNeed => ({ name: `tokens for ${audience}`, kind: { audience, as: tokensAs } })),
  ];
  const byName = new Map(needs.map((need) => [need.name, need]));
  return needs.length === 0 ? [] : [createKubeChecks({ access: kube, needs: [...byName.values()], node, clock })];
}

/** Of whoever the credential says; what is done as the node is told by its refusal. */
function requestNeeds(kind: Config['upstreams'][number]['kind']): KubeNeed[] {
  const rights = (group: string, resource: string, ...verbs: readonly string[]): KubeNeed => ({
    name: resource,
    kind: { rights: verbs.map((verb) => ({ verb, group, resource })) },
  });
  if (kind === 'kubernetes-csr') return [rights('certificates.k8s.io', 'certificatesigningrequests', 'create', 'list', 'watch', 'delete')];
  return kind === 'cert-manager' ? [rights('cert-manager.io', 'certificaterequests', 'list', 'watch', 'delete')] : [];
}

const listAndWatch = (right: Omit<Right, 'verb'>): readonly Right[] => ['list', 'watch'].map((verb) => ({ verb, ...right }));

function podNeeds(
  kind: Config['pods']['sources'][number]['kind'],
  node: string,
  source: PodSource | undefined,
  asNode: boolean,
): KubeNeed[] {
  switch (kind) {
    case 'apiserver': {
      if (asNode) return [{ name: 'pods as the node', kind: 'pods-as-node' }];
      const rights = listAndWatch({ group: '', resource: 'pods', fieldSelector: { 'spec.nodeName': node } });
      return [{ name: 'pods', kind: { rights } }];
    }
    case 'kubelet':
      return [{ name: 'pods of the kubelet', kind: { rights: [{ verb: 'get', group: '', resource: 'nodes/pods', name: node }] } }];
    case 'auto':
      // While one of its sources works nothing is missing; when none does, this is the way that takes least.
      return [{ name: 'pods as the node', kind: 'pods-as-node', isServed: () => !hasFailed(source) }];
    case 'file':
    case 'kubelet-pods-api':
      return [];
  }
}

function hasFailed(source: PodSource | undefined): boolean {
  const reason = source?.view.value.reason;
  return reason !== undefined && reason.code !== 'pods-unread';
}

function rootNeeds(source: OutsideRoots): KubeNeed[] {
  switch (source.kind) {
    case 'configmap': {
      const { namespace, name } = source;
      return [
        { name: `configmap ${namespace}/${name}`, kind: { rights: listAndWatch({ group: '', resource: 'configmaps', namespace, name }) } },
      ];
    }
    case 'cluster-trust-bundle': {
      const { name } = source;
      const rights = listAndWatch({
        group: 'certificates.k8s.io',
        resource: 'clustertrustbundles',
        ...(name === undefined ? {} : { name }),
      });
      return [{ name: `clustertrustbundle ${name ?? source.signerName ?? ''}`, kind: { rights } }];
    }
    case 'file':
      return [];
  }
}
