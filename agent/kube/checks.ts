// Whether the API server knows us, lets us do what the configuration needs, and has our time. Used by kube-needs.ts.
// Promises: what is missing is named as the rule that grants it. Refusals differ between versions of the API server in their
// words, so that only their status counts, and reviews of the single rights tell what it was for.

import { SignetError, explainError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Reason } from '../runtime/reasons.js';
import type { Checks } from '../runtime/self-check.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant } from '../runtime/time.js';
import type { KubeAccess, KubeClients } from './access.js';
import type { KubeClient } from './client.js';
import { claimsOf, expiryOf } from './credentials.js';
import type { Right, Self } from './reviews.js';
import { formatRules, isAllowed, reviewSelf } from './reviews.js';
import { statusOf } from './status.js';
import { createTokenRequester } from './token-request.js';

/** Something that the configuration needs of the API server. */
export interface KubeNeed {
  /** For people, e.g. `pods`. */
  readonly name: string;
  readonly kind: RightsNeed | 'pods-as-node' | TokensNeed;
  /** Whether something else serves meanwhile. Default: nothing does. */
  readonly isServed?: () => boolean;
}

/** Rights of whoever the credential says. */
export interface RightsNeed {
  readonly rights: readonly Right[];
}

/** Tokens of workloads for an audience, asked for as the node by impersonation or as whoever the credential says. */
export interface TokensNeed {
  readonly audience: string;
  readonly as: 'node' | 'own';
}

export interface KubeChecksOptions {
  readonly access: Pick<KubeAccess, 'credential' | 'connect'>;
  readonly needs: readonly KubeNeed[];
  /** Name of this node. */
  readonly node: string;
  readonly clock: Clock;
}

/** Of the tolerance for a certificate that is not valid yet, half: what differs more comes near to a refusal. */
const maxClockDifferenceMs = 30_000;

/** A verdict; `unknown` when it cannot be told, `refused` for what was refused to us as the node. */
type Verdict = Reason | 'unknown' | 'refused' | undefined;

interface Look {
  readonly clients: KubeClients;
  readonly self: Self;
  readonly node: string;
  readonly signal: AbortSignal;
}

const actsAsNode = ({ kind }: KubeNeed): boolean => kind === 'pods-as-node' || ('as' in kind && kind.as === 'node');

/** The name of the check for what all that is done as the node has in common. */
const asTheNode = 'acting as the node';

export function createKubeChecks({ access, needs, node, clock }: KubeChecksOptions): Checks {
  const isServed = (need: KubeNeed): boolean => need.isServed?.() ?? false;
  return {
    names: ['api server', 'clock', ...(needs.some(actsAsNode) ? [asTheNode] : []), ...needs.map(({ name }) => name)],
    async look(signal) {
      const open = needs.filter((need) => !isServed(need));
      // What something else serves is not missing.
      const verdicts = new Map<string, Reason | undefined>(needs.filter(isServed).map(({ name }) => [name, undefined]));
      const clients = access.connect();
      try {
        const self = await reviewSelf(clients.own, clock, signal);
        verdicts.set('clock', differenceOf(self));
        verdicts.set('api server', nodeFault(self, node));
        await lookAtNeeds(open, { clients, self, node, signal }, verdicts);
      } catch (error) {
        if (signal.aborted || statusOf(error) === 403) throw error;
        verdicts.set('api server', open.length === 0 ? undefined : await accessFault(error, access));
      } finally {
        clients.own.close();
        clients.asNode.close();
      }
      return verdicts;
    },
  };
}

async function lookAtNeeds(needs: readonly KubeNeed[], look: Look, verdicts: Map<string, Reason | undefined>): Promise<void> {
  const refused: KubeNeed[] = [];
  for (const need of needs) {
    const verdict = await lookAt(need.kind, look);
    if (verdict === 'refused') refused.push(need);
    else if (verdict !== 'unknown') verdicts.set(need.name, verdict);
  }
  if (needs.some(actsAsNode)) await explainRefusals(refused, look, verdicts);
}

function lookAt(kind: KubeNeed['kind'], look: Look): Promise<Verdict> {
  if (kind === 'pods-as-node') return lookAtPodsAsNode(look);
  return 'rights' in kind ? lookAtRights(kind.rights, look) : lookAtTokens(kind, look);
}

async function accessFault(error: unknown, { credential }: KubeChecksOptions['access']): Promise<Reason> {
  const code = reasonOf(error) ?? 'kube-answer-invalid';
  const detail = explainError(error);
  if (code !== 'kube-unauthenticated') return { code, detail };
  const { authorization = '' } = await credential.access();
  const audiences = [claimsOf(authorization)['aud']].flat().filter((audience) => typeof audience === 'string');
  if (audiences.length === 0) return { code, detail };
  const expiry = formatExpiry(expiryOf(authorization));
  return { code, detail: `${detail}; the token is for ${audiences.slice(0, 8).join(', ')}, until ${expiry}` };
}

const formatExpiry = (at: number): string => (at === Infinity ? 'ever' : formatInstant(at));

function differenceOf({ clockAheadMs }: Self): Reason | undefined {
  const ms = Math.abs(clockAheadMs);
  if (ms < maxClockDifferenceMs) return undefined;
  const way = clockAheadMs > 0 ? 'behind' : 'ahead of';
  // In steps that double: a clock that drifts is another fault with each of them, not with each look.
  const least = maxClockDifferenceMs * 2 ** Math.floor(Math.log2(ms / maxClockDifferenceMs));
  return { code: 'clock-differs', detail: `the clock of this node is ${least / 1_000} s or more ${way} that of the API server` };
}

const nodePrefix = 'system:node:';

/** Of another node than ours; who is of none may be somebody all the same. */
function nodeFault({ user, node: bound }: Self, node: string): Reason | undefined {
  const found = user.startsWith(nodePrefix) ? user.slice(nodePrefix.length) : bound;
  if (found === undefined || found === node) return undefined;
  return { code: 'node-mismatch', detail: `node is ${node}, and the credential of ${user} is of ${found}` };
}

async function missingOf(rights: readonly Right[], { clients, signal }: Look): Promise<readonly Right[]> {
  const missing: Right[] = [];
  for (const right of rights) if (!(await isAllowed(clients.own, right, signal))) missing.push(right);
  return missing;
}

async function lookAtRights(rights: readonly Right[], look: Look): Promise<Verdict> {
  const missing = await missingOf(rights, look);
  if (missing.length === 0) return undefined;
  const { namespace } = missing[0] ?? {};
  const role = namespace === undefined ? 'a ClusterRole' : `a Role in ${namespace}`;
  return { code: 'kube-denied', detail: `${look.self.user} lacks ${formatRules(missing)} in ${role}` };
}

// Constrained impersonation (KEP-5284): one right to act as the node of the own token, and one for each thing to do as it.
const actAsNode: Right = { verb: 'impersonate:associated-node', group: 'authentication.k8s.io', resource: 'nodes', name: '*' };
const asNode = (right: Right): Right => ({ ...right, verb: `impersonate-on:associated-node:${right.verb}` });

const podRights = ['list', 'watch'].map((verb): Right => ({ verb, group: '', resource: 'pods' }));
const tokenRight: Right = { verb: 'create', group: '', resource: 'serviceaccounts/token' };

/** Why the API server refused us as the node: rights for single things, or what all of them have in common. */
async function explainRefusals(refused: readonly KubeNeed[], look: Look, verdicts: Map<string, Reason | undefined>): Promise<void> {
  const { self, node } = look;
  // Then all is refused, and why is told already.
  if (nodeFault(self, node) !== undefined) return;
  const lacks = (rights: readonly Right[]): Reason => ({
    code: 'node-impersonation-denied',
    detail: `${self.user} lacks ${formatRules(rights)} in a ClusterRole`,
  });
  let unexplained = false;
  for (const { name, kind } of refused) {
    const missing = await missingOf((kind === 'pods-as-node' ? podRights : [tokenRight]).map(asNode), look);
    verdicts.set(name, missing.length === 0 ? undefined : lacks(missing));
    unexplained ||= missing.length === 0;
  }
  const mayAct = refused.length === 0 || (await isAllowed(look.clients.own, actAsNode, look.signal));
  verdicts.set(asTheNode, !mayAct ? lacks([actAsNode]) : unexplained ? await commonFault(look) : undefined);
}

/** The rights are there, and still it is refused. */
async function commonFault({ clients, self, node, signal }: Look): Promise<Reason> {
  if (self.node === undefined) return { code: 'node-mismatch', detail: `the token of ${self.user} is bound to no pod, and so to no node` };
  const version = (await clients.own.request({ path: '/version' }, signal)) as { gitVersion?: unknown } | null;
  return { code: 'node-impersonation-missing', detail: `${self.user} has the rights to act as ${node}, in ${String(version?.gitVersion)}` };
}

/** Whether a call is refused (403). Other failures are thrown. */
async function isRefused(call: Promise<unknown>): Promise<boolean> {
  return await call.then(
    () => false,
    (error: unknown) => {
      if (statusOf(error) === 403) return true;
      throw error;
    },
  );
}

async function lookAtPodsAsNode(look: Look): Promise<Verdict> {
  const { clients, node, signal } = look;
  const path = '/api/v1/pods';
  // No pod has such a name: the answer is empty, and served from memory.
  const query = { fieldSelector: `spec.nodeName=${node},metadata.name=-`, resourceVersion: '0' };
  const refused =
    (await isRefused(clients.asNode.request({ path, query }, signal))) ||
    (await isRefused(openWatch(clients.asNode, { path, query }, signal)));
  return refused ? 'refused' : undefined;
}

async function openWatch(client: KubeClient, { path, query }: { path: string; query: Record<string, string> }, signal: AbortSignal) {
  const opened = new AbortController();
  const events = client.watch(
    { path, query: { ...query, timeoutSeconds: 1 }, deadlineMs: 10_000, onOpen: () => opened.abort() },
    AbortSignal.any([signal, opened.signal]),
  );
  try {
    await events.next();
  } catch (error) {
    if (!opened.signal.aborted) throw error;
  } finally {
    // An event that came with the answer leaves the stream where it was.
    await events.return();
  }
}

async function lookAtTokens({ audience, as }: TokensNeed, look: Look): Promise<Verdict> {
  const { clients, self, node, signal } = look;
  if (as === 'own') {
    // The authorizer of nodes decides by the pod, so that nothing can be told without one.
    if (self.user.startsWith(nodePrefix)) return 'unknown';
    return await lookAtRights([tokenRight], look);
  }
  // Without a pod of our own there is nothing to ask for; the rights are told.
  if (self.pod === undefined) return 'refused';
  // A token of our own account, bound to our own pod: what is refused for it is refused for every pod that mounts no such token.
  const { namespace, serviceAccount, name, uid } = self.pod;
  const request = { namespace, serviceAccount, pod: { name, uid }, audience, lifetimeSeconds: 0 };
  try {
    await createTokenRequester(clients.asNode)(request, signal);
    return undefined;
  } catch (error) {
    const code = reasonOf(error);
    if (code === 'token-audience-denied') return { code, detail: audienceRule(audience) };
    if (code === 'kube-denied') return 'refused';
    if (kindOf(error) === 'invalid' && error instanceof SignetError) return { code: 'kube-denied', detail: explainError(error) };
    if (code === 'token-pod-denied') return nodeFault(self, node) === undefined ? { code, detail: explainError(error) } : 'unknown';
    throw error;
  }
}

function audienceRule(audience: string): string {
  const right = { verb: 'request-serviceaccounts-token-audience', group: '', resource: audience };
  return `the group system:nodes lacks ${formatRules([right])} in a ClusterRole`;
}
