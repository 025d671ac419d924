// A pod as the CA knows it, and what it may ask of a set of them. Shared by the files of this folder; pure.

import type { KubeObject } from '../kube/client.js';
import { toPod } from '../pods/kube-pod.js';
import type { PodPhase } from '../pods/pod.js';

/** The fields that decisions are made on. */
export interface ClusterPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount: string;
  readonly node: string;
  readonly phase: PodPhase;
  /** The API object that stands for a static pod, which has no identity. */
  readonly mirror: boolean;
}

/** A service account. */
export interface Account {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Pods as they are at one moment. */
export interface PodView {
  byName(namespace: string, name: string): ClusterPod | undefined;
  /** Of this account on this node, in any phase. */
  on(node: string, account: Account): Iterable<ClusterPod>;
}

/** Undefined for what has no account or is on no node yet. */
export function toClusterPod(object: KubeObject): ClusterPod | undefined {
  const pod = toPod(object);
  const node = (object['spec'] as { nodeName?: unknown } | undefined)?.nodeName;
  if (pod === undefined || typeof node !== 'string' || node === '') return undefined;
  const { uid, namespace, name, serviceAccount, phase, mirror } = pod;
  return { uid, namespace, name, serviceAccount, node, phase, mirror };
}

/** Whether it has an identity now: it may run, and its account is its own. Terminating counts, Pending counts. */
export function isLive({ phase, mirror }: ClusterPod): boolean {
  return !mirror && phase !== 'Succeeded' && phase !== 'Failed';
}

/** `<namespace>/<service account>` */
export function formatAccount({ namespace, serviceAccount }: Account): string {
  return `${namespace}/${serviceAccount}`;
}
