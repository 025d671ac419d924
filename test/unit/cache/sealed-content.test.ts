import t from 'tap';
import { decodeContent, encodeContent } from '../../../agent/cache/sealed-content.js';
import { Svid } from '../../../agent/x509/svid.js';
import { parseSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, keyPem } from '../../fixtures/pki.js';
import { createPod } from '../../fixtures/pods.js';

const root = createRoot();
const middle = createIntermediate(root);

function svidUnder(account: string, keyType: 'ec-p256' | 'rsa-2048', receivedAt: number, refreshAt?: number): Svid {
  const id = parseSpiffeId(`spiffe://example.org/ns/shop/sa/${account}`);
  const leaf = createLeaf(middle, id.uri, { key: createTestKey(keyType) });
  return new Svid({
    id,
    chain: [leaf.certificate, middle.certificate],
    root: root.certificate,
    privateKeyPem: keyPem(leaf),
    receivedAt,
    refreshAt,
  });
}

t.test('pods, roots and certificates come back as they were', async (t) => {
  const svids = [svidUnder('cart', 'ec-p256', 1_000), svidUnder('checkout', 'rsa-2048', 2_000, 3_000)];
  const pods = [
    { source: 'cluster', pod: createPod('cart', { labels: { app: 'çart' }, ambient: true }) },
    { source: 'file', pod: createPod('proxy', { phase: 'Pending', hostNetwork: true }) },
  ];
  const roots = new Map([
    ['roots.pem', [root.certificate, createRoot().certificate]],
    ['configmap a/b', [root.certificate]],
    ['empty', []],
  ]);
  const bytes = encodeContent({ pods, namespaces: ['shop'], roots, svids });
  const { svids: decoded, ...rest } = decodeContent(bytes);
  bytes.fill(0);
  t.same(rest.pods, pods);
  t.same(rest.namespaces, ['shop']);
  const fingerprints = (of: ReadonlyMap<string, readonly { readonly fingerprint: string }[]>) =>
    [...of].map(([name, list]) => [name, list.map(({ fingerprint }) => fingerprint)]);
  t.same(fingerprints(rest.roots), fingerprints(roots));
  t.same(
    decoded.map(({ uri, receivedAt, refreshAt, chain, privateKeyPem }) => [
      uri,
      receivedAt,
      refreshAt,
      chain.map((each) => each.fingerprint),
      privateKeyPem,
    ]),
    svids.map((svid) => [svid.id.uri, svid.receivedAt, svid.refreshAt, svid.chain.map((each) => each.fingerprint), svid.privateKeyPem()]),
    'also when the bytes they came from are wiped',
  );
});

t.test('a certificate that many chains share is there once', async (t) => {
  const bytes = encodeContent({
    pods: [],
    roots: new Map([['a', [middle.certificate]]]),
    svids: [svidUnder('a', 'ec-p256', 0), svidUnder('b', 'ec-p256', 0)],
  });
  t.equal(bytes.toString('latin1').split(middle.certificate.der.toString('latin1')).length - 1, 1);
});

t.test('nothing is something too', async (t) => {
  t.same(decodeContent(encodeContent({ pods: [], roots: new Map(), svids: [] })), {
    pods: [],
    namespaces: undefined,
    roots: new Map(),
    svids: [],
  });
});
