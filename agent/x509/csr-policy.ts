// What of a certificate signing request from outside is let through: its public key, and nothing else. Called by the servers of
// Istio's certificate service and by the signers of request objects, who know whom the certificate is for. A refusal is `invalid`;
// its reason names the check.

import type { KeyObject } from 'node:crypto';
import { constants, createHash, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { SignetError } from '../runtime/errors.js';
import type { Fields } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Csr } from './csr.js';
import { isSignedBy, parseCsr } from './csr.js';
import * as der from './der.js';
import { extensionOids } from './extensions.js';
import { readPublicKey } from './public-key.js';

/** Types and sizes of keys that can be certified. */
export const certifiedKeyTypes = ['ec-p256', 'ec-p384', 'ec-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const;
export type CertifiedKeyType = (typeof certifiedKeyTypes)[number];

export interface CsrPolicy {
  /** What the request asks for beside its key and identity: refused (`strict`) or left out of the certificate (`ignore`). */
  readonly extras: 'strict' | 'ignore';
  readonly keyTypes: readonly CertifiedKeyType[];
}

/** What is signed of a request. */
export interface CheckedCsr {
  readonly publicKeySpki: Buffer;
  /** SHA-256 of it, hex. */
  readonly spkiSha256: string;
}

/** PEM with one block; what a CSR of RSA 4096 takes is 2 KiB. */
const maxPemLength = 16 * 1024;

/** The identity of a request in DER that alone says which one is meant: its one URI. Throws `invalid`. */
export function identityIn(bytes: Buffer): string {
  const { uris = [] } = readCsr(bytes).extensions.subjectAltName ?? {};
  const [uri] = uris;
  if (uri === undefined) throw refuse('csr-other-name', { uri: '' });
  if (uris.length > 1) throw refuse('csr-extra-name', { uris: uris.slice(0, 8) });
  return uri;
}

/** A request in DER for an identity. Throws `invalid` with the failed check. */
export async function checkCsr(bytes: Buffer, uri: string, policy: CsrPolicy): Promise<CheckedCsr> {
  const csr = readCsr(bytes);
  if (policy.extras === 'strict') {
    refuseExtras(csr, uri);
    refuseExtensions(csr, [extensionOids.subjectAltName]);
  }
  return await checkSigned(csr, policy);
}

/** A request in DER that shows a key and names nobody, as a PodCertificateRequest has it. Its subject says nothing, whatever it is. */
export async function checkStubCsr(bytes: Buffer, policy: CsrPolicy): Promise<CheckedCsr> {
  const csr = readCsr(bytes);
  if (policy.extras === 'strict') {
    if (csr.extensions.subjectAltName !== undefined) throw refuse('csr-extra-name');
    refuseExtensions(csr, []);
  }
  return await checkSigned(csr, policy);
}

/** A key, and the proof of those who have it, as a PodCertificateRequest before v1 has them. */
export interface ProvenKey {
  readonly publicKeySpki: Buffer;
  /** A signature over `proven`: ECDSA with SHA-256, whatever the curve, or RSASSA-PSS with SHA-256. */
  readonly proof: Buffer;
  readonly proven: Buffer;
}

export async function checkProvenKey({ publicKeySpki, proof, proven }: ProvenKey, policy: CsrPolicy): Promise<CheckedCsr> {
  const key = await certifiableKey(publicKeySpki, policy);
  const padded = key.asymmetricKeyType === 'rsa' ? { key, padding: constants.RSA_PKCS1_PSS_PADDING } : key;
  if (!(await promisify(verify)('sha256', proven, padded, proof))) throw refuse('csr-signature');
  return checked(publicKeySpki);
}

async function checkSigned(csr: Csr, policy: CsrPolicy): Promise<CheckedCsr> {
  if (!(await isSignedBy(csr, await certifiableKey(csr.publicKeySpki, policy)))) throw refuse('csr-signature');
  return checked(csr.publicKeySpki);
}

async function certifiableKey(publicKeySpki: Buffer, { keyTypes }: CsrPolicy): Promise<KeyObject> {
  const key = await readPublicKey(publicKeySpki);
  const keyType = key === undefined ? 'unreadable' : keyTypeOf(key);
  if (key === undefined || !(keyTypes as readonly string[]).includes(keyType)) throw refuse('csr-key', { keyType });
  return key;
}

function checked(publicKeySpki: Buffer): CheckedCsr {
  return { publicKeySpki, spkiSha256: createHash('sha256').update(publicKeySpki).digest('hex') };
}

function refuse(reason: ReasonCode, fields: Fields = {}, cause?: unknown): SignetError {
  return new SignetError('invalid', 'certificate request is refused', { reason, fields, cause });
}

/** The request in a PEM text of one block, DER. Throws `invalid`. */
export function pemBytes(pem: string): Buffer {
  if (pem.length > maxPemLength) throw refuse('csr-malformed', { bytes: pem.length });
  // RFC 7468 §7, and the label of old OpenSSL.
  const [, base64] =
    /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/.exec(pem) ?? [];
  if (base64 === undefined) throw refuse('csr-malformed', { fault: 'no pem' });
  return Buffer.from(base64, 'base64');
}

function readCsr(bytes: Buffer): Csr {
  try {
    return parseCsr(bytes);
  } catch (error) {
    throw refuse('csr-malformed', {}, error);
  }
}

/** A subject may be there as long as it says nothing: clients of Istio send an empty organisation. */
function refuseExtras({ subject, extensions }: Csr, uri: string): void {
  const { uris = [], otherForms = [] } = extensions.subjectAltName ?? {};
  if (otherForms.length > 0 || uris.length > 1)
    throw refuse('csr-extra-name', { uris: uris.slice(0, 8), otherForms: otherForms.map(String) });
  if (uris[0] !== uri) throw refuse('csr-other-name', { uri: uris[0] ?? '' });
  if (!saysNothing(subject)) throw refuse('csr-extra-name', { subject: subject.toString('hex').slice(0, 512) });
}

/** Other attributes too: some carry extensions by another name, and whoever signs the request as it is may heed them. */
function refuseExtensions({ extensions, otherAttributes }: Csr, allowed: readonly string[]): void {
  const others = [...extensions.types].filter((type) => !allowed.includes(type));
  if (others.length > 0) throw refuse('csr-extra-extension', { extensions: others.slice(0, 8) });
  if (otherAttributes.length > 0) throw refuse('csr-extra-attribute', { attributes: otherAttributes.slice(0, 8) });
}

function saysNothing(subject: Buffer): boolean {
  const values = der.elements(der.decode(subject)).flatMap((set) => der.elements(set, der.tags.set).map((pair) => der.elements(pair)[1]));
  return values.every((value) => value !== undefined && value.contentStart === value.end);
}

function keyTypeOf(key: KeyObject): string {
  const { namedCurve = '', modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return curves[namedCurve] ?? `ec ${namedCurve}`;
  if (key.asymmetricKeyType !== 'rsa') return key.asymmetricKeyType ?? 'unknown';
  // Small exponents are as old as the keys that have them; large ones make verifiers slow.
  return publicExponent >= 3n && publicExponent < 2n ** 33n ? `rsa-${modulusLength}` : `rsa exponent ${publicExponent}`;
}

const curves: Readonly<Record<string, CertifiedKeyType>> = { prime256v1: 'ec-p256', secp384r1: 'ec-p384', secp521r1: 'ec-p521' };
