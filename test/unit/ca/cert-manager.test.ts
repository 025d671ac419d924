import t from 'tap';
import { createCertManager } from '../../../agent/ca/cert-manager.js';
import { createCsr, generateKey } from '../../../agent/x509/csr.js';
import { createKubeScene, never } from '../../fixtures/kube.js';
import { id } from '../../fixtures/request-objects.js';

const key = await generateKey('ec-p256');
const request = { id, csr: await createCsr(key, id, 'none'), key, lifetimeMs: 3_600_000 };
const metadata = { name: 'signet-1', labels: {}, annotations: {} };
const issuerRef = { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' };
const path = '/apis/cert-manager.io/v1/namespaces/shop/certificaterequests';

t.test('the request, with the token of the workload', async (t) => {
  const { client, server } = await createKubeScene(t, (call) => call.json({}, 201));
  const asked: string[] = [];
  const createToken = async ({ uri }: { readonly uri: string }): Promise<string> => {
    asked.push(uri);
    return 'token-of-cart';
  };
  const kind = createCertManager({ client, anonymous: client, createToken, issuerRef });
  await kind.create(request, path, metadata, never);
  t.same(asked, [id.uri]);
  t.equal(server.calls[0]?.headers.authorization, 'Bearer token-of-cart');
  t.match(server.calls[0], {
    method: 'POST',
    path,
    body: {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata,
      spec: { issuerRef, duration: '3600s', usages: ['digital signature', 'client auth', 'server auth'] },
    },
  });
});

t.test('a token that is refused is not tried with another identity', async (t) => {
  const { client, server } = await createKubeScene(t, (call) => call.status(401, 'Unauthorized'));
  const kind = createCertManager({ client, anonymous: client, createToken: async () => 'token-of-cart', issuerRef });
  await t.rejects(kind.create(request, path, metadata, never), { name: 'SignetError', reason: 'kube-unauthenticated' });
  t.same(
    server.calls.map(({ headers }) => headers.authorization),
    ['Bearer token-of-cart'],
  );
});

t.test('what its status says', async (t) => {
  const { client } = await createKubeScene(t, (call) => call.drop());
  const { read } = createCertManager({ client, anonymous: client, createToken: async () => '', issuerRef });
  const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message });
  const approved = condition('Approved', 'True');
  const certificate = Buffer.from('PEM').toString('base64');
  const cases: readonly [status: unknown, verdict: object][] = [
    [undefined, { state: 'pending' }],
    [{ conditions: [condition('Approved', 'False')] }, { state: 'pending' }],
    [{ conditions: [approved] }, { state: 'approved' }],
    [{ conditions: [approved, condition('Ready', 'False', 'Pending')] }, { state: 'pending' }],
    [{ conditions: [approved, condition('Ready', 'False', 'Pending')], certificate }, { state: 'pending' }],
    [
      { conditions: [approved, condition('Ready', 'True', 'Issued')], certificate },
      { state: 'issued', elements: [Buffer.from('PEM')] },
    ],
    [{ conditions: [approved, condition('Ready', 'True', 'Issued')] }, { state: 'pending' }],
    [{ conditions: [condition('Denied', 'True', 'Policy', 'no')] }, { state: 'denied', detail: 'Policy: no' }],
    [{ conditions: [condition('Ready', 'False', 'Denied', 'no')] }, { state: 'denied', detail: 'Denied: no' }],
    [{ conditions: [approved, condition('Ready', 'False', 'Failed', 'vault')] }, { state: 'failed', detail: 'Failed: vault' }],
    [{ conditions: [condition('InvalidRequest', 'True', '', 'usages')] }, { state: 'failed', detail: 'usages' }],
  ];
  for (const [status, verdict] of cases) t.same(read({ status }), verdict);
});
