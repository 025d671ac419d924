// DER (X.690): elements read from and written to bytes. Used by the readers and writers of certificates and CSRs.
// Reads nothing but DER: what would be written differently is refused, so that bytes which are cut out or signed are the ones
// read. An element is a place in the bytes that hold it; nothing is copied to read it.

import { SignetError } from '../runtime/errors.js';
import { formatInstant, parseInstant } from '../runtime/time.js';

export interface Asn1 {
  /** The first octet: class, whether constructed, and tag number (X.690 §8.1.2). */
  readonly identifier: number;
  /** The bytes that it stands in, its own among them. */
  readonly source: Buffer;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
  /** Of a constructed encoding. */
  readonly elements: readonly Asn1[] | undefined;
}

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
  utcTime: 23,
  generalizedTime: 24,
} as const;

const constructed = 0x20;
const contextSpecific = 0x80;
const tagNumberBits = 0x1f;
const maxDepth = 16;

function malformed(what: string): SignetError {
  return new SignetError('invalid', `malformed der: ${what}`);
}

// Writing

const zeroOctet = Buffer.from([0]);
const onesOctet = Buffer.from([0xff]);

function create(identifier: number, parts: readonly Buffer[], elements?: readonly Asn1[]): Asn1 {
  let length = 0;
  for (const part of parts) length += part.length;
  const lengthOctets = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : 3;
  const contentStart = 2 + lengthOctets;
  const source = Buffer.allocUnsafe(contentStart + length);
  source[0] = identifier;
  source[1] = lengthOctets === 0 ? length : 0x80 | lengthOctets;
  if (lengthOctets > 0) source.writeUIntBE(length, 2, lengthOctets);
  let end = contentStart;
  for (const part of parts) end += part.copy(source, end);
  return { identifier, source, start: 0, contentStart, end, elements };
}

const createOf = (identifier: number, elements: readonly Asn1[]): Asn1 => create(identifier | constructed, elements.map(encode), elements);

/** The bytes of an element, as a part of those it stands in. */
export function encode(node: Asn1): Buffer {
  const { source, start, end } = node;
  return end - start === source.length ? source : source.subarray(start, end);
}

/** An element that is encoded already, to stand in another: its content is not looked at. */
export function encoded(der: Buffer): Asn1 {
  const contentStart = headerLength(der);
  return { identifier: der[0] ?? 0, source: der, start: 0, contentStart, end: der.length, elements: undefined };
}

export const sequence = (...elements: Asn1[]): Asn1 => createOf(tags.sequence, elements);
export const set = (...elements: Asn1[]): Asn1 => createOf(tags.set, elements);
export const boolean = (value: boolean): Asn1 => create(tags.boolean, [value ? onesOctet : zeroOctet]);
export const nullValue = (): Asn1 => create(tags.null, []);
export const octetString = (bytes: Buffer): Asn1 => create(tags.octetString, [bytes]);
export const bitString = (bytes: Buffer, unusedBits = 0): Asn1 =>
  create(tags.bitString, [unusedBits === 0 ? zeroOctet : Buffer.from([unusedBits]), bytes]);
export const utf8String = (text: string): Asn1 => create(tags.utf8String, [Buffer.from(text)]);

/** An OBJECT IDENTIFIER from its dotted form (X.690 §8.19). */
export function oid(dotted: string): Asn1 {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [40 * first + second, ...rest]) {
    let scale = 1;
    while (arc >= scale * 0x80) scale *= 0x80;
    for (; scale > 1; scale /= 0x80) octets.push(0x80 | (Math.floor(arc / scale) % 0x80));
    octets.push(arc % 0x80);
  }
  return create(tags.oid, [Buffer.from(octets)]);
}

/** A non-negative INTEGER from its big-endian bytes, in the fewest octets (X.690 §8.3.2). */
export function integer(bytes: Buffer): Asn1 {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const magnitude = bytes.subarray(start);
  return create(tags.integer, (magnitude[0] ?? 0) < 0x80 ? [magnitude] : [zeroOctet, magnitude]);
}

/** `[number]` around elements (constructed) or in place of a primitive type's tag (bytes). */
export function context(number: number, content: readonly Asn1[] | Buffer): Asn1 {
  return Buffer.isBuffer(content) ? create(contextSpecific | number, [content]) : createOf(contextSpecific | number, content);
}

/** A Name of one attribute per part, most significant first: dotted type and text (RFC 5280 §4.1.2.4). */
export function name(attributes: readonly (readonly [string, string])[]): Asn1 {
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050; whole seconds, rounded down. */
export function time(at: number): Asn1 {
  const text = `${formatInstant(at).slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return text < '2050' ? create(tags.utcTime, [Buffer.from(text.slice(2))]) : create(tags.generalizedTime, [Buffer.from(text)]);
}

// Reading

/** Reads one element that fills `der`, at most 16 levels deep. The caller has bounded its size. */
export function decode(der: Buffer): Asn1 {
  return decodeWhole(der, 0, der.length);
}

/** The element that an OCTET STRING wraps, as the value of an extension does. */
export function decodeOctets(node: Asn1): Asn1 {
  const { source, contentStart, end } = primitive(node, tags.octetString);
  return decodeWhole(source, contentStart, end);
}

function decodeWhole(source: Buffer, start: number, end: number): Asn1 {
  const node = decodeElement(source, start, end, 1);
  if (node.end !== end) throw malformed('bytes after the element');
  return node;
}

function decodeElement(source: Buffer, start: number, limit: number, depth: number): Asn1 {
  const identifier = source[start];
  const first = source[start + 1];
  if (identifier === undefined || first === undefined || limit - start < 2) throw malformed('missing bytes');
  // Tag numbers from 31 (X.690 §8.1.2.4) are of no use here.
  if ((identifier & tagNumberBits) === tagNumberBits || depth > maxDepth) throw malformed('tag number or depth');
  const contentStart = headerLength(source, start);
  const end = contentStart + (first < 0x80 ? first : readLength(source, start + 2, contentStart));
  if (end > limit) throw malformed('missing bytes');
  if (identifier === tags.integer && isPadded(source, contentStart, end)) throw malformed('padded integer');
  if ((identifier & constructed) === 0) return { identifier, source, start, contentStart, end, elements: undefined };
  const elements: Asn1[] = [];
  for (let at = contentStart; at < end; at = elements.at(-1)?.end ?? end) elements.push(decodeElement(source, at, end, depth + 1));
  return { identifier, source, start, contentStart, end, elements };
}

/** The long form of a length, in the fewest octets (X.690 §10.1); four would be beyond any bound. No octets: indefinite. */
function readLength(source: Buffer, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; at += 1) length = length * 0x100 + (source[at] ?? 0);
  if (end - start > 3 || source[start] === 0 || length < 0x80) throw malformed('length');
  return length;
}

/** Whether an INTEGER begins with nine equal bits (X.690 §8.3.2). */
function isPadded(source: Buffer, start: number, end: number): boolean {
  const first = source[start];
  const second = source[start + 1] ?? 0;
  return end - start > 1 && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80);
}

/** Octets before the content, counted from 0: two, or more by the long form of the length (X.690 §8.1.3). */
export function headerLength(der: Buffer, start = 0): number {
  const length = der[start + 1] ?? 0;
  return start + (length < 0x80 ? 2 : 2 + (length & 0x7f));
}

/** The number of its tag, whatever the class. */
export function tagNumber(node: Asn1): number {
  return node.identifier & tagNumberBits;
}

export function isUniversal(node: Asn1 | undefined, tag: number): node is Asn1 {
  return node !== undefined && (node.identifier & ~constructed) === tag;
}

export function isContext(node: Asn1 | undefined, number: number): node is Asn1 {
  return isUniversal(node, contextSpecific | number);
}

/** The elements of a SEQUENCE or SET. */
export function elements(node: Asn1 | undefined, tag: number = tags.sequence): readonly Asn1[] {
  if (!isUniversal(node, tag) || node.elements === undefined) throw malformed(`expected tag ${tag}`);
  return node.elements;
}

/** The elements of a constructed element of any class. */
export function contextElements(node: Asn1): readonly Asn1[] {
  if (node.elements === undefined) throw malformed('expected a constructed element');
  return node.elements;
}

function primitive(node: Asn1 | undefined, tag: number): Asn1 {
  if (!isUniversal(node, tag)) throw malformed(`expected tag ${tag}`);
  return node;
}

/** The content octets of a primitive element of any class, as a part of the bytes it stands in. */
export function readBytes(node: Asn1): Buffer {
  if ((node.identifier & constructed) !== 0) throw malformed('expected a primitive element');
  return node.source.subarray(node.contentStart, node.end);
}

const content = (node: Asn1 | undefined, tag: number): Buffer => readBytes(primitive(node, tag));

/** The content octets as lower-case hex; of an INTEGER with its sign octet. */
export function readHex(node: Asn1): string {
  return readBytes(node).toString('hex');
}

/** The dotted form. Every arc ends and is in the fewest octets (X.690 §8.19.2). */
export function readOid(node: Asn1 | undefined): string {
  let dotted = '';
  let arc = 0;
  let isOpen = true;
  for (const octet of content(node, tags.oid)) {
    if (octet === 0x80 && arc === 0) throw malformed('object identifier');
    arc = arc * 0x80 + (octet & 0x7f);
    isOpen = octet >= 0x80;
    if (isOpen) continue;
    if (dotted === '') dotted = arc < 80 ? `${Math.floor(arc / 40)}.${arc % 40}` : `2.${arc - 80}`;
    else dotted += `.${arc}`;
    arc = 0;
  }
  if (isOpen) throw malformed('object identifier');
  return dotted;
}

export function readBoolean(node: Asn1): boolean {
  const bytes = content(node, tags.boolean);
  if (bytes.length !== 1 || (bytes[0] !== 0xff && bytes[0] !== 0)) throw malformed('boolean');
  return bytes[0] === 0xff;
}

/** A small non-negative INTEGER, such as a version or a path length. */
export function readSmallInteger(node: Asn1 | undefined): number {
  const bytes = content(node, tags.integer);
  if (bytes.length === 0 || bytes.length > 4 || (bytes[0] ?? 0) >= 0x80) throw malformed('integer out of range');
  return bytes.readUIntBE(0, bytes.length);
}

export function readIntegerHex(node: Asn1 | undefined): string {
  return content(node, tags.integer).toString('hex');
}

/** The bytes of a BIT STRING whose bits are all used, as those of keys and signatures are. */
export function readBitStringBytes(node: Asn1 | undefined): Buffer {
  const bytes = content(node, tags.bitString);
  if (bytes[0] !== 0) throw malformed('bit string');
  return bytes.subarray(1);
}

/** The numbers of the bits that are set in a named bit list, bit 0 first. */
export function readBits(node: Asn1): readonly number[] {
  const bytes = content(node, tags.bitString);
  const bits: number[] = [];
  for (let bit = 0; bit < (bytes.length - 1) * 8; bit += 1) {
    if (((bytes[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0) bits.push(bit);
  }
  return bits;
}

/** RFC 5280 §4.1.2.5: both forms with seconds, in Zulu; two-digit years from 50 are of the last century. */
export function readTime(node: Asn1 | undefined): number {
  const isUtc = isUniversal(node, tags.utcTime);
  const text = content(node, isUtc ? tags.utcTime : tags.generalizedTime).toString('latin1');
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
  const text = readBytes(node).toString('latin1');
  if (/[^\0-\x7f]/.test(text)) throw malformed('ia5 string');
  return text;
}
