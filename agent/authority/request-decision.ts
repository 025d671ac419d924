// What every kind of request object has in common: the decision with its audit line, and the conditions that others wrote. Used by
// the signers of them. Promises: the line is written before there is an answer to write; a fault of ours, or of the API server, is no
// decision and has no line.

import type { KubeObject } from '../kube/client.js';
import type { AuthorityMetrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant } from '../runtime/time.js';
import type { CsrPolicy } from '../x509/csr-policy.js';
import type { AuditDraft, AuditLog } from './audit.js';
import { recordDecision } from './audit.js';
import type { Cluster } from './clusters.js';
import type { Issue, Issued } from './issue.js';
import type { Policy } from './node-authorizer.js';
import type { RecentKeys } from './recent-keys.js';

/** What decides and signs, whatever the kind. */
export interface RequestAuthority {
  /** The one whose API server has the objects. */
  readonly cluster: Pick<Cluster, 'id' | 'pods' | 'lookup'>;
  readonly policy: Policy;
  readonly csr: CsrPolicy;
  readonly keys: RecentKeys;
  readonly issue: Issue;
  /** Longest lifetime of a certificate, in ms. */
  readonly maxLifetimeMs: number;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly metrics: Pick<AuthorityMetrics, 'decisions'>;
}

/** What was granted: a certificate, or the approval for another signer, by its name. */
export type Granted = { readonly certificate: Issued } | { readonly approvedFor: string };

/** Runs the decision, which notes in the draft what it finds out, and writes the line. Throws what is no decision. */
export async function decideOn<G extends Granted>(
  authority: RequestAuthority,
  object: KubeObject,
  path: string,
  work: (draft: AuditDraft) => Promise<G>,
): Promise<G | SignetError> {
  const { cluster, clock } = authority;
  const draft: AuditDraft = {
    at: formatInstant(clock.now()),
    requestId: object.metadata?.uid ?? '',
    peer: path,
    cluster: cluster.id,
    authMode: 'request-object',
  };
  const outcome = await work(draft).catch(asRefusal);
  await recordDecision(authority, draft, 'certificate' in outcome ? { issued: outcome.certificate.facts } : outcome);
  return outcome;
}

/** What is about the request: it would be no other at the next look. */
function asRefusal(error: unknown): SignetError {
  if (error instanceof SignetError && ['invalid', 'denied', 'unauthenticated'].includes(error.kind)) return error;
  throw error;
}

export function conditionsOf(object: KubeObject): readonly object[] {
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: unknown };
  return Array.isArray(conditions) ? conditions.filter((each: unknown) => typeof each === 'object' && each !== null) : [];
}

/** Whether it has one of these conditions, and it is true. */
export function hasCondition(object: KubeObject, ...types: readonly string[]): boolean {
  return conditionsOf(object).some((each) => {
    const { type, status } = each as { readonly type?: unknown; readonly status?: unknown };
    return status === 'True' && types.some((wanted) => wanted === type);
  });
}

/** A condition of ours. */
export function condition(type: string, reason: string, message: string, clock: Clock): object {
  return { type, status: 'True', reason, message, lastTransitionTime: formatInstant(clock.now()).replace(/\.\d+Z$/, 'Z') };
}

/** What is told of a refusal: nothing of why, but where that stands. */
export function refusalMessage({ metadata }: KubeObject): string {
  return `refused; the audit log of signet ca says why under the id ${metadata?.uid ?? ''}`;
}
