// The few fields of a pod that Signet keeps, and what every pod source publishes. Shared by the sources, the index and the peer policy.

import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';

/** The label by which pods and namespaces join Istio's ambient mesh (`ambient`) or stay out of it (`none`). */
export const dataplaneModeLabel = 'istio.io/dataplane-mode';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount: string;
  readonly phase: PodPhase;
  readonly labels: Readonly<Record<string, string>>;
  readonly hostNetwork: boolean;
  /** A mirror of a static pod: it has no identity (its service account is never mounted). */
  readonly mirror: boolean;
  /** Its label, or else what its source knows of its namespace, takes it into Istio's ambient mesh. Default false. */
  readonly ambient?: boolean;
}

export interface PodView {
  /** The pods of this node, by UID. After a fault: the last good view, unchanged. */
  readonly pods: ReadonlyMap<string, Pod>;
  /** False until the source was read completely once. */
  readonly complete: boolean;
  /** Why the view is missing or old; undefined while the source works. */
  readonly reason: Reason | undefined;
}

export interface PodSource {
  /** The kind, for logs and the `source` label: `file`, `apiserver`, `kubelet`, … */
  readonly name: string;
  /**
   * Sources of one population read the same pods: what only those of them know that have failed for long may be over.
   * Default: its pods are its own.
   */
  readonly population?: 'cluster';
  readonly view: Watched<PodView>;
  /** Reads and follows until the signal aborts; never rejects for outside trouble. */
  run(signal: AbortSignal): Promise<void>;
}

/** A pod with the population (or else the name) of the source that knows it: what the next start goes on from. */
export interface KnownPod {
  readonly source: string;
  readonly pod: Pod;
}
