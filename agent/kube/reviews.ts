// What the API server says of us: who we are, what we may do, and what time it is (SelfSubjectReview, authentication.k8s.io/v1;
// SelfSubjectAccessReview, authorization.k8s.io/v1). Both are open to whoever it knows. Used by kube/checks.ts.

import type { Clock } from '../runtime/time.js';
import { parseInstant } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { invalidAnswer } from './status.js';

export interface Self {
  readonly user: string;
  /** Of the pod that our token is bound to; undefined when it is bound to none. */
  readonly node?: string;
  readonly pod?: { readonly namespace: string; readonly serviceAccount: string; readonly name: string; readonly uid: string };
  /** How far the clock of the API server is ahead of ours at least, in ms; negative: behind. */
  readonly clockAheadMs: number;
}

/** Something that may be done with a resource, as RBAC names it. */
export interface Right {
  readonly verb: string;
  /** '' is the core group. */
  readonly group: string;
  /** With its subresource, e.g. `nodes/pods`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** For authorizers that look at it, as that of nodes does. */
  readonly fieldSelector?: Readonly<Record<string, string>>;
}

const maxAnswerBytes = 1024 * 1024;

export async function reviewSelf(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<Self> {
  let date: string | undefined;
  const sentAt = clock.now();
  const answer = await client.request(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      maxBytes: maxAnswerBytes,
      onHeaders: (headers) => (date = headers.date),
    },
    signal,
  );
  const clockAheadMs = leastDifference(date, sentAt, clock.now());
  const { username, extra } = ((answer ?? {}) as { status?: { userInfo?: UserInfo } }).status?.userInfo ?? {};
  if (typeof username !== 'string') throw invalidAnswer('kube', 'the review names no user');
  const [node, name, uid] = ['node-name', 'pod-name', 'pod-uid'].map((key) => extra?.[`authentication.kubernetes.io/${key}`]?.[0]);
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  const isInPod = namespace !== undefined && serviceAccount !== undefined && name !== undefined && uid !== undefined;
  return {
    user: username,
    ...(node === undefined ? {} : { node }),
    ...(isInPod ? { pod: { namespace, serviceAccount, name, uid } } : {}),
    clockAheadMs,
  };
}

interface UserInfo {
  readonly username?: unknown;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A Date header (RFC 9110 §6.6.1) has whole seconds and was written at some time between question and answer: of the differences
 * that fit, the one that is nearest to none.
 */
function leastDifference(date: string | undefined, sentAt: number, receivedAt: number): number {
  const at = parseHttpDate(date ?? '');
  if (at === undefined) return 0;
  return Math.max(0, at - receivedAt) + Math.min(0, at + 1_000 - sentAt);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** An IMF-fixdate (RFC 9110 §5.6.7), in ms since the epoch. */
function parseHttpDate(text: string): number | undefined {
  const [, day, month = '', year, time] = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT$/.exec(text) ?? [];
  return parseInstant(`${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}-${day}T${time}Z`);
}

export async function isAllowed(client: KubeClient, right: Right, signal: AbortSignal): Promise<boolean> {
  const { verb, group, namespace, name, fieldSelector } = right;
  const [resource, subresource] = right.resource.split('/');
  const requirements = Object.entries(fieldSelector ?? {}).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const answer = await client.request(
    {
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            verb,
            group,
            resource,
            subresource,
            namespace,
            name,
            ...(requirements.length === 0 ? {} : { fieldSelector: { requirements } }),
          },
        },
      },
      maxBytes: maxAnswerBytes,
    },
    signal,
  );
  return ((answer ?? {}) as { status?: { allowed?: unknown } }).status?.allowed === true;
}

/** Rules of a role that grant the rights, as they stand in YAML; rights to one thing are one rule. */
export function formatRules(rights: readonly Right[]): string {
  const rules = new Map<string, string[]>();
  for (const { verb, group, resource, name } of rights) {
    const names = name === undefined || name === '*' ? '' : `, resourceNames: [${name}]`;
    const rule = `apiGroups: ['${group}'], resources: [${resource}]${names}`;
    rules.set(rule, [...(rules.get(rule) ?? []), `'${verb}'`]);
  }
  return [...rules].map(([rule, verbs]) => `{${rule}, verbs: [${verbs.join(', ')}]}`).join(' and ');
}
