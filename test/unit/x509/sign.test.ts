import t from 'tap';
import { Certificate } from '../../../agent/x509/certificate.js';
import * as der from '../../../agent/x509/der.js';
import { createSigner } from '../../../agent/x509/issuer.js';
import type { CertificateContent } from '../../../agent/x509/sign.js';
import { backdated, emptyName, keyIdOf, keyUsage, signCertificate } from '../../../agent/x509/sign.js';
import { openssl, opensslVerify } from '../../fixtures/openssl.js';
import type { TestKeyType } from '../../fixtures/pki.js';
import { createTestKey, dayMs, hourMs, testTime } from '../../fixtures/pki.js';
import { formatCertificates } from '../../../agent/x509/pem.js';

const uri = 'spiffe://example.org/ns/a/sa/b';
const caName = der.encode(der.name([['2.5.4.3', 'test ca']]));

function content(type: TestKeyType, more: Partial<CertificateContent> = {}): CertificateContent {
  const { publicKeySpki } = createTestKey(type);
  return { profile: 'leaf', subject: emptyName, publicKeySpki, uri, notBefore: testTime - hourMs, notAfter: testTime + dayMs, ...more };
}

for (const [caType, leafType] of [
  ['ec-p256', 'ec-p256'],
  ['ec-p384', 'ec-p256'],
  ['rsa-2048', 'ec-p384'],
  ['ec-p521', 'rsa-2048'],
] as const) {
  t.test(`${leafType} under ${caType}: openssl verifies strictly`, async (t) => {
    const key = createTestKey(caType);
    const signer = createSigner(key.privateKey);
    const name = { subject: caName, keyId: keyIdOf(key.publicKeySpki) };
    const rootContent = content(caType, { profile: 'ca', subject: caName, publicKeySpki: key.publicKeySpki, uri: 'spiffe://example.org' });
    const root = Certificate.fromDer(await signCertificate(signer, name, rootContent));
    const leaf = Certificate.fromDer(await signCertificate(signer, name, content(leafType)));
    t.same(opensslVerify(formatCertificates([leaf]), formatCertificates([root]), testTime), { ok: true, output: '' });

    t.ok(root.selfSigned);
    t.same([...(root.keyUsage ?? [])], ['keyCertSign', 'cRLSign']);
    t.ok(root.extensions.critical.has('2.5.29.19'));
    t.same(root.uriSans, ['spiffe://example.org']);
    t.equal(leaf.authorityKeyId, root.subjectKeyId);
    t.equal(leaf.subjectKeyId, keyIdOf(leaf.publicKeySpki));
    t.same([...(leaf.keyUsage ?? [])], leafType === 'rsa-2048' ? ['digitalSignature', 'keyEncipherment'] : ['digitalSignature']);
    t.same([...leaf.extensions.critical].sort(), ['2.5.29.15', '2.5.29.17', '2.5.29.19'], 'the name is critical as the subject is empty');
    t.same(leaf.uriSans, [uri]);
    t.notOk(leaf.isCa);
    const { output } = openssl(['x509', '-in', 'leaf.pem', '-noout', '-text'], { 'leaf.pem': formatCertificates([leaf]) });
    t.match(output, 'TLS Web Server Authentication, TLS Web Client Authentication');
  });
}

t.test('a leaf begins two minutes ago, or a tenth of its life', (t) => {
  t.equal(backdated(testTime, 24 * 3_600_000), testTime - 120_000);
  t.equal(backdated(testTime, 1_200_000), testTime - 120_000);
  t.equal(backdated(testTime, 20_000), testTime - 2_000);
  t.end();
});

t.test('the name is not critical beside a subject', async (t) => {
  const key = createTestKey();
  const name = { subject: caName, keyId: keyIdOf(key.publicKeySpki) };
  const leaf = Certificate.fromDer(await signCertificate(createSigner(key.privateKey), name, content('ec-p256', { subject: caName })));
  t.notOk(leaf.extensions.critical.has('2.5.29.17'));
});

t.test('serial numbers are random, positive and of up to 128 bits', async (t) => {
  const key = createTestKey();
  const name = { subject: caName, keyId: keyIdOf(key.publicKeySpki) };
  const seen = new Set<string>();
  const leafContent = content('ec-p256');
  for (let count = 0; count < 50; count += 1) {
    const { serial } = Certificate.fromDer(await signCertificate(createSigner(key.privateKey), name, leafContent));
    t.match(serial, /^(00)?[0-9a-f]{24,32}$/);
    t.ok(Number.parseInt(serial.slice(0, 2), 16) < 0x80);
    seen.add(serial);
  }
  t.equal(seen.size, 50);
});

t.test('named bits are written without trailing zeros', async (t) => {
  t.equal(der.encode(keyUsage(['digitalSignature'])).toString('hex'), '03020780');
  t.equal(der.encode(keyUsage(['keyCertSign', 'cRLSign'])).toString('hex'), '03020106');
  t.equal(der.encode(keyUsage(['decipherOnly'])).toString('hex'), '0303070080');
  t.same(der.readBits(keyUsage(['digitalSignature', 'decipherOnly'])), [0, 8]);
});
