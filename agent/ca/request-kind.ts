// What tells one kind of request object from another, and how its status is read. Pure; implemented by the kinds
// (kubernetes-csr.ts, pod-certificate.ts, cert-manager.ts), used by the flow that they share.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { SignetError } from '../runtime/errors.js';
import type { CaRequest } from './ca-client.js';

export interface RequestKind {
  /** Plural, as it stands in paths. */
  readonly resource: string;
  /** Who is to sign, for people. */
  readonly signer: string;
  /** Whether requests lie in the namespace of the identity. */
  readonly namespaced: boolean;
  /** As whom requests are read and removed. */
  readonly reader: KubeClient;
  /** For each read, beside the name. */
  readonly fieldSelector?: string;
  /** False where nobody but the cluster removes them. */
  readonly removable: boolean;
  /** Whether the CSR goes as it is, so that it may be one that somebody else made. */
  readonly takesAnyCsr: boolean;
  /** Path of the group in the version that is spoken, e.g. `/apis/certificates.k8s.io/v1`. */
  group(signal: AbortSignal): Promise<string>;
  /** Posts a request with this metadata to the path, and gives what was answered. */
  create(request: CaRequest, path: string, metadata: RequestMetadata, signal: AbortSignal): Promise<unknown>;
  read(object: KubeObject): Verdict;
}

export interface RequestMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What has come of a request. */
export type Verdict =
  | { readonly state: 'pending' }
  | { readonly state: 'approved' }
  /** PEM, not looked at; and when the signer wants it renewed, in ms since the epoch. */
  | { readonly state: 'issued'; readonly elements: readonly Buffer[]; readonly refreshAt?: number | undefined }
  /** In the words of whoever refused it. */
  | { readonly state: 'denied' | 'failed'; readonly detail: string };

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The conditions that have a type; none when there is no status. */
export function conditionsOf({ status }: KubeObject): readonly Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  if (!Array.isArray(conditions)) return [];
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return conditions.flatMap((each: Readonly<Record<string, unknown>> | null) =>
    typeof each?.['type'] !== 'string'
      ? []
      : [{ type: each['type'], status: text(each['status']), reason: text(each['reason']), message: text(each['message']) }],
  );
}

/** A text of the status; '' when there is none. */
export function statusText({ status }: KubeObject, field: string): string {
  const value = ((status ?? {}) as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' ? value : '';
}

/** Reason and message of a condition, as one line. */
export const describeCondition = ({ reason, message }: Condition): string => [reason, message].filter((part) => part !== '').join(': ');

/** Neither the kind nor a version of it that we speak is served. */
export function unserved(cause?: unknown): SignetError {
  return new SignetError('notFound', 'the api server does not serve such requests', { cause, reason: 'request-unserved' });
}
