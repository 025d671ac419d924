// Whom a step of a rotation that is forced would break, as a pure function of what was handed out (the audit log). Used by those who
// ask for the step. It names too many rather than too few: who reads roots from a ConfigMap may have them already.

import type { ForcedStep, RotationState } from './rotation.js';

/** A certificate that was handed out. */
export interface Grant {
  readonly identity: string;
  /** When, ms since the epoch. */
  readonly at: number;
  /** ms since the epoch. */
  readonly notAfter: number;
  /** Subject key identifier of its issuer, hex. */
  readonly issuerKeyId: string;
}

/**
 * Sorted, each once. `switch`: whoever got a certificate before the next root was everywhere may not know that root, and refuses
 * what the next issuer signs. `retire`: certificates under a former root are refused.
 */
export function identitiesAtRisk(state: RotationState, step: ForcedStep, grants: Iterable<Grant>, now: number): readonly string[] {
  const publishedAt = state.next?.publishedAt ?? now;
  const former = new Set(state.former.map(({ certificate }) => certificate.subjectKeyId));
  const isAtRisk = ({ at, issuerKeyId }: Grant): boolean => (step === 'switch' ? at <= publishedAt : former.has(issuerKeyId));
  const names = new Set<string>();
  for (const grant of grants) if (grant.notAfter > now && isAtRisk(grant)) names.add(grant.identity);
  return [...names].sort();
}
