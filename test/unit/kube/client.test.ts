// Calls to a real HTTPS server that answers as scripted.

import { createHash } from 'node:crypto';
import t from 'tap';
import type { WatchEvent } from '../../../agent/kube/client.js';
import { createKubeClient } from '../../../agent/kube/client.js';
import type { Access } from '../../../agent/kube/credentials.js';
import { retryAfterOf, statusOf } from '../../../agent/kube/status.js';
import type { SignetError } from '../../../agent/runtime/errors.js';
import { fieldsOf, kindOf, reasonOf } from '../../../agent/runtime/errors.js';
import type { ApiCall, ApiStream } from '../../fixtures/api-server.js';
import { createServerCertificate } from '../../fixtures/api-server.js';
import { until } from '../../fixtures/clock.js';
import { createFixedCredential, createKubeScene, never } from '../../fixtures/kube.js';
import { createRoot } from '../../fixtures/pki.js';

const path = '/api/v1/pods';

async function errorOf(work: Promise<unknown>): Promise<SignetError> {
  return await work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: SignetError) => error,
  );
}

t.test('a call carries query, body, credential and the user to act as', async (t) => {
  const { client, server } = await createKubeScene(t, (call) => call.json({ kind: 'TokenRequest' }, 201), { as: 'system:node:node-a' });
  const query = { fieldSelector: 'spec.nodeName=node-a', limit: 5, watch: undefined };
  t.same(await client.request({ method: 'POST', path, query, body: { a: 'ü' } }, never), { kind: 'TokenRequest' });
  const [call] = server.calls;
  t.match(call, { method: 'POST', path, query: { fieldSelector: 'spec.nodeName=node-a', limit: '5' }, body: { a: 'ü' } });
  t.match(call?.headers, { 'authorization': 'Bearer one', 'impersonate-user': 'system:node:node-a', 'content-type': 'application/json' });
});

const refusals: readonly [name: string, answer: (call: ApiCall) => void, kind: string, reason: string | undefined][] = [
  ['400', (call) => call.status(400, 'bad'), 'invalid', undefined],
  ['401', (call) => call.json('Unauthorized', 401), 'unauthenticated', 'kube-unauthenticated'],
  ['403', (call) => call.status(403, 'pods is forbidden'), 'denied', 'kube-denied'],
  ['404', (call) => call.status(404, 'not found'), 'notFound', undefined],
  ['409', (call) => call.status(409, 'uid'), 'conflict', undefined],
  ['429', (call) => call.status(429, 'slow down', { 'retry-after': '7' }), 'exhausted', 'kube-unavailable'],
  ['500', (call) => call.status(500, 'etcd'), 'unavailable', 'kube-unavailable'],
  ['503 of a proxy', (call) => call.json('<html>\n no upstream</html>', 503), 'unavailable', 'kube-unavailable'],
  ['504', (call) => call.status(504, 'Timeout'), 'deadline', 'kube-deadline'],
  ['a redirect', (call) => call.json('', 302), 'invalid', 'kube-answer-invalid'],
  ['no JSON', (call) => call.json('{"items": ['), 'unavailable', 'kube-answer-invalid'],
  ['a connection that is cut', (call) => call.drop(), 'unavailable', 'kube-unavailable'],
];
for (const [name, answer, kind, reason] of refusals) {
  t.test(`${name} is ${kind}`, async (t) => {
    const { client, read } = await createKubeScene(t, answer);
    const error = await errorOf(client.request({ path }, never));
    t.equal(kindOf(error), kind);
    t.equal(reasonOf(error), reason);
    if (name === '429') t.equal(retryAfterOf(error), 7_000);
    if (name === '403') t.match(fieldsOf(error), { status: 403, detail: 'pods is forbidden' });
    if (name === '503 of a proxy') t.equal(fieldsOf(error)['detail'], '<html> no upstream</html>');
    t.equal(await read('signet_kube_requests_total', { target: 'kube', result: kind }), 1);
  });
}

t.test('a kubelet gives the reasons of a kubelet', async (t) => {
  const { client } = await createKubeScene(t, (call) => call.json('Forbidden (user=x)', 403), { target: 'kubelet' });
  const error = await errorOf(client.request({ path }, never));
  t.match(error, { kind: 'denied', reason: 'kubelet-denied', fields: { detail: 'Forbidden (user=x)' } });
});

t.test('F121: an answer over the limit is refused', async (t) => {
  const { client } = await createKubeScene(t, (call) => call.json('x'.repeat(2_000)));
  t.equal(reasonOf(await errorOf(client.request({ path, maxBytes: 1_000 }, never))), 'kube-answer-invalid');
});

t.test('a server that does not answer meets the deadline', async (t) => {
  const { client, clock, server } = await createKubeScene(t, () => {});
  const failed = errorOf(client.request({ path, deadlineMs: 3_000 }, never));
  await until(() => server.calls.length === 1);
  await clock.advance(3_000);
  t.match(await failed, { kind: 'deadline', reason: 'kube-deadline' });
  t.equal(clock.alarms, 0);
  await until(() => server.connections.open === 0, 'the connection closed');
});

t.test('a call that is not wanted any more is cancelled', async (t) => {
  const { client, clock, server } = await createKubeScene(t, () => {});
  const stop = new AbortController();
  const failed = errorOf(client.request({ path }, stop.signal));
  await until(() => server.calls.length === 1);
  stop.abort();
  t.equal((await failed).kind, 'cancelled');
  t.equal(clock.alarms, 0);
});

t.test('nobody at the address', async (t) => {
  const credential = createFixedCredential({ server: new URL('https://127.0.0.1:1'), tls: {} });
  const { client } = await createKubeScene(t, () => {}, { credential });
  t.match(await errorOf(client.request({ path }, never)), {
    kind: 'unavailable',
    reason: 'kube-unavailable',
    fields: { code: 'ECONNREFUSED' },
  });
});

t.test('one connection is used again, and a new one after the roots changed', async (t) => {
  const access: { current: Access | undefined } = { current: undefined };
  const { client, server } = await createKubeScene(t, (call) => call.json({}), {
    credential: { access: async () => access.current as Access, accessAfter: async () => undefined },
  });
  access.current = { server: server.url, tls: { ca: server.ca } };
  for (let call = 0; call < 5; call += 1) await client.request({ path }, never);
  t.equal(server.connections.all, 1);
  access.current = { server: server.url, tls: { ca: `${server.ca}\n` } };
  await client.request({ path }, never);
  t.equal(server.connections.all, 2);
  await until(() => server.connections.open === 1, 'the first connection closed');
});

t.test('a call that is under way when the roots change is finished, and its connection not kept', async (t) => {
  const access: { current: Access | undefined } = { current: undefined };
  const { client, server } = await createKubeScene(t, () => {}, {
    credential: { access: async () => access.current as Access, accessAfter: async () => undefined },
  });
  access.current = { server: server.url, tls: { ca: server.ca } };
  const slow = client.request({ path }, never);
  await until(() => server.calls.length === 1);
  access.current = { server: server.url, tls: { ca: `${server.ca}\n` } };
  server.handle = (call) => call.json({ call: 'second' });
  t.same(await client.request({ path }, never), { call: 'second' });
  t.equal(server.connections.open, 2);
  server.calls[0]?.json({ call: 'first' });
  t.same(await slow, { call: 'first' });
  await until(() => server.connections.open === 1, 'the first connection closed');
});

t.test('a kept connection that the server has closed costs no call', async (t) => {
  const { client, server } = await createKubeScene(t, (call) => call.json({}));
  await client.request({ path }, never);
  server.handle = (call) => (server.calls.length === 2 ? call.drop() : call.json({ second: true }));
  t.same(await client.request({ path }, never), { second: true });
});

t.test('after a 401 another credential is tried, once', async (t) => {
  const asked: string[] = [];
  const { client, server } = await createKubeScene(t, (call) => call.json({}), {
    credential: {
      access: async () => access('old'),
      accessAfter: async (refused) => {
        asked.push(refused.authorization ?? '');
        return access('new');
      },
    },
  });
  const access = (authorization: string): Access => ({ server: server.url, tls: { ca: server.ca }, authorization });
  server.handle = (call) => (call.headers.authorization === 'new' ? call.json({ ok: 1 }) : call.json('no', 401));
  t.same(await client.request({ path }, never), { ok: 1 });
  t.same(asked, ['old']);
  t.equal(server.connections.all, 2, 'a certificate of ours would have been bound to the first connection');
  server.handle = (call) => call.json('no', 401);
  t.equal(statusOf(await errorOf(client.request({ path }, never))), 401);
  t.equal(server.calls.length, 4);
  t.equal(statusOf(await errorOf(client.request({ path, token: 'of-a-workload' }, never))), 401);
  t.same([server.calls.length, server.calls[4]?.headers.authorization], [5, 'Bearer of-a-workload'], 'but never for a token of the call');
});

t.test('R066, F035: who the server is', async (t) => {
  const { server, clock, metrics } = await createKubeScene(t, (call) => call.json({}));
  const call = async (tls: Access['tls'], target: 'kube' | 'kubelet' = 'kubelet'): Promise<string | undefined> => {
    const client = createKubeClient({
      credential: createFixedCredential({ server: server.url, tls, authorization: 'Bearer secret' }),
      target,
      clock,
      metrics,
    });
    try {
      await client.request({ path }, never);
      return 'ok';
    } catch (error) {
      return reasonOf(error);
    } finally {
      client.close();
    }
  };
  const shown = createServerCertificate(createRoot(), []);
  const pin = createHash('sha256').update(shown.certificate.publicKeySpki).digest('hex');
  t.equal(await call({ ca: server.ca }), 'ok', 'the address is in the certificate');
  t.equal(await call({}, 'kube'), 'kube-tls', 'a root that is not known');
  t.equal(await call({ ca: createRoot().pem }), 'kubelet-tls', 'another root');
  t.equal(await call({ ca: server.ca, serverName: 'node-b' }), 'kubelet-tls', 'another name');
  server.show(createServerCertificate(server.root, []));
  t.equal(await call({ ca: server.ca }), 'kubelet-tls', 'without the address');
  t.equal(await call({ ca: server.ca, serverName: 'node-a' }), 'ok', 'by its name');
  server.show(shown);
  t.equal(await call({ ca: server.ca }), 'kubelet-tls', 'self-signed');
  t.equal(await call({ pin }), 'ok', 'by its key');
  const before = server.calls.length;
  t.equal(await call({ pin: '0'.repeat(64) }), 'kubelet-tls', 'another key');
  t.equal(server.calls.length, before, 'no byte of the call was sent');
});

t.test('events of a watch, whatever the borders of their chunks', async (t) => {
  const opened: ApiStream[] = [];
  const { client, clock, server } = await createKubeScene(t, (call) => opened.push(call.stream()));
  const events: WatchEvent[] = [];
  let open = 0;
  const ended = (async () => {
    for await (const event of client.watch({ path, query: { a: 1 }, deadlineMs: 60_000, onOpen: () => (open += 1) }, never))
      events.push(event);
  })();
  await until(() => opened.length === 1 && open === 1);
  t.match(server.calls[0]?.query, { a: '1', watch: '1' });
  const bytes = Buffer.from(
    `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'é€😀' } } })}\n\n{"type":"BOOKMARK","object":{}}\n{"half`,
  );
  for (const byte of bytes) {
    opened[0]?.bytes(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => events.length === 2);
  t.equal(events[0]?.object.metadata?.name, 'é€😀');
  opened[0]?.end();
  await ended;
  t.equal(clock.alarms, 0);
});

t.test('a watch that fails', async (t) => {
  const opened: ApiStream[] = [];
  const { client, clock, server } = await createKubeScene(t, (call) => opened.push(call.stream()));
  const watch = async (): Promise<SignetError> =>
    await errorOf(
      (async () => {
        for await (const event of client.watch({ path, deadlineMs: 60_000 }, never)) t.ok(event);
      })(),
    );
  const faults: [string, (stream: ApiStream) => void | Promise<void>, object][] = [
    ['is cut', (stream) => stream.cut(), { kind: 'unavailable', reason: 'kube-unavailable' }],
    [
      'has an event of another shape',
      (stream) => stream.bytes('{"type":"ADDED"}\n'),
      { kind: 'unavailable', reason: 'kube-answer-invalid' },
    ],
    ['has a line that is no JSON', (stream) => stream.bytes('<html>\n'), { kind: 'unavailable', reason: 'kube-answer-invalid' }],
    ['is silent', async () => await clock.advance(60_000), { kind: 'deadline', reason: 'kube-deadline' }],
  ];
  for (const [name, happens, expected] of faults) {
    const before = opened.length;
    const failed = watch();
    await until(() => opened.length === before + 1);
    const stream = opened.at(-1) as ApiStream;
    stream.event('BOOKMARK', {});
    await happens(stream);
    t.match(await failed, expected, `a watch that ${name}`);
    t.equal(clock.alarms, 0);
  }
  server.handle = (call) => call.status(410, 'too old');
  t.equal(statusOf(await watch()), 410);
});

t.test('a watch that is left closes its connection', async (t) => {
  const opened: ApiStream[] = [];
  const { client, server } = await createKubeScene(t, (call) => opened.push(call.stream()));
  const reading = (async () => {
    for await (const event of client.watch({ path, deadlineMs: 60_000 }, never)) return event.type;
    return undefined;
  })();
  await until(() => opened.length === 1);
  opened[0]?.event('ADDED', {});
  t.equal(await reading, 'ADDED');
  await until(() => server.connections.open === 0, 'the connection closed');
});
