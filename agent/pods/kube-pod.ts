// A pod as Kubernetes has it, to the fields that Signet keeps. Pure. Used by all sources that read pods of a cluster; they get
// what a server sent, so that every field may be missing or of another type.

import type { KubeObject } from '../kube/client.js';
import type { Pod, PodPhase } from './pod.js';
import { dataplaneModeLabel } from './pod.js';

const phases: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] satisfies PodPhase[];

/** Put on a pod when Istio's CNI has taken it into the ambient mesh, by its own label or its namespace's; not at once. */
const ambientAnnotation = 'ambient.istio.io/redirection';

/** The annotation of the API object that stands for a static pod. */
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Undefined for a pod without a service account, such as a static pod, and for what is no pod. */
export function toPod({ metadata, spec, status }: KubeObject): Pod | undefined {
  const { uid, namespace, name, labels, annotations } = metadata ?? {};
  const { serviceAccountName, hostNetwork } = fieldsOf(spec);
  if (!isText(uid) || !isText(namespace) || !isText(name) || !isText(serviceAccountName)) return undefined;
  const { phase } = fieldsOf(status);
  const mode = labels?.[dataplaneModeLabel];
  const isAmbient = mode === undefined ? annotations?.[ambientAnnotation] === 'enabled' : mode === 'ambient';
  return {
    uid,
    namespace,
    name,
    serviceAccount: serviceAccountName,
    // A pod that is new has no status yet.
    phase: isPhase(phase) ? phase : 'Pending',
    labels: textsOf(labels),
    hostNetwork: hostNetwork === true,
    mirror: annotations?.[mirrorAnnotation] !== undefined,
    // Istio's CNI never takes in a pod on the host network.
    ambient: isAmbient && hostNetwork !== true,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isPhase(value: unknown): value is PodPhase {
  return typeof value === 'string' && phases.includes(value);
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
