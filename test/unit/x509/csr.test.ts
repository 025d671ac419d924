import t from 'tap';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { SubjectProfile } from '../../../agent/x509/csr.js';
import { PrivateKey, createCsr, createStubCsr, csrToPem, generateKey, keyTypes, parseCsr } from '../../../agent/x509/csr.js';
import * as der from '../../../agent/x509/der.js';
import { openssl } from '../../fixtures/openssl.js';
import { createTestKey } from '../../fixtures/pki.js';

const id = createSpiffeId('example.org', 'shop', 'cart');

const subjects: Readonly<Record<SubjectProfile, RegExp>> = {
  'none': /Subject: *\n/,
  'empty-o': /Subject: O *= *\n/,
  'cn': /Subject: CN *= *shop\/cart\n/,
};

for (const keyType of keyTypes) {
  t.test(`${keyType}: openssl verifies the request and reads what was asked`, async (t) => {
    const key = await generateKey(keyType);
    for (const [subject, shown] of Object.entries(subjects) as [SubjectProfile, RegExp][]) {
      const csr = await createCsr(key, id, subject);
      const { ok, output } = openssl(['req', '-in', 'csr.pem', '-verify', '-noout', '-text'], { 'csr.pem': csrToPem(csr) });
      t.ok(ok, output);
      t.match(output, /[Vv]erif.* OK/);
      t.match(output, shown);
      t.match(output, subject === 'none' ? /Subject Alternative Name: critical\s+URI:/ : /Subject Alternative Name: *\n\s+URI:/);
      t.match(output, 'URI:spiffe://example.org/ns/shop/sa/cart\n');
    }
  });
}

t.test('a request that names nobody', async (t) => {
  for (const keyType of keyTypes) {
    const key = await generateKey(keyType);
    const csr = await createStubCsr(key);
    const { ok, output } = openssl(['req', '-in', 'csr.pem', '-verify', '-noout', '-text'], { 'csr.pem': csrToPem(csr) });
    t.ok(ok, output);
    t.match(output, /Attributes:\s+\(none\)/);
    const { subject, extensions, publicKeySpki } = parseCsr(csr);
    t.same([subject.toString('hex'), extensions.subjectAltName, publicKeySpki], ['3000', undefined, key.publicKeySpki]);
  }
});

t.test('a request is read back', async (t) => {
  const key = await generateKey('ec-p256');
  const csr = parseCsr(await createCsr(key, id, 'none'));
  t.same(csr.extensions.subjectAltName, { uris: [id.uri], otherForms: [] });
  t.ok(csr.publicKeySpki.equals(key.publicKeySpki));
});

t.test('requests of other programs are read', async (t) => {
  const made = openssl([
    'req',
    '-new',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    '/dev/null',
    '-subj',
    '/O=x',
    '-addext',
    'subjectAltName=URI:a:b,DNS:c,IP:1.2.3.4',
  ]);
  const body = /-----BEGIN CERTIFICATE REQUEST-----([^-]*)-----END/.exec(made.output)?.[1] ?? '';
  const bytes = Buffer.from(body, 'base64');
  const csr = parseCsr(bytes);
  t.same(csr.extensions.subjectAltName, { uris: ['a:b'], otherForms: [2, 7] });
});

t.test('a common name fits its bound', async (t) => {
  const long = createSpiffeId('example.org', 'n'.repeat(40), 's'.repeat(60));
  const { ok, output } = openssl(['req', '-in', 'csr.pem', '-noout', '-subject'], {
    'csr.pem': csrToPem(await createCsr(await generateKey('ec-p256'), long, 'cn')),
  });
  t.ok(ok);
  t.equal(/CN *= *(.*)/.exec(output)?.[1]?.length, 64);
});

t.test('a request that fails its own check never leaves', async (t) => {
  const { publicKey } = createTestKey();
  const { privateKey, publicKeySpki } = createTestKey();
  const mixed = new PrivateKey({ keyType: 'ec-p256', publicKey, privateKey, publicKeySpki, pkcs8: Buffer.alloc(1) });
  await t.rejects(createCsr(mixed, id, 'none'), { message: /bug: certificate request fails its own check/ });
});

t.test('what is no request is refused', async (t) => {
  const bytes = await createCsr(await generateKey('ec-p256'), id, 'none');
  const [info, algorithm, signature] = der.elements(der.decode(bytes));
  const [, subject, spki, attributes] = der.elements(info);
  const rebuild = (...fields: (der.Asn1 | undefined)[]): Buffer =>
    der.encode(
      der.sequence(
        ...[der.sequence(...fields.filter((field) => field !== undefined)), algorithm, signature].filter((part) => part !== undefined),
      ),
    );
  const zero = der.integer(Buffer.of(0));
  t.same(rebuild(zero, subject, spki, attributes), bytes);
  t.same(parseCsr(rebuild(zero, subject, spki, der.context(0, []))).extensions.subjectAltName, undefined, 'nothing asked for');
  const twice = attributes === undefined ? [] : [...der.contextElements(attributes), ...der.contextElements(attributes)];
  for (const [name, wrong] of Object.entries({
    'garbage': Buffer.from('garbage'),
    'empty': Buffer.alloc(0),
    'cut': bytes.subarray(0, 100),
    'too large': Buffer.alloc(20_000),
    'another version': rebuild(der.integer(Buffer.of(1)), subject, spki, attributes),
    'two requests for extensions': rebuild(zero, subject, spki, der.context(0, twice)),
    'a part too many': rebuild(zero, subject, spki, attributes, attributes),
    'no key': rebuild(zero, subject),
    'no structure': der.encode(der.sequence()),
  })) {
    t.throws(() => parseCsr(wrong), { name: 'SignetError', kind: 'invalid', reason: 'ca-refused-request' }, name);
  }
});
