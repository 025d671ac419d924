// DER (X.690) over node-forge's asn1, which works on binary strings: here is the only place that knows them.
// Used by the readers and writers of certificates and CSRs. Reads nothing but DER: what would be written differently is refused.

import type { Asn1 } from 'node-forge/lib/asn1.js';
import asn1 from 'node-forge/lib/asn1.js';
import { SignetError } from '../runtime/errors.js';
import { formatInstant, parseInstant } from '../runtime/time.js';

export type { Asn1 };

/** Tag numbers of the universal class. */
export const tags = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  oid: 6,
  utf8String: 12,
  sequence: 16,
  set: 17,
  printableString: 19,
  ia5String: 22,
  utcTime: 23,
  generalizedTime: 24,
  bmpString: 30,
} as const;

const universal = 0x00;
const contextSpecific = 0x80;
const maxDepth = 16;

function malformed(what: string, cause?: unknown): SignetError {
  return new SignetError('invalid', `malformed der: ${what}`, { cause });
}

// Writing

const primitive = (tag: number, content: string): Asn1 => asn1.create(universal, tag, false, content);

export function encode(node: Asn1): Buffer {
  return Buffer.from(asn1.toDer(node).getBytes(), 'latin1');
}

/** An element that is encoded already, to stand in a tree: its identifier octet, and its content octets unread. */
export function encoded(der: Buffer): Asn1 {
  return asn1.create(universal, der[0] ?? 0, false, der.toString('latin1', headerLength(der)));
}

export const sequence = (...elements: Asn1[]): Asn1 => asn1.create(universal, tags.sequence, true, elements);
export const set = (...elements: Asn1[]): Asn1 => asn1.create(universal, tags.set, true, elements);
export const oid = (dotted: string): Asn1 => primitive(tags.oid, asn1.oidToDer(dotted).getBytes());
export const boolean = (value: boolean): Asn1 => primitive(tags.boolean, value ? '\xff' : '\0');
export const nullValue = (): Asn1 => primitive(tags.null, '');
export const octetString = (bytes: Buffer): Asn1 => primitive(tags.octetString, bytes.toString('latin1'));
export const bitString = (bytes: Buffer, unusedBits = 0): Asn1 =>
  primitive(tags.bitString, String.fromCharCode(unusedBits) + bytes.toString('latin1'));
export const utf8String = (text: string): Asn1 => primitive(tags.utf8String, Buffer.from(text).toString('latin1'));

/** A non-negative INTEGER from its big-endian bytes, in the fewest octets (X.690 §8.3.2). */
export function integer(bytes: Buffer): Asn1 {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const digits = bytes.toString('latin1', start);
  return primitive(tags.integer, digits.charCodeAt(0) < 0x80 ? digits : `\0${digits}`);
}

/** `[number]` around elements (constructed) or in place of a primitive type's tag (bytes). */
export function context(number: number, content: Asn1[] | Buffer): Asn1 {
  if (Buffer.isBuffer(content)) return asn1.create(contextSpecific, number, false, content.toString('latin1'));
  return asn1.create(contextSpecific, number, true, content);
}

/** A Name of one attribute per part, most significant first: dotted type and text (RFC 5280 §4.1.2.4). */
export function name(attributes: readonly (readonly [string, string])[]): Asn1 {
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050; whole seconds, rounded down. */
export function time(at: number): Asn1 {
  const text = `${formatInstant(at).slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return text < '2050' ? primitive(tags.utcTime, text.slice(2)) : primitive(tags.generalizedTime, text);
}

// Reading

/** Decodes one element that fills `der` and is DER, at most 16 levels deep. The caller has bounded its size. */
export function decode(der: Buffer): Asn1 {
  return decodeText(der.toString('latin1'));
}

function decodeText(text: string): Asn1 {
  let node: Asn1;
  try {
    node = asn1.fromDer(text, { strict: true, parseAllBytes: true, decodeBitStrings: false, maxDepth });
  } catch (error) {
    throw malformed('not an asn.1 element', error);
  }
  // forge reads BER too; bytes that are cut out or signed must be the ones read.
  endOf(node, text, 0);
  return node;
}

const paddedInteger = /^(?:\0[\0-\x7f]|\xff[\x80-\xff])/;

/**
 * Where the element that begins at `at` ends. Throws when it is not DER: a length that is indefinite or not in the fewest
 * octets (X.690 §10.1), a padded integer (§8.3.2).
 */
function endOf(node: Asn1, text: string, at: number): number {
  const first = text.charCodeAt(at + 1);
  const lengthOctets = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthOctets;
  let end = start;
  const { value } = node;
  if (typeof value === 'string') end += octetsOf(node, value);
  else for (const element of value) end = endOf(element, text, end);
  const header = headerOctets(end - start);
  const isPadded = isUniversal(node, tags.integer) && typeof value === 'string' && paddedInteger.test(value);
  if (lengthOctets !== header - 2 || first === 0x80 || isPadded) throw malformed('not the distinguished encoding');
  return end;
}

/** forge gives a BMPString as text, of two octets a character; all else as octets. */
function octetsOf(node: Asn1, value: string): number {
  return node.type === tags.bmpString ? 2 * value.length : value.length;
}

/** Octets of identifier and length before so many of content, in the fewest. */
function headerOctets(contentOctets: number): number {
  return contentOctets < 0x80 ? 2 : contentOctets < 0x100 ? 3 : contentOctets < 0x10000 ? 4 : 5;
}

/** The bytes of each element of a constructed one, as parts of its own bytes: what is signed, and names to compare. */
export function slices(node: Asn1, der: Buffer): readonly Buffer[] {
  let end = headerLength(der);
  return contextElements(node).map((element) => der.subarray(end, (end += lengthOf(element))));
}

/** Octets before the content: two, or more by the long form of the length (X.690 §8.1.3). */
export function headerLength(der: Buffer): number {
  const length = der[1] ?? 0;
  return length < 0x80 ? 2 : 2 + (length & 0x7f);
}

function lengthOf(node: Asn1): number {
  const { value } = node;
  const length = typeof value === 'string' ? octetsOf(node, value) : value.reduce((sum, element) => sum + lengthOf(element), 0);
  return headerOctets(length) + length;
}

/** The element that an OCTET STRING wraps, as the value of an extension does. */
export function decodeOctets(node: Asn1): Asn1 {
  return decodeText(content(node, tags.octetString));
}

export function isUniversal(node: Asn1 | undefined, tag: number): node is Asn1 {
  return node !== undefined && node.tagClass === universal && node.type === tag;
}

export function isContext(node: Asn1 | undefined, number: number): node is Asn1 {
  return node !== undefined && node.tagClass === contextSpecific && node.type === number;
}

/** The elements of a SEQUENCE or SET. */
export function elements(node: Asn1 | undefined, tag: number = tags.sequence): readonly Asn1[] {
  if (!isUniversal(node, tag) || !Array.isArray(node.value)) throw malformed(`expected tag ${tag}`);
  return node.value;
}

/** The elements of a constructed element of any class. */
export function contextElements(node: Asn1): readonly Asn1[] {
  if (!Array.isArray(node.value)) throw malformed('expected a constructed element');
  return node.value;
}

/** The content octets of a primitive element of any class, as a binary string. */
function octets(node: Asn1): string {
  if (typeof node.value !== 'string') throw malformed('expected a primitive element');
  return node.value;
}

function content(node: Asn1 | undefined, tag: number): string {
  if (!isUniversal(node, tag)) throw malformed(`expected tag ${tag}`);
  return octets(node);
}

export function readBytes(node: Asn1): Buffer {
  return Buffer.from(octets(node), 'latin1');
}

/** The content octets as lower-case hex; of an INTEGER with its sign octet. */
export function readHex(node: Asn1): string {
  return readBytes(node).toString('hex');
}

export function readOid(node: Asn1 | undefined): string {
  const text = content(node, tags.oid);
  // The last octet of an arc has its top bit clear (X.690 §8.19.2); forge does not say when it is missing.
  if (text === '' || text.charCodeAt(text.length - 1) >= 0x80) throw malformed('object identifier');
  return asn1.derToOid(text);
}

export function readBoolean(node: Asn1): boolean {
  const text = content(node, tags.boolean);
  if (text !== '\xff' && text !== '\0') throw malformed('boolean');
  return text === '\xff';
}

/** A small non-negative INTEGER, such as a version or a path length. */
export function readSmallInteger(node: Asn1 | undefined): number {
  const text = content(node, tags.integer);
  if (text === '' || text.length > 4 || text.charCodeAt(0) >= 0x80) throw malformed('integer out of range');
  return Number.parseInt(Buffer.from(text, 'latin1').toString('hex'), 16);
}

export function readIntegerHex(node: Asn1 | undefined): string {
  return Buffer.from(content(node, tags.integer), 'latin1').toString('hex');
}

/** The bytes of a BIT STRING whose bits are all used, as those of keys and signatures are. */
export function readBitStringBytes(node: Asn1 | undefined): Buffer {
  const text = content(node, tags.bitString);
  if (text.charCodeAt(0) !== 0) throw malformed('bit string');
  return Buffer.from(text.slice(1), 'latin1');
}

/** The numbers of the bits that are set in a named bit list, bit 0 first. */
export function readBits(node: Asn1): readonly number[] {
  const bytes = Buffer.from(content(node, tags.bitString), 'latin1');
  const bits: number[] = [];
  for (let bit = 0; bit < (bytes.length - 1) * 8; bit += 1) {
    if (((bytes[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0) bits.push(bit);
  }
  return bits;
}

/** RFC 5280 §4.1.2.5: both forms with seconds, in Zulu; two-digit years from 50 are of the last century. */
export function readTime(node: Asn1 | undefined): number {
  const isUtc = isUniversal(node, tags.utcTime);
  const text = content(node, isUtc ? tags.utcTime : tags.generalizedTime);
  const full = isUtc ? (text < '50' ? '20' : '19') + text : text;
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (parts === null) throw malformed('time');
  const [, year, month, day, hour, minute, second] = parts;
  const at = parseInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (at === undefined) throw malformed('time');
  return at;
}

/** Text of an IA5String in any tagging (X.680 §41: the ASCII characters). */
export function readAscii(node: Asn1): string {
  const text = octets(node);
  if (/[^\0-\x7f]/.test(text)) throw malformed('ia5 string');
  return text;
}
