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
import { signatureAlgorithms, weaknessOf } from './signature-algorithms.js';

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
  /** Dotted OID of the algorithm; both places that name it agree. */
  readonly signatureAlgorithm: string;
  readonly extensions: Extensions;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeySpki: Buffer;
  /** SHA-256 over the DER, hex. */
  readonly fingerprint: string;
  readonly #tbs: Buffer;
  readonly #signature: Buffer;
  /** Null when it cannot be imported. */
  #publicKey: KeyObject | null | undefined;
  #selfSigned: boolean | undefined;
  /** The key that its signature was found to be of. */
  #signerSpki: Buffer | undefined;

  /** Throws `invalid` when the bytes are not one certificate in DER. */
  static fromDer(bytes: Buffer): Certificate {
    return new Certificate(bytes);
  }

  private constructor(bytes: Buffer) {
    if (bytes.length > maxCertificateBytes) throw malformed('size');
    this.der = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(this.der);
    this.fingerprint = createHash('sha256').update(this.der).digest('hex');
    const whole = der.decode(this.der);
    const [tbs, algorithm, signature, ...more] = der.elements(whole);
    if (tbs === undefined || algorithm === undefined || more.length > 0) throw malformed('structure');
    this.#tbs = der.encode(tbs);
    this.#signature = der.readBitStringBytes(signature);
    this.signatureAlgorithm = der.readOid(der.elements(algorithm)[0]);

    // [0] EXPLICIT Version DEFAULT v1
    const versionNode = der.elements(tbs)[0];
    const hasVersion = der.isContext(versionNode, 0);
    const version = hasVersion ? der.readSmallInteger(der.contextElements(versionNode)[0]) + 1 : 1;
    const [serial, innerAlgorithm, issuer, validity, subject, spki, ...optional] = der.elements(tbs).slice(hasVersion ? 1 : 0);
    if (innerAlgorithm === undefined || spki === undefined) throw malformed('structure');
    // RFC 5280 §4.1.1.2
    if (!der.encode(innerAlgorithm).equals(der.encode(algorithm))) throw malformed('two signature algorithms');
    this.serial = der.readIntegerHex(serial);
    this.issuer = readName(issuer);
    this.subject = readName(subject);
    const [notBefore, notAfter] = der.elements(validity);
    this.notBefore = der.readTime(notBefore);
    this.notAfter = der.readTime(notAfter);
    this.publicKeySpki = der.encode(spki);
    this.extensions = readExtensions(extensionList(optional, version));
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

  /** Throws `invalid`, reason `key-weak`, for a key that OpenSSL does not know. */
  get publicKey(): KeyObject {
    const key = this.#importKey();
    if (key === undefined) throw new SignetError('invalid', 'public key cannot be read', { reason: 'key-weak' });
    return key;
  }

  /** Why its key is not allowed in a chain, or undefined when it is. */
  get keyWeakness(): string | undefined {
    const key = this.#importKey();
    return key === undefined ? 'unknown key' : weaknessOf(key);
  }

  /**
   * Whether the signature is one of the other's key, by an algorithm that Signet accepts. Names are not compared. Once found, it is
   * not verified again for the same key.
   */
  isSignedBy(other: Certificate): boolean {
    if (this.#signerSpki?.equals(other.publicKeySpki) === true) return true;
    const algorithm = signatureAlgorithms.get(this.signatureAlgorithm);
    const key = other.#importKey();
    if (algorithm === undefined || key?.asymmetricKeyType !== algorithm.keyType) return false;
    if (!verify(algorithm.digest, this.#tbs, key, this.#signature)) return false;
    this.#signerSpki = other.publicKeySpki;
    return true;
  }

  // Once: the import is slow.
  #importKey(): KeyObject | undefined {
    if (this.#publicKey === undefined) {
      try {
        this.#publicKey = createPublicKey({ key: this.publicKeySpki, format: 'der', type: 'spki' });
      } catch {
        // What OpenSSL cannot read signs nothing and is refused as weak; its own message says no more.
        this.#publicKey = null;
      }
    }
    return this.#publicKey ?? undefined;
  }
}

function malformed(what: string): SignetError {
  return new SignetError('invalid', `malformed certificate: ${what}`);
}

/** Name ::= SEQUENCE OF SET OF AttributeTypeAndValue; values are compared, never read. */
function readName(node: Asn1 | undefined): Buffer {
  if (node === undefined) throw malformed('structure');
  for (const relative of der.elements(node)) der.elements(relative, der.tags.set);
  return der.encode(node);
}

/** issuerUniqueID [1], subjectUniqueID [2], extensions [3]; only the last means anything (RFC 5280 §4.1.2.8, §4.1.2.9). */
function extensionList(optional: readonly Asn1[], version: number): readonly Asn1[] {
  let extensions: readonly Asn1[] = [];
  let previous = 0;
  for (const field of optional) {
    const number = [1, 2, 3].find((each) => der.isContext(field, each)) ?? 0;
    if (number <= previous) throw malformed('structure');
    previous = number;
    if (number === 3) extensions = der.elements(der.contextElements(field)[0]);
  }
  if (optional.length > 0 && version !== 3) throw malformed('extensions without version 3');
  return extensions;
}

/** Whether both are there and hold the same certificates in the same order. */
export function isSameList(a: readonly Certificate[] | undefined, b: readonly Certificate[] | undefined): boolean {
  return a !== undefined && b?.length === a.length && a.every(({ fingerprint }, index) => fingerprint === b[index]?.fingerprint);
}
