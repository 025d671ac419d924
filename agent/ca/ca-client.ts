// What an upstream CA is to the certificate cache and the forwarder of CSRs, and the one list of checks that every answer of
// every CA must pass. Both check what `request` gives them; a client never judges answers itself.

import { timingSafeEqual } from 'node:crypto';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Fields } from '../runtime/errors.js';
import { SignetError } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { certificateFields, findChain } from '../x509/chain.js';
import type { PrivateKey, SigningKey, SubjectProfile } from '../x509/csr.js';
import { clientAuth, serverAuth } from '../x509/extensions.js';
import { readCertificates } from '../x509/pem.js';
import { keyIdOf } from '../x509/sign.js';
import { Svid } from '../x509/svid.js';
import type { Token } from './token.js';

export interface CaRequest {
  readonly id: SpiffeId;
  /** DER. */
  readonly csr: Buffer;
  /**
   * What the request is made with, for a CA that wants another form of it. The same as before while the CA may still answer.
   * Of somebody else's request the public half alone.
   */
  readonly key: SigningKey | ForeignKey;
  /** What is asked for, in ms; the CA may give less. */
  readonly lifetimeMs: number;
  /** Who sent the request, for a CA that is to see them and not this agent. */
  readonly caller?: Caller;
}

export type ForeignKey = Pick<SigningKey, 'publicKeySpki'>;

/** Whether the key is one that this agent has. */
export const isOwnKey = (key: CaRequest['key']): key is SigningKey => 'sign' in key;

/** Somebody else as a CA would see them if it were asked directly. */
export interface Caller {
  readonly token: Token;
  /** Whether the request names the identity; otherwise the CA takes it from the token. */
  readonly impersonates: boolean;
  /** What they call this cluster; undefined: the header is not sent. */
  readonly clusterId: string | undefined;
}

/** An answer as received. */
export interface CaAnswer {
  /** PEM. */
  readonly elements: readonly Buffer[];
  /** What the upstream that gave it may chain to; empty: none known yet. */
  readonly roots: readonly Certificate[];
  /** The upstream that gave it, for logs and metrics. */
  readonly upstream: string;
  /** When whoever signed it wants it renewed, ms since the epoch; undefined: that is left to us. */
  readonly refreshAt?: number | undefined;
}

export interface CaClient {
  /** The upstream, for logs and metrics. */
  readonly name: string;
  /** Where it is; undefined when it is no address. */
  readonly endpoint?: string;
  /** The subject this CA wants to see in a CSR. */
  readonly subject: SubjectProfile;
  /** What answers may chain to; empty: none known yet. A change may mend what was refused before. */
  readonly roots: Watched<readonly Certificate[]>;
  /** Whether it can do what is asked for, on behalf of others. Default: whatever it is. */
  readonly serves?: (request: CaRequest) => boolean;
  /**
   * Asks for a certificate and resolves with what `accept` makes of the answer. An answer that it throws at is a failure of
   * whoever gave it, like any other. Errors are SignetErrors; the deadline of the whole and retries are the caller's.
   */
  request<T>(request: CaRequest, accept: (answer: CaAnswer) => T, signal: AbortSignal): Promise<T>;
}

export function forwardUnserved(): SignetError {
  return new SignetError('invalid', 'no upstream takes such a request of others', { reason: 'forward-unserved' });
}

export interface AnswerLimits {
  /** Of all elements together. Default 256 KiB. */
  readonly maxBytes: number;
  /** Certificates in all elements together, repeated ones included. Default 32. */
  readonly maxCertificates: number;
}

export interface ExpectedChain {
  readonly id: SpiffeId;
  readonly key: ForeignKey;
  readonly roots: readonly Certificate[];
  /** ms since the epoch. */
  readonly now: number;
  /** How far notBefore may lie ahead of our clock, in ms. Default 60 s. */
  readonly toleranceMs?: number;
  readonly limits?: AnswerLimits;
}

export interface ExpectedAnswer extends ExpectedChain {
  readonly key: Pick<PrivateKey, 'publicKeySpki' | 'pkcs8Pem'>;
  /** When the answer came, ms since the epoch. Default: now. */
  readonly receivedAt?: number;
  /** As in the answer. */
  readonly refreshAt?: number | undefined;
}

const defaultLimits: AnswerLimits = { maxBytes: 256 * 1024, maxCertificates: 32 };
const defaultToleranceMs = 60_000;

/**
 * Checks an answer and gives its chain: leaf first, each followed by its issuer, without the root. The elements may hold any
 * number of certificates in any order, roots included. Throws with the reason of the check that failed; its fields hold the
 * values that were compared.
 */
export function acceptChain(elements: readonly Buffer[], expected: ExpectedChain): Chain {
  return checkedPath(readElements(elements, expected.limits ?? defaultLimits), expected).chain;
}

/** The same for an answer that is for a key of ours: the SVID. */
export function acceptAnswer(elements: readonly Buffer[], expected: ExpectedAnswer): Svid {
  return acceptCertificates(readElements(elements, expected.limits ?? defaultLimits), expected);
}

/** The same for an answer whose certificates have been read. */
export function acceptCertificates(certificates: readonly Certificate[], expected: ExpectedAnswer): Svid {
  const { id, key, now, receivedAt = now, refreshAt } = expected;
  return new Svid({ id, ...checkedPath(certificates, expected), privateKeyPem: key.pkcs8Pem(), receivedAt, refreshAt });
}

/** Leaf first. */
export type Chain = readonly [Certificate, ...Certificate[]];

interface Path {
  readonly chain: Chain;
  readonly root: Certificate;
}

function checkedPath(certificates: readonly Certificate[], expected: ExpectedChain): Path {
  const { id, key, roots, now, toleranceMs = defaultToleranceMs } = expected;
  const leaf = findLeaf(certificates, key);
  checkNames(leaf, id);
  checkUsage(leaf);
  const path = findChain(leaf, { candidates: certificates, roots, now, toleranceMs, from: 'leaf' });
  return { chain: [leaf, ...path.slice(1, -1)], root: path.at(-1) ?? leaf };
}

function refuse(reason: ReasonCode, message: string, fields: Fields): SignetError {
  return new SignetError('invalid', message, { reason, fields });
}

function readElements(elements: readonly Buffer[], limits: AnswerLimits): readonly Certificate[] {
  const { maxBytes, maxCertificates } = limits;
  const bytes = elements.reduce((sum, element) => sum + element.length, 0);
  if (bytes > maxBytes || elements.length > maxCertificates) {
    throw refuse('answer-too-large', 'answer is over the limits', { bytes, elements: elements.length, maxBytes, maxCertificates });
  }
  const certificates: Certificate[] = [];
  for (const [index, element] of elements.entries()) {
    certificates.push(
      ...readCertificates(element, { source: `element ${index}`, maxBytes, maxCertificates: maxCertificates - certificates.length }),
    );
  }
  if (certificates.length === 0) throw refuse('answer-empty', 'answer holds no certificate', { elements: elements.length });
  return certificates;
}

function findLeaf(certificates: readonly Certificate[], key: ForeignKey): Certificate {
  const ours = (certificate: Certificate): boolean =>
    certificate.publicKeySpki.length === key.publicKeySpki.length && timingSafeEqual(certificate.publicKeySpki, key.publicKeySpki);
  const leaf = certificates.find(ours);
  if (leaf !== undefined) return leaf;
  const likely = certificates.find((certificate) => !certificate.isCa);
  throw refuse('key-mismatch', 'no certificate is for the requested key', {
    requestedKeyId: keyIdOf(key.publicKeySpki),
    receivedKeyId: likely === undefined ? undefined : keyIdOf(likely.publicKeySpki),
  });
}

function checkNames(leaf: Certificate, id: SpiffeId): void {
  const [uri, ...more] = leaf.uriSans;
  if (uri === id.uri && more.length === 0 && leaf.otherSans === 0) return;
  throw refuse('san-mismatch', 'certificate does not name exactly the requested identity', {
    requested: id.uri,
    received: leaf.uriSans.slice(0, 8),
    otherNames: leaf.otherSans,
  });
}

// RFC 5280 §4.2.1.3, §4.2.1.9, §4.2.1.12; SPIFFE X.509-SVID §4.
function checkUsage(leaf: Certificate): void {
  const { keyUsage, extendedKeyUsage } = leaf;
  const fault = leaf.isCa
    ? 'leaf is a ca'
    : keyUsage?.has('digitalSignature') !== true
      ? 'leaf has no key usage for digital signatures'
      : keyUsage.has('keyCertSign') || keyUsage.has('cRLSign')
        ? 'leaf has a key usage of a ca'
        : extendedKeyUsage?.has(serverAuth) !== true || !extendedKeyUsage.has(clientAuth)
          ? 'leaf is not for both ends of tls'
          : undefined;
  if (fault === undefined) return;
  throw refuse('leaf-not-allowed', fault, {
    ...certificateFields(leaf),
    keyUsage: [...(keyUsage ?? [])],
    extendedKeyUsage: [...(extendedKeyUsage ?? [])],
  });
}
