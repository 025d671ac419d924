import type { KeyObject } from 'node:crypto';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import t from 'tap';
import { createVerifier } from '../../../agent/cache/published-roots.js';
import { parseSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { Svid } from '../../../agent/x509/svid.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, dayMs, keyPem, testTime } from '../../fixtures/pki.js';

const uri = 'spiffe://example.org/ns/shop/sa/cart';
const root = createRoot({ subject: 'root' });
const middle = createIntermediate(root, { subject: 'middle' });

function svidUnder(issuer: TestCertificate, ...between: readonly TestCertificate[]): Svid {
  const leaf = createLeaf(issuer, uri);
  const chain = [leaf, ...between].map(({ certificate }) => certificate);
  return new Svid({ id: parseSpiffeId(uri), chain, root: root.certificate, privateKeyPem: keyPem(leaf), receivedAt: testTime });
}

t.test('which roots verify a certificate, whose own root is gone or not', async (t) => {
  const key = root.key;
  const sameKey = { subject: 'root', ...('privateKey' in key ? { key } : {}) };
  const middleAsRoot = createRoot({ subject: 'middle', ...('privateKey' in middle.key ? { key: middle.key } : {}) });
  const table: readonly (readonly [string, readonly TestCertificate[], boolean, boolean])[] = [
    ['its own', [root], true, true],
    ['its own among others', [createRoot(), root], true, true],
    ['another', [createRoot()], false, false],
    ['another of the same name', [createRoot({ subject: 'root' })], false, false],
    ['one made anew with the same key', [createRoot({ ...sameKey, notAfter: testTime + 9 * dayMs })], true, true],
    ['such a one that is expired', [createRoot({ ...sameKey, notAfter: testTime - 1 })], false, false],
    ['such a one that excludes the name', [createRoot({ ...sameKey, excludedUris: ['example.org'] })], false, false],
    ['its issuer, as a root', [middleAsRoot], false, true],
    ['none', [], false, false],
  ];
  for (const [name, roots, direct, below] of table) {
    const verifies = createVerifier(
      roots.map(({ certificate }) => certificate),
      testTime,
    );
    t.equal(verifies(svidUnder(root)), direct, `${name}: signed by the root`);
    t.equal(verifies(svidUnder(middle, middle)), below, `${name}: signed by an intermediate`);
  }
});

t.test('no signature that was found good is verified again', async (t) => {
  const key = root.key;
  const renewed = createRoot({ subject: 'root', ...('privateKey' in key ? { key } : {}), notAfter: testTime + 9 * dayMs });
  const svids = [svidUnder(root), svidUnder(middle, middle)];
  const verified: string[] = [];
  const { verify } = crypto;
  const recording = (digest: string, data: Buffer, by: KeyObject, signature: Buffer): boolean => {
    verified.push(signature.toString('hex'));
    return verify(digest, data, by, signature);
  };
  t.teardown(() => setVerify(verify));
  setVerify(recording as typeof verify);
  for (const roots of [[renewed], [renewed, createRoot()], [renewed], [root, renewed]]) {
    const verifies = createVerifier(
      roots.map(({ certificate }) => certificate),
      testTime,
    );
    t.ok(svids.every(verifies));
  }
  t.ok(verified.length > 0, 'the first time');
  t.equal(new Set(verified).size, verified.length);
});

/** What `import { verify }` is everywhere, too. */
function setVerify(verify: typeof crypto.verify): void {
  crypto.verify = verify;
  syncBuiltinESMExports();
}
