// The signature algorithms that Signet makes and accepts, in one table. Used to sign, and to verify certificates and CSRs.
// SHA-1 and MD5 are not in it, and RSASSA-PSS is not: no CA of workloads that we know of uses it.

import type { KeyObject } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import type { Asn1 } from './der.js';
import * as der from './der.js';

export interface SignatureAlgorithm {
  /** Dotted OID. */
  readonly oid: string;
  readonly keyType: 'rsa' | 'ec';
  readonly digest: 'sha256' | 'sha384' | 'sha512';
  /** AlgorithmIdentifier: parameters are absent for ECDSA (RFC 5758 §3.2) and NULL for RSA (RFC 4055 §5). */
  readonly identifier: Asn1;
}

type Digest = SignatureAlgorithm['digest'];

const ecdsa = (oid: string, digest: Digest): SignatureAlgorithm => ({
  oid,
  keyType: 'ec',
  digest,
  identifier: der.sequence(der.oid(oid)),
});
const rsa = (oid: string, digest: Digest): SignatureAlgorithm => ({
  oid,
  keyType: 'rsa',
  digest,
  identifier: der.sequence(der.oid(oid), der.nullValue()),
});

const table: readonly SignatureAlgorithm[] = [
  // RFC 5758 §3.2
  ecdsa('1.2.840.10045.4.3.2', 'sha256'),
  ecdsa('1.2.840.10045.4.3.3', 'sha384'),
  ecdsa('1.2.840.10045.4.3.4', 'sha512'),
  // RFC 4055 §5
  rsa('1.2.840.113549.1.1.11', 'sha256'),
  rsa('1.2.840.113549.1.1.12', 'sha384'),
  rsa('1.2.840.113549.1.1.13', 'sha512'),
];

/** By dotted OID. */
export const signatureAlgorithms: ReadonlyMap<string, SignatureAlgorithm> = new Map(table.map((entry) => [entry.oid, entry]));

const digests: Readonly<Record<string, Digest>> = { prime256v1: 'sha256', secp384r1: 'sha384', secp521r1: 'sha512' };

/** What a key signs with: the digest that fits its curve, SHA-256 for RSA. */
export function signatureAlgorithmOf(key: KeyObject): SignatureAlgorithm {
  const keyType = key.asymmetricKeyType;
  const digest = keyType === 'rsa' ? 'sha256' : digests[key.asymmetricKeyDetails?.namedCurve ?? ''];
  const found = table.find((entry) => entry.keyType === keyType && entry.digest === digest);
  if (found === undefined) throw new SignetError('invalid', 'key type cannot sign', { reason: 'key-weak' });
  return found;
}

/**
 * Whether its signatures are made and checked at once: 35 and 85 µs of CPU time, to which the way to the thread pool and back would
 * add 15 and 60. P-256 is the one curve with fast code in OpenSSL; others take up to 1 ms.
 */
export function isQuick(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
}

/** Why a key is too weak for a chain, or undefined when it is not. The upper bound keeps verification cheap (BoringSSL has it too). */
export function weaknessOf(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = 'none' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return digests[namedCurve] === undefined ? `ec curve ${namedCurve}` : undefined;
  if (key.asymmetricKeyType !== 'rsa') return `key type ${key.asymmetricKeyType ?? 'unknown'}`;
  if (modulusLength < 2048 || modulusLength > 8192) return `rsa ${modulusLength} bits`;
  return publicExponent >= 3n && publicExponent < 2n ** 33n ? undefined : 'rsa public exponent';
}
