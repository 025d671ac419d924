// Makes certificates: what a signer's key puts its name to, by one of two profiles (RFC 5280 §4). Pure but for the signature.
// Called by our CAs with requests that they have checked, and by the issuer for its own certificate.

import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import * as der from './der.js';
import { clientAuth, extensionOids, extensionTypes, keyUsageNames, nameForms, serverAuth } from './extensions.js';
import type { SignatureAlgorithm } from './signature-algorithms.js';

/** A key that signs, without the key. */
export interface Signer {
  readonly algorithm: SignatureAlgorithm;
  sign(data: Buffer): Promise<Buffer>;
}

/** Whose name and key id a certificate carries as its issuer. */
export interface SignerName {
  /** Name, DER. */
  readonly subject: Buffer;
  /** Subject key identifier, hex. */
  readonly keyId: string;
}

/** `leaf`: for TLS at both ends. `ca`: signs certificates and revocation lists. */
export type Profile = 'leaf' | 'ca';

export interface CertificateContent {
  readonly profile: Profile;
  /** Name, DER; may be the empty name for a leaf. */
  readonly subject: Buffer;
  readonly publicKeySpki: Buffer;
  readonly uri?: string;
  /** DNS names and IP addresses, for a server that is reached by them. */
  readonly hosts?: readonly string[];
  /** ms since the epoch, cut to whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** At most 20 octets. Default: 16 random ones. */
  readonly serial?: Buffer;
}

/** Clocks of verifiers may be behind by so much, in ms; never more than a tenth of a lifetime, so that short lives stay short. */
const maxBackdateMs = 120_000;

/** The notBefore of a leaf that is signed now, for a lifetime in ms. */
export function backdated(now: number, lifetimeMs: number): number {
  return now - Math.min(maxBackdateMs, lifetimeMs / 10);
}

/** The empty Name. */
export const emptyName: Buffer = Buffer.from('3000', 'hex');

const version3 = der.context(0, [der.integer(Buffer.of(2))]);

/** RSA encryption, RFC 3279 §2.3.1. */
const rsaEncryption = '1.2.840.113549.1.1.1';

/** Key identifier of a public key: the first 160 bits of SHA-256 over its bits (RFC 7093 §2, method 1), hex. */
export function keyIdOf(publicKeySpki: Buffer): string {
  return readSpki(publicKeySpki).keyId;
}

function readSpki(publicKeySpki: Buffer): { keyId: string; isRsa: boolean } {
  const [algorithm, key] = der.elements(der.decode(publicKeySpki));
  const keyId = createHash('sha256').update(der.readBitStringBytes(key)).digest('hex').slice(0, 40);
  return { keyId, isRsa: der.readOid(der.elements(algorithm)[0]) === rsaEncryption };
}

/** A certificate in DER. */
export async function signCertificate(signer: Signer, name: SignerName, content: CertificateContent): Promise<Buffer> {
  const { identifier } = signer.algorithm;
  const tbs = der.sequence(
    version3,
    der.integer(content.serial ?? randomBytes(16)),
    identifier,
    der.encoded(name.subject),
    der.sequence(der.time(content.notBefore), der.time(content.notAfter)),
    der.encoded(content.subject),
    der.encoded(content.publicKeySpki),
    der.context(3, [der.sequence(...extensionsOf(content, name))]),
  );
  const signature = await signer.sign(der.encode(tbs));
  return der.encode(der.sequence(tbs, identifier, der.bitString(signature)));
}

function extensionsOf(content: CertificateContent, issuer: SignerName): der.Asn1[] {
  const { keyId, isRsa } = readSpki(content.publicKeySpki);
  const { uri, hosts = [] } = content;
  const san = der.sequence(...(uri === undefined ? [] : [der.context(nameForms.uri, Buffer.from(uri))]), ...hosts.map(hostName));
  return [
    ...(content.profile === 'ca' ? caExtensions : isRsa ? rsaLeafExtensions : leafExtensions),
    extension(extensionTypes.subjectKeyId, false, der.octetString(Buffer.from(keyId, 'hex'))),
    extension(extensionTypes.authorityKeyId, false, der.sequence(der.context(0, Buffer.from(issuer.keyId, 'hex')))),
    // RFC 5280 §4.2.1.6: critical when the subject is empty.
    extension(extensionTypes.subjectAltName, content.subject.equals(emptyName), san),
  ];
}

/** RFC 5280 §4.2.1.6: an address in network byte order, of 4 or 16 octets. */
function hostName(host: string): der.Asn1 {
  const version = isIP(host);
  return version === 0 ? der.context(nameForms.dns, Buffer.from(host)) : der.context(nameForms.address, addressBytes(host, version));
}

function addressBytes(address: string, version: number): Buffer {
  if (version === 4) return Buffer.from(address.split('.').map(Number));
  // URL writes the canonical form: eight groups but for one run of zeros, no dotted quad.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** One Extension; FALSE is the default and so not written. */
export function extension(type: der.Asn1, critical: boolean, value: der.Asn1): der.Asn1 {
  return der.sequence(type, ...(critical ? [der.boolean(true)] : []), der.octetString(der.encode(value)));
}

/** RFC 5280 §4.2.1.3 as a named bit list: without trailing zero bits (X.690 §11.2.2). */
export function keyUsage(names: readonly (typeof keyUsageNames)[number][]): der.Asn1 {
  const bits = names.map((name) => keyUsageNames.indexOf(name));
  const last = Math.max(...bits);
  const bytes = Buffer.alloc((last >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return der.bitString(bytes, 7 - (last & 7));
}

// What all certificates of a profile have in common, encoded once.
const caExtensions: readonly der.Asn1[] = encodeAll(
  extension(der.oid(extensionOids.basicConstraints), true, der.sequence(der.boolean(true))),
  extension(der.oid(extensionOids.keyUsage), true, keyUsage(['keyCertSign', 'cRLSign'])),
);
const leafExtensions: readonly der.Asn1[] = leafProfile(['digitalSignature']);
const rsaLeafExtensions: readonly der.Asn1[] = leafProfile(['digitalSignature', 'keyEncipherment']);

function leafProfile(usages: Parameters<typeof keyUsage>[0]): der.Asn1[] {
  return encodeAll(
    extension(der.oid(extensionOids.basicConstraints), true, der.sequence()),
    extension(der.oid(extensionOids.keyUsage), true, keyUsage(usages)),
    extension(der.oid(extensionOids.extendedKeyUsage), false, der.sequence(der.oid(serverAuth), der.oid(clientAuth))),
  );
}

function encodeAll(...nodes: readonly der.Asn1[]): der.Asn1[] {
  return nodes.map((node) => der.encoded(der.encode(node)));
}
