// Which pods get an identity: the setting identities.select as a pure rule. Used by identity-index.ts.

import type { Reason } from '../runtime/reasons.js';
import type { Pod } from './pod.js';
import { dataplaneModeLabel } from './pod.js';

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
  /** Namespaces whose label takes their pods into it. Default: not known, what the sources say of a pod counts alone. */
  readonly ambientNamespaces?: ReadonlySet<string> | 'unread' | undefined;
}

const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** The condition that leaves the pod out; undefined when the pod is selected. */
export function whyLeftOut(pod: Pod, selection: Selection): Reason | undefined {
  const why = whyNotSelected(pod, selection);
  if (why !== undefined) return { code: 'not-selected', detail: why };
  return selection.ambient === true ? whyNotAmbient(pod, selection) : undefined;
}

function whyNotSelected(pod: Pod, selection: Selection): string | undefined {
  const { namespaces, excludeNamespaces = systemNamespaces, podLabels = {}, hostNetwork = 'include' } = selection;
  if (namespaces !== undefined && !namespaces.includes(pod.namespace)) return `namespace ${pod.namespace} is not in namespaces`;
  if (excludeNamespaces.includes(pod.namespace)) return `namespace ${pod.namespace} is in excludeNamespaces`;
  for (const [label, value] of Object.entries(podLabels)) {
    if (!Object.hasOwn(pod.labels, label) || pod.labels[label] !== value) return `pod ${pod.name} has no label ${label}=${value}`;
  }
  if (hostNetwork === 'exclude' && pod.hostNetwork) return `pod ${pod.name} is on the host network`;
  return undefined;
}

function whyNotAmbient(
  { name, namespace, labels, hostNetwork, ambient = false }: Pod,
  { ambientNamespaces }: Selection,
): Reason | undefined {
  if (ambient) return undefined;
  const out = `pod ${name} is not in the ambient mesh`;
  // Its own label decides, and a pod on the host network is never in it.
  if (hostNetwork || labels[dataplaneModeLabel] !== undefined) return { code: 'not-selected', detail: out };
  if (ambientNamespaces === 'unread') return { code: 'namespaces-unread', detail: `namespace ${namespace}` };
  if (ambientNamespaces?.has(namespace) === true) return undefined;
  const known = ambientNamespaces === undefined ? `${out}, as far as is known without pods.namespaces` : out;
  return { code: 'not-selected', detail: known };
}
