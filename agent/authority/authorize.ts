// The decision on live facts: on the index of pods, and once more for each pod that may be newer than it. Called by the service and
// by the signers of request objects. Promises: what decides is noted in the draft of the audit line; that the facts are not known is
// `unavailable`, never a refusal.

import { maxAwayMs } from '../kube/issuer-keys.js';
import { SignetError, kindOf } from '../runtime/errors.js';
import type { AuditDraft, CallerMode } from './audit.js';
import { maxAuditText } from './audit.js';
import type { PodView } from './cluster-pod.js';
import type { Cluster } from './clusters.js';
import type { Decision, Grant, Policy, Request } from './node-authorizer.js';
import { decide } from './node-authorizer.js';
import { missedBy, withPods } from './pod-lookup.js';

/** For how long pods count that are not followed any more; where tokens are told apart without the API server, pods must be too. */
const maxStaleMs: Readonly<Record<CallerMode, number>> = { 'token-review': 60_000, 'jwks': maxAwayMs, 'request-object': 60_000 };

/** Throws `denied` with the reason of the refusal. The draft says how the caller is known. */
export async function authorize(
  { pods, lookup }: Pick<Cluster, 'pods' | 'lookup'>,
  policy: Policy,
  request: Request,
  draft: AuditDraft,
): Promise<Grant> {
  checkFresh(pods.staleMs(), maxStaleMs[draft.authMode ?? 'token-review']);
  let view: PodView = pods;
  const asked = new Set<string>();
  for (;;) {
    const decision = decide({ policy, pods: view }, request);
    const missed = missedBy(decision, request, view);
    if (missed === undefined || asked.has(missed.fieldSelector)) return settle(decision, draft);
    asked.add(missed.fieldSelector);
    const { namespace, node, pod } = request.caller;
    const found = await lookup.find(missed, node?.name ?? `${namespace}/${pod?.name}`).catch((error: unknown) => {
      // A refusal of this call is about us, never about the caller.
      const kind = kindOf(error) === 'deadline' ? 'deadline' : 'unavailable';
      throw new SignetError(kind, 'the pods could not be looked up', { cause: error });
    });
    if (found === undefined) return settle(decision, draft);
    view = withPods(view, found);
  }
}

function checkFresh(staleMs: number, maxMs: number): void {
  if (staleMs <= maxMs) return;
  const reason = staleMs === Infinity ? 'index-unread' : 'index-stale';
  throw new SignetError('unavailable', 'the pods of the cluster are not known now', { reason });
}

function settle(decision: Decision, draft: AuditDraft): Grant {
  if (!decision.granted) {
    throw new SignetError('denied', 'the identity is refused', {
      reason: decision.reason,
      fields: { compared: decision.detail.slice(0, maxAuditText) },
    });
  }
  const { id, rule, callerPod, through } = decision;
  draft.identity = id.uri;
  draft.callerPod = callerPod;
  draft.through = through;
  draft.reason = rule;
  return decision;
}
