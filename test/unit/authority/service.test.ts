// The certificate service on facts of the test: what a call becomes, what its line says, and what the caller is told.

import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { caIdOf, clusterPod } from '../../fixtures/cluster-pods.js';
import { agentPod } from '../../fixtures/cluster-pods.js';
import { createServiceScene } from '../../fixtures/certificate-service.js';
import { createTestCsr } from '../../fixtures/csrs.js';
import { createTestKey, testTime } from '../../fixtures/pki.js';

const web = caIdOf('shop/web');
const denied = { code: 16, details: 'request impersonation authentication failure', elements: [] };
const unknown = { code: 16, details: 'request authenticate failure', elements: [] };

t.test('a grant: the leaf, its line, and nothing else of the request', async (t) => {
  const scene = createServiceScene();
  const key = createTestKey();
  const { code, elements } = await scene.call({ identity: web, csr: createTestCsr({ uris: [web], key }), clusterIds: ['Kubernetes'] });
  t.equal(code, 0);
  const leaf = new X509Certificate(elements[0] ?? '');
  t.equal(leaf.subjectAltName, `URI:${web}`);
  // Node 20 has no value for an empty name, Node 24 an empty one.
  t.equal(leaf.subject ?? '', '');
  t.ok(leaf.publicKey.equals(key.publicKey));
  t.ok(leaf.verify(new X509Certificate(scene.issuer.pem).publicKey));
  t.equal(Date.parse(leaf.validFrom), testTime - 120_000);
  t.equal(Date.parse(leaf.validTo), testTime + 3_600_000);
  t.equal(elements.at(-1), String(scene.issuer.pem));
  t.match(scene.audit, [
    {
      at: '2026-01-01T00:00:00.000Z',
      requestId: /^[0-9a-f-]{36}$/,
      peer: '10.0.0.1:4711',
      cluster: 'Kubernetes',
      authMode: 'token-review',
      caller: { namespace: 'signet-system', serviceAccount: 'signet-agent', pod: { uid: agentPod.uid }, node: { name: 'node-a' } },
      credentialId: 'JTI=1',
      identity: web,
      decision: 'grant',
      reason: 'node',
      callerPod: agentPod,
      through: clusterPod('shop/web'),
      spkiSha256: /^[0-9a-f]{64}$/,
      issued: {
        serial: leaf.serialNumber.toLowerCase().padStart(32, '0'),
        issuerKeyId: scene.issuer.certificate.subjectKeyId,
        notAfter: '2026-01-01T01:00:00.000Z',
      },
    },
  ]);
  t.equal(scene.audit.length, 1);
});

t.test('without an identity: the own one of the caller', async (t) => {
  const scene = createServiceScene();
  const own = caIdOf('signet-system/signet-agent');
  t.equal((await scene.call({ csr: createTestCsr({ uris: [own] }) })).code, 0);
  t.match(scene.audit[0], { reason: 'own', identity: own });
});

t.test('who is not known', async (t) => {
  const scene = createServiceScene();
  t.strictSame(await scene.call({ identity: web, authorization: [] }), unknown);
  t.strictSame(
    await scene.call({ identity: web, authorization: ['bearer agent'] }),
    unknown,
    'the scheme is case-sensitive, as for istiod',
  );
  t.strictSame(await scene.call({ identity: web, authorization: ['Bearer other'] }), unknown);
  t.strictSame(await scene.call({ identity: web, clusterIds: ['elsewhere'] }), unknown);
  t.strictSame(
    scene.audit.map(({ reason }) => reason),
    ['token-missing', 'token-missing', 'token-refused', 'cluster-unknown'],
  );
  t.equal((await scene.call({ identity: web, authorization: ['Basic x', 'Bearer agent'] })).code, 0);
  t.equal((await scene.call({ identity: web, clusterIds: ['Kubernetes', 'elsewhere'] })).code, 0, 'two are none');
});

t.test('a refusal says nothing of why', async (t) => {
  const scene = createServiceScene();
  t.strictSame(await scene.call({ identity: caIdOf('shop/orders') }), denied);
  t.strictSame(await scene.call({ identity: 'spiffe://example.com/ns/shop/sa/web' }), denied);
  t.strictSame(await scene.call({ identity: web, csr: 'x' }), { code: 3, details: 'certificate request is refused', elements: [] });
  t.match(
    await scene.call({ identity: web, lifetimeMs: 90_000_000 }),
    { code: 3, details: /max allowed TTL 86400s$/ },
    'but the bound, which agents learn',
  );
  t.match(await scene.call({ identity: web, lifetimeMs: -1_000 }), { code: 3 });
  t.match(await scene.call({ identity: web, lifetimeMs: Number.NaN }), { code: 3 });
  t.strictSame(
    scene.audit.map(({ reason }) => reason),
    ['identity-not-on-node', 'identity-foreign', 'csr-malformed', 'lifetime-refused', 'lifetime-refused', 'lifetime-refused'],
  );
  t.ok(scene.audit.every(({ decision, issued }) => decision === 'refuse' && issued === undefined));
});

t.test('what was asked for is cut in the line', async (t) => {
  const scene = createServiceScene();
  await scene.call({ identity: `spiffe://${'x'.repeat(50_000)}`, csr: 'x' });
  t.ok(JSON.stringify(scene.audit[0]).length < 4_000);
});

t.test('a pod that the index lacks is looked up, once', async (t) => {
  const scene = createServiceScene();
  const orders = clusterPod('shop/orders');
  scene.live.push(orders);
  t.equal((await scene.call({ identity: caIdOf('shop/orders') })).code, 0);
  t.strictSame(scene.lookups, ['shop spec.nodeName=node-a,spec.serviceAccountName=orders']);
  scene.live.length = 0;
  t.strictSame(await scene.call({ identity: caIdOf('shop/orders') }), denied, 'it is not put into the index');

  // The agent's own pod and the other's, both new.
  scene.pods.remove(agentPod.uid);
  scene.live.push(agentPod, orders);
  scene.lookups.length = 0;
  t.equal((await scene.call({ identity: caIdOf('shop/orders') })).code, 0);
  t.equal(scene.lookups.length, 2);
  scene.live.length = 0;
  t.strictSame(await scene.call({ identity: web }), denied);
  t.equal(scene.audit.at(-1)?.reason, 'caller-pod-gone');
});

t.test('a key that was certified for another identity', async (t) => {
  const scene = createServiceScene();
  const key = createTestKey();
  t.equal((await scene.call({ identity: web, csr: createTestCsr({ uris: [web], key }) })).code, 0);
  const own = caIdOf('signet-system/signet-agent');
  t.equal((await scene.call({ identity: own, csr: createTestCsr({ uris: [own], key }) })).code, 3);
  t.equal(scene.audit.at(-1)?.reason, 'csr-key-reused');
  t.equal((await scene.call({ identity: web, csr: createTestCsr({ uris: [web], key }) })).code, 0);
});

t.test('closed until the pods are read, and when they are old', async (t) => {
  const scene = createServiceScene();
  scene.staleMs = Infinity;
  t.match(await scene.call({ identity: web }), { code: 14 });
  scene.staleMs = 60_000;
  t.equal((await scene.call({ identity: web })).code, 0);
  scene.staleMs = 60_001;
  t.match(await scene.call({ identity: web }), { code: 14 });
  t.strictSame(
    scene.audit.map(({ reason }) => reason),
    ['index-unread', 'node', 'index-stale'],
  );
});

t.test('while callers are known by kept keys, pods count for 15 minutes, and the line says so', async (t) => {
  const scene = createServiceScene();
  scene.mode = 'jwks';
  scene.staleMs = 900_000;
  t.equal((await scene.call({ identity: web })).code, 0);
  t.match(scene.audit[0], { decision: 'grant', authMode: 'jwks' });
  scene.staleMs = 900_001;
  t.match(await scene.call({ identity: web }), { code: 14 });
  t.match(scene.audit[1], { reason: 'index-stale', authMode: 'jwks' });
});

t.test('an API server that is away is no refusal', async (t) => {
  const scene = createServiceScene();
  scene.review = () =>
    Promise.reject(
      new SignetError('unavailable', 'the token could not be reviewed', {
        cause: new SignetError('unavailable', 'x', { reason: 'kube-unavailable' }),
      }),
    );
  t.match(await scene.call({ identity: web }), { code: 14, details: 'the token could not be reviewed' });
  t.match(scene.audit[0], { decision: 'refuse', reason: 'kube-unavailable' });
});

t.test('each call is answered in bounded time', async (t) => {
  const scene = createServiceScene();
  scene.review = () => new Promise(() => {});
  const answer = scene.call({ identity: web });
  await scene.clock.advance(10_000);
  t.match(await answer, { code: 4, details: 'the call took too long' });
  t.match(scene.audit, [{ reason: 'call-late' }]);
  t.equal(scene.clock.alarms, 0);
});

t.test('more calls than may be are told to try again', async (t) => {
  const scene = createServiceScene({ limits: { calls: 2, deadlineMs: 10_000 } });
  const answers = await Promise.all(Array.from({ length: 5 }, () => scene.call({ identity: web })));
  t.strictSame(answers.map(({ code }) => code).sort(), [0, 0, 8, 8, 8]);
  t.equal(scene.audit.filter(({ reason }) => reason === 'busy').length, 3);
  t.equal((await scene.call({ identity: web })).code, 0);
});

t.test('no certificate leaves without its line', async (t) => {
  const scene = createServiceScene();
  scene.auditBroken = true;
  t.match(await scene.call({ identity: web }), { code: 14, details: 'the decision cannot be recorded', elements: [] });
  scene.auditBroken = false;
  t.equal((await scene.call({ identity: web })).code, 0);
});

t.test('a fault of ours shows the caller a fixed text, and the log all of it', async (t) => {
  const scene = createServiceScene({ issue: () => Promise.reject(new Error('secret')) });
  t.strictSame(await scene.call({ identity: web }), { code: 13, details: 'internal error', elements: [] });
  t.match(scene.audit[0], { decision: 'refuse', reason: 'internal' });
  t.match(scene.log.lines, [{ level: 'error', fields: { error: /secret/ } }]);
});

t.test('idle waits for the calls under way, not for ever', async (t) => {
  const scene = createServiceScene();
  await scene.service.idle(1_000);
  let finish = (): void => {};
  scene.review = () =>
    new Promise((_resolve, reject) => (finish = () => reject(new SignetError('unauthenticated', 'no', { reason: 'token-refused' }))));
  const answer = scene.call({ identity: web });
  let idle = false;
  const waiting = scene.service.idle(1_000).then(() => (idle = true));
  await scene.clock.advance(500);
  t.notOk(idle);
  finish();
  await answer;
  await waiting;
  const stuck = scene.call({ identity: web });
  const late = scene.service.idle(1_000);
  await scene.clock.advance(1_000);
  await late;
  t.match(scene.log.lines, [{ level: 'warn', fields: { calls: 1 } }]);
  finish();
  await stuck;
});
