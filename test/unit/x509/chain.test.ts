import t from 'tap';
import { Certificate } from '../../../agent/x509/certificate.js';
import type { ChainOptions } from '../../../agent/x509/chain.js';
import { findChain } from '../../../agent/x509/chain.js';
import * as der from '../../../agent/x509/der.js';
import { clientAuth, serverAuth } from '../../../agent/x509/extensions.js';
import { opensslVerify } from '../../fixtures/openssl.js';
import type { CertificateSpec, TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, dayMs, pemOf, testTime, unknownSpki } from '../../fixtures/pki.js';

const uri = 'spiffe://example.org/ns/a/sa/b';
const codeSigning = '1.3.6.1.5.5.7.3.3';
const rsa1024 = createTestKey('rsa-1024');
const rsa2048 = createTestKey('rsa-2048');

function find(
  chain: readonly TestCertificate[],
  roots: readonly TestCertificate[],
  more: Partial<ChainOptions> = {},
): readonly Certificate[] {
  const [leaf, ...candidates] = chain.map((each) => each.certificate);
  if (leaf === undefined) throw new Error('no leaf');
  const options = {
    candidates,
    roots: roots.map((each) => each.certificate),
    now: testTime,
    toleranceMs: 0,
    from: 'leaf',
    ...more,
  } as const;
  return findChain(leaf, options);
}

interface Pki {
  readonly root?: CertificateSpec;
  readonly middle?: CertificateSpec;
  readonly leaf?: CertificateSpec;
}

function build(pki: Pki): { root: TestCertificate; middle: TestCertificate; leaf: TestCertificate } {
  const root = createRoot(pki.root);
  const middle = createIntermediate(root, pki.middle);
  return { root, middle, leaf: createLeaf(middle, uri, pki.leaf) };
}

t.test('what is accepted, openssl accepts strictly', async (t) => {
  const accepted: Record<string, Pki> = {
    'plain': {},
    'rsa root': { root: { key: rsa2048 } },
    'rsa leaf': { leaf: { key: rsa2048 } },
    'p-384 and p-521': { root: { key: createTestKey('ec-p521') }, middle: { key: createTestKey('ec-p384') } },
    'sha-384': { middle: { digest: 'sha384' } },
    'path lengths that suffice': { root: { pathLength: 1 }, middle: { pathLength: 0 } },
    'a leaf with a subject': { leaf: { subject: 'b' } },
    'permitted host': { root: { permittedUris: ['example.org'] } },
    'permitted host in other case': { root: { permittedUris: ['EXAMPLE.org'] } },
    'permitted subdomains': { root: { permittedUris: ['.org'] } },
    'another host excluded': { root: { excludedUris: ['example.com', '.example.org'] } },
    'permitted subject': { root: { permittedSubjects: ['middle'] }, middle: { subject: 'middle' } },
    'constraints on names it has not': { root: { permittedDnsNames: ['example.com'] } },
    'usages of tls in the issuer': { middle: { extendedKeyUsage: [serverAuth, clientAuth] } },
    'no basic constraints in the leaf': { leaf: { basicConstraints: null } },
    'until the year 9999': { root: { notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) } },
    'serial number 0': { root: { serial: Buffer.of(0) } },
    'a root without an authority key identifier': { root: { authorityKeyId: null } },
  };
  for (const [name, pki] of Object.entries(accepted)) {
    const { root, middle, leaf } = build(pki);
    t.same(find([leaf, middle], [root]), [leaf.certificate, middle.certificate, root.certificate], name);
    t.same(opensslVerify(pemOf(leaf, middle), root.pem, testTime), { ok: true, output: '' }, `openssl: ${name}`);
  }
});

t.test('F082: each fault has its reason, and openssl refuses it too', async (t) => {
  const policy: readonly [string, boolean, der.Asn1] = ['1.2.3.4.5', true, der.nullValue()];
  const refused: Record<string, readonly [string, string | RegExp, Pki]> = {
    'leaf expired': ['certificate-expired', /expired/, { leaf: { notAfter: testTime } }],
    'intermediate expired': ['certificate-expired', /expired/, { middle: { notAfter: testTime - 1000 } }],
    'root expired': ['certificate-expired', /expired/, { root: { notAfter: testTime - 1000 } }],
    'leaf not yet valid': ['certificate-not-yet-valid', /not valid yet/, { leaf: { notBefore: testTime + 1000 } }],
    'intermediate not yet valid': ['certificate-not-yet-valid', /not valid yet/, { middle: { notBefore: testTime + 1000 } }],
    'intermediate no ca': ['issuer-not-allowed', /no ca/, { middle: { ca: false, subject: 'm' } }],
    'no basic constraints': ['issuer-not-allowed', /no ca/, { middle: { basicConstraints: null } }],
    'basic constraints not critical': ['issuer-not-allowed', /not critical/, { middle: { basicConstraintsCritical: false } }],
    'root without key usage': ['issuer-not-allowed', /key usage/, { root: { keyUsage: null } }],
    'intermediate without keyCertSign': ['issuer-not-allowed', /key usage/, { middle: { keyUsage: ['cRLSign', 'digitalSignature'] } }],
    'root without a key identifier': [
      'issuer-not-allowed',
      /subject key identifier/,
      { root: { subjectKeyId: null }, middle: { authorityKeyId: '01' } },
    ],
    'path length of the root': ['issuer-not-allowed', /path length/, { root: { pathLength: 0 } }],
    'path length in a leaf': ['leaf-not-allowed', /path length/, { leaf: { pathLength: 0 } }],
    'usages of the issuer without tls': ['issuer-not-allowed', /extended key usage/, { middle: { extendedKeyUsage: [codeSigning] } }],
    'usages of the root for servers only': ['issuer-not-allowed', /extended key usage/, { root: { extendedKeyUsage: [serverAuth] } }],
    'unknown critical extension in the leaf': ['leaf-not-allowed', /critical extension 1.2.3.4.5/, { leaf: { extensions: [policy] } }],
    'unknown critical extension in an issuer': ['issuer-not-allowed', /critical extension/, { middle: { extensions: [policy] } }],
    'unknown critical extension in the root': ['issuer-not-allowed', /critical extension/, { root: { extensions: [policy] } }],
    'empty subject of a ca': ['leaf-not-allowed', /issuer name is empty/, { middle: { subject: '' } }],
    'alternative name not critical': ['leaf-not-allowed', /not critical/, { leaf: { subjectAltNameCritical: false } }],
    'alternative name empty': [
      'leaf-not-allowed',
      /is empty/,
      { leaf: { uris: [], subject: 'b', extensions: [['2.5.29.17', false, der.sequence()]] } },
    ],
    'leaf without an authority key identifier': ['leaf-not-allowed', /authority key identifier/, { leaf: { authorityKeyId: null } }],
    'critical key identifier': [
      'leaf-not-allowed',
      /identifiers are critical/,
      { leaf: { subjectKeyId: null, extensions: [['2.5.29.14', true, der.octetString(Buffer.of(1))]] } },
    ],
    'another authority key identifier': ['signature-invalid', /identifiers/, { leaf: { authorityKeyId: '0102' } }],
    'host not permitted': ['issuer-not-allowed', /permit/, { root: { permittedUris: ['example.com'] } }],
    'only subdomains permitted': ['issuer-not-allowed', /permit/, { root: { permittedUris: ['.example.org'] } }],
    'host excluded': ['issuer-not-allowed', /exclude/, { middle: { excludedUris: ['example.org'] } }],
    'domain excluded': ['issuer-not-allowed', /exclude/, { middle: { excludedUris: ['.org'] } }],
    'subject not permitted': ['issuer-not-allowed', /permit the subject/, { root: { permittedSubjects: ['other'] } }],
    'subject excluded': [
      'issuer-not-allowed',
      /exclude subjects/,
      { root: { excludedSubjects: ['middle'] }, middle: { subject: 'middle' } },
    ],
    'dns name of an intermediate not permitted': [
      'issuer-not-allowed',
      /another form/,
      { root: { permittedDnsNames: ['example.com'] }, middle: { dnsNames: ['a.example.org'] } },
    ],
    'damaged leaf': ['signature-invalid', /signature does not verify/, { leaf: { damaged: true } }],
    'damaged intermediate': ['signature-invalid', /signature does not verify/, { middle: { damaged: true } }],
  };
  for (const [name, [reason, message, pki]] of Object.entries(refused)) {
    const { root, middle, leaf } = build(pki);
    t.throws(() => find([leaf, middle], [root]), { name: 'SignetError', kind: 'invalid', reason, message }, name);
    t.notOk(opensslVerify(pemOf(leaf, middle), root.pem, testTime).ok, `openssl: ${name}`);
  }
});

t.test('what openssl would let pass is refused as well', async (t) => {
  const refused: Record<string, readonly [string, Pki]> = {
    'rsa of 1024 bits': ['key-weak', { middle: { key: rsa1024 } }],
    'sha-1': ['key-weak', { leaf: { digest: 'sha1' } }],
    'a curve that proxies do not know': ['key-weak', { middle: { key: createTestKey('ec-k256') } }],
    'ed25519': ['key-weak', { middle: { key: createTestKey('ed25519') } }],
    'a version 1 root': ['issuer-not-allowed', { root: { version: 1 }, middle: { authorityKeyId: '01' } }],
    'a damaged root': ['trust-anchor-unknown', { root: { damaged: true } }],
    'an empty permitted host': ['issuer-not-allowed', { root: { permittedUris: [''] } }],
    'everything excluded': ['issuer-not-allowed', { root: { excludedUris: [''] } }],
  };
  for (const [name, [reason, pki]] of Object.entries(refused)) {
    const { root, middle, leaf } = build(pki);
    t.throws(() => find([leaf, middle], [root]), { name: 'SignetError', reason }, name);
  }
});

t.test('the three times are told', async (t) => {
  const { root, middle, leaf } = build({ leaf: { notBefore: testTime + 4 * 3_600_000 } });
  t.throws(() => find([leaf, middle], [root]), {
    name: 'SignetError',
    fields: { now: '2026-01-01T00:00:00.000Z', notBefore: '2026-01-01T04:00:00.000Z', notAfter: '2026-01-02T00:00:00.000Z' },
  });
  t.equal(find([leaf, middle], [root], { toleranceMs: 4 * 3_600_000 }).length, 3, 'inside the tolerance');
});

t.test('order and repetition do not matter, strangers are left out', async (t) => {
  const { root, middle, leaf } = build({});
  const stranger = createRoot();
  const path = find([leaf, stranger, root, middle, middle, root, createLeaf(stranger, uri)], [stranger, root]);
  t.same(path, [leaf.certificate, middle.certificate, root.certificate]);
});

t.test('an unknown root is told as that, also when it is there twice, as istiod sends it', async (t) => {
  const { root, middle, leaf } = build({});
  const again = { ...root, certificate: Certificate.fromDer(root.certificate.der) };
  t.throws(() => find([leaf, middle, root, again], [createRoot()]), { name: 'SignetError', reason: 'trust-anchor-unknown' });
  t.equal(find([leaf, middle, root, again], [root]).length, 3);
});

t.test('F009: two cas of one name: every candidate is tried', async (t) => {
  const first = createRoot({ subject: 'same' });
  const second = createRoot({ subject: 'same' });
  const leaf = createLeaf(second, uri);
  for (const roots of [
    [first, second],
    [second, first],
  ]) {
    t.same(find([leaf], roots), [leaf.certificate, second.certificate]);
  }
  t.throws(
    () => find([leaf], [first]),
    {
      name: 'SignetError',
      reason: 'signature-invalid',
      fields: { authorityKeyId: second.certificate.subjectKeyId, issuerKeyId: first.certificate.subjectKeyId },
    },
    'both key ids are told',
  );
  const twin = createRoot({ subject: 'same', subjectKeyId: second.certificate.subjectKeyId ?? '' });
  t.same(find([leaf], [twin, second]), [leaf.certificate, second.certificate], 'equal identifiers too: the signature decides');
  const lookAlike = { subject: 'same', subjectKeyId: second.certificate.subjectKeyId ?? null };
  const strange = createIntermediate(second, { ...lookAlike, key: { publicKeySpki: unknownSpki } });
  t.equal(find([leaf, strange], [twin, second]).length, 2, 'also beside a key that nobody knows');
  const branch = createIntermediate(first, { subject: 'branch' });
  const way = createIntermediate(second, { subject: 'branch', key: branch.key });
  const below = createLeaf(branch, uri);
  t.same(find([below, branch, way], [second]), [below.certificate, way.certificate, second.certificate], 'a dead end is left again');
});

t.test('F065: a chain ends at a root that is self-signed', async (t) => {
  const { root, middle, leaf } = build({});
  t.throws(() => find([leaf, middle], []), { name: 'SignetError', reason: 'trust-anchor-unknown' }, 'no roots');
  t.throws(
    () => find([leaf, middle, root], [createRoot()]),
    { name: 'SignetError', reason: 'trust-anchor-unknown' },
    'the answer brings its own root',
  );
  t.throws(() => find([leaf], [middle]), { name: 'SignetError', reason: 'trust-anchor-unknown' }, 'an intermediate is no root');
  t.throws(() => find([leaf], [root]), { name: 'SignetError', reason: 'trust-anchor-unknown' }, 'intermediate missing');
  const below = createIntermediate(middle);
  t.throws(
    () => find([createLeaf(below, uri), below], [root]),
    { name: 'SignetError', fields: { serial: below.certificate.serial, authorityKeyId: middle.certificate.subjectKeyId } },
    'the certificate whose issuer is unknown is told',
  );
});

t.test('the rollover of a ca', async (t) => {
  const root = createRoot({ subject: 'ca', pathLength: 0 });
  const next = createIntermediate(root, { subject: 'ca' });
  const leaf = createLeaf(next, uri);
  t.equal(find([leaf, next], [root]).length, 3, 'a self-issued intermediate does not count for the path length');
  t.ok(opensslVerify(pemOf(leaf, next), root.pem, testTime).ok);
});

t.test('name constraints pass over a self-issued intermediate', async (t) => {
  const root = createRoot({ subject: 'ca', permittedSubjects: ['other'] });
  const next = createIntermediate(root, { subject: 'ca' });
  const leaf = createLeaf(next, uri);
  t.equal(find([leaf, next], [root]).length, 3);
  t.ok(opensslVerify(pemOf(leaf, next), root.pem, testTime).ok);
});

t.test('where uris are constrained, one without a host name is refused', async (t) => {
  for (const name of ['spiffe:example', 'spiffe:///path', 'spiffe://10.0.0.1/ns/a/sa/b', 'spiffe://[::1]/ns/a/sa/b']) {
    for (const constraint of [{ excludedUris: ['example.com'] }, { permittedUris: ['10.0.0.1'] }]) {
      const root = createRoot(constraint);
      t.throws(() => find([createLeaf(root, name)], [root]), { name: 'SignetError', message: /without a host name/ }, name);
    }
  }
});

t.test('the search is bounded', async (t) => {
  const key = createTestKey();
  const root = createRoot();
  const crowd = Array.from({ length: 40 }, () => createIntermediate(root, { subject: 'crowd', key, damaged: true }));
  const leaf = createLeaf(createIntermediate(root, { subject: 'crowd', key }), uri);
  t.throws(() => find([leaf, ...crowd], [root]), { name: 'SignetError', message: /too many candidates/ });
  const ladder = [createIntermediate(root)];
  for (let step = 0; step < 9; step += 1) ladder.push(createIntermediate(ladder.at(-1) ?? root));
  t.throws(
    () => find([createLeaf(ladder.at(-1) ?? root, uri), ...ladder], [root]),
    { name: 'SignetError', reason: 'trust-anchor-unknown' },
    'too long',
  );
});

t.test('authority issuer and serial number must fit where they are given', async (t) => {
  const root = createRoot({ serial: Buffer.of(7) });
  const identifier = (name: Buffer, serial: number): der.Asn1 =>
    der.sequence(
      der.context(0, Buffer.from(root.certificate.subjectKeyId ?? '', 'hex')),
      der.context(1, [der.context(4, [der.encoded(name)])]),
      der.context(2, Buffer.of(serial)),
    );
  const leaf = (name: Buffer, serial: number): TestCertificate =>
    createLeaf(root, uri, { authorityKeyId: null, extensions: [['2.5.29.35', false, identifier(name, serial)]] });
  const right = leaf(root.certificate.issuer, 7);
  t.equal(find([right], [root]).length, 2);
  t.ok(opensslVerify(right.pem, root.pem, testTime).ok);
  for (const wrong of [leaf(root.certificate.issuer, 8), leaf(createRoot().certificate.issuer, 7)]) {
    t.throws(() => find([wrong], [root]), { name: 'SignetError', reason: 'signature-invalid' });
    t.notOk(opensslVerify(wrong.pem, root.pem, testTime).ok);
  }
});

t.test('an issuer is judged as one, and may be a root', async (t) => {
  const { root, middle } = build({ root: { pathLength: 1 } });
  t.same(find([root], [root], { from: 'issuer' }), [root.certificate]);
  t.same(find([middle], [root], { from: 'issuer' }), [middle.certificate, root.certificate]);
  const narrow = build({ root: { pathLength: 0 } });
  t.throws(
    () => find([narrow.middle], [narrow.root], { from: 'issuer' }),
    { name: 'SignetError', message: /path length/ },
    'it counts itself',
  );
  t.throws(() => find([createLeaf(root, uri)], [root], { from: 'issuer' }), { name: 'SignetError', reason: 'issuer-not-allowed' });
  t.throws(() => find([createIntermediate(root, { subject: '' })], [root], { from: 'issuer' }), {
    name: 'SignetError',
    message: /subject of an issuer is empty/,
  });
  t.throws(() => find([createRoot({ notAfter: testTime - dayMs })], [], { from: 'issuer' }), {
    name: 'SignetError',
    reason: 'certificate-expired',
  });
});
