// What the control socket tells: the shapes of its JSON, and the pure way from the state of the agent to them. Shared by the
// server (admin.ts) and its client (client.ts). Never key material.

import type { ErrorKind } from '../runtime/errors.js';
import type { ReadinessState } from '../runtime/lifecycle.js';
import type { LogLevel } from '../runtime/log.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import { reasons } from '../runtime/reasons.js';
import { formatInstant } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';

/** A reason with its words, as clients see it. */
export interface ReasonStatus {
  readonly code: ReasonCode;
  readonly sentence: string;
  readonly detail: string;
  readonly action: string;
}

/** One identity of this node. Instants are ISO 8601 in UTC. */
export interface IdentityStatus {
  readonly name: string;
  readonly state: 'idle' | 'pending' | 'issued' | 'retained' | 'unavailable';
  /** UIDs of its pods; empty while it lingers. */
  readonly pods: readonly string[];
  /** Serial number of the certificate in use, hex. */
  readonly serial?: string;
  readonly notAfter?: string;
  /** When the next certificate is asked for. */
  readonly nextAttempt?: string;
  readonly reason?: ReasonStatus;
  /** Why peers may refuse the certificate in use, beside the reason why its renewal fails. */
  readonly unverified?: ReasonStatus;
}

export interface SourceStatus {
  /** What comes from it: `pods`, `roots` or `certificates`. */
  readonly of: string;
  readonly name: string;
  /** Why its view is missing or old; of `certificates` why none come, or none that are of use; absent while it works. */
  readonly reason?: ReasonStatus;
}

export interface CheckStatus {
  readonly name: string;
  /** `unknown`: the last look could not tell, and nothing was at fault before. */
  readonly state: 'ok' | 'fault' | 'unknown';
  /** Of a fault. */
  readonly reason?: ReasonStatus;
}

/** What the agent needs from outside, looked at again and again. */
export interface SelfCheckStatus {
  /** Absent before it looked for the first time. */
  readonly lookedAt?: string;
  readonly checks: readonly CheckStatus[];
}

export interface Status {
  readonly version: string;
  readonly trustDomain: string;
  readonly node: string;
  readonly pid: number;
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  /** Why it is not ready, or what is degraded, by gate. */
  readonly reasons: readonly ({ readonly gate: string } & ReasonStatus)[];
  readonly logLevel: LogLevel;
  readonly identities: readonly IdentityStatus[];
  readonly sources: readonly SourceStatus[];
  readonly selfCheck: SelfCheckStatus;
  /** Absent without such an endpoint. */
  readonly localCa?: LocalCaStatus;
  /** Absent while there is none. */
  readonly bundle?: { readonly version: string; readonly roots: number; readonly notAfter: string };
  /** How long a CA outage that began now can last before the first identity lapses; absent without certificates. */
  readonly outageBudgetSeconds?: number;
}

/** What the local CA endpoint handed out since the start and is for an identity that is still on the node. */
export interface LocalCaStatus {
  /** Where it listens; absent while it does not. */
  readonly address?: { readonly host: string; readonly port: number };
  /** In the order in which they lapse, unless their proxies renew them. */
  readonly certificates: readonly { readonly name: string; readonly notAfter: string; readonly state: 'valid' | 'lapsed' }[];
}

/** The open streams, at most 1,000 of them. */
export interface StreamsStatus<Stream = unknown> {
  readonly total: number;
  readonly streams: readonly Stream[];
}

/** What an error of the control socket says. */
export interface AdminFault {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly reason?: ReasonStatus;
}

interface CertificateView {
  readonly serial: string;
  readonly notAfter: number;
  /** Earliest notAfter in the chain. */
  readonly expiresAt: number;
}

/** The states of the certificate cache, as far as they are shown. */
export type CertificateState =
  | { readonly status: 'idle' | 'pending'; readonly reason: Reason }
  | { readonly status: 'issued'; readonly svid: CertificateView; readonly renewAt: number }
  | {
      readonly status: 'retained';
      readonly svid: CertificateView;
      readonly reason: Reason;
      readonly retryAt: number;
      /** Why peers may refuse it. */
      readonly unverified?: Reason;
    }
  | { readonly status: 'unavailable'; readonly reason: Reason; readonly retryAt: number };

export interface AdminSources {
  readonly about: { readonly version: string; readonly trustDomain: string; readonly node: string };
  readonly readiness: Watched<ReadinessState>;
  readonly identities: Watched<ReadonlyMap<string, { readonly pods: readonly string[] }>>;
  readonly cache: { states(): ReadonlyMap<string, CertificateState>; renew(uri: string): void };
  /** Why a name is not among the identities. */
  readonly explain: (uri: string) => Reason;
  readonly sources: readonly { readonly of: string; readonly name: string; reason(): Reason | undefined }[];
  readonly selfCheck: {
    readonly checks: readonly {
      readonly name: string;
      readonly fault: Watched<Reason | undefined>;
      /** Whether the last look could tell. */
      readonly isTold: Watched<boolean>;
    }[];
    /** ms since the epoch. */
    readonly lookedAt: Watched<number | undefined>;
  };
  /** Absent without such an endpoint. */
  readonly localCa?: {
    readonly address: Watched<LocalCaStatus['address'] | undefined>;
    readonly issued: { all(): ReadonlyMap<string, { readonly notAfter: number }> };
  };
  readonly bundle: Watched<{ readonly version: string; readonly roots: readonly { readonly notAfter: number }[] } | undefined>;
  readonly streams: (limit: number) => StreamsStatus;
  readonly logLevel: { readonly level: LogLevel; setLevel(level: LogLevel): void };
}

/** The whole status at the instant `now`. */
export function describeStatus(view: AdminSources, now: number, uptimeMs: number): Status {
  const { about, readiness, identities, cache, sources, selfCheck, bundle, logLevel } = view;
  const states = cache.states();
  const expiries = [...states.values()].flatMap((state) => ('svid' in state ? [state.svid.expiresAt] : []));
  const { ready, reasons: gates } = readiness.value;
  return {
    ...about,
    pid: process.pid,
    uptimeSeconds: Math.floor(uptimeMs / 1000),
    ready,
    reasons: [...gates].map(([gate, reason]) => ({ gate, ...toReasonStatus(reason) })),
    logLevel: logLevel.level,
    identities: [...states]
      .map(([name, state]) => describeIdentity(name, state, identities.value.get(name)?.pods ?? []))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    sources: sources.map((source) => ({ of: source.of, name: source.name, ...withReason(source.reason()) })),
    selfCheck: describeSelfCheck(selfCheck),
    ...(view.localCa === undefined ? {} : { localCa: describeLocalCa(view.localCa, now) }),
    ...(bundle.value === undefined ? {} : { bundle: describeBundle(bundle.value.version, bundle.value.roots) }),
    ...(expiries.length === 0 ? {} : { outageBudgetSeconds: Math.max(0, Math.floor((earliest(expiries) - now) / 1000)) }),
  };
}

function describeIdentity(name: string, state: CertificateState, pods: readonly string[]): IdentityStatus {
  const nextAt = 'renewAt' in state ? state.renewAt : 'retryAt' in state ? state.retryAt : undefined;
  return {
    name,
    state: state.status,
    pods,
    ...('svid' in state ? { serial: state.svid.serial, notAfter: formatInstant(state.svid.notAfter) } : {}),
    ...(nextAt === undefined ? {} : { nextAttempt: formatInstant(nextAt) }),
    ...withReason('reason' in state ? state.reason : undefined),
    ...('unverified' in state && state.unverified.code !== state.reason.code ? { unverified: toReasonStatus(state.unverified) } : {}),
  };
}

function describeSelfCheck({ checks, lookedAt: { value: at } }: AdminSources['selfCheck']): SelfCheckStatus {
  return {
    ...(at === undefined ? {} : { lookedAt: formatInstant(at) }),
    checks: checks.map(({ name, fault, isTold }) => ({
      name,
      state: fault.value !== undefined ? 'fault' : isTold.value ? 'ok' : 'unknown',
      ...withReason(fault.value),
    })),
  };
}

function describeLocalCa({ address, issued }: NonNullable<AdminSources['localCa']>, now: number): LocalCaStatus {
  const inOrder = [...issued.all()].sort(([, a], [, b]) => a.notAfter - b.notAfter);
  return {
    ...(address.value === undefined ? {} : { address: address.value }),
    certificates: inOrder.map(([name, { notAfter }]) => ({
      name,
      notAfter: formatInstant(notAfter),
      state: notAfter > now ? 'valid' : 'lapsed',
    })),
  };
}

function describeBundle(version: string, roots: readonly { readonly notAfter: number }[]): NonNullable<Status['bundle']> {
  return { version, roots: roots.length, notAfter: formatInstant(earliest(roots.map(({ notAfter }) => notAfter))) };
}

const earliest = (instants: readonly number[]): number => instants.reduce((first, at) => Math.min(first, at), Infinity);

export function toReasonStatus({ code, detail }: Reason): ReasonStatus {
  return { code, sentence: reasons[code].sentence, detail, action: reasons[code].action };
}

export function withReason(reason: Reason | undefined): { readonly reason?: ReasonStatus } {
  return reason === undefined ? {} : { reason: toReasonStatus(reason) };
}
