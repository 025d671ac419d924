import t from 'tap';
import { createKubernetesCsr } from '../../../agent/ca/kubernetes-csr.js';
import { createCsr, generateKey, parseCsr } from '../../../agent/x509/csr.js';
import { createKubeScene, never } from '../../fixtures/kube.js';
import { id } from '../../fixtures/request-objects.js';
import { csrIn } from '../../fixtures/request-signer.js';

const key = await generateKey('ec-p256');
const csr = await createCsr(key, id, 'none');
const request = { id, csr, key, lifetimeMs: 7_200_500 };
const metadata = { name: 'signet-1', labels: { a: 'b' }, annotations: {} };
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

t.test('the request, as the own account, which is looked at once', async (t) => {
  const { client, server, clock } = await createKubeScene(t, (call) =>
    call.json({ status: { userInfo: { username: 'system:serviceaccount:signet-system:signet-agent' } } }, 201),
  );
  const kind = createKubernetesCsr({ client, signerName: 'example.com/workload', clock });
  t.equal(await kind.group(never), '/apis/certificates.k8s.io/v1');
  await kind.create(request, path, metadata, never);
  await kind.create(request, path, metadata, never);
  t.same(
    server.calls.map((call) => call.path),
    ['/apis/authentication.k8s.io/v1/selfsubjectreviews', path, path],
  );
  const body = server.calls[1]?.body as { spec: { request: string } };
  t.match(body, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec: {
      signerName: 'example.com/workload',
      usages: ['digital signature', 'client auth', 'server auth'],
      expirationSeconds: 7_200,
    },
  });
  t.same(parseCsr(csrIn(body.spec.request)).extensions.subjectAltName?.uris, [id.uri]);
});

t.test('never as a node, nor as whoever the API server does not name', async (t) => {
  for (const [userInfo, reason] of [
    [{ username: 'system:node:node-a' }, 'request-as-node'],
    [{}, 'kube-answer-invalid'],
  ] as const) {
    const { client, server, clock } = await createKubeScene(t, (call) => call.json({ status: { userInfo } }, 201));
    const kind = createKubernetesCsr({ client, signerName: 'example.com/workload', clock });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await t.rejects(kind.create(request, path, metadata, never), { name: 'SignetError', reason });
    }
    t.notOk(server.calls.some((call) => call.path === path));
  }
});

t.test('what its status says', async (t) => {
  const { client, clock } = await createKubeScene(t, (call) => call.drop());
  const { read } = createKubernetesCsr({ client, signerName: 'example.com/workload', clock });
  const condition = (type: string, more: object = {}) => ({ type, status: 'True', ...more });
  const certificate = Buffer.from('PEM').toString('base64');
  const cases: readonly [status: unknown, verdict: object][] = [
    [undefined, { state: 'pending' }],
    [{}, { state: 'pending' }],
    [{ conditions: [condition('Approved')] }, { state: 'approved' }],
    [
      { conditions: [condition('Approved')], certificate },
      { state: 'issued', elements: [Buffer.from('PEM')] },
    ],
    [{ conditions: [condition('Denied', { reason: 'Policy', message: 'no' })] }, { state: 'denied', detail: 'Policy: no' }],
    [{ conditions: [condition('Approved'), condition('Failed', { message: 'broken' })] }, { state: 'failed', detail: 'broken' }],
  ];
  for (const [status, verdict] of cases) t.same(read({ status }), verdict);
});
