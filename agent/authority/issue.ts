// Signs what was decided: bounds of the lifetime, the leaf, and the answer around it. Called by the service and by the signers of
// request objects.

import { randomBytes } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { Issuer } from '../x509/issuer.js';
import { checkValidity } from '../x509/issuer.js';
import { formatCertificates, formatPem } from '../x509/pem.js';
import { backdated, emptyName, signCertificate } from '../x509/sign.js';
import type { IssuedFacts } from './audit.js';

export interface LifetimeBounds {
  /** Of a request that names none. */
  readonly lifetimeMs: number;
  readonly minLifetimeMs: number;
  readonly maxLifetimeMs: number;
}

export interface IssueOptions {
  /** Read anew for each signature. */
  readonly issuer: Watched<Issuer>;
  /** What callers are told to verify others with. */
  readonly roots: Watched<readonly Certificate[]>;
  readonly bounds: LifetimeBounds;
  readonly clock: Clock;
}

export interface Issued {
  /** PEM: leaf, intermediates, all roots in one. */
  readonly elements: readonly string[];
  readonly facts: IssuedFacts;
  /** In whole seconds, as ms. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** PEM of leaf and intermediates. */
export function chainOf({ elements }: Issued): string {
  return elements.slice(0, -1).join('');
}

export interface CertificateOrder {
  readonly uri: string;
  readonly publicKeySpki: Buffer;
  /** 0: as the CA likes. */
  readonly lifetimeMs: number;
  /** Whether the lifetime begins with notBefore, which is a little back, and not now. Default false. */
  readonly fromNotBefore?: boolean;
}

/** Throws `invalid` for a lifetime out of bounds, `unavailable` while the issuer is not valid. */
export type Issue = (order: CertificateOrder) => Promise<Issued>;

export function createIssue({ issuer: current, roots, bounds, clock }: IssueOptions): Issue {
  let prepared: Prepared | undefined;
  return async ({ uri, publicKeySpki, lifetimeMs, fromNotBefore = false }) => {
    const issuer = current.value;
    if (prepared?.issuer !== issuer || prepared.roots !== roots.value) prepared = prepare(issuer, roots.value);
    const { rest } = prepared;
    const now = clock.now();
    const wanted = boundedLifetime(lifetimeMs, bounds);
    checkValidity(issuer, now);
    const life = Math.min(wanted, issuer.notAfter - now);
    const notBefore = wholeSeconds(backdated(now, life));
    const notAfter = wholeSeconds((fromNotBefore ? notBefore : now) + life);
    const serial = randomBytes(16);
    const leaf = await signCertificate(issuer, issuer.name, {
      profile: 'leaf',
      subject: emptyName,
      publicKeySpki,
      uri,
      serial,
      notBefore,
      notAfter,
    });
    return {
      elements: [formatPem('CERTIFICATE', leaf), ...rest],
      facts: { serial: serial.toString('hex'), issuerKeyId: issuer.name.keyId, notAfter: formatInstant(notAfter) },
      notBefore,
      notAfter,
    };
  };
}

/** As a certificate has it (RFC 5280 §4.1.2.5). */
function wholeSeconds(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}

/** What every answer under one issuer has in common. */
interface Prepared {
  readonly issuer: Issuer;
  readonly roots: readonly Certificate[];
  /**
   * One intermediate each, then all roots in one. Clients of this service take the roots from the last element, read one block of
   * each other, and refuse an answer of fewer than two.
   */
  readonly rest: readonly string[];
}

function prepare(issuer: Issuer, roots: readonly Certificate[]): Prepared {
  return { issuer, roots, rest: [...issuer.chain.map((each) => formatPem('CERTIFICATE', each.der)), formatCertificates(roots)] };
}

/** The texts are read by clients: that of the upper bound as istiod says it, which agents learn from. */
function boundedLifetime(askedMs: number, { lifetimeMs, minLifetimeMs, maxLifetimeMs }: LifetimeBounds): number {
  if (askedMs === 0) return lifetimeMs;
  if (askedMs >= minLifetimeMs && askedMs <= maxLifetimeMs) return askedMs;
  const text =
    askedMs > maxLifetimeMs
      ? `the requested TTL is greater than the max allowed TTL ${maxLifetimeMs / 1_000}s`
      : `the requested TTL is less than ${minLifetimeMs / 1_000}s`;
  throw new SignetError('invalid', text, { reason: 'lifetime-refused', fields: { askedSeconds: askedMs / 1_000 } });
}
