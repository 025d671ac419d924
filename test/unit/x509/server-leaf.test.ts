// A certificate for a server: what it holds, and that it ends with its issuer.

import { X509Certificate, createPrivateKey } from 'node:crypto';
import t from 'tap';
import { createServerLeaf } from '../../../agent/x509/server-leaf.js';
import { createIssuer } from '../../../agent/x509/issuer.js';
import { createRoot, dayMs, hourMs, keyPem, testTime } from '../../fixtures/pki.js';

t.test('the key is its own, the life that of the order or of the issuer', async (t) => {
  const root = createRoot();
  const key = createPrivateKey(keyPem(root));
  const issuer = createIssuer({ certificates: [root.certificate], roots: undefined, key, now: testTime });
  const { chain, privateKey, notAfter } = await createServerLeaf(issuer, ['istiod.istio-system.svc'], testTime, dayMs);
  const leaf = new X509Certificate(chain);
  t.ok(leaf.checkPrivateKey(createPrivateKey(privateKey)));
  t.equal(leaf.subjectAltName, 'DNS:istiod.istio-system.svc');
  t.same([Date.parse(leaf.validFrom), Date.parse(leaf.validTo), notAfter], [testTime - 120_000, testTime + dayMs, testTime + dayMs]);
  t.equal((await createServerLeaf(issuer, ['a'], issuer.notAfter - hourMs, dayMs)).notAfter, issuer.notAfter);
});
