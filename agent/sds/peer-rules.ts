// The ordered rules that say what a peer may ask for: the first that matches decides, no match means nothing.
// Used by the peer policy. Pure. A rule never looks at the name of a process, which every process chooses itself.

import type { PeerRule } from '../config.js';
import type { Pod } from '../pods/pod.js';

export type { PeerRule };

/** What rules are matched against: a pod of this node, or a process of the node itself. */
export type Subject =
  { readonly kind: 'pod'; readonly pod: Pod } | { readonly kind: 'host'; readonly uid: number; readonly unit: string | undefined };

/** What the first matching rule grants; undefined when none matches. */
export function matchRules(rules: readonly PeerRule[], subject: Subject): PeerRule['grant'] | undefined {
  return rules.find((rule) => matches(rule, subject))?.grant;
}

function matches({ pod, host }: PeerRule, subject: Subject): boolean {
  return subject.kind === 'pod' ? pod !== undefined && matchesPod(pod, subject.pod) : host !== undefined && matchesHost(host, subject);
}

function matchesPod(rule: NonNullable<PeerRule['pod']>, pod: Pod): boolean {
  if (rule.serviceAccount !== undefined && rule.serviceAccount !== `${pod.namespace}/${pod.serviceAccount}`) return false;
  return Object.entries(rule.labels ?? {}).every(([name, value]) => Object.hasOwn(pod.labels, name) && pod.labels[name] === value);
}

function matchesHost(rule: NonNullable<PeerRule['host']>, subject: { readonly uid: number; readonly unit: string | undefined }): boolean {
  return (rule.unit === undefined || rule.unit === subject.unit) && (rule.uid === undefined || rule.uid === subject.uid);
}
