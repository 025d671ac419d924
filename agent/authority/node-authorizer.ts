// May this caller have that identity? The one decision of the CA, as one pure function of facts and request: the server makes it
// on live facts, `signet ca explain` on those of a node, `signet ca audit verify` on those of a log.
// Rules: a pod may have its own identity; the agent of a node may have that of any account with a live pod on the node.

import { matchesPattern } from '../identity/pattern.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import { createSpiffeId, parseSpiffeId } from '../identity/spiffe-id.js';
import { SignetError } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Account, ClusterPod, PodView } from './cluster-pod.js';
import { formatAccount, isLive } from './cluster-pod.js';

/** What the configuration says. */
export interface Policy {
  readonly trustDomain: string;
  /** Accounts of node agents, `<namespace>/<service account>`. */
  readonly nodeAgents: ReadonlySet<string>;
  /** Accounts that no node agent may speak for: `<namespace>/<service account>`, `*` for any characters. */
  readonly deny: readonly string[];
}

export interface Facts {
  readonly policy: Policy;
  readonly pods: PodView;
}

/** Who calls, as the token says. */
export interface Caller extends Account {
  readonly pod: { readonly name: string; readonly uid: string } | undefined;
  /** Where the token names it. */
  readonly node: { readonly name: string } | undefined;
}

export interface Request {
  readonly caller: Caller;
  /** The SPIFFE ID that is asked for, as it was sent. Undefined: the caller's own. */
  readonly identity: string | undefined;
}

/** `own`: the caller's own identity. `node`: that of another account with a live pod on the caller's node. */
export type Rule = 'own' | 'node';

export interface Grant {
  readonly granted: true;
  readonly rule: Rule;
  readonly id: SpiffeId;
  readonly callerPod: ClusterPod;
  /** The live pod that makes it right. */
  readonly through: ClusterPod;
}

export interface Refusal {
  readonly granted: false;
  readonly reason: ReasonCode;
  /** What was compared. */
  readonly detail: string;
}

export type Decision = Grant | Refusal;

export function decide({ policy, pods }: Facts, { caller, identity }: Request): Decision {
  const callerPod = findCallerPod(pods, caller);
  if ('reason' in callerPod) return callerPod;
  const id = readIdentity(policy, identity ?? caller);
  if ('reason' in id) return id;
  if (id.namespace === caller.namespace && id.serviceAccount === caller.serviceAccount) {
    return { granted: true, rule: 'own', id, callerPod, through: callerPod };
  }
  const account = formatAccount(caller);
  if (!policy.nodeAgents.has(account)) return refuse('caller-no-node-agent', account);
  const denied = policy.deny.find((pattern) => matchesPattern(pattern, formatAccount(id)));
  if (denied !== undefined) return refuse('identity-denied', denied);
  const there = [...pods.on(callerPod.node, id)];
  const through = there.find(isLive);
  if (through !== undefined) return { granted: true, rule: 'node', id, callerPod, through };
  if (there.length === 0) return refuse('identity-not-on-node', callerPod.node);
  return refuse(
    'identity-finished',
    there
      .map(({ name, mirror, phase }) => `${name} ${mirror ? 'mirror' : phase}`)
      .slice(0, 8)
      .join(', '),
  );
}

function refuse(reason: ReasonCode, detail: string): Refusal {
  return { granted: false, reason, detail };
}

/** The pod that the token is bound to, as it is now. */
function findCallerPod(pods: PodView, caller: Caller): ClusterPod | Refusal {
  if (caller.pod === undefined || caller.pod.uid === '') return refuse('token-unbound', formatAccount(caller));
  const pod = pods.byName(caller.namespace, caller.pod.name);
  if (pod === undefined) return refuse('caller-pod-gone', caller.pod.name);
  if (pod.uid !== caller.pod.uid) return refuse('caller-pod-replaced', pod.uid);
  if (pod.serviceAccount !== caller.serviceAccount) return refuse('caller-pod-differs', `account ${pod.serviceAccount}`);
  if (caller.node !== undefined && caller.node.name !== pod.node) return refuse('caller-pod-differs', `node ${pod.node}`);
  if (!isLive(pod)) return refuse('caller-pod-finished', pod.mirror ? 'mirror' : pod.phase);
  return pod;
}

/** The identity that is meant, in our trust domain and exactly in the form of one. */
function readIdentity({ trustDomain }: Policy, asked: string | Account): SpiffeId | Refusal {
  try {
    if (typeof asked !== 'string') return createSpiffeId(trustDomain, asked.namespace, asked.serviceAccount);
    const id = parseSpiffeId(asked);
    return id.trustDomain === trustDomain ? id : refuse('identity-foreign', id.trustDomain);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    return refuse('identity-invalid', error.message);
  }
}
