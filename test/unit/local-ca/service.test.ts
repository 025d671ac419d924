// Calls to the local CA endpoint over real sockets: who gets what, what each refusal says to the caller and in the audit line, and
// what is passed on.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { Clock } from '../../../agent/runtime/time.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { readCertificates } from '../../../agent/x509/pem.js';
import { createTestCsr, emptyOrganization } from '../../fixtures/csrs.js';
import { cartPod, createLocalCaScene, localCaId, webPod, ztunnelPod } from '../../fixtures/local-ca.js';
import { createTestKey, hourMs } from '../../fixtures/pki.js';
import { createPod } from '../../fixtures/pods.js';
import { until } from '../../fixtures/until.js';

const cart = localCaId('shop/cart');

t.test('a delegate gets any identity of its node, everybody else its own', async (t) => {
  const scene = await createLocalCaScene(t);
  const csr = createTestCsr({ uris: [cart] });
  const token = scene.tokenOf(ztunnelPod);
  const answer = await scene.call({ token, identity: cart, csr, seconds: 3_600 });
  t.equal(answer.code, 0, answer.details);
  const [leaf, ...rest] = answer.elements.map((pem) => readCertificates(pem, { source: 'answer' }));
  t.same(leaf?.[0]?.uriSans, [cart]);
  t.same(rest, [scene.bundle.value?.roots], 'the roots of the trust bundle are the last element');
  t.match(scene.forwards, [
    {
      id: { uri: cart },
      lifetimeMs: hourMs,
      caller: { token, impersonates: true, clusterId: 'Kubernetes' },
      priority: 'waiting',
    },
  ]);

  const own = await scene.call({ token: scene.tokenOf(webPod), csrIdentity: localCaId('shop/web') });
  t.equal(own.code, 0, own.details);
  t.match(scene.forwards[1], { id: { uri: localCaId('shop/web') }, caller: { impersonates: false } });
  t.equal((await scene.call({ token: scene.tokenOf(ztunnelPod), identity: localCaId('mesh/ztunnel') })).code, 0, 'its own, by name');
  t.match(scene.audit(), [
    {
      message: 'certificate handed out',
      identity: cart,
      account: 'mesh/ztunnel',
      pod: 'ztunnel',
      authMode: 'token-review',
      credentialId: 'JTI=1',
      serial: leaf?.[0]?.serial,
      upstream: 'test',
      peer: /^127\.0\.0\.1:/,
      spkiSha256: /^[0-9a-f]{64}$/,
    },
    { account: 'shop/web', identity: localCaId('shop/web') },
    { account: 'mesh/ztunnel' },
  ]);
  t.notMatch(JSON.stringify(scene.log.lines), token);
  t.equal(await scene.read('signet_local_ca_requests_total', { result: 'ok' }), 3);
  t.equal([...scene.door.issued.all().keys()].length, 3);
});

t.test('requests of istio-agent, and lifetimes', async (t) => {
  const scene = await createLocalCaScene(t);
  const token = scene.tokenOf(cartPod);
  const csr = createTestCsr({ uris: [cart], subject: emptyOrganization, key: createTestKey('rsa-2048') });
  t.equal((await scene.call({ token, csr, seconds: 0 })).code, 0, 'RSA with an empty organisation');
  t.equal((await scene.call({ token, csrIdentity: cart, seconds: 90 * 86_400 })).code, 0);
  t.equal((await scene.call({ token, csrIdentity: cart, seconds: 1 })).code, 0);
  t.same(
    scene.forwards.map(({ lifetimeMs }) => lifetimeMs),
    [24 * hourMs, 24 * hourMs, 10_000],
    'ours where none is named, and at most',
  );
});

const elsewhere = createPod('stranger', { serviceAccount: 'cart' });

t.test('refusals, each with a status and an audit line', async (t) => {
  const scene = await createLocalCaScene(t);
  scene.source.set([
    ztunnelPod,
    cartPod,
    webPod,
    createPod('dns', { namespace: 'kube-system' }),
    createPod('other', { serviceAccount: 'web' }),
  ]);
  const ztunnel = scene.tokenOf(ztunnelPod);
  const refusals: readonly [what: string, call: Parameters<typeof scene.call>[0], code: number, reason: string][] = [
    ['no token', { identity: cart }, 16, 'token-missing'],
    ['no JWT', { token: 'x', identity: cart }, 16, 'token-malformed'],
    ['a token that the API server does not know', { token: `${ztunnel}x`, identity: cart }, 16, 'token-refused'],
    ['wrong audience', { token: scene.tokenOf(ztunnelPod, { audience: 'other' }), identity: cart }, 16, 'token-audience'],
    ['expired', { token: scene.tokenOf(ztunnelPod, { expiresAt: Date.now() - 10_000 }), identity: cart }, 16, 'token-expired'],
    ['bound to no pod', { token: scene.tokenOf(ztunnelPod, { pod: null }), identity: cart }, 16, 'token-unbound'],
    ['a pod of another node', { token: scene.tokenOf(ztunnelPod, { node: 'node-b' }), identity: cart }, 7, 'caller-not-on-node'],
    ['a pod that nobody sees here', { token: scene.tokenOf(elsewhere, { node: null }), csrIdentity: cart }, 7, 'caller-not-on-node'],
    ['a pod of another account', { token: scene.tokenOf(ztunnelPod, { pod: cartPod }), identity: cart }, 7, 'caller-pod-differs'],
    ['an account that is not listed', { token: scene.tokenOf(webPod), identity: cart }, 7, 'caller-no-node-agent'],
    ['an identity of another node', { token: ztunnel, identity: localCaId('shop/else') }, 7, 'not-on-node'],
    ['one that is left out', { token: ztunnel, identity: localCaId('kube-system/dns') }, 7, 'not-selected'],
    ['another trust domain', { token: ztunnel, identity: cart.replace('example', 'other') }, 7, 'identity-foreign'],
    ['no identity', { token: ztunnel, identity: 'spiffe://example.org/x', csrIdentity: cart }, 3, 'identity-invalid'],
    ['another identity in the request', { token: ztunnel, identity: cart, csrIdentity: localCaId('shop/web') }, 3, 'csr-other-name'],
    [
      'two identities',
      { token: ztunnel, identity: cart, csr: createTestCsr({ uris: [cart, localCaId('shop/web')] }) },
      3,
      'csr-extra-name',
    ],
    [
      'a key of somebody else',
      { token: ztunnel, identity: cart, csr: createTestCsr({ uris: [cart], signedBy: createTestKey() }) },
      3,
      'csr-signature',
    ],
    ['no request', { token: ztunnel, identity: cart, csr: 'x' }, 3, 'csr-malformed'],
  ];
  for (const [what, call, code, reason] of refusals) {
    const answer = await scene.call(call);
    t.equal(answer.code, code, what);
    t.match(answer.details, new RegExp(`^${reason}: `), what);
    t.ok(answer.details.length < 120, 'short');
    t.match(scene.audit().at(-1), { message: 'certificate refused', audit: true, reason, peer: /^127/ }, what);
  }
  t.same(scene.forwards, [], 'nothing is passed on');
  t.equal(scene.audit().length, refusals.length);
  t.equal(await scene.read('signet_local_ca_refusals_total', { reason: 'csr-malformed' }), 1);
  t.notMatch(JSON.stringify(scene.log.lines), ztunnel);
});

t.test('while nobody can tell it says to try again', async (t) => {
  const scene = await createLocalCaScene(t);
  const token = scene.tokenOf(ztunnelPod);
  scene.apiAway = true;
  t.match(await scene.call({ token, identity: cart }), { code: 14, details: /^kube-unavailable: / });
  scene.apiAway = false;
  scene.source.fail({ code: 'kube-unavailable', detail: 'test' });
  t.match(await scene.call({ token, identity: localCaId('shop/new') }), { code: 14, details: /^kube-unavailable: the pods/ });
  t.match(await scene.call({ token, identity: cart }), { code: 0 }, 'what is known is served');
  scene.bundle.set(undefined);
  t.match(await scene.call({ token, identity: cart }), { code: 14, details: /^bundle-missing: / });
});

t.test('what the upstream says, and whose fault it is', async (t) => {
  const scene = await createLocalCaScene(t);
  const token = scene.tokenOf(ztunnelPod);
  const answers: readonly [error: Error, code: number, details: RegExp][] = [
    [new SignetError('unavailable', 'connect to the ca', { reason: 'ca-unavailable' }), 14, /^ca-unavailable: connect to the ca$/],
    [new SignetError('deadline', 'late', { reason: 'ca-deadline' }), 4, /^ca-deadline/],
    [new SignetError('denied', 'no', { reason: 'ca-denied' }), 7, /^ca-denied/],
    [new SignetError('unauthenticated', 'no', { reason: 'ca-unauthenticated' }), 16, /^ca-unauthenticated/],
    [new SignetError('invalid', 'too long', { reason: 'ca-lifetime-refused' }), 3, /^ca-lifetime-refused/],
    [new SignetError('invalid', 'other key', { reason: 'key-mismatch' }), 14, /^key-mismatch: the upstream gave no certificate/],
    [new SignetError('internal', 'ca failed', { reason: 'ca-failed' }), 14, /^ca-failed/],
    [new Error('secret'), 13, /^internal error$/],
  ];
  for (const [error, code, details] of answers) {
    scene.forward = async () => {
      throw error;
    };
    t.match(await scene.call({ token, identity: cart }), { code, details }, error.message);
  }
  t.same([...scene.door.issued.all()], [], 'nothing was handed out');
});

t.test('an upstream that hangs', async (t) => {
  const deadlineMs = 9_999;
  const deadlines: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    alarm(delayMs, fire) {
      if (delayMs !== deadlineMs) return systemClock.alarm(delayMs, fire);
      deadlines.push(fire);
      return { cancel: () => {} };
    },
  };
  const scene = await createLocalCaScene(t, { deadlineMs, clock });
  const token = scene.tokenOf(ztunnelPod);
  let aborted = 0;
  scene.forward = async (_request, signal) => {
    signal.addEventListener('abort', () => (aborted += 1));
    return await new Promise(() => {});
  };
  const call = scene.call({ token, identity: cart });
  await until('it is forwarded', 30_000, () => scene.forwards.length === 1);
  for (const fire of deadlines) fire();
  t.match(await call, { code: 4, details: /^call-late: / });
  t.equal(aborted, 1);
  scene.forward = scene.sign;
  t.equal((await scene.call({ token, identity: cart })).code, 0, 'others are served');
});

t.test('a caller that goes away ends its call', async (t) => {
  const scene = await createLocalCaScene(t, { deadlineMs: 60_000 });
  let aborted = false;
  scene.forward = async (_request, signal) => {
    signal.addEventListener('abort', () => (aborted = true));
    return await new Promise(() => {});
  };
  const call = scene.call({ token: scene.tokenOf(ztunnelPod), identity: cart });
  await until('it is forwarded', 30_000, () => scene.forwards.length === 1);
  scene.client.close();
  await scene.stop();
  t.not((await call).code, 0);
  await until('the call is over', 30_000, () => aborted);
});

t.test('a message that is too large', async (t) => {
  const scene = await createLocalCaScene(t);
  const answer = await scene.call({ token: scene.tokenOf(ztunnelPod), identity: cart, csr: 'x'.repeat(100_000) });
  t.equal(answer.code, 8);
  await until('it is told', 30_000, () => scene.audit().length === 1);
  t.match(scene.audit(), [{ reason: 'message-too-large' }]);
});

t.test('the root of the node is a file for others to read', async (t) => {
  const scene = await createLocalCaScene(t);
  const [root, ...more] = readCertificates(readFileSync(join(scene.directory, 'root', 'root-cert.pem')), { source: 'root' });
  t.ok(root?.isCa);
  t.same(more, []);
});
