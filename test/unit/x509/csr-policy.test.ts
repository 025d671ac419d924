// What of a certificate request is let through, strictly and leniently.

import t from 'tap';
import type { CsrPolicy } from '../../../agent/x509/csr-policy.js';
import { certifiedKeyTypes, checkCsr, checkStubCsr, identityIn, pemBytes } from '../../../agent/x509/csr-policy.js';
import * as der from '../../../agent/x509/der.js';
import { extension } from '../../../agent/x509/sign.js';
import { csrFor } from '../../fixtures/authority.js';
import { caIdOf } from '../../fixtures/cluster-pods.js';
import type { TestCsr } from '../../fixtures/csrs.js';
import { challengePassword, commonName, createTestCsr, emptyOrganization, otherExtensionRequest } from '../../fixtures/csrs.js';
import { createTestKey } from '../../fixtures/pki.js';
import { openssl } from '../../fixtures/openssl.js';

const uri = caIdOf('shop/web');
const strict: CsrPolicy = { extras: 'strict', keyTypes: certifiedKeyTypes };
const lenient: CsrPolicy = { ...strict, extras: 'ignore' };
const checkPem = async (pem: string, ...more: [uri: string, policy: CsrPolicy]) => await checkCsr(pemBytes(pem), ...more);
const identityOf = (pem: string): string => identityIn(pemBytes(pem));
const isCa = extension(der.oid('2.5.29.19'), true, der.sequence(der.boolean(true)));

t.test('requests of our agent, of ztunnel and of istio-agent', async (t) => {
  await t.resolves(checkPem(await csrFor(uri), uri, strict));
  for (const key of [createTestKey('ec-p256'), createTestKey('ec-p384'), createTestKey('ec-p521'), createTestKey('rsa-2048')]) {
    const pem = createTestCsr({ uris: [uri], key, subject: emptyOrganization });
    t.match(await checkPem(pem, uri, strict), { publicKeySpki: key.publicKeySpki, spkiSha256: /^[0-9a-f]{64}$/ });
    t.equal(openssl(['req', '-verify', '-noout', '-in', 'csr.pem'], { 'csr.pem': pem }).ok, true, 'OpenSSL agrees');
  }
  const pem = createTestCsr({ uris: [uri] });
  await t.resolves(checkPem(pem.replaceAll('\n', '\r\n'), uri, strict));
  await t.resolves(checkPem(`\n${pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')}\n`, uri, strict));
});

t.test('what asks for more is refused, or left out', async (t) => {
  const table: readonly (readonly [TestCsr, string])[] = [
    [{ uris: [uri, uri] }, 'csr-extra-name'],
    [{ uris: [uri], dnsNames: ['web'] }, 'csr-extra-name'],
    [{ uris: [uri], emails: ['web@shop'] }, 'csr-extra-name'],
    [{ uris: [uri], ips: [Buffer.of(1, 2, 3, 4)] }, 'csr-extra-name'],
    [{ uris: [uri], subject: commonName('web') }, 'csr-extra-name'],
    [{ dnsNames: ['web'] }, 'csr-extra-name'],
    [{ uris: [caIdOf('shop/other')] }, 'csr-other-name'],
    [{}, 'csr-other-name'],
    [{ uris: [uri], extensions: [isCa] }, 'csr-extra-extension'],
    [{ uris: [uri], extensions: [extension(der.oid('1.2.3.4'), false, der.nullValue())] }, 'csr-extra-extension'],
    [{ uris: [uri], attributes: [challengePassword] }, 'csr-extra-attribute'],
    [{ uris: [uri], attributes: [otherExtensionRequest(isCa)] }, 'csr-extra-attribute'],
  ];
  for (const [spec, reason] of table) {
    const pem = createTestCsr(spec);
    await t.rejects(checkPem(pem, uri, strict), {
      name: 'SignetError',
      kind: 'invalid',
      message: 'certificate request is refused',
      reason,
    });
    await t.resolves(checkPem(pem, uri, lenient), reason);
  }
});

t.test('the key must be allowed and must have signed, whatever else is ignored', async (t) => {
  for (const policy of [strict, lenient]) {
    for (const type of ['rsa-1024', 'ec-k256', 'ed25519'] as const) {
      await t.rejects(
        checkPem(createTestCsr({ uris: [uri], key: createTestKey(type) }), uri, policy),
        { name: 'SignetError', reason: 'csr-key' },
        type,
      );
    }
    await t.rejects(checkPem(createTestCsr({ uris: [uri], signedBy: createTestKey() }), uri, policy), {
      name: 'SignetError',
      reason: 'csr-signature',
    });
    await t.rejects(checkPem(createTestCsr({ uris: [uri], signedBy: createTestKey('rsa-2048') }), uri, policy), {
      name: 'SignetError',
      reason: 'csr-signature',
    });
  }
  const onlyRsa: CsrPolicy = { ...strict, keyTypes: ['rsa-2048'] };
  await t.rejects(checkPem(createTestCsr({ uris: [uri] }), uri, onlyRsa), {
    name: 'SignetError',
    reason: 'csr-key',
    fields: { keyType: 'ec-p256' },
  });
  await t.resolves(checkPem(createTestCsr({ uris: [uri], key: createTestKey('rsa-2048') }), uri, onlyRsa));
});

t.test('what is no request', async (t) => {
  const pem = createTestCsr({ uris: [uri] });
  for (const text of [
    '',
    'x',
    pem + pem,
    pem.replace('BEGIN', 'BEGAN'),
    pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
    'x'.repeat(20_000),
    pem.replace('MI', 'MJ'),
  ]) {
    await t.rejects(checkPem(text, uri, strict), { name: 'SignetError', kind: 'invalid', reason: 'csr-malformed' });
  }
});

t.test('the identity of a request that alone says which one is meant', (t) => {
  t.equal(identityOf(createTestCsr({ uris: [uri] })), uri);
  for (const [spec, reason] of [
    [{}, 'csr-other-name'],
    [{ dnsNames: ['web'] }, 'csr-other-name'],
    [{ uris: [uri, caIdOf('shop/other')] }, 'csr-extra-name'],
  ] as const)
    t.throws(() => identityOf(createTestCsr(spec)), { name: 'SignetError', kind: 'invalid', reason });
  t.throws(() => identityOf('x'), { name: 'SignetError', kind: 'invalid', reason: 'csr-malformed' });
  t.end();
});

t.test('a stub that names nobody: what it asks for all the same is refused, or left out', async (t) => {
  const stubOf = (spec: TestCsr): Buffer => Buffer.from(createTestCsr(spec).replaceAll(/-----[^-]+-----/g, ''), 'base64');
  const key = createTestKey();
  t.match(await checkStubCsr(stubOf({ key, subject: commonName('web') }), strict), { publicKeySpki: key.publicKeySpki });
  for (const [spec, reason] of [
    [{ uris: [uri] }, 'csr-extra-name'],
    [{ extensions: [isCa] }, 'csr-extra-extension'],
    [{ attributes: [challengePassword] }, 'csr-extra-attribute'],
  ] as const) {
    await t.rejects(checkStubCsr(stubOf({ ...spec, key }), strict), { name: 'SignetError', kind: 'invalid', reason });
    t.match(await checkStubCsr(stubOf({ ...spec, key }), lenient), { publicKeySpki: key.publicKeySpki }, reason);
  }
  await t.rejects(checkStubCsr(stubOf({ signedBy: key }), lenient), { name: 'SignetError', kind: 'invalid', reason: 'csr-signature' });
});
