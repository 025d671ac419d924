import t from 'tap';
import { requestName } from '../../../agent/ca/request-calls.js';
import { reasonOf } from '../../../agent/runtime/errors.js';
import { withDeadline } from '../../../agent/runtime/time.js';
import { generateKey } from '../../../agent/x509/csr.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { advanceUntil, settle, until } from '../../fixtures/clock.js';
import { createRequestScene, id, kinds } from '../../fixtures/request-objects.js';

const base64 = (pem: Buffer): string => pem.toString('base64');
const approved = { type: 'Approved', status: 'True' };

t.test('a request is put there, followed, taken and removed', async (t) => {
  const { ask, followed, store, certificate, read, server } = await createRequestScene(t);
  const answer = ask();
  const name = await followed();
  t.equal(await read('signet_ca_request_objects', { upstream: 'objects' }), 1);
  t.match(store.objects.get(name)?.metadata, {
    labels: { 'app.kubernetes.io/managed-by': 'signet-agent', 'signet-agent/node': 'node-a' },
    annotations: { 'signet-agent/identity': id.uri },
  });
  store.setStatus(name, { conditions: [approved] });
  store.setStatus(name, { conditions: [approved], certificate: base64(certificate()) });
  t.equal((await answer).id.uri, id.uri);
  await until(() => store.objects.size === 0);
  t.same(store.deleted, [name]);
  t.equal(await read('signet_ca_request_objects', { upstream: 'objects' }), 0);
  t.same(
    server.calls.map(({ method, query }) => (query['watch'] === undefined ? method : 'watch')),
    ['POST', 'POST', 'watch', 'DELETE'],
    'after a look at who we are',
  );
});

t.test('R100 when the signer wants the certificate renewed is handed on', async (t) => {
  const refreshAt = Date.UTC(2026, 0, 1, 12);
  const { ask, followed, store, certificate } = await createRequestScene(t, {
    kind(client, clock) {
      const made = kinds['kubernetes-csr'](client, clock);
      return { ...made, read: (object) => ({ ...made.read(object), refreshAt }) };
    },
  });
  const answer = ask();
  store.setStatus(await followed(), { certificate: base64(certificate()) });
  t.equal((await answer).refreshAt, refreshAt);
});

t.test('an answer that fails its checks is removed too', async (t) => {
  const { ask, followed, store } = await createRequestScene(t);
  const answer = t.rejects(ask(), { name: 'SignetError', reason: 'answer-empty' });
  store.setStatus(await followed(), { certificate: base64(Buffer.from('\n')) });
  await answer;
  await until(() => store.objects.size === 0);
});

t.test('F038 ten attempts whose time is over are one request; the next one takes what has come meanwhile', async (t) => {
  const { ask, followed, store, certificate, clock } = await createRequestScene(t);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const answer = t.rejects(ask(), { name: 'SignetError', kind: 'deadline', reason: 'request-unanswered' });
    await followed();
    await clock.advance(9_000);
    await answer;
    await until(() => store.watches.length === 0);
  }
  const [name = ''] = store.created;
  t.same(store.created, [name]);
  store.setStatus(name, { certificate: base64(certificate()) });
  await ask();
  await until(() => store.objects.size === 0);
  t.equal(store.created.length, 1);
});

t.test('the deadline of whoever waits leaves the request, a cancellation does not', async (t) => {
  const { ask, followed, store, clock } = await createRequestScene(t);
  const late = withDeadline(clock, 3_000, 'the call', new AbortController().signal, async (signal) => await ask({ signal }));
  const rejected = t.rejects(late, { name: 'SignetError', kind: 'deadline' });
  await followed();
  await clock.advance(3_000);
  await rejected;
  await until(() => store.watches.length === 0);
  t.equal(store.objects.size, 1);

  const gone = new AbortController();
  const cancelled = t.rejects(ask({ signal: gone.signal }), { name: 'SignetError', kind: 'cancelled' });
  await followed();
  t.same([store.created.length, store.deleted.length], [1, 0], 'it was found again');
  gone.abort();
  await cancelled;
  await until(() => store.objects.size === 0);
});

t.test('requests of others for the same identity: one each, beside our own, and each goes with its attempt', async (t) => {
  const { ask, forward, store, certificate, clock } = await createRequestScene(t);
  const own = ask();
  await until(() => store.watches.length === 1);
  const keys = [await generateKey('ec-p256'), await generateKey('ec-p256'), await generateKey('ec-p256')] as const;
  const leaving = new AbortController();
  const [taken, denied, left] = [forward(keys[0]), forward(keys[1]), forward(keys[2], leaving.signal)];
  const refused = t.rejects(denied, { name: 'SignetError', reason: 'request-denied' });
  const cancelled = t.rejects(left, { name: 'SignetError', kind: 'cancelled' });
  await until(() => store.watches.length === 4);
  t.same(store.deleted, [], 'none took the place of another');
  const [ofTaken, ofDenied] = [requestName(id, keys[0].publicKeySpki), requestName(id, keys[1].publicKeySpki)];
  store.setStatus(ofTaken, { certificate: base64(certificate(keys[0])) });
  store.setStatus(ofDenied, { conditions: [{ type: 'Denied', status: 'True' }] });
  leaving.abort();
  t.ok((await taken)[0].publicKeySpki.equals(keys[0].publicKeySpki));
  await Promise.all([refused, cancelled]);
  await until(() => store.objects.size === 1);
  const [name = ''] = store.objects.keys();
  store.setStatus(name, { certificate: base64(certificate()) });
  await own;
  await until(() => store.objects.size === 0);

  await t.rejects(forward(keys[1]), { name: 'SignetError', reason: 'request-denied' }, 'counts for a minute, for this key');
  const late = t.rejects(forward(keys[0]), { name: 'SignetError', reason: 'request-unanswered' });
  await until(() => store.objects.size === 1);
  await until(() => store.watches.length === 1);
  await clock.advance(9_000);
  await late;
  await until(() => store.objects.size === 0, 'nobody comes back with this key');
});

t.test('another key is another request, and the one before goes', async (t) => {
  const { ask, followed, store, clock } = await createRequestScene(t);
  const first = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  const name = await followed();
  await clock.advance(9_000);
  await first;
  await until(() => store.watches.length === 0);
  const second = t.rejects(ask({ key: await generateKey('ec-p256') }), { name: 'SignetError', reason: 'request-unanswered' });
  await until(() => store.deleted.includes(name));
  const other = await followed();
  t.not(other, name);
  await clock.advance(9_000);
  await second;
});

t.test('R099 a refusal is told in its words, removed, and not repeated for a minute', async (t) => {
  const cases = [
    [{ type: 'Denied', status: 'True', reason: 'Policy', message: 'no such pod' }, 'denied', 'request-denied', /Policy: no such pod/],
    [{ type: 'Failed', status: 'True', message: 'out of order' }, 'invalid', 'request-failed', /out of order/],
  ] as const;
  for (const [condition, kind, reason, detail] of cases) {
    const { ask, followed, store, clock } = await createRequestScene(t);
    const refused = t.rejects(ask(), { name: 'SignetError', kind, reason, fields: { detail } });
    store.setStatus(await followed(), { conditions: [condition] });
    await refused;
    await until(() => store.objects.size === 0);
    await clock.advance(59_000);
    await t.rejects(ask(), { name: 'SignetError', reason });
    t.equal(store.created.length, 1);
    await clock.advance(1_000);
    const again = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
    await followed();
    t.equal(store.created.length, 2);
    await clock.advance(9_000);
    await again;
  }
});

t.test('R098 what is approved and not signed says so, and is made anew after a minute', async (t) => {
  const { ask, followed, store, clock, seen } = await createRequestScene(t);
  for (let waited = 0; waited < 60_000; waited += 9_000) {
    const fields = { signer: 'example.com/workload' };
    const answer = t.rejects(ask(), { name: 'SignetError', kind: 'deadline', reason: 'request-unsigned', fields });
    store.setStatus(await followed(), { conditions: [approved] });
    await seen('approved');
    t.equal(store.created.length, 1);
    await clock.advance(9_000);
    await answer;
    await until(() => store.watches.length === 0);
  }
  await until(() => store.deleted.length === 1, 'the removal');
});

t.test('R101 a request that is deleted ends the attempt; the next one makes it anew', async (t) => {
  const { ask, followed, store, clock } = await createRequestScene(t);
  const watched = t.rejects(ask(), { name: 'SignetError', kind: 'unavailable', reason: 'request-deleted' });
  const name = await followed();
  store.remove(name);
  await watched;
  const second = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  t.equal(await followed(), name);
  await clock.advance(9_000);
  await second;
  await until(() => store.watches.length === 0);
  store.remove(name);
  await t.rejects(ask(), { name: 'SignetError', reason: 'request-deleted' }, 'also while nobody watched');
});

t.test('an answer to the making that is lost: the request is found', async (t) => {
  const { ask, followed, store, certificate } = await createRequestScene(t);
  const { intercept } = store;
  store.intercept = (call) => {
    if (call.method !== 'POST') return false;
    store.intercept = intercept;
    store.objects.set((call.body as { metadata: { name: string } }).metadata.name, call.body as never);
    call.drop();
    return true;
  };
  await t.rejects(ask(), { name: 'SignetError', reason: 'kube-unavailable' });
  const answer = ask();
  store.setStatus(await followed(), { certificate: base64(certificate()) });
  await answer;
  t.same(store.created, []);
  await until(() => store.objects.size === 0);
});

t.test('a watch that the server ends, or whose version is gone, is begun again from what is there', async (t) => {
  const { ask, followed, store, certificate, clock } = await createRequestScene(t);
  const answer = ask();
  const name = await followed();
  store.watches[0]?.end();
  await until(() => store.watches.length === 0);
  await advanceUntil(clock, 50, () => store.watches.length === 1);
  store.watches[0]?.event('BOOKMARK', { metadata: { resourceVersion: '9' } });
  store.watches[0]?.event('ERROR', { name: 'SignetError', kind: 'Status', code: 410 });
  await until(() => store.watches.length === 0);
  store.setStatus(name, { certificate: base64(certificate()) });
  let taken = false;
  const done = answer.then(() => (taken = true));
  await advanceUntil(clock, 50, () => taken);
  await done;
});

t.test('what the API server refuses is told, and nothing is held for it', async (t) => {
  const cases: readonly [number, string, string | undefined][] = [
    [403, 'certificatesigningrequests is forbidden', 'kube-denied'],
    [404, 'the server could not find the requested resource', 'request-unserved'],
    [422, 'spec.expirationSeconds: Invalid value', undefined],
    [503, 'not now', 'kube-unavailable'],
  ];
  for (const [code, message, reason] of cases) {
    const { ask, store, read } = await createRequestScene(t);
    store.intercept = (call) => {
      if (call.method !== 'POST') return false;
      call.status(code, message);
      return true;
    };
    const error: unknown = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.equal(reasonOf(error), reason, message);
    t.equal(await read('signet_ca_request_objects', { upstream: 'objects' }), code === 503 ? 1 : 0);
  }
});

t.test('at the start what former processes of the node left is removed, and nothing else', async (t) => {
  const { ask, followed, store, run, log, clock } = await createRequestScene(t);
  const labels = (node: string) => ({ 'app.kubernetes.io/managed-by': 'signet-agent', 'signet-agent/node': node });
  const put = (name: string, node: string): void =>
    void store.objects.set(name, { apiVersion: 'v1', metadata: { name, labels: labels(node) }, spec: {} });
  put('left-1', 'node-a');
  put('left-2', 'node-a');
  put('other', 'node-b');
  let away = 2;
  store.intercept = (call) => {
    if (call.query['labelSelector'] === undefined || away === 0) return false;
    away -= 1;
    call.status(503, 'not now');
    return true;
  };
  const answer = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  const own = await followed();
  await clock.advance(9_000);
  await answer;
  const stop = run();
  await advanceUntil(clock, 5_000, () => store.deleted.length === 2);
  t.same(store.deleted, ['left-1', 'left-2']);
  t.same([...store.objects.keys()], ['other', own]);
  t.equal(log.lines.filter(({ message }) => message.startsWith('cannot look')).length, 1, 'told once');
  await stop();
  t.same([...store.objects.keys()], ['other']);
});

t.test('a request that is put there while former ones are looked for is not taken for one of them', async (t) => {
  const { ask, followed, store, run, certificate } = await createRequestScene(t);
  let listed: ApiCall | undefined;
  store.intercept = (call) => {
    if (call.query['labelSelector'] === undefined) return false;
    listed = call;
    return true;
  };
  run();
  await until(() => listed !== undefined);
  const answer = ask();
  const name = await followed();
  store.objects.set('left', { apiVersion: 'v1', metadata: { name: 'left' }, spec: {} });
  listed?.json({ metadata: {}, items: [...store.objects.values()] });
  await until(() => store.deleted.length > 0);
  t.same(store.deleted, ['left']);
  store.setStatus(name, { certificate: base64(certificate()) });
  await answer;
});

t.test('at the end all that waits is removed, within a moment', async (t) => {
  const { ask, followed, store, run, clock } = await createRequestScene(t);
  const first = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  await followed();
  const stop = run();
  await clock.advance(9_000);
  await first;
  t.equal(store.objects.size, 1);
  await stop();
  t.equal(store.objects.size, 0);
  t.equal(clock.alarms, 0);

  const away = await createRequestScene(t);
  const second = t.rejects(away.ask(), { name: 'SignetError', reason: 'request-unanswered' });
  await away.followed();
  const stopAway = away.run();
  await away.clock.advance(9_000);
  await second;
  away.store.intercept = ({ method }) => method === 'DELETE';
  const stopped = stopAway();
  await until(() => away.server.calls.some(({ method }) => method === 'DELETE'));
  await away.clock.advance(800);
  await stopped;
  t.equal(away.clock.alarms, 0, 'although the API server does not answer');
});

t.test('what nobody asks for any more is removed when it is old', async (t) => {
  const { ask, followed, store, run, clock } = await createRequestScene(t);
  run();
  const answer = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  await followed();
  await clock.advance(9_000);
  await answer;
  await advanceUntil(clock, 30_000, () => store.objects.size === 0);
  t.ok(clock.monotonic() >= 15 * 60_000);
});

t.test('what waits for an identity that left is removed', async (t) => {
  const { ask, followed, store, run, clock, identities } = await createRequestScene(t);
  run();
  const answer = t.rejects(ask(), { name: 'SignetError', reason: 'request-unanswered' });
  await followed();
  await clock.advance(9_000);
  await answer;
  identities.set(new Map());
  await until(() => store.objects.size === 0);
});

t.test('a removal is tried again, then given up with a warning', async (t) => {
  const { ask, followed, store, certificate, clock, log } = await createRequestScene(t);
  let refused = 0;
  store.intercept = (call) => {
    if (call.method !== 'DELETE') return false;
    refused += 1;
    call.status(503, 'not now');
    return true;
  };
  const answer = ask();
  store.setStatus(await followed(), { certificate: base64(certificate()) });
  await answer;
  await advanceUntil(clock, 500, () => log.lines.some(({ message }) => message === 'cannot remove a request object'));
  t.equal(refused, 4);
});

t.test('the name of a long node is a hash in the label', async (t) => {
  const { ask, followed, store } = await createRequestScene(t, { node: `${'n'.repeat(64)}` });
  const given = new AbortController();
  const answer = t.rejects(ask({ signal: given.signal }));
  t.match(store.objects.get(await followed())?.metadata.labels?.['signet-agent/node'], /^[0-9a-f]{40}$/);
  given.abort();
  await answer;
});

t.test('where only the cluster removes requests, none is removed or looked for', async (t) => {
  const { ask, followed, store, certificate, run, server } = await createRequestScene(t, {
    kind: (client, clock) => ({ ...kinds['kubernetes-csr'](client, clock), removable: false }),
  });
  const stop = run();
  const answer = ask();
  store.setStatus(await followed(), { certificate: base64(certificate()) });
  await answer;
  await settle();
  await stop();
  t.equal(store.objects.size, 1);
  t.notOk(server.calls.some(({ method, query }) => method === 'DELETE' || query['labelSelector'] !== undefined));
});
