// Who a token speaks for: what is asked, what of the answer is believed, and how long it counts.

import t from 'tap';
import type { Test } from 'tap';
import { createTokenReviewer } from '../../../agent/kube/token-review.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import { Registry } from 'prom-client';
import { kindOf, reasonOf } from '../../../agent/runtime/errors.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { createTestToken } from '../../fixtures/tokens.js';

const extra = {
  'authentication.kubernetes.io/pod-name': ['agent-1'],
  'authentication.kubernetes.io/pod-uid': ['uid-1'],
  'authentication.kubernetes.io/node-name': ['node-a'],
  'authentication.kubernetes.io/node-uid': ['uid-node'],
  'authentication.kubernetes.io/credential-id': ['JTI=1'],
};
const user = { username: 'system:serviceaccount:shop:agent', groups: ['system:serviceaccounts', 'system:authenticated'], extra };
const good = { authenticated: true, audiences: ['signet-ca'], user };

async function createScene(t: Test, handle: (call: ApiCall) => void = (call) => call.json({ status: good }, 201)) {
  const scene = await createKubeScene(t, handle);
  const reviewer = createTokenReviewer({
    client: scene.client,
    audiences: ['signet-ca', 'istio-ca'],
    clock: scene.clock,
    metrics: createAuthorityMetrics(new Registry()),
  });
  const token = (name = 'a', livesMs = 3_600_000): string =>
    createTestToken({ audiences: ['signet-ca'], account: `shop/${name}`, expiresAt: scene.clock.now() + livesMs });
  return { ...scene, reviewer, token };
}

t.test('asks with our audiences and reads who it is', async (t) => {
  const { reviewer, server, token } = await createScene(t);
  t.strictSame(await reviewer.review(token()), {
    namespace: 'shop',
    serviceAccount: 'agent',
    pod: { name: 'agent-1', uid: 'uid-1' },
    node: { name: 'node-a', uid: 'uid-node' },
    credentialId: 'JTI=1',
  });
  t.match(server.calls[0], {
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { kind: 'TokenReview', spec: { audiences: ['signet-ca', 'istio-ca'] } },
  });
});

t.test('a good answer counts for ten seconds, never past the end of the token, not after its pod', async (t) => {
  const { reviewer, server, token, clock } = await createScene(t);
  const one = token();
  await Promise.all([reviewer.review(one), reviewer.review(one), reviewer.review(one)]);
  t.equal(server.calls.length, 1, 'calls for one token are one');
  await clock.advance(9_999);
  await reviewer.review(one);
  t.equal(server.calls.length, 1);
  await clock.advance(1);
  await reviewer.review(one);
  t.equal(server.calls.length, 2);
  reviewer.forgetPod('uid-1');
  await reviewer.review(one);
  t.equal(server.calls.length, 3);
  reviewer.forgetPod('uid-2');
  await reviewer.review(one);
  t.equal(server.calls.length, 3, 'other pods are none of its business');

  const short = token('short', 5_000);
  await reviewer.review(short);
  t.equal(server.calls.length, 4);
  await clock.advance(5_000);
  await t.rejects(reviewer.review(short), { name: 'SignetError', kind: 'unauthenticated', reason: 'token-expired' });
  t.equal(server.calls.length, 4);
});

t.test('what speaks against a token by itself is not sent', async (t) => {
  const { reviewer, server, clock } = await createScene(t);
  const far = clock.now() + 3_600_000;
  const table: readonly (readonly [string, string])[] = [
    ['', 'token-malformed'],
    ['a.b', 'token-malformed'],
    ['a.!.c', 'token-malformed'],
    [`a.${Buffer.from('[').toString('base64url')}.c`, 'token-malformed'],
    [`a.${Buffer.from('null').toString('base64url')}.c`, 'token-malformed'],
    [`a.${Buffer.from('{"aud":"signet-ca"}').toString('base64url')}.c`, 'token-malformed'],
    [`a.${'b'.repeat(20_000)}.c`, 'token-malformed'],
    [createTestToken({ audiences: ['other'], expiresAt: far }), 'token-audience'],
    [createTestToken({ audiences: [], expiresAt: far }), 'token-audience'],
    [createTestToken({ audiences: ['signet-ca'], expiresAt: clock.now() }), 'token-expired'],
  ];
  for (const [token, reason] of table)
    await t.rejects(reviewer.review(token), { name: 'SignetError', kind: 'unauthenticated', reason }, reason);
  t.equal(server.calls.length, 0);
});

t.test('an answer that does not say all of it is a refusal', async (t) => {
  const table: readonly (readonly [object, string])[] = [
    [{ authenticated: false, error: 'token has been invalidated' }, 'token-refused'],
    [{ ...good, error: 'but' }, 'token-refused'],
    [{ ...good, authenticated: 'true' }, 'token-refused'],
    [{ ...good, audiences: undefined }, 'token-audience'],
    [{ ...good, audiences: ['other'] }, 'token-audience'],
    [{ ...good, user: { ...user, username: 'admin' } }, 'caller-no-account'],
    [{ ...good, user: { ...user, username: 'system:serviceaccount:shop:agent:more' } }, 'caller-no-account'],
    [{ ...good, user: { ...user, username: 'system:serviceaccount::agent' } }, 'caller-no-account'],
    [{ ...good, user: { ...user, username: 'system:node:shop:agent' } }, 'caller-no-account'],
    [{ ...good, user: { ...user, groups: ['system:authenticated'] } }, 'caller-no-account'],
    [{ ...good, user: undefined }, 'caller-no-account'],
  ];
  for (const [status, reason] of table) {
    const { reviewer, token } = await createScene(t, (call) => call.json({ status }, 201));
    await t.rejects(reviewer.review(token()), { name: 'SignetError', kind: 'unauthenticated', reason }, reason);
  }
});

t.test('a token that is refused again and again is asked about ever more seldom, and counts as soon as it is found good', async (t) => {
  const { reviewer, server, token, clock } = await createScene(t, (call) => call.json({ status: { authenticated: false } }, 201));
  const one = token();
  const refused = async (calls: number): Promise<void> => {
    await t.rejects(reviewer.review(one), { name: 'SignetError', kind: 'unauthenticated', reason: 'token-refused' });
    t.equal(server.calls.length, calls);
  };
  await refused(1);
  await clock.advance(1_000);
  await refused(2);
  await clock.advance(999);
  await refused(2);
  await clock.advance(1);
  await refused(3);
  server.handle = (call) => call.json({ status: good }, 201);
  await clock.advance(1_999);
  await refused(3);
  await clock.advance(1);
  t.match(await reviewer.review(one), { serviceAccount: 'agent' });
  t.equal(server.calls.length, 4);
});

t.test('a refusal of a token that may become good is not remembered', async (t) => {
  for (const aheadMs of [30_000, 0, -59_000]) {
    const { reviewer, server, clock } = await createScene(t, (call) => call.json({ status: { authenticated: false } }, 201));
    const notBefore = clock.now() + aheadMs;
    const one = createTestToken({ audiences: ['signet-ca'], notBefore, expiresAt: notBefore + 3_600_000 });
    for (const _ of [1, 2, 3]) {
      await t.rejects(reviewer.review(one), { name: 'SignetError', reason: 'token-refused' });
      await clock.advance(100);
    }
    server.handle = (call) => call.json({ status: good }, 201);
    t.match(await reviewer.review(one), { serviceAccount: 'agent' });
  }
});

t.test('without a pod the token is not bound', async (t) => {
  const { reviewer, token } = await createScene(t, (call) => call.json({ status: { ...good, user: { ...user, extra: {} } } }, 201));
  t.match(await reviewer.review(token()), { pod: undefined, node: undefined, credentialId: '' });
});

t.test('an API server that is away, refuses us or talks nonsense is no refusal of the token, and nothing to remember', async (t) => {
  for (const [handle, reason] of [
    [(call: ApiCall) => call.status(503, 'away'), 'kube-unavailable'],
    [(call: ApiCall) => call.status(403, 'not you'), 'kube-denied'],
    [(call: ApiCall) => call.status(401, 'who'), 'kube-unauthenticated'],
    [(call: ApiCall) => call.json({}), 'kube-answer-invalid'],
  ] as const) {
    const { reviewer, token, server, clock } = await createScene(t, handle);
    const one = token();
    for (const _ of [1, 2]) {
      const error: unknown = await reviewer.review(one).catch((thrown: unknown) => thrown);
      t.equal(kindOf(error), 'unavailable');
      t.equal(reasonOf(error), reason);
      await clock.advance(1_000);
    }
    server.handle = (call) => call.json({ status: good }, 201);
    t.match(await reviewer.review(one), { serviceAccount: 'agent' });
  }
});
