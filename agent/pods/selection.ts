// Which pods get an identity: the setting identities.select as a pure rule. Used by identity-index.ts.

import type { Pod } from './pod.js';

/** All conditions must hold. */
export interface Selection {
  /** Only pods of these namespaces. Default: of all. */
  readonly namespaces?: readonly string[] | undefined;
  /** No pods of these namespaces, not even of those listed above. Default: kube-system, kube-public, kube-node-lease. */
  readonly excludeNamespaces?: readonly string[] | undefined;
  /** Only pods with all of these labels. Default: any. */
  readonly podLabels?: Readonly<Record<string, string>> | undefined;
  /** Pods on the host network. Default `include`. */
  readonly hostNetwork?: 'include' | 'exclude' | undefined;
  /** Only pods of Istio's ambient mesh. Default false. */
  readonly ambient?: boolean | undefined;
}

const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** The condition that leaves the pod out, as words for people; undefined when the pod is selected. */
export function whyLeftOut(pod: Pod, selection: Selection): string | undefined {
  const { namespaces, excludeNamespaces = systemNamespaces, podLabels = {}, hostNetwork = 'include', ambient = false } = selection;
  if (namespaces !== undefined && !namespaces.includes(pod.namespace)) return `namespace ${pod.namespace} is not in namespaces`;
  if (excludeNamespaces.includes(pod.namespace)) return `namespace ${pod.namespace} is in excludeNamespaces`;
  for (const [label, value] of Object.entries(podLabels)) {
    if (!Object.hasOwn(pod.labels, label) || pod.labels[label] !== value) return `pod ${pod.name} has no label ${label}=${value}`;
  }
  if (hostNetwork === 'exclude' && pod.hostNetwork) return `pod ${pod.name} is on the host network`;
  if (ambient && pod.ambient !== true) return `pod ${pod.name} is not in the ambient mesh`;
  return undefined;
}
