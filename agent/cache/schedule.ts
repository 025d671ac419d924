// When an SVID is renewed, in what order requests go to the CA, and how late a retry may be. Pure; called by the cache.
// Due times are instants of the wall clock, so that a suspended machine or a corrected clock cannot stretch them.

import type { Priority } from '../ca/call-queue.js';
import { backoff } from '../runtime/time.js';

/** What the schedule needs to know of an SVID. Its life runs from the moment we received it to the first notAfter of its chain. */
export interface Lifetime {
  readonly receivedAt: number;
  /** The validity of the leaf (RFC 5280 §4.1.2.5), by which clients reckon. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Earliest notAfter of the chain: from then on peers refuse it (RFC 5280 §6.1.3 checks each certificate). */
  readonly expiresAt: number;
  /** When whoever signed it wants it renewed, if that was said. */
  readonly refreshAt?: number | undefined;
  /** SHA-256 of the leaf in hex: the jitter is drawn from it, so a certificate keeps its due time over restarts. */
  readonly fingerprint: string;
}

/** The wall clock is looked at this often at least. */
export const lookEveryMs = 30_000;

/** The wall clock and the monotonic clock differ by more than this between two looks: the wall clock stepped or the machine slept. */
export const clockStepMs = 60_000;

/** An identity is asked for again no sooner after success than this, however short the CA makes its certificates. */
const minIntervalMs = 2_000;

/** Whatever a signer says, a certificate is not renewed sooner after it came than this. */
const minRefreshMs = 60_000;

/** Identities whose first pod is younger than this retry fast: a CA often learns of a new pod a moment after the node does. */
const youngMs = 60_000;

/** How long the attempts take to begin that changed roots ask for, which a whole fleet sees at once. */
const soonMs = 10_000;

/** Somebody who waits cuts a back-off, but never below this. */
const minRetryMs = 1_000;

export function lifeMs({ receivedAt, expiresAt }: Lifetime): number {
  return Math.max(0, expiresAt - receivedAt);
}

/** How long before its end a certificate of that life is tried a last time: a tenth of it, at most 5 min. */
function marginMs(life: number): number {
  return Math.min(life / 10, 5 * 60_000);
}

// When clients such as ztunnel come back for a new one: halfway from notBefore to notAfter, which is before half of the life,
// since CAs date back. How far back they may is bounded: one that dates back by years must not be asked without pause.
function msUntilHalf({ receivedAt, notBefore, notAfter }: Lifetime, life: number): number {
  return Math.min(Math.max((notBefore + notAfter) / 2 - receivedAt, life / 4), life / 2);
}

/**
 * The renewal is due after 70 % to 90 % of the time until clients look for it, at half of the validity; where the CA dates
 * nothing back these are 35 % to 45 % of the life, and never less than half of that. Spread, so that certificates issued
 * together are not renewed together. Sooner where the signer says so.
 */
export function renewAt(lifetime: Lifetime): number {
  const { receivedAt, refreshAt = Infinity } = lifetime;
  const planned = receivedAt + Math.max(minIntervalMs, msUntilHalf(lifetime, lifeMs(lifetime)) * (0.7 + draw(lifetime) / 5));
  return Math.min(planned, Math.max(refreshAt, receivedAt + minRefreshMs));
}

/** 0 ≤ x < 1, the same for the same certificate. */
function draw({ fingerprint }: Lifetime): number {
  return Number.parseInt(fingerprint.slice(0, 8), 16) / 2 ** 32;
}

/** Soon after `now`, but spread: over 10 s, or a tenth of the life if that is shorter. */
export function soonAfter(lifetime: Lifetime, now: number): number {
  return now + draw(lifetime) * Math.min(soonMs, lifeMs(lifetime) / 10);
}

/** Whether a renewal is late by more than a tenth of the life. */
export function isOverdue(lifetime: Lifetime, now: number): boolean {
  return now > renewAt(lifetime) + lifeMs(lifetime) / 10;
}

/** `served` is the certificate that is valid now; without one every handshake fails, with one that is not `verified` many do. */
export function priorityOf(waitedFor: boolean, served: Lifetime | undefined, verified: boolean, now: number): Priority {
  if (waitedFor) return 'waited-for';
  if (served === undefined) return 'new';
  if (!verified) return 'near-expiry';
  return served.expiresAt - now < lifeMs(served) / 4 ? 'near-expiry' : 'routine';
}

export interface Failure {
  /** Failed attempts in a row, this one included. */
  readonly failures: number;
  /** When the first certificate of the identity was wanted. */
  readonly since: number;
  /** The certificate that is kept meanwhile. */
  readonly served: Lifetime | undefined;
  /** The lifetime that is asked for: what lives shorter is retried faster. */
  readonly lifetimeMs: number;
}

/**
 * When to try again after a failure: 0.2 s doubling to 5 s while the identity is young, else 1 s doubling to 60 s, with
 * jitter; never so late that a kept certificate ends without a last try.
 */
export function retryAt(failure: Failure, now: number, random: () => number): number {
  const ceiling = Math.min(60_000, Math.max(minRetryMs, failure.lifetimeMs / 10));
  const young = now - failure.since < youngMs;
  const limits = young ? { minMs: 200, maxMs: Math.min(5_000, ceiling) } : { minMs: minRetryMs, maxMs: ceiling };
  const planned = now + backoff(failure.failures, limits, random);
  if (failure.served === undefined) return planned;
  const lastTryAt = failure.served.expiresAt - marginMs(lifeMs(failure.served));
  return now < lastTryAt ? Math.min(planned, lastTryAt) : planned;
}

/** How soon somebody who waits may have another try, given the time since the last failure. */
export function hastenedMs(sinceFailureMs: number): number {
  return Math.max(0, minRetryMs - sinceFailureMs);
}
