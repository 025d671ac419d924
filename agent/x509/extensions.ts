// The certificate extensions that Signet judges (RFC 5280 §4.2), read into plain values; all others only by OID.
// Used by the certificate and CSR readers.

import { SignetError } from '../runtime/errors.js';
import type { Asn1 } from './der.js';
import * as der from './der.js';

export const extensionOids = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Those that are written with every certificate, encoded. */
export const extensionTypes = {
  subjectKeyId: der.oid(extensionOids.subjectKeyId),
  subjectAltName: der.oid(extensionOids.subjectAltName),
  authorityKeyId: der.oid(extensionOids.authorityKeyId),
} as const;

/** RFC 5280 §4.2.1.12 */
export const serverAuth = '1.3.6.1.5.5.7.3.1';
export const clientAuth = '1.3.6.1.5.5.7.3.2';

/** RFC 5280 §4.2.1.3, in bit order. */
export const keyUsageNames = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

/** Choices of GeneralName (RFC 5280 §4.2.1.6) by tag number. */
export const nameForms = { dns: 2, directory: 4, uri: 6, address: 7 } as const;

export interface Subtree {
  /** Tag number of the GeneralName. */
  readonly form: number;
  /** Text of a URI constraint, or the DER of a directory name; other forms are not read. */
  readonly base: string | Buffer | undefined;
}

export interface NameConstraints {
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
}

export interface Extensions {
  /** OIDs of all extensions. */
  readonly types: ReadonlySet<string>;
  /** OIDs of the extensions that are marked critical. */
  readonly critical: ReadonlySet<string>;
  readonly basicConstraints?: { readonly isCa: boolean; readonly pathLength?: number };
  readonly keyUsage?: ReadonlySet<string>;
  readonly extendedKeyUsage?: ReadonlySet<string>;
  readonly subjectAltName?: {
    readonly uris: readonly string[];
    /** Tag numbers of the names besides URIs. */ readonly otherForms: readonly number[];
  };
  readonly nameConstraints?: NameConstraints;
  readonly subjectKeyId?: string;
  /** All parts hex or DER as in the issuer's own certificate. */
  readonly authorityKey?: { readonly keyId?: string; readonly issuer?: Buffer; readonly serial?: string };
}

type Writable = { -readonly [Name in keyof Extensions]: Extensions[Name] };

const readers: Readonly<Record<string, (value: Asn1, into: Writable) => void>> = {
  [extensionOids.basicConstraints]: (value, into) => (into.basicConstraints = readBasicConstraints(value)),
  [extensionOids.keyUsage]: (value, into) =>
    (into.keyUsage = new Set(der.readBits(value).map((bit) => keyUsageNames[bit] ?? `bit ${bit}`))),
  [extensionOids.extendedKeyUsage]: (value, into) => (into.extendedKeyUsage = new Set(der.elements(value).map(der.readOid))),
  [extensionOids.subjectAltName]: (value, into) => (into.subjectAltName = readSubjectAltName(value)),
  [extensionOids.nameConstraints]: (value, into) => (into.nameConstraints = readNameConstraints(value)),
  [extensionOids.subjectKeyId]: (value, into) => (into.subjectKeyId = der.readHex(value)),
  [extensionOids.authorityKeyId]: (value, into) => (into.authorityKey = readAuthorityKey(value)),
};

/** Reads a list of Extension. An extension that comes twice refuses the whole (RFC 5280 §4.2). */
export function readExtensions(list: readonly Asn1[]): Extensions {
  const seen = new Set<string>();
  const critical = new Set<string>();
  const extensions: Writable = { types: seen, critical };
  for (const node of list) {
    const parts = der.elements(node);
    const oid = der.readOid(parts[0]);
    const value = parts.at(-1);
    if (seen.has(oid) || parts.length > 3 || value === undefined)
      throw new SignetError('invalid', 'malformed extension', { fields: { oid } });
    seen.add(oid);
    if (parts.length === 3 && parts[1] !== undefined && der.readBoolean(parts[1])) critical.add(oid);
    readers[oid]?.(der.decodeOctets(value), extensions);
  }
  return extensions;
}

function readBasicConstraints(value: Asn1): { isCa: boolean; pathLength?: number } {
  const parts = [...der.elements(value)];
  const isCa = der.isUniversal(parts[0], der.tags.boolean) && der.readBoolean(parts[0]);
  if (der.isUniversal(parts[0], der.tags.boolean)) parts.shift();
  return parts.length === 0 ? { isCa } : { isCa, pathLength: der.readSmallInteger(parts[0]) };
}

function readSubjectAltName(value: Asn1): { uris: string[]; otherForms: number[] } {
  const uris: string[] = [];
  const otherForms: number[] = [];
  for (const name of der.elements(value)) {
    const form = der.tagNumber(name);
    if (der.isContext(name, nameForms.uri)) uris.push(der.readAscii(name));
    else otherForms.push(form);
  }
  return { uris, otherForms };
}

function readNameConstraints(value: Asn1): NameConstraints {
  const subtrees = (number: number): Subtree[] =>
    der
      .elements(value)
      .filter((part) => der.isContext(part, number))
      .flatMap((part) => der.contextElements(part))
      .map(readSubtree);
  return { permitted: subtrees(0), excluded: subtrees(1) };
}

function readSubtree(node: Asn1): Subtree {
  const [name, ...bounds] = der.elements(node);
  // RFC 5280 §4.2.1.10: minimum is 0 and so absent in DER, maximum is absent.
  if (name === undefined || bounds.length > 0) throw new SignetError('invalid', 'malformed name constraints');
  const form = der.tagNumber(name);
  if (der.isContext(name, nameForms.uri)) return { form, base: der.readAscii(name) };
  const [directory] = der.isContext(name, nameForms.directory) ? der.contextElements(name) : [];
  return { form, base: directory === undefined ? undefined : der.encode(directory) };
}

function readAuthorityKey(value: Asn1): NonNullable<Extensions['authorityKey']> {
  const key: { keyId?: string; issuer?: Buffer; serial?: string } = {};
  for (const part of der.elements(value)) {
    if (der.isContext(part, 0)) key.keyId = der.readHex(part);
    if (der.isContext(part, 2)) key.serial = der.readHex(part);
    if (!der.isContext(part, 1)) continue;
    const directory = der.contextElements(part).find((name) => der.isContext(name, nameForms.directory));
    const name = directory === undefined ? undefined : der.contextElements(directory)[0];
    if (name !== undefined) key.issuer = der.encode(name);
  }
  return key;
}
