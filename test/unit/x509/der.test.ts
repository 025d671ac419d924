import fc from 'fast-check';
import type { Asn1 } from 'node-forge/lib/asn1.js';
import asn1 from 'node-forge/lib/asn1.js';
import t from 'tap';
import * as der from '../../../agent/x509/der.js';

const time = (text: string, tag: number): der.Asn1 => {
  const bytes = Buffer.from(text);
  return der.decode(Buffer.concat([Buffer.of(tag, bytes.length), bytes]));
};

t.test('integers are written in the fewest octets and never negative', async (t) => {
  for (const [bytes, written] of [
    ['00', '020100'],
    ['7f', '02017f'],
    ['80', '02020080'],
    ['000000ff', '020200ff'],
    ['00000001', '020101'],
  ] as const) {
    t.equal(der.encode(der.integer(Buffer.from(bytes, 'hex'))).toString('hex'), written, bytes);
  }
});

t.test('whatever bytes go into an element come out again', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 1, maxLength: 40 }), (content, number) => {
      const tree = der.sequence(
        der.octetString(Buffer.from(content)),
        der.context(6, Buffer.from(content)),
        der.integer(Buffer.from(number)),
      );
      const bytes = der.encode(tree);
      const [octets, tagged] = der.elements(der.decode(bytes));
      return (
        octets !== undefined &&
        tagged !== undefined &&
        der.readBytes(octets).equals(Buffer.from(content)) &&
        der.readBytes(tagged).equals(Buffer.from(content)) &&
        Buffer.concat(der.elements(der.decode(bytes)).map(der.encode)).equals(bytes.subarray(der.headerLength(bytes)))
      );
    }),
    { numRuns: 200 },
  );
});

t.test('an element that is encoded already stands in a tree as it is', async (t) => {
  const inner = der.sequence(der.utf8String('a'.repeat(200)));
  t.same(der.encode(der.sequence(der.encoded(der.encode(inner)))), der.encode(der.sequence(inner)));
});

const framed = (identifier: number, content: Buffer): Buffer => {
  const { length } = content;
  const octets = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([identifier, ...octets]), content]);
};
const primitives = fc
  .tuple(fc.constantFrom(0x02, 0x03, 0x04, 0x06, 0x0c, 0x13, 0x80, 0x82), fc.uint8Array({ maxLength: 300 }))
  .map(([identifier, octets]) => framed(identifier, Buffer.from(octets)));
const around = (inner: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.constantFrom(0x30, 0x31, 0xa0, 0xa3), fc.array(fc.oneof(primitives, inner), { maxLength: 4 }))
    .map(([identifier, elements]) => framed(identifier, Buffer.concat(elements)));
const trees = around(around(around(primitives)));

t.test('forge, a reader of its own, sees the same elements', async (t) => {
  const ours = (node: der.Asn1): unknown => [node.identifier, node.elements?.map(ours) ?? der.readHex(node)];
  const theirs = ({ tagClass, type, constructed, value }: Asn1): unknown => [
    tagClass | (constructed ? 0x20 : 0) | type,
    typeof value === 'string' ? Buffer.from(value, 'latin1').toString('hex') : value.map(theirs),
  ];
  const byForge = (bytes: Buffer): Asn1 =>
    asn1.fromDer(bytes.toString('latin1'), { strict: true, parseAllBytes: true, decodeBitStrings: false, maxDepth: 16 });
  const read = <T>(reader: () => T): T | undefined => {
    try {
      return reader();
    } catch {
      return undefined;
    }
  };
  // What has the tag number of a BMPString, in any class, forge gives as text.
  const isText = (node: der.Asn1): boolean => der.tagNumber(node) === 30 || node.elements?.some(isText) === true;
  let both = 0;
  fc.assert(
    fc.property(trees, fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 2 }), (bytes, damage) => {
      const damaged = Buffer.from(bytes);
      if (damage !== null) damaged[damage[0] % damaged.length] = damage[1];
      const node = read(() => der.decode(damaged));
      if (node === undefined || isText(node)) return true;
      both += 1;
      return JSON.stringify(ours(node)) === JSON.stringify(theirs(byForge(damaged)));
    }),
    { numRuns: 300 },
  );
  t.ok(both > 50, `${both} were read by both`);
});

t.test('object identifiers are read as forge writes them', async () => {
  const arc = fc.nat(2 ** 31 - 1);
  fc.assert(
    fc.property(fc.nat(2), fc.nat(39), fc.array(arc, { maxLength: 8 }), (first, second, rest) => {
      const dotted = [first, second, ...rest].join('.');
      const content = Buffer.from(asn1.oidToDer(dotted).getBytes(), 'latin1');
      const node = der.oid(dotted);
      return der.readBytes(node).equals(content) && der.readOid(node) === dotted;
    }),
    { numRuns: 200 },
  );
});

t.test('only der is read', async (t) => {
  for (const [name, hex] of [
    ['indefinite length', '30800201010000'],
    ['overlong length', '30810302 0101'],
    ['padded integer', '300402020001'],
    ['padded negative integer', '300402 02ff80'],
    ['indefinite length of many octets', `3080${'0482 0100'.replace(' ', '')}${'00'.repeat(256)}0000`],
    ['long form of a short length', '3081 03020101'],
    ['long form with a zero', `3083000084 048181${'00'.repeat(129)}`],
    ['a tag number of two octets', '1f8101 00'],
    ['a length of four octets', '0484 00000001 00'],
    ['bytes after the element', '020101 00'],
    ['missing bytes', '3005020101'],
    ['nothing', ''],
    ['nested too deeply', `${Array.from({ length: 20 }, (_, level) => `30${(2 * (19 - level)).toString(16).padStart(2, '0')}`).join('')}`],
  ] as const) {
    t.throws(() => der.decode(Buffer.from(hex.replace(/ /g, ''), 'hex')), { name: 'SignetError', kind: 'invalid' }, name);
  }
});

t.test('two octets a character', async (t) => {
  const bytes = Buffer.from('300d 1e06 00d6 0034 4e2d 020101 0500'.replace(/ /g, ''), 'hex');
  t.same(
    der.elements(der.decode(bytes)).map((element) => der.encode(element).toString('hex')),
    ['1e0600d600344e2d', '020101', '0500'],
  );
});

t.test('reading refuses what a field cannot be', async (t) => {
  const of = (hex: string): der.Asn1 => der.decode(Buffer.from(hex, 'hex'));
  t.throws(() => der.readBoolean(of('010101')), /boolean/, 'true is ff in der');
  t.throws(() => der.readSmallInteger(of('0201ff')), /integer/, 'negative');
  t.throws(() => der.readSmallInteger(of('02050100000000')), /integer/, 'large');
  t.throws(() => der.readOid(of('060180')), /object identifier/, 'unfinished arc');
  t.throws(() => der.readOid(of('06025580')), /object identifier/, 'unfinished arc after another');
  t.throws(() => der.readOid(of('0603558001')), /object identifier/, 'padded arc');
  t.equal(der.readOid(of('06028837')), '2.999', 'the second arc below 2 may be large');
  t.throws(() => der.readOid(of('0600')), /object identifier/, 'empty');
  t.throws(() => der.readBitStringBytes(of('03020780')), /bit string/, 'unused bits');
  t.throws(() => der.readAscii(of('1602c3a9')), /ia5/, 'not ascii');
  t.throws(() => der.elements(of('020101')), /tag 16/, 'no sequence');
  t.throws(() => der.contextElements(of('020101')), /constructed/, 'primitive');
  t.throws(() => der.readBytes(of('3000')), /primitive/, 'constructed');
  t.throws(() => der.readOid(undefined), /tag 6/, 'missing');
});

t.test('times are read and written in the form their year demands', async (t) => {
  for (const [at, text] of [
    [Date.UTC(2049, 11, 31, 23, 59, 59), '170d3439313233313233353935395a'],
    [Date.UTC(2050, 0, 1), '180f32303530303130313030303030305a'],
    [Date.UTC(9999, 11, 31, 23, 59, 59), '180f39393939313233313233353935395a'],
  ] as const) {
    t.equal(der.encode(der.time(at)).toString('hex'), text);
    t.equal(der.readTime(der.time(at)), at);
  }
  t.equal(der.readTime(der.time(Date.UTC(2026, 0, 1) + 999)), Date.UTC(2026, 0, 1), 'rounded down');
  t.equal(der.readTime(time('500101000000Z', 23)), Date.UTC(1950, 0, 1), 'two-digit years from 50 are of the last century');
  for (const text of ['2601010000Z', '260101000000+0100', '260230000000Z', '261301000000Z', 'garbage']) {
    t.throws(() => der.readTime(time(text, 23)), /time/, text);
  }
  t.throws(() => der.readTime(time('20260101000000.5Z', 24)), /time/, 'fractions');
  t.throws(() => der.readTime(der.nullValue()), /tag/, 'no time');
});
