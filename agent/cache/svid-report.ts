// How the states of certificates are told to people: reasons of failures and what they have in common, one log line per change,
// gauges for a scrape.

import type { Metrics } from '../metrics.js';
import type { ErrorKind, Fields } from '../runtime/errors.js';
import { kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { detailOfError, reasonFields } from '../runtime/log.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import { formatInstant } from '../runtime/time.js';
import type { Svid } from '../x509/svid.js';
import { isOverdue } from './schedule.js';
import type { SvidState } from './svid-state.js';
import { svidOf, unverifiedOf } from './svid-state.js';

/** For errors of a CA that name no reason themselves. */
const reasonsByKind: Readonly<Record<ErrorKind, ReasonCode>> = {
  unavailable: 'ca-unavailable',
  exhausted: 'ca-unavailable',
  internal: 'ca-unavailable',
  cancelled: 'ca-unavailable',
  deadline: 'ca-deadline',
  denied: 'ca-denied',
  unauthenticated: 'ca-denied',
  invalid: 'ca-refused-request',
  notFound: 'ca-refused-request',
  conflict: 'ca-refused-request',
};

/** Failures that concern whoever is asked for; when one identity gets its certificate, the others may too. */
export const commonReasons: ReadonlySet<ReasonCode> = new Set([
  'ca-unavailable',
  'ca-deadline',
  'ca-failed',
  'ca-roots-missing',
  'ca-root-unknown',
  'ca-name-mismatch',
  'ca-tls',
  'ca-token-missing',
  'ca-token-invalid',
  'ca-token-audience',
  'ca-token-expired',
  'ca-unauthenticated',
  // Of the API server, for a token of the workload.
  'kube-unavailable',
  'kube-deadline',
  'kube-tls',
  'kube-unauthenticated',
  'kube-token-missing',
  'kube-token-expired',
  'request-unanswered',
  'request-unsigned',
  'request-unserved',
]);

/** Failures that new roots may mend. */
export const rootReasons: ReadonlySet<ReasonCode> = new Set(['bundle-missing', 'trust-anchor-unknown']);

/** Why an attempt failed, with the values that were compared. */
export function toReason(error: unknown): Reason {
  return { code: reasonOf(error) ?? reasonsByKind[kindOf(error)], detail: detailOfError(error) };
}

/** One line for a change of state; `after` undefined: the identity is gone. */
export function logChange(log: Logger, id: string, before: SvidState, after: SvidState | undefined): void {
  switch (after?.status) {
    case undefined:
      log.info('identity gone', { id });
      break;
    case 'issued': {
      const { svid } = after;
      // Told for all that a root verifies again, see `logVerification`.
      if (svidOf(before) === svid) break;
      log.info(svidOf(before) === undefined ? 'certificate issued' : 'certificate renewed', {
        id,
        ...certificateFields(after),
        lifetimeSeconds: Math.round((svid.notAfter - svid.receivedAt) / 1_000),
        renewAt: formatInstant(after.renewAt),
      });
      break;
    }
    case 'retained':
      if (after.failures === 0) break;
      log.warn('renewal failed, certificate retained', { id, ...certificateFields(after), ...reasonFields(after.reason) });
      break;
    case 'unavailable':
      log.warn('certificate unavailable', { id, ...reasonFields(after.reason) });
      break;
    case 'idle':
    case 'pending':
      break;
  }
}

/** Why no published root verifies a certificate, with the root that did. */
export function rootWithdrawn({ root }: Svid): Reason {
  return { code: 'root-withdrawn', detail: `sha-256 ${root.fingerprint}` };
}

/** One line for each root that verifies certificates no more, or again: the states of those that it changed for. */
export function logVerification(log: Logger, changed: readonly SvidState[]): void {
  const groups = new Map<string, { readonly svid: Svid; readonly reason: Reason | undefined; count: number }>();
  for (const state of changed) {
    const svid = svidOf(state);
    if (svid === undefined) continue;
    const reason = unverifiedOf(state);
    const key = `${svid.root.fingerprint} ${reason?.code}`;
    const group = groups.get(key) ?? { svid, reason, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  for (const { svid, reason, count } of groups.values()) {
    const fields = { root: svid.root.fingerprint, certificates: count, id: svid.id.uri };
    if (reason === undefined) log.info('certificates are verified by a published root again', fields);
    else log.warn('certificates are renewed, as no published root verifies them', { ...fields, ...reasonFields(reason) });
  }
}

function certificateFields(state: SvidState): Fields {
  const svid = svidOf(state);
  return svid === undefined ? {} : { serial: svid.serial, notAfter: formatInstant(svid.notAfter) };
}

/** Sets the gauges that follow from all states together; to be called before a scrape. */
export function observeStates(states: ReadonlyMap<string, SvidState>, metrics: Metrics, now: number): void {
  const byStatus: Record<SvidState['status'], number> = { idle: 0, pending: 0, issued: 0, retained: 0, unavailable: 0 };
  const byReason = new Map<ReasonCode, number>();
  let overdue = 0;
  let unverified = 0;
  let earliest = Infinity;
  for (const state of states.values()) {
    byStatus[state.status] += 1;
    if (state.status !== 'issued') byReason.set(state.reason.code, (byReason.get(state.reason.code) ?? 0) + 1);
    if (unverifiedOf(state) !== undefined) unverified += 1;
    const svid = svidOf(state);
    if (svid === undefined) continue;
    earliest = Math.min(earliest, svid.expiresAt);
    if (isOverdue(svid, now)) overdue += 1;
  }
  for (const [state, count] of Object.entries(byStatus)) metrics.identities.set({ state }, count);
  metrics.identitiesWithReason.reset();
  for (const [reason, count] of byReason) metrics.identitiesWithReason.set({ reason }, count);
  metrics.identitiesUnverified.set(unverified);
  metrics.renewalsOverdue.set(overdue);
  metrics.earliestExpiry.set(earliest === Infinity ? 0 : earliest / 1_000);
  metrics.outageBudget.set(earliest === Infinity ? 0 : Math.max(0, earliest - now) / 1_000);
}
