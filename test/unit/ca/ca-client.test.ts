import { inspect } from 'node:util';
import t from 'tap';
import type { ExpectedAnswer } from '../../../agent/ca/ca-client.js';
import { acceptAnswer } from '../../../agent/ca/ca-client.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { clientAuth, serverAuth } from '../../../agent/x509/extensions.js';
import { generateKey } from '../../../agent/x509/csr.js';
import type { Svid } from '../../../agent/x509/svid.js';
import { opensslVerify } from '../../fixtures/openssl.js';
import type { CertificateSpec, TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, dayMs, hourMs, keyPem, pemOf, testTime } from '../../fixtures/pki.js';

const id = createSpiffeId('example.org', 'shop', 'cart');
const key = await generateKey('ec-p256');
const root = createRoot();
const middle = createIntermediate(root);
const leafOf = (spec: CertificateSpec = {}, issuer: TestCertificate = middle): TestCertificate =>
  createLeaf(issuer, id.uri, { key, ...spec });
const leaf = leafOf();

function accept(elements: readonly (Buffer | string)[], more: Partial<ExpectedAnswer> = {}): Svid {
  const expected = { id, key, roots: [root.certificate], now: testTime, ...more };
  return acceptAnswer(
    elements.map((element) => Buffer.from(element as string)),
    expected,
  );
}

t.test('an answer in any shape gives the same chain', async (t) => {
  const [l, m, r] = [leaf, middle, root].map((each) => each.pem.toString()) as [string, string, string];
  for (const [name, elements] of Object.entries({
    'one certificate an element': [l, m, r],
    'all in one element': [l + m + r],
    'without the root': [l, m],
    'root twice, and in the middle': [l, r, m, r],
    'mixed order': [r, m, l],
    'leaf twice': [l, m, l],
    'roots of others too': [l, m, createRoot().pem, r],
    'crlf, blanks and text': [`# leaf\r\n${l.replace(/\n/g, ' \r\n')}`, `\n\n${m}\n`],
    'glued, without the last newline': [l.trimEnd() + m.trimEnd()],
    'an empty element': [l, '', m],
  })) {
    const svid = accept(elements);
    t.same(svid.chainPem(), pemOf(leaf, middle), name);
  }
});

t.test('leaf only is enough where the root signed it', async (t) => {
  const svid = accept([leafOf({}, root).pem]);
  t.equal(svid.chain.length, 1);
});

t.test('the svid holds what was accepted', async (t) => {
  const svid = accept([leaf.pem, middle.pem]);
  t.match(svid, { id, receivedAt: testTime, notAfter: testTime + dayMs, expiresAt: testTime + dayMs, serial: leaf.certificate.serial });
  t.same(svid.privateKeyPem(), key.pkcs8Pem());
  t.same(opensslVerify(svid.chainPem(), root.pem, testTime), { ok: true, output: '' });
});

t.test('each refusal has its reason and tells what was compared', async (t) => {
  const other = createTestKey();
  const refused: Record<string, readonly [string, Record<string, unknown>, readonly (Buffer | string)[], Partial<ExpectedAnswer>?]> = {
    'no element': ['answer-empty', { elements: 0 }, []],
    'empty elements': ['answer-empty', { elements: 2 }, ['', '\n']],
    'leaf only, no root known': ['trust-anchor-unknown', {}, [leaf.pem], { roots: [] }],
    'the root comes with the answer alone': [
      'trust-anchor-unknown',
      {},
      [leaf.pem, middle.pem, root.pem],
      { roots: [createRoot().certificate] },
    ],
    'only an intermediate as root': ['trust-anchor-unknown', {}, [leaf.pem, middle.pem], { roots: [middle.certificate] }],
    'intermediate missing': ['trust-anchor-unknown', { authorityKeyId: middle.certificate.subjectKeyId }, [leaf.pem]],
    'another key': [
      'key-mismatch',
      { requestedKeyId: /^[0-9a-f]{40}$/, receivedKeyId: /^[0-9a-f]{40}$/ },
      [leafOf({ key: other }).pem, middle.pem],
    ],
    'no leaf at all': ['key-mismatch', { receivedKeyId: undefined }, [middle.pem, root.pem]],
    'another identity': [
      'san-mismatch',
      { requested: id.uri, received: ['spiffe://example.org/ns/signet/sa/agent'] },
      [leafOf({ uris: ['spiffe://example.org/ns/signet/sa/agent'] }).pem, middle.pem],
    ],
    'one identity more': [
      'san-mismatch',
      { otherNames: 0 },
      [leafOf({ uris: [id.uri, 'spiffe://example.org/ns/a/sa/b'] }).pem, middle.pem],
    ],
    'the identity twice': ['san-mismatch', {}, [leafOf({ uris: [id.uri, id.uri] }).pem, middle.pem]],
    'a dns name more': ['san-mismatch', { otherNames: 1 }, [leafOf({ dnsNames: ['cart'] }).pem, middle.pem]],
    'no name': ['san-mismatch', { received: [] }, [leafOf({ uris: [], subject: 'cart' }).pem, middle.pem]],
    'other case': ['san-mismatch', {}, [leafOf({ uris: [id.uri.replace('cart', 'Cart')] }).pem, middle.pem]],
    'expired': ['certificate-expired', { notAfter: '2026-01-01T00:00:00.000Z' }, [leafOf({ notAfter: testTime }).pem, middle.pem]],
    'four hours ahead': [
      'certificate-not-yet-valid',
      { now: '2026-01-01T00:00:00.000Z', notBefore: '2026-01-01T04:00:00.000Z', notAfter: '2026-01-02T00:00:00.000Z' },
      [leafOf({ notBefore: testTime + 4 * hourMs }).pem, middle.pem],
    ],
    'a ca': ['leaf-not-allowed', {}, [leafOf({ ca: true, subject: 'x' }).pem, middle.pem]],
    'no key usage': ['leaf-not-allowed', { keyUsage: [] }, [leafOf({ keyUsage: null }).pem, middle.pem]],
    'no digital signature': [
      'leaf-not-allowed',
      { keyUsage: ['keyEncipherment'] },
      [leafOf({ keyUsage: ['keyEncipherment'] }).pem, middle.pem],
    ],
    'signs certificates': ['leaf-not-allowed', {}, [leafOf({ keyUsage: ['digitalSignature', 'keyCertSign'] }).pem, middle.pem]],
    'signs revocation lists': ['leaf-not-allowed', {}, [leafOf({ keyUsage: ['digitalSignature', 'cRLSign'] }).pem, middle.pem]],
    'no extended key usage': ['leaf-not-allowed', { extendedKeyUsage: [] }, [leafOf({ extendedKeyUsage: null }).pem, middle.pem]],
    'for servers only': [
      'leaf-not-allowed',
      { extendedKeyUsage: [serverAuth] },
      [leafOf({ extendedKeyUsage: [serverAuth] }).pem, middle.pem],
    ],
    'for clients only': [
      'leaf-not-allowed',
      { extendedKeyUsage: [clientAuth] },
      [leafOf({ extendedKeyUsage: [clientAuth] }).pem, middle.pem],
    ],
    'garbage': ['pem-invalid', { source: 'element 1' }, [leaf.pem, '-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----']],
    'a key in the answer': ['pem-invalid', { source: 'element 1', label: 'PRIVATE KEY' }, [leaf.pem, keyPem(middle)]],
    '40 certificates': ['answer-too-large', { maxCertificates: 32 }, Array.from({ length: 40 }, () => middle.pem)],
    '40 certificates in one element': ['answer-too-large', {}, [Buffer.concat(Array.from({ length: 40 }, () => middle.pem))]],
    '40 certificates in two elements': [
      'answer-too-large',
      {},
      Array.from({ length: 2 }, () => Buffer.concat(Array.from({ length: 20 }, () => middle.pem))),
    ],
    '5 MiB': ['answer-too-large', { bytes: 5 * 1024 * 1024 + leaf.pem.length }, [leaf.pem, Buffer.alloc(5 * 1024 * 1024, 0x20)]],
    'own limits': ['answer-too-large', { maxBytes: 10 }, [leaf.pem], { limits: { maxBytes: 10, maxCertificates: 1 } }],
  };
  for (const [name, [reason, fields, elements, more]] of Object.entries(refused)) {
    t.throws(() => accept(elements, more), { name: 'SignetError', reason, fields }, name);
  }
});

t.test('F009: a root of the same name with another key: both key ids are told', async (t) => {
  const ours = createRoot({ subject: 'same' });
  const theirs = createRoot({ subject: 'same' });
  t.throws(() => accept([leafOf({}, theirs).pem, ours.pem], { roots: [ours.certificate] }), {
    name: 'SignetError',
    reason: 'signature-invalid',
    fields: { authorityKeyId: theirs.certificate.subjectKeyId, issuerKeyId: ours.certificate.subjectKeyId },
  });
  t.ok(accept([leafOf({}, theirs).pem], { roots: [ours.certificate, theirs.certificate] }), 'while both are known');
});

t.test('clocks may differ by the tolerance', async (t) => {
  t.ok(accept([leafOf({ notBefore: testTime + 30_000 }).pem, middle.pem]), '30 s by default');
  t.throws(() => accept([leafOf({ notBefore: testTime + 61_000 }).pem, middle.pem]), {
    name: 'SignetError',
    reason: 'certificate-not-yet-valid',
  });
  t.throws(() => accept([leafOf({ notBefore: testTime + 30_000 }).pem, middle.pem], { toleranceMs: 10_000 }), { name: 'SignetError' });
});

t.test('far-away years and short lives', async (t) => {
  const forever = createRoot({ notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) });
  const decade = leafOf({ notAfter: testTime + 3650 * dayMs }, forever);
  t.equal(accept([decade.pem], { roots: [forever.certificate] }).expiresAt, testTime + 3650 * dayMs);
  t.equal(accept([leafOf({ notAfter: testTime + 60_000 }).pem, middle.pem]).notAfter, testTime + 60_000);
});

t.test('no key in a refusal', async (t) => {
  const secret = key.pkcs8Pem().toString().split('\n')[1];
  try {
    accept([leafOf({ key: createTestKey() }).pem]);
    t.fail('accepted');
  } catch (error) {
    t.notMatch(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), secret);
  }
});
