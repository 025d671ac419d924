import t from 'tap';
import type { SealedSvid } from '../../../agent/cache/sealed-content.js';
import { restoreSvids } from '../../../agent/cache/restore-svids.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import type { CertificateSpec } from '../../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, hourMs, keyPem, testTime } from '../../fixtures/pki.js';

const root = createRoot();
const middle = createIntermediate(root);
const uriOf = (account: string): string => `spiffe://example.org/ns/shop/sa/${account}`;

function sealedSvid(account: string, spec: CertificateSpec = {}, more: Partial<SealedSvid> = {}): SealedSvid {
  const key = createTestKey();
  const leaf = createLeaf(middle, uriOf(account), { key, ...spec });
  const privateKeyPem = keyPem({ ...leaf, key });
  return {
    uri: uriOf(account),
    receivedAt: testTime - hourMs,
    chain: [leaf.certificate, middle.certificate],
    privateKeyPem,
    ...more,
  };
}

function withoutIntermediate(sealed: SealedSvid): SealedSvid {
  return { ...sealed, chain: sealed.chain.slice(0, 1) };
}

function restore(sealed: readonly SealedSvid[], now = testTime, roots = [root.certificate]) {
  const log = createRecordingLogger();
  return { restored: restoreSvids(sealed, { roots, now, log }), log };
}

t.test('what is good is as it was: bytes, and the moment it came', async (t) => {
  const sealed = sealedSvid('cart', {}, { refreshAt: testTime });
  const pem = sealed.privateKeyPem.toString();
  const svid = restore([sealed]).restored.get(uriOf('cart'));
  t.equal(svid?.privateKeyPem().toString(), pem);
  t.same(
    svid?.chain.map(({ fingerprint }) => fingerprint),
    sealed.chain.map(({ fingerprint }) => fingerprint),
  );
  t.same([svid?.receivedAt, svid?.refreshAt], [testTime - hourMs, testTime]);
});

const bad: readonly [string, SealedSvid, string | undefined][] = [
  ['expired', sealedSvid('a', { notAfter: testTime - 1 }), 'certificate-expired'],
  ['for another identity', sealedSvid('a', { uris: [uriOf('b')] }), 'san-mismatch'],
  ['for another key', sealedSvid('a', { key: createTestKey() }, { privateKeyPem: keyPem(createRoot()) }), 'key-mismatch'],
  ['without its intermediate', withoutIntermediate(sealedSvid('a')), 'trust-anchor-unknown'],
  ['not signed by whom it names', sealedSvid('a', { damaged: true }), 'signature-invalid'],
  ['with a key that is none', sealedSvid('a', {}, { privateKeyPem: Buffer.alloc(300, 'x') }), undefined],
];
for (const [what, sealed, reason] of bad) {
  t.test(`a certificate ${what} is left out, and its key wiped`, async (t) => {
    const { restored, log } = restore([sealed, sealedSvid('cart')]);
    t.same([...restored.keys()], [uriOf('cart')], 'the others are not');
    t.match(log.lines, [{ message: 'sealed certificates are left out', fields: { reason, certificates: 1, id: uriOf('a') } }]);
    t.ok(
      sealed.privateKeyPem.every((byte) => byte === 0),
      'wiped',
    );
  });
}

t.test('roots that are no longer known are no roots', async (t) => {
  const { restored, log } = restore([sealedSvid('a'), sealedSvid('b')], testTime, [createRoot().certificate]);
  t.equal(restored.size, 0);
  t.match(log.lines, [{ fields: { reason: 'trust-anchor-unknown', action: /./, certificates: 2 } }], 'one line for all of a kind');
  t.equal(log.lines.length, 1);
});
