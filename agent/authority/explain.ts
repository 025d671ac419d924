// What a thief of a node could get from the CA now: the decision function, asked for every identity by every pod of the node. Pure;
// used by `signet ca explain`.

import type { ReasonCode } from '../runtime/reasons.js';
import type { Account, ClusterPod, PodView } from './cluster-pod.js';
import { formatAccount, isLive } from './cluster-pod.js';
import type { Decision, Policy, Rule } from './node-authorizer.js';
import { decide } from './node-authorizer.js';

export interface AllPods extends PodView {
  all(): Iterable<ClusterPod>;
}

/** An identity that a thief of the node gets: with the token of the pod `by`, as long as the pod `through` is there. */
export interface Obtainable {
  readonly identity: string;
  readonly rule: Rule;
  readonly by: ClusterPod;
  readonly through: ClusterPod;
}

/** An identity of the cluster that a thief of the node does not get. */
export interface Refused {
  readonly identity: string;
  readonly reason: ReasonCode;
  readonly detail: string;
}

export interface Exposure {
  /** How many pods are on the node, ended ones included: none may be a node whose name is another. */
  readonly pods: number;
  readonly obtainable: readonly Obtainable[];
  readonly refused: readonly Refused[];
}

/** About all accounts that have pods in the cluster, or about the one identity, as it would be asked for. */
export function explainNode(policy: Policy, pods: AllPods, node: string, identity?: string): Exposure {
  const here = [...pods.all()].filter((pod) => pod.node === node);
  const agents = here.filter((pod) => isLive(pod) && policy.nodeAgents.has(formatAccount(pod)));
  const ask = (by: ClusterPod, asked: string): Decision =>
    decide({ policy, pods }, { caller: { ...accountOf(by), pod: by, node: { name: node } }, identity: asked });
  const obtainable: Obtainable[] = [];
  const refused: Refused[] = [];
  for (const asked of identity === undefined ? identitiesOf(policy, pods) : [identity]) {
    // An agent first, since it is what a thief has without looking for the tokens of the other pods.
    const own = here.filter((pod) => uriOf(policy, pod) === asked);
    const tries = [...agents, ...own].map((by) => ({ by, decision: ask(by, asked) }));
    const found = tries.find(({ decision }) => decision.granted);
    if (found?.decision.granted === true) {
      const { rule, through } = found.decision;
      obtainable.push({ identity: asked, rule, by: found.by, through });
      continue;
    }
    const [first] = tries;
    if (first?.decision.granted === false) refused.push({ identity: asked, reason: first.decision.reason, detail: first.decision.detail });
    else refused.push({ identity: asked, reason: 'caller-no-node-agent', detail: 'no node agent is on this node' });
  }
  return { pods: here.length, obtainable, refused };
}

function accountOf({ namespace, serviceAccount }: Account): Account {
  return { namespace, serviceAccount };
}

function uriOf({ trustDomain }: Policy, { namespace, serviceAccount }: Account): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}

function identitiesOf(policy: Policy, pods: AllPods): readonly string[] {
  return [...new Set([...pods.all()].map((pod) => uriOf(policy, pod)))].sort();
}
