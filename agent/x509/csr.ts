// Certificate signing requests (RFC 2986): made for an identity and its key, read as a CA reads them.
// Made by the certificate cache, read by our CAs. A request that leaves here has passed its own check.

import type { KeyObject } from 'node:crypto';
import { verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SpiffeId } from '../identity/spiffe-id.js';
import { SignetError } from '../runtime/errors.js';
import * as der from './der.js';
import type { Extensions } from './extensions.js';
import { extensionTypes, nameForms, readExtensions } from './extensions.js';
import { formatPem } from './pem.js';
import type { PrivateKey } from './private-key.js';
import { isQuick, signatureAlgorithms } from './signature-algorithms.js';

export type { KeyType } from './private-key.js';
export { PrivateKey, generateKey, keyTypes, publicKeyOf } from './private-key.js';

/** The subject a CA wants: none at all, an empty organisation, or a common name (`<namespace>/<service account>`). */
export type SubjectProfile = 'none' | 'empty-o' | 'cn';

/** What a request asks for; buffers are parts of the request's own bytes. */
export interface Csr {
  /** Name, DER. */
  readonly subject: Buffer;
  readonly publicKeySpki: Buffer;
  readonly extensions: Extensions;
  /** The types (dotted OIDs) of its other attributes (RFC 2986 §4.1), such as a challenge password. */
  readonly otherAttributes: readonly string[];
  /** What is signed, by which algorithm (dotted OID), and the signature. */
  readonly signed: Buffer;
  readonly signatureAlgorithm: string;
  readonly signature: Buffer;
}

const organizationName = '2.5.4.10';
const commonName = '2.5.4.3';
/** PKCS #9 extensionRequest (RFC 2985 §5.4.2). */
const extensionRequest = '1.2.840.113549.1.9.14';
const extensionRequestType = der.oid(extensionRequest);
const version1 = der.integer(Buffer.of(0));
const maxCsrBytes = 16 * 1024;

/** What a request is made with; the key itself cannot be read from it. */
export type SigningKey = Pick<PrivateKey, 'publicKeySpki' | 'algorithm' | 'sign' | 'verify' | 'prove'>;

/** A request in DER with one URI SAN, which is critical when the subject is empty (RFC 5280 §4.2.1.6). */
export async function createCsr(key: SigningKey, id: SpiffeId, subject: SubjectProfile): Promise<Buffer> {
  const uri = der.context(nameForms.uri, Buffer.from(id.uri));
  const san = [
    extensionTypes.subjectAltName,
    ...(subject === 'none' ? [der.boolean(true)] : []),
    der.octetString(der.encode(der.sequence(uri))),
  ];
  const extensions = der.sequence(der.sequence(...san));
  return await signRequest(key, subjectName(subject, id), [der.sequence(extensionRequestType, der.set(extensions))], [id.uri]);
}

/** A request in DER that names nobody: it shows the key and that we have it, all else is said beside it. */
export async function createStubCsr(key: SigningKey): Promise<Buffer> {
  return await signRequest(key, der.sequence(), [], []);
}

async function signRequest(key: SigningKey, subject: der.Asn1, attributes: readonly der.Asn1[], uris: readonly string[]): Promise<Buffer> {
  const info = der.sequence(version1, subject, der.encoded(key.publicKeySpki), der.context(0, attributes));
  const signature = await key.sign(der.encode(info));
  const csr = der.encode(der.sequence(info, key.algorithm.identifier, der.bitString(signature)));
  await checkOwn(csr, key, uris);
  return csr;
}

// A CA would refuse a damaged request with an error of its own, far from here.
async function checkOwn(bytes: Buffer, key: SigningKey, wanted: readonly string[]): Promise<void> {
  const csr = parseCsr(bytes);
  const uris = csr.extensions.subjectAltName?.uris ?? [];
  const asked = isDeepStrictEqual(uris, wanted) && csr.publicKeySpki.equals(key.publicKeySpki);
  if (!asked || !(await key.verify(csr.signed, csr.signature)))
    throw new SignetError('internal', 'bug: certificate request fails its own check');
}

function subjectName(profile: SubjectProfile, id: SpiffeId): der.Asn1 {
  if (profile === 'none') return der.sequence();
  if (profile === 'empty-o') return der.name([[organizationName, '']]);
  // RFC 5280 appendix A.1: ub-common-name is 64.
  return der.name([[commonName, `${id.namespace}/${id.serviceAccount}`.slice(0, 64)]]);
}

/** Reads a request; the signature is not looked at. Throws `invalid`, reason `ca-refused-request`. */
export function parseCsr(bytes: Buffer): Csr {
  try {
    if (bytes.length > maxCsrBytes) throw new SignetError('invalid', 'too large', { fields: { bytes: bytes.length } });
    const whole = der.decode(bytes);
    const [info, algorithm, signature, ...more] = der.elements(whole);
    if (info === undefined) throw new SignetError('invalid', 'malformed structure');
    const [version, subject, publicKey, attributeSet, ...rest] = der.elements(info);
    if (subject === undefined || publicKey === undefined || more.length + rest.length > 0)
      throw new SignetError('invalid', 'malformed structure');
    if (der.readSmallInteger(version) !== 0) throw new SignetError('invalid', 'unknown version');
    const attributes = attributeSet === undefined ? [] : der.contextElements(attributeSet).map(readAttribute);
    return {
      subject: der.encode(subject),
      publicKeySpki: der.encode(publicKey),
      extensions: readExtensions(requestedExtensions(attributes)),
      otherAttributes: attributes.flatMap(({ type }) => (type === extensionRequest ? [] : type)),
      signed: der.encode(info),
      signatureAlgorithm: der.readOid(der.elements(algorithm)[0]),
      signature: der.readBitStringBytes(signature),
    };
  } catch (cause) {
    throw new SignetError('invalid', 'certificate request cannot be read', { cause, reason: 'ca-refused-request' });
  }
}

interface Attribute {
  readonly type: string;
  readonly values: readonly der.Asn1[];
}

function readAttribute(attribute: der.Asn1): Attribute {
  const [type, values] = der.elements(attribute);
  return { type: der.readOid(type), values: der.elements(values, der.tags.set) };
}

function requestedExtensions(attributes: readonly Attribute[]): readonly der.Asn1[] {
  const requests = attributes.filter(({ type }) => type === extensionRequest);
  if (requests.length > 1) throw new SignetError('invalid', 'two extension requests');
  return requests.flatMap(({ values }) => values).flatMap((value) => der.elements(value));
}

/** Whether the request is signed by this key of it. */
export async function isSignedBy(csr: Csr, key: KeyObject): Promise<boolean> {
  const algorithm = signatureAlgorithms.get(csr.signatureAlgorithm);
  if (algorithm === undefined || algorithm.keyType !== key.asymmetricKeyType) return false;
  if (isQuick(key)) return verify(algorithm.digest, csr.signed, key, csr.signature);
  return await new Promise((resolve, reject) => {
    verify(algorithm.digest, csr.signed, key, csr.signature, (error, valid) => (error === null ? resolve(valid) : reject(error)));
  });
}

export function csrToPem(csr: Buffer): string {
  return formatPem('CERTIFICATE REQUEST', csr);
}
