import { inspect } from 'node:util';
import t from 'tap';
import type { ForwardRequest } from '../../../agent/ca/forward.js';
import type { CaClient } from '../../../agent/ca/ca-client.js';
import { explainError } from '../../../agent/runtime/errors.js';
import { withDeadline } from '../../../agent/runtime/time.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { csrToPem } from '../../../agent/x509/csr.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { alsoAsked, callerOf, createForwardRequest, createForwardScene, holdAnswers, never } from '../../fixtures/forward.js';
import type { FakeIstioCa } from '../../fixtures/istio-ca.js';
import { createFakeIstioCa, refusals } from '../../fixtures/istio-ca.js';
import { id } from '../../fixtures/istio-scene.js';
import { createIntermediate, createRoot, createTestKey, dayMs, hourMs } from '../../fixtures/pki.js';
import { createTestToken } from '../../fixtures/tokens.js';

const emptyCa: Omit<CaClient, 'request'> = { name: 'empty', subject: 'none', roots: new WatchedValue([]) };

t.test('the CA sees the call as if it had come from the caller', async (t) => {
  const ca = await createFakeIstioCa(t, { callerIdentity: id.uri });
  const { forwarder } = createForwardScene(t, [ca]);
  const request = await createForwardRequest();
  const { chain, notAfter, upstream } = await forwarder.forward(request, never);
  const [call] = ca.calls;
  t.equal(call?.csrPem, csrToPem(request.csr));
  t.match(call, { lifetimeMs: 3_600_000, impersonatedIdentity: id.uri });
  t.match(call?.headers, { authorization: `Bearer ${request.caller.token}`, clusterid: 'Kubernetes' });
  t.same([chain.length, chain[0].uriSans, upstream], [1, [id.uri], 'istio-1']);
  t.equal(notAfter, chain[0].notAfter);

  const own = await createForwardRequest({ caller: { ...callerOf(), impersonates: false, clusterId: undefined } });
  await forwarder.forward(own, never);
  t.equal(ca.calls[1]?.impersonatedIdentity, undefined);
  t.notOk('clusterid' in (ca.calls[1]?.headers ?? {}), 'not that of the agent either');
});

t.test('intermediates are part of the answer, the root is not', async (t) => {
  const ca = await createFakeIstioCa(t);
  const middle = createIntermediate(ca.root, { notAfter: Date.now() + dayMs });
  ca.outcome = (call) => ca.sign(call, {}, middle);
  const { chain } = await createForwardScene(t, [ca]).forwarder.forward(await createForwardRequest(), never);
  t.same(chain.map(({ fingerprint }) => fingerprint).slice(1), [middle.certificate.fingerprint]);
});

t.test('answers pass the checks of our own, and half of the lifetime has to be left', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { forwarder, read } = createForwardScene(t, [ca]);
  const now = Date.now();
  const faults: readonly (readonly [string, (call: Parameters<FakeIstioCa['sign']>[0]) => readonly string[]])[] = [
    ['key-mismatch', (call) => ca.sign(call, { key: createTestKey() })],
    ['san-mismatch', (call) => ca.sign({ ...call, impersonatedIdentity: 'spiffe://cluster.local/ns/shop/sa/other' })],
    ['san-mismatch', (call) => ca.sign(call, { dnsNames: ['cart.shop.svc'] })],
    ['leaf-not-allowed', (call) => ca.sign(call, { ca: true })],
    ['trust-anchor-unknown', (call) => ca.sign(call, {}, createRoot())],
    ['answer-empty', () => []],
    ['forward-half-past', (call) => ca.sign(call, { notBefore: now - 2 * hourMs, notAfter: now + hourMs })],
  ];
  for (const [reason, outcome] of faults) {
    ca.outcome = outcome;
    await t.rejects(forwarder.forward(await createForwardRequest(), never), { name: 'SignetError', kind: 'invalid', reason });
  }
  t.equal(await read('signet_ca_answers_refused_total', { upstream: 'istio-1', reason: 'forward-half-past' }), 1);
});

t.test('an upstream that refuses, is away or gives what is not accepted: the next is asked, with the same token', async (t) => {
  const [first, second] = [await createFakeIstioCa(t), await createFakeIstioCa(t)];
  const now = Date.now();
  const outcomes: readonly FakeIstioCa['outcome'][] = [
    () => refusals.impersonation,
    () => refusals.notReady,
    (call) => first.sign(call, { notBefore: now - 2 * hourMs, notAfter: now + hourMs }),
  ];
  for (const outcome of outcomes) {
    first.outcome = outcome;
    const { forwarder, read } = createForwardScene(t, [first, second]);
    const request = await createForwardRequest();
    t.equal((await forwarder.forward(request, never)).upstream, 'istio-2');
    t.equal(second.calls.at(-1)?.headers['authorization'], `Bearer ${request.caller.token}`);
    t.equal(await read('signet_forwarded_requests_total', { way: 'called', upstream: 'istio-2', result: 'ok' }), 1);
  }
});

t.test('two callers with one identity and key: one call, both get its answer', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder, read } = createForwardScene(t, [ca]);
  const request = await createForwardRequest();
  const answers = [forwarder.forward(request, never), forwarder.forward(alsoAsked(request), never)];
  const other = forwarder.forward(await createForwardRequest(), never);
  await until(() => ca.calls.length === 2, 'a call for each key');
  answer();
  const [one, two] = await Promise.all(answers);
  t.equal(one?.chain[0].fingerprint, two?.chain[0].fingerprint);
  answer();
  await other;
  t.equal(ca.calls.length, 2);
  t.equal(await read('signet_forwarded_requests_total', { way: 'joined', upstream: 'istio-1', result: 'ok' }), 1);
});

t.test('nobody fails by the token of another: who had joined tries with its own', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder } = createForwardScene(t, [ca]);
  const request = await createForwardRequest();
  const refused = t.rejects(forwarder.forward(request, never), { name: 'SignetError', reason: 'ca-unauthenticated' });
  const second = alsoAsked(request);
  const joined = forwarder.forward(second, never);
  await until(() => ca.calls.length === 1);
  answer(refusals.token);
  await refused;
  await until(() => ca.calls.length === 2);
  answer();
  await joined;
  t.same(
    ca.calls.map(({ headers }) => headers['authorization']),
    [request, second].map(({ caller }) => `Bearer ${caller.token}`),
  );
});

t.test('as an upstream is configured: the agent asks with a token of its own, and a refusal is one for all', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder, ownToken } = createForwardScene(t, [ca], { auth: 'upstream' });
  const request = await createForwardRequest({ caller: callerOf('of no use') });
  const refused = [request, alsoAsked(request)].map((each) =>
    t.rejects(forwarder.forward(each, never), { name: 'SignetError', reason: 'ca-impersonation-refused' }),
  );
  await until(() => ca.calls.length === 1);
  answer(refusals.impersonation);
  await Promise.all(refused);
  t.equal(ca.calls.length, 1);
  t.match(ca.calls[0]?.headers, { authorization: `Bearer ${ownToken}`, clusterid: 'of-the-agent' });
});

t.test('a caller whose answer was lost gets it again for a minute, while half of the lifetime is left', async (t) => {
  const ca = await createFakeIstioCa(t);
  const clock = createFakeClock({ startAt: Date.now() });
  const { forwarder, read } = createForwardScene(t, [ca], { clock });
  const request = await createForwardRequest();
  const first = await forwarder.forward(request, never);
  t.equal((await forwarder.forward(alsoAsked(request), never)).chain[0].fingerprint, first.chain[0].fingerprint);
  t.equal(ca.calls.length, 1);
  t.equal(await read('signet_forwarded_requests_total', { way: 'kept', upstream: 'istio-1', result: 'ok' }), 1);
  await clock.advance(60_000);
  await forwarder.forward(request, never);
  t.equal(ca.calls.length, 2, 'a minute later it is a new request');

  const short = await createForwardRequest();
  ca.outcome = (call) => ca.sign(call, { notAfter: clock.now() + 600_000 });
  await forwarder.forward(short, never);
  clock.step(250_000);
  ca.outcome = (call) => ca.sign(call, { notAfter: clock.now() + hourMs });
  await forwarder.forward(short, never);
  t.equal(ca.calls.length, 4, 'half of its lifetime was over');
});

t.test('a token is sent to nobody it is not for, and never told', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { forwarder, log, registry } = createForwardScene(t, [ca]);
  const foreign = createTestToken({ audiences: ['api'], account: 'istio-system/ztunnel' });
  const over = createTestToken({ expiresAt: Date.now() - 1_000, account: 'istio-system/ztunnel' });
  const refused = createTestToken({ account: 'istio-system/refused' });
  ca.outcome = ({ headers }) => ({ code: 16, details: `no: ${headers['authorization']}` });
  const told: string[] = [];
  for (const [token, reason] of [
    [foreign, 'ca-token-audience'],
    [over, 'ca-token-expired'],
    ['no token', 'ca-token-invalid'],
    [refused, 'ca-unauthenticated'],
  ] as const) {
    const request = await createForwardRequest({ caller: callerOf(token) });
    const error: unknown = await forwarder.forward(request, never).catch((failure: unknown) => failure);
    t.match(error, { name: 'SignetError', reason });
    told.push(inspect(error, { depth: 10 }), explainError(error));
  }
  t.equal(ca.calls.length, 1);
  told.push(inspect(log.lines, { depth: 10 }), await registry.metrics(), inspect(forwarder, { depth: 10, showHidden: true }));
  for (const token of [foreign, over, refused, 'no token'])
    for (const part of token.split('.')) t.notOk(told.join('\n').includes(part) && part.length > 20);
  t.notOk(told.join('\n').includes(refused));
});

t.test('an upstream that hangs: an error in time, or the certificate of another upstream', async (t) => {
  const [first, second] = [await createFakeIstioCa(t), await createFakeIstioCa(t)];
  const clock = createFakeClock({ startAt: Date.now() });
  first.outcome = () => 'hang';
  const alone = createForwardScene(t, [first], { clock, deadlineMs: 10_000 });
  const late = t.rejects(alone.forwarder.forward(await createForwardRequest(), never), {
    name: 'SignetError',
    kind: 'deadline',
    reason: 'ca-deadline',
  });
  await until(() => first.calls.length === 1);
  await clock.advance(10_000);
  await late;

  const both = createForwardScene(t, [first, second], { clock, deadlineMs: 10_000 });
  const requests = await Promise.all(Array.from({ length: 8 }, () => createForwardRequest()));
  const answers = requests.map((request) => both.forwarder.forward(request, never));
  await until(() => first.calls.length === 7, 'as many calls as may be forwarded at once');
  await clock.advance(5_000);
  t.same(new Set((await Promise.all(answers)).map(({ upstream }) => upstream)), new Set(['istio-2']));
  t.equal(first.calls.length, 7, 'the breaker leaves it out');
});

t.test('the deadline of the local CA, if it is the sooner one, tells as much', async (t) => {
  const ca = await createFakeIstioCa(t);
  const clock = createFakeClock({ startAt: Date.now() });
  ca.outcome = () => 'hang';
  const { forwarder, read } = createForwardScene(t, [ca], { clock, deadlineMs: 10_000 });
  const request = await createForwardRequest();
  const late = t.rejects(
    withDeadline(clock, 9_000, 'the call', never, (signal) => forwarder.forward(request, signal)),
    { name: 'SignetError', kind: 'deadline' },
  );
  await until(() => ca.calls.length === 1);
  await clock.advance(9_000);
  await late;
  const endpoint = `${ca.host}:${ca.port}`;
  await until(async () => (await read('signet_ca_endpoint_up', { upstream: 'istio-1', endpoint })) === 0, 'the endpoint is left out');
});

t.test('the wait for a turn counts, and who gave up takes none', async (t) => {
  const ca = await createFakeIstioCa(t);
  const clock = createFakeClock({ startAt: Date.now() });
  const { forwarder, queue, read } = createForwardScene(t, [ca], { clock, concurrency: 1, deadlineMs: 10_000 });
  let release = (): void => {};
  queue.add(() => new Promise((resolve) => (release = resolve)), 'routine', 'own');
  await until(async () => (await read('signet_svid_requests_in_flight')) === 1);
  const request = await createForwardRequest();
  const late = t.rejects(forwarder.forward(request, never), { name: 'SignetError', kind: 'deadline', reason: 'ca-deadline' });
  await until(async () => (await read('signet_svid_requests_queued')) === 1);
  await clock.advance(10_000);
  await late;
  t.equal(await read('signet_svid_requests_queued'), 0);
  release();
  await forwarder.forward(request, never);
  t.equal(ca.calls.length, 1);
  t.equal(await read('signet_forwarded_requests_total', { way: '', upstream: '', result: 'deadline' }), 1);
  t.equal(await read('signet_forwarded_request_seconds_count'), 2);
});

t.test('who waits goes before the renewals of the agent, a renewal of others after its new pods', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { forwarder, queue, read } = createForwardScene(t, [ca], { concurrency: 1 });
  const order: string[] = [];
  let release = (): void => {};
  const own = (name: string) => async (): Promise<void> => void order.push(name);
  queue.add(() => new Promise((resolve) => (release = resolve)), 'waited-for', 'own');
  await until(async () => (await read('signet_svid_requests_in_flight')) === 1);
  const routine = await createForwardRequest({ priority: 'routine' });
  const raised = await createForwardRequest({ priority: 'routine' });
  const forward = async (name: string, request: ForwardRequest): Promise<void> => {
    await forwarder.forward(request, never);
    order.push(name);
  };
  queue.add(own('own, routine'), 'routine', 'own');
  queue.add(own('own, new'), 'new', 'own');
  const all = [forward('routine', routine), forward('raised', raised)];
  await until(async () => (await read('signet_svid_requests_queued')) === 4);
  all.push(forward('waiting', await createForwardRequest()), forward('joined', { ...alsoAsked(raised), priority: 'waiting' }));
  await until(async () => (await read('signet_svid_requests_queued')) === 5);
  release();
  await Promise.all(all);
  await until(() => order.length === 6);
  const at = (name: string): number => order.indexOf(name);
  t.ok(Math.max(at('waiting'), at('raised'), at('joined')) < at('own, new'), order.join());
  t.ok(at('own, new') < at('routine') && at('routine') < at('own, routine'), order.join());
});

t.test('only so many requests are under way', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder, read } = createForwardScene(t, [ca], { maxUnderWay: 2 });
  const requests = await Promise.all([createForwardRequest(), createForwardRequest(), createForwardRequest()]);
  const answers = requests.slice(1).map((request) => forwarder.forward(request, never));
  await until(() => ca.calls.length === 2);
  const [first] = requests;
  if (first === undefined) throw new Error('no request');
  await t.rejects(forwarder.forward(first, never), { name: 'SignetError', kind: 'exhausted', reason: 'forward-limit' });
  answer();
  answer();
  await Promise.all(answers);
  const again = forwarder.forward(first, never);
  await until(() => ca.calls.length === 3);
  answer();
  await again;
  t.equal(await read('signet_forwarded_requests_total', { way: '', upstream: '', result: 'exhausted' }), 1);
});

t.test('an error without a reason gets that of its kind', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { queue } = createForwardScene(t, [ca]);
  const { forwarder } = createForwardScene(t, [ca], { queue, ca: { ...emptyCa, request: async () => Promise.reject(new Error('odd')) } });
  await t.rejects(forwarder.forward(await createForwardRequest(), never), {
    name: 'SignetError',
    kind: 'internal',
    reason: 'ca-unavailable',
  });
});
