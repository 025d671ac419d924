// A signing key with its chain: the checked content of issuer files. Made at start and by the owner that follows the files;
// the built-in CA signs with it. An Issuer that exists has passed every check; the key is reachable through `sign` alone.

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import { readRegularFile } from '../runtime/followed-file.js';
import type { ReasonCode } from '../runtime/reasons.js';
import { formatInstant } from '../runtime/time.js';
import type { Certificate } from './certificate.js';
import { certificateFields, findChain } from './chain.js';
import { readCertificates } from './pem.js';
import { isQuick, signatureAlgorithmOf } from './signature-algorithms.js';
import type { Signer, SignerName } from './sign.js';

export interface Issuer extends Signer {
  readonly certificate: Certificate;
  /** What goes along with a leaf: this issuer's certificate and those above it, without the root. Empty when it is the root. */
  readonly chain: readonly Certificate[];
  readonly roots: readonly Certificate[];
  readonly name: SignerName;
  /** The earliest notAfter from the issuer's certificate up to its root, ms since the epoch. */
  readonly notAfter: number;
}

export interface IssuerFiles {
  /** PEM: the issuer's certificate first; may hold its chain and root too. */
  readonly certificate: string;
  /** PEM: PKCS#8, SEC 1 or PKCS#1, not encrypted. */
  readonly privateKey: string;
  /** PEM: more of the chain. */
  readonly chain?: string;
  /** PEM. Default: the last self-signed certificate of the other files. */
  readonly roots?: string;
}

const maxFileBytes = 1024 * 1024;

/** Reads and checks the files. Throws `invalid` with an `issuer-…` reason that names the failed check. */
export async function loadIssuer(files: IssuerFiles, now: number): Promise<Issuer> {
  const [own, chain, roots, key] = await Promise.all([
    readCertificateFile(files.certificate),
    files.chain === undefined ? [] : readCertificateFile(files.chain),
    files.roots === undefined ? undefined : readCertificateFile(files.roots),
    readKeyFile(files.privateKey),
  ]);
  return createIssuer({ certificates: [...own, ...chain], roots, key, now });
}

interface IssuerParts {
  readonly certificates: readonly Certificate[];
  readonly roots: readonly Certificate[] | undefined;
  readonly key: KeyObject;
  readonly now: number;
}

/** Checks that the parts make an issuer, in the order in which a person would look. */
export function createIssuer(parts: IssuerParts): Issuer {
  const { certificates, key, now } = parts;
  const certificate = certificates[0];
  if (certificate === undefined) throw refused('issuer-unreadable', 'issuer file holds no certificate', {});
  const fields = certificateFields(certificate);
  const weakness = certificate.keyWeakness;
  if (weakness !== undefined) throw refused('issuer-weak', 'issuer key is not allowed', { ...fields, key: weakness });
  // Keys of two types are not compared: OpenSSL would leave an error behind that fails the next read of a key.
  const ours = key.asymmetricKeyType === certificate.publicKey.asymmetricKeyType && createPublicKey(key).equals(certificate.publicKey);
  if (!ours) throw refused('issuer-key-mismatch', 'issuer key belongs to another certificate', fields);
  if (!certificate.isCa || certificate.keyUsage?.has('keyCertSign') !== true) {
    throw refused('issuer-not-ca', 'issuer certificate is no ca certificate', fields);
  }
  const roots = parts.roots ?? certificates.filter((each) => each.selfSigned).slice(-1);
  const path = findPath(certificate, certificates, roots, now);
  return {
    ...createSigner(key),
    certificate,
    chain: path.slice(0, -1),
    roots,
    name: { subject: certificate.subject, keyId: certificate.subjectKeyId ?? '' },
    notAfter: Math.min(...path.map((each) => each.notAfter)),
  };
}

/** Throws `unavailable`, reason `issuer-expired`, while it must not sign: before its time, or past that of its chain. */
export function checkValidity({ certificate, notAfter }: Issuer, now: number): void {
  const { notBefore } = certificate;
  if (now >= notBefore && now < notAfter) return;
  throw new SignetError('unavailable', 'issuer is not valid now', {
    reason: 'issuer-expired',
    fields: { now: formatInstant(now), notBefore: formatInstant(notBefore), notAfter: formatInstant(notAfter) },
  });
}

const issuerReasons: ReadonlyMap<ReasonCode | undefined, ReasonCode> = new Map([
  ['certificate-expired', 'issuer-expired'],
  ['certificate-not-yet-valid', 'issuer-expired'],
  ['key-weak', 'issuer-weak'],
]);

function findPath(
  certificate: Certificate,
  candidates: readonly Certificate[],
  roots: readonly Certificate[],
  now: number,
): readonly Certificate[] {
  try {
    return findChain(certificate, { candidates, roots, now, toleranceMs: 0, from: 'issuer' });
  } catch (cause) {
    if (!(cause instanceof SignetError)) throw cause;
    const { fields } = cause;
    throw new SignetError('invalid', 'issuer or its chain fails a check', {
      cause,
      reason: issuerReasons.get(cause.reason) ?? 'issuer-chain-invalid',
      fields,
    });
  }
}

function refused(reason: ReasonCode, message: string, fields: SignetError['fields']): SignetError {
  return new SignetError('invalid', message, { reason, fields });
}

async function readCertificateFile(path: string): Promise<Certificate[]> {
  try {
    return readCertificates(await readRegularFile(path, maxFileBytes), { source: path, maxBytes: maxFileBytes });
  } catch (cause) {
    throw new SignetError('invalid', 'issuer certificate file cannot be read', { cause, reason: 'issuer-unreadable', fields: { path } });
  }
}

/** A private key from a PEM file; its text is wiped. */
export async function readKeyFile(path: string): Promise<KeyObject> {
  let text: Buffer | undefined;
  try {
    text = await readRegularFile(path, maxFileBytes);
    return createPrivateKey(text);
  } catch (cause) {
    throw new SignetError('invalid', 'issuer key file cannot be read', { cause, reason: 'issuer-unreadable', fields: { path } });
  } finally {
    text?.fill(0);
  }
}

/** A signer with the key in its closure. */
export function createSigner(key: KeyObject): Signer {
  const algorithm = signatureAlgorithmOf(key);
  if (isQuick(key)) return { algorithm, sign: async (data) => sign(algorithm.digest, data, key) };
  return {
    algorithm,
    sign: async (data) =>
      await new Promise((resolve, reject) => {
        sign(algorithm.digest, data, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
      }),
  };
}
