import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { Certificate } from '../../../agent/x509/certificate.js';
import * as der from '../../../agent/x509/der.js';
import { clientAuth, serverAuth } from '../../../agent/x509/extensions.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, dayMs, hourMs, testTime, unknownSpki } from '../../fixtures/pki.js';

const uri = 'spiffe://example.org/ns/a/sa/b';
const root = createRoot({ subject: 'root', pathLength: 2, permittedUris: ['example.org', '.example.org'], excludedSubjects: ['x'] });
const leaf = createLeaf(root, uri, { dnsNames: ['a.example.org'] });

t.test('every field is what openssl reads', async (t) => {
  const authority = createIntermediate(createRoot({ key: createTestKey('rsa-2048') }), { key: createTestKey('ec-p384') });
  for (const { certificate } of [root, leaf, authority]) {
    const other = new X509Certificate(certificate.der);
    t.equal(certificate.serial.replace(/^00/, ''), other.serialNumber.toLowerCase());
    t.equal(certificate.notBefore, Date.parse(other.validFrom));
    t.equal(certificate.notAfter, Date.parse(other.validTo));
    t.equal(certificate.isCa, other.ca);
    t.equal(certificate.fingerprint, other.fingerprint256.replace(/:/g, '').toLowerCase());
    t.same(certificate.publicKeySpki, other.publicKey.export({ type: 'spki', format: 'der' }));
    t.ok(certificate.publicKey.equals(other.publicKey));
    t.same([...(certificate.extendedKeyUsage ?? [])], other.keyUsage ?? []);
  }
});

t.test('names, usages, identifiers and constraints', async (t) => {
  const { certificate } = leaf;
  t.same(certificate.uriSans, [uri]);
  t.equal(certificate.otherSans, 1);
  t.same([...(certificate.keyUsage ?? [])], ['digitalSignature']);
  t.same([...(certificate.extendedKeyUsage ?? [])], [serverAuth, clientAuth]);
  t.equal(certificate.authorityKeyId, root.certificate.subjectKeyId);
  t.ok(certificate.issuer.equals(root.certificate.subject));
  t.equal(certificate.notBefore, testTime - hourMs);
  t.equal(certificate.notAfter, testTime + dayMs);
  t.equal(root.certificate.pathLength, 2);
  t.match(root.certificate.extensions.nameConstraints, {
    permitted: [
      { form: 6, base: 'example.org' },
      { form: 6, base: '.example.org' },
    ],
    excluded: [{ form: 4 }],
  });
  t.equal(certificate.pathLength, undefined);
});

t.test('a year far away is an instant like any other', async (t) => {
  const at = Date.UTC(9999, 11, 31, 23, 59, 59);
  t.equal(createRoot({ notAfter: at }).certificate.notAfter, at);
});

t.test('signatures are told true from false', async (t) => {
  t.ok(leaf.certificate.isSignedBy(root.certificate));
  t.notOk(leaf.certificate.isSignedBy(createRoot({ subject: 'root' }).certificate), 'another key of that name');
  t.notOk(leaf.certificate.isSignedBy(createRoot({ key: createTestKey('rsa-2048') }).certificate), 'another kind of key');
  t.notOk(createLeaf(root, uri, { damaged: true }).certificate.isSignedBy(root.certificate), 'damaged');
  t.notOk(createLeaf(root, uri, { digest: 'sha1' }).certificate.isSignedBy(root.certificate), 'sha-1');
  t.ok(root.certificate.selfSigned);
  t.notOk(leaf.certificate.selfSigned);
  t.notOk(createRoot({ damaged: true }).certificate.selfSigned);
  const next = createIntermediate(root, { subject: 'root' });
  t.ok(next.certificate.selfIssued);
  t.notOk(next.certificate.selfSigned, 'self-issued for the next key');
});

t.test('what cannot be read exactly is refused', async (t) => {
  const whole = leaf.certificate.der;
  const [tbs, algorithm, signature] = der.elements(der.decode(whole));
  const rebuild = (...parts: (der.Asn1 | undefined)[]): Buffer => der.encode(der.sequence(...parts.filter((part) => part !== undefined)));
  const fields = der.elements(tbs);
  const withFields = (change: (parts: (der.Asn1 | undefined)[]) => void): Buffer => {
    const parts: (der.Asn1 | undefined)[] = [...fields];
    change(parts);
    return rebuild(der.sequence(...parts.filter((part) => part !== undefined)), algorithm, signature);
  };
  t.same(
    withFields(() => {}),
    whole,
    'rebuilding changes nothing by itself',
  );
  const rsa = der.sequence(der.oid('1.2.840.113549.1.1.11'), der.nullValue());
  for (const [name, bytes] of Object.entries({
    'nothing': Buffer.alloc(0),
    'half of it': whole.subarray(0, 200),
    'more after it': Buffer.concat([whole, Buffer.of(0)]),
    'too large': Buffer.alloc(65 * 1024),
    'a part too many': rebuild(tbs, algorithm, signature, der.nullValue()),
    'a part too few': rebuild(tbs, algorithm),
    'two algorithms': rebuild(tbs, rsa, signature),
    'no extensions in their place': withFields((parts) => (parts[7] = der.nullValue())),
    'the same extension twice': rebuild(duplicateExtension(fields), algorithm, signature),
    'extensions in version 1': withFields((parts) => (parts[0] = undefined)),
    'a subject that is no name': withFields((parts) => (parts[5] = der.sequence(der.nullValue()))),
    'an issuer that is no name': withFields((parts) => (parts[3] = der.nullValue())),
  })) {
    t.throws(() => Certificate.fromDer(bytes), { name: 'SignetError', kind: 'invalid' }, name);
  }
});

function duplicateExtension(fields: readonly der.Asn1[]): der.Asn1 {
  const wrapper = fields[7];
  const list = der.elements(wrapper === undefined ? undefined : der.contextElements(wrapper)[0]);
  return der.sequence(...fields.slice(0, 7), der.context(3, [der.sequence(...list, ...list.slice(0, 1))]));
}

t.test('a public key that openssl does not know is weak and has signed nothing', async (t) => {
  const { certificate } = createLeaf(root, uri, { key: { publicKeySpki: unknownSpki } });
  t.throws(() => certificate.publicKey, { name: 'SignetError', kind: 'invalid', reason: 'key-weak' });
  t.equal(certificate.keyWeakness, 'unknown key');
  t.notOk(leaf.certificate.isSignedBy(certificate));
});

t.test('versions and authority identifiers of every form', async (t) => {
  t.equal(createRoot({ version: 1 }).certificate.isCa, false);
  t.equal(createRoot({ version: 2 }).certificate.isCa, false);
  const directory = der.context(4, [der.encoded(root.certificate.issuer)]);
  const identifier = der.sequence(der.context(0, Buffer.of(1, 2)), der.context(1, [directory]), der.context(2, Buffer.of(5)));
  const { certificate } = createLeaf(root, uri, { authorityKeyId: null, extensions: [['2.5.29.35', false, identifier]] });
  t.match(certificate.extensions.authorityKey, { keyId: '0102', serial: '05' });
  t.ok(certificate.extensions.authorityKey?.issuer?.equals(root.certificate.issuer));
});

t.test('its bytes are its own', async (t) => {
  const bytes = Buffer.from(leaf.certificate.der);
  const copy = Certificate.fromDer(bytes);
  bytes.fill(0);
  t.ok(copy.isSignedBy(root.certificate));
  t.same(copy.der, leaf.certificate.der);
});
