// One X.509 certificate (RFC 5280), every field that Signet judges read by its own reader; immutable.
// Used by everything that handles certificates. What cannot be read exactly is refused here; whether a certificate is good for
// something is judged elsewhere (chain.ts, the checks of CA answers).

import type { KeyObject } from 'node:crypto';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import type { Asn1 } from './der.js';
import * as der from './der.js';
import type { Extensions } from './extensions.js';
import { readExtensions } from './extensions.js';
import { signatureAlgorithms } from './signature-algorithms.js';

/** Larger ones are refused before they are parsed. */
const maxCertificateBytes = 64 * 1024;

export class Certificate {
  /** The exact bytes; a copy of its own. */
  readonly der: Buffer;
  /** The Name, as DER; equal names are equal bytes. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** Lower-case hex. */
  readonly serial: string;
  /** ms since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** 1, 2 or 3. */
  readonly version: number;
  /** Dotted OID of the algorithm; both places that name it agree. */
  readonly signatureAlgorithm: string;
  readonly extensions: Extensions;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeySpki: Buffer;
  /** SHA-256 over the DER, hex. */
  readonly fingerprint: string;
  readonly #tbs: Buffer;
  readonly #signature: Buffer;
  #publicKey: KeyObject | undefined;
  #selfSigned: boolean | undefined;

  /** Throws `invalid` when the bytes are not one certificate in DER. */
  static fromDer(bytes: Buffer): Certificate {
    return new Certificate(bytes);
  }

  private constructor(bytes: Buffer) {
    if (bytes.length > maxCertificateBytes) throw malformed('size');
    const [tbs, algorithm, signature, ...more] = der.elements(der.decode(bytes));
    if (tbs === undefined || algorithm === undefined || more.length > 0) throw malformed('structure');
    this.der = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(this.der);
    this.#tbs = firstElement(this.der, der.encode(tbs).length);
    this.#signature = der.readBitStringBytes(signature);
    this.fingerprint = createHash('sha256').update(this.der).digest('hex');

    const fields = [...der.elements(tbs)];
    this.version = readVersion(fields);
    const [serial, innerAlgorithm, issuer, validity, subject, spki, ...rest] = fields;
    if (innerAlgorithm === undefined || issuer === undefined || subject === undefined || spki === undefined) throw malformed('structure');
    this.serial = der.readIntegerHex(serial);
    this.signatureAlgorithm = der.readOid(der.elements(algorithm)[0]);
    // RFC 5280 §4.1.1.2
    if (!der.encode(algorithm).equals(der.encode(innerAlgorithm))) throw malformed('two signature algorithms');
    this.issuer = readName(issuer);
    const [notBefore, notAfter] = der.elements(validity);
    this.notBefore = der.readTime(notBefore);
    this.notAfter = der.readTime(notAfter);
    this.subject = readName(subject);
    this.publicKeySpki = der.encode(spki);
    this.extensions = readExtensions(readOptionalFields(rest, this.version));
  }

  get isCa(): boolean {
    return this.extensions.basicConstraints?.isCa ?? false;
  }

  get pathLength(): number | undefined {
    return this.extensions.basicConstraints?.pathLength;
  }

  get keyUsage(): ReadonlySet<string> | undefined {
    return this.extensions.keyUsage;
  }

  /** Dotted OIDs. */
  get extendedKeyUsage(): ReadonlySet<string> | undefined {
    return this.extensions.extendedKeyUsage;
  }

  get uriSans(): readonly string[] {
    return this.extensions.subjectAltName?.uris ?? [];
  }

  /** How many names there are besides URIs. */
  get otherSans(): number {
    return this.extensions.subjectAltName?.otherForms.length ?? 0;
  }

  /** Lower-case hex. */
  get subjectKeyId(): string | undefined {
    return this.extensions.subjectKeyId;
  }

  get authorityKeyId(): string | undefined {
    return this.extensions.authorityKey?.keyId;
  }

  /** Whether it names itself as issuer, which a certificate for the next key of the same CA does too. */
  get selfIssued(): boolean {
    return this.subject.equals(this.issuer);
  }

  /** Whether it is signed by its own key, and its key identifiers say so too. */
  get selfSigned(): boolean {
    const { authorityKeyId = this.subjectKeyId } = this;
    this.#selfSigned ??= this.selfIssued && authorityKeyId === this.subjectKeyId && this.isSignedBy(this);
    return this.#selfSigned;
  }

  /** Throws `invalid`, reason `key-weak`, for a key that OpenSSL does not know. Made once: the import is slow. */
  get publicKey(): KeyObject {
    if (this.#publicKey === undefined) {
      try {
        this.#publicKey = createPublicKey({ key: this.publicKeySpki, format: 'der', type: 'spki' });
      } catch (cause) {
        throw new SignetError('invalid', 'public key cannot be read', { cause, reason: 'key-weak' });
      }
    }
    return this.#publicKey;
  }

  /** Whether the signature is one of the other's key, by an algorithm that Signet accepts. Names are not compared. */
  isSignedBy(other: Certificate): boolean {
    const algorithm = signatureAlgorithms.get(this.signatureAlgorithm);
    if (algorithm === undefined || other.publicKey.asymmetricKeyType !== algorithm.keyType) return false;
    return verify(algorithm.digest, this.#tbs, other.publicKey, this.#signature);
  }
}

function malformed(what: string): SignetError {
  return new SignetError('invalid', `malformed certificate: ${what}`);
}

/** The first element inside an outer SEQUENCE, whose header is two octets, or more by its long form. */
function firstElement(outer: Buffer, length: number): Buffer {
  const second = outer[1] ?? 0;
  const start = second < 0x80 ? 2 : 2 + (second & 0x7f);
  return outer.subarray(start, start + length);
}

// [0] EXPLICIT Version DEFAULT v1
function readVersion(fields: Asn1[]): number {
  if (!der.isContext(fields[0], 0)) return 1;
  const version = der.readSmallInteger(der.contextElements(fields[0])[0]) + 1;
  fields.shift();
  return version;
}

function readName(node: Asn1): Buffer {
  for (const relative of der.elements(node)) der.elements(relative, der.tags.set);
  return der.encode(node);
}

/** issuerUniqueID [1], subjectUniqueID [2], extensions [3]; only the last means anything (RFC 5280 §4.1.2.8, §4.1.2.9). */
function readOptionalFields(rest: readonly Asn1[], version: number): readonly Asn1[] {
  let extensions: readonly Asn1[] = [];
  let previous = 0;
  for (const field of rest) {
    if (field.tagClass !== 0x80 || field.type <= previous || field.type > 3) throw malformed('structure');
    previous = field.type;
    if (der.isContext(field, 3)) extensions = der.elements(der.contextElements(field)[0]);
  }
  if (rest.length > 0 && version !== 3) throw malformed('extensions without version 3');
  return extensions;
}
