// Streams as such: many of them, their ends, clients that do not read, and every limit met while another peer is served.

import t from 'tap';
import { settle, until } from '../fixtures/clock.js';
import type { Frame } from '../fixtures/http2-raw.js';
import { connectRaw, frame, frameFlag, frameType, headerBlock } from '../fixtures/http2-raw.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { SdsClient } from '../fixtures/sds-script.js';
import { namesOf, node, secretsOf, typeUrl } from '../fixtures/sds-script.js';
import { uri } from '../fixtures/secrets.js';

const a = uri('a');
const b = uri('b');

function sotw(client: SdsClient, resourceNames: string[]) {
  const stream = client.sotw();
  stream.send({ node, typeUrl, resourceNames });
  return stream;
}

function delta(client: SdsClient, resourceNamesSubscribe: string[]) {
  const stream = client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe });
  return stream;
}

/** One stream in raw frames with these headers beside the usual ones; resolves with what came back on it. */
async function rawCall(path: string, headers: readonly (readonly [string, string])[]): Promise<readonly Frame[]> {
  const client = await connectRaw(path);
  const method = '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets';
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', method],
    ...headers,
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
  ] as const;
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, a.length + 2, 0x1a, a.length]), Buffer.from(a)]); // resource_names (3)
  await client.send(frame(frameType.headers, frameFlag.endHeaders, 1, headerBlock(fields)), frame(frameType.data, 0, 1, message));
  await until(() => client.frames.some(({ type }) => type === frameType.data || type === frameType.rstStream), 'an answer');
  client.close();
  return client.frames.filter(({ stream }) => stream === 1);
}

void t.test('S22: half-close ends a stream with OK, a reset is no error, and both leave nothing behind', async (t) => {
  const { client, log, secrets, service, metrics } = await openSdsScene(t);
  for (const open of [sotw, delta]) {
    const closing = open(client, [a]);
    await closing.next();
    closing.call.end();
    t.equal((await closing.ended).code, 0);
    const resetting = open(client, [a]);
    await resetting.next();
    secrets.issue(a);
    resetting.call.cancel(); // with a push on its way
    t.equal((await resetting.ended).code, 1);
  }
  await client.settled();
  t.equal(service.streams(10).total, 0);
  t.equal(secrets.subscribers(), 0);
  t.equal(await metrics.read('signet_sds_streams', { protocol: 'sotw' }), 0);
  t.equal(await metrics.read('signet_sds_names_waiting'), 0);
  t.same(
    log.lines.filter((line) => line.level !== 'info' && line.level !== 'debug'),
    [],
  );
});

void t.test('L01: 2,000 streams on one connection, some of them duplicates: all answered, all pushed to', async (t) => {
  const { client, clock, secrets, service } = await openSdsScene(t);
  const names = Array.from({ length: 100 }, (_, index) => uri(`n${index}`));
  for (const name of names) secrets.issue(name);
  const streams = Array.from({ length: 2_000 }, (_, index) => (index % 2 === 0 ? sotw : delta)(client, [names[index % 100] ?? a]));
  await Promise.all(streams.map((stream) => stream.next()));
  t.equal(service.streams(10).total, 2_000);
  t.equal(service.streams(10).streams.length, 10);
  t.equal(secrets.subscribers(), 100, 'one subscription for all streams of a name');
  t.equal(clock.alarms, 0, 'no timer on an idle stream');
  await clock.advance(5_000);
  for (const name of names) secrets.issue(name);
  const pushes = await Promise.all(streams.map((stream) => stream.next()));
  t.same(namesOf(pushes[7] ?? (await Promise.reject(new Error('missing')))), [names[7]]);
});

void t.test('L02, D16: a client that does not read costs one response, and gets the newest when it reads', async (t) => {
  const scene = await openSdsScene(t, { limits: { stalledWriteMs: 86_400_000 } });
  const { clock, metrics, secrets } = scene;
  for (const protocol of ['sotw', 'delta'] as const) {
    const lazy = scene.connect((await scene.peer({ kind: 'node' }, 'lazy')).path);
    const stream = protocol === 'sotw' ? sotw(lazy, [a]) : delta(lazy, [a]);
    await stream.next();
    stream.call.pause();
    const change = async (times: number): Promise<void> => {
      for (let count = 0; count < times; count += 1) {
        secrets.issue(a);
        await clock.advance(5_000);
      }
    };
    await change(300);
    const sent = (await metrics.read('signet_sds_responses_total', { protocol })) ?? 0;
    t.ok(sent < 200, `${sent} of 300 changes were written`);
    await change(700);
    t.equal(await metrics.read('signet_sds_responses_total', { protocol }), sent, 'nothing is queued for it');
    const newest = secrets.issue(a).chainPem().toString();
    stream.call.resume();
    let last = '';
    while (last !== newest) {
      last = Buffer.from(secretsOf(await stream.next())[0]?.tlsCertificate?.certificateChain?.inlineBytes ?? []).toString();
      await clock.advance(5_000);
    }
    t.equal(stream.untaken, 0);
    t.ok(((await metrics.read('signet_sds_responses_held_total')) ?? 0) > 0);
  }
});

void t.test('a client that leaves a response unread for 120 s is ended; others are served meanwhile', async (t) => {
  const scene = await openSdsScene(t);
  const { client, clock, metrics, secrets } = scene;
  const lazy = scene.connect((await scene.peer({ kind: 'node' }, 'lazy')).path);
  const stream = sotw(lazy, [a]);
  await stream.next();
  stream.call.pause();
  for (let change = 0; change < 300; change += 1) {
    secrets.issue(a);
    await clock.advance(5_000);
  }
  t.equal(await metrics.read('signet_limit_reached_total', { limit: 'stalled-write' }), 1);
  t.equal(secrets.subscribers(), 0, 'it follows nothing any more');
  t.same(namesOf(await sotw(client, [a]).next()), [a]);
  stream.call.resume();
  t.equal((await stream.ended).code, 8);
});

void t.test('limits: each one ends what goes over it with RESOURCE_EXHAUSTED, is counted, and leaves other peers alone', async (t) => {
  const limits = { streams: 8, streamsPerOwner: 4, namesPerStream: 5, namesPerOwner: 12, openBurst: 20, openRate: 1, messageBytes: 2_000 };
  const scene = await openSdsScene(t, { limits });
  const { client, clock, metrics } = scene;
  const greedy = scene.connect((await scene.peer({ kind: 'node' }, 'greedy')).path);
  const other = sotw(client, [a]);
  await other.next();
  const reached = (limit: string) => metrics.read('signet_limit_reached_total', { limit });
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => uri(`${prefix}${index}`));
  const end = async (stream: { call: { cancel(): void }; ended: Promise<unknown> }) => {
    stream.call.cancel();
    await stream.ended;
    await client.settled();
  };

  for (const open of [sotw, delta]) {
    t.equal((await open(greedy, names(6, 'x')).ended).code, 8);
    t.equal((await open(greedy, ['y'.repeat(2_100)]).ended).code, 8, 'message over the limit');
    t.equal((await open(greedy, ['y'.repeat(5_000)]).ended).code, 8, 'message over twice the limit');
  }
  t.equal(await reached('names-per-stream'), 2);
  t.equal(await reached('message'), 2);
  t.match(await greedy.fetch({ resourceNames: names(6, 'x') }), { code: 8 });
  t.match(await greedy.fetch({ resourceNames: ['y'.repeat(2_100)] }), { code: 8 });

  const held = [names(5, 'p'), names(5, 'q')].map((list) => sotw(greedy, list));
  await greedy.settled('ROOTCA');
  t.equal((await delta(greedy, names(3, 'r')).ended).code, 8);
  t.equal(await reached('names-per-owner'), 1);

  held.push(sotw(greedy, []), sotw(greedy, []));
  await Promise.race([settle(20), held[0]?.ended]);
  t.equal((await sotw(greedy, []).ended).code, 8);
  t.equal(await reached('streams-per-owner'), 1);

  const third = scene.connect((await scene.peer({ kind: 'node' }, 'third')).path);
  const more = [sotw(third, [a]), sotw(third, [a]), sotw(third, [a])];
  await Promise.all(more.map((stream) => stream.next()));
  t.equal((await sotw(third, [a]).ended).code, 8);
  t.equal(await reached('streams'), 1);
  for (const stream of [...held, ...more]) await end(stream);

  for (let opened = 0; opened < 30; opened += 1) await end(sotw(greedy, []));
  t.ok(((await reached('opens-per-owner')) ?? 0) > 0);
  t.equal((await sotw(greedy, [a]).ended).code, 8);
  await clock.advance(2_000);
  t.same(namesOf(await sotw(greedy, [a]).next()), [a], 'the burst fills again');

  scene.secrets.issue(a);
  await clock.advance(5_000);
  t.same(namesOf(await other.next()), [a], 'the other peer was served all the time');
  t.ok(scene.log.lines.some((line) => line.message === 'stream refused'));
});

void t.test('O08: a flood of random names is bounded, and each answer costs no subscription', async (t) => {
  const scene = await openSdsScene(t, { limits: { namesPerStream: 1_000 } });
  const flood = scene.connect((await scene.peer({ kind: 'node' }, 'flood')).path);
  const stream = flood.delta();
  for (let index = 0; index < 10; index += 1) {
    const resourceNamesSubscribe = Array.from({ length: 100 }, (_, at) => `sni-${index}-${at}.example`);
    stream.send({ node, typeUrl, resourceNamesSubscribe });
    t.equal((await stream.next()).removedResources.length, 100);
  }
  t.equal(scene.secrets.subscribers(), 0);
  t.same(namesOf(await sotw(scene.client, [a]).next()), [a]);
  stream.send({ resourceNamesSubscribe: ['one too many'] });
  t.equal((await stream.ended).code, 8);
  t.ok(scene.log.lines.length < 10, 'and it does not fill the log');
});

void t.test('a peer cannot fill the log: its lines are bounded, and the next one says how many were left out', async (t) => {
  const { client, clock, log } = await openSdsScene(t);
  for (let index = 0; index < 50; index += 1) {
    const stream = delta(client, ['garbage']);
    await stream.next();
    stream.call.cancel();
  }
  t.equal(log.lines.filter((line) => line.level === 'warn').length, 20);
  await clock.advance(1_000);
  await delta(client, ['garbage']).next();
  t.equal(log.lines.filter((line) => line.level === 'warn').at(-1)?.fields['suppressed'], 30);
});

void t.test('L03: a drain ends 1,000 streams with OK and refuses new ones', async (t) => {
  const { client, clock, service, secrets } = await openSdsScene(t);
  secrets.wait(b);
  const streams = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? sotw : delta)(client, [a]));
  await Promise.all(streams.map((stream) => stream.next()));
  const waiting = client.fetch({ resourceNames: [b] });
  await client.settled();
  await service.drain(5_000);
  const statuses = await Promise.all(streams.map((stream) => stream.ended));
  t.ok(statuses.every((status) => status.code === 0));
  t.match(await waiting, { code: 14 });
  t.equal((await sotw(client, [a]).ended).code, 14);
  t.match(await client.fetch({ resourceNames: [a] }), { code: 14 });
  t.equal(service.streams(1).total, 0);
  t.equal(clock.alarms, 0);
});

void t.test('L03: a drain does not wait for a client that does not read', async (t) => {
  const scene = await openSdsScene(t, { limits: { stalledWriteMs: 86_400_000 } });
  const lazy = scene.connect((await scene.peer({ kind: 'node' })).path);
  const stream = sotw(lazy, [a]);
  await stream.next();
  stream.call.pause();
  for (let change = 0; change < 300; change += 1) {
    scene.secrets.issue(a);
    await scene.clock.advance(5_000);
  }
  const drained = scene.service.drain(2_000);
  await scene.clock.advance(2_000);
  await drained;
  t.equal(scene.service.streams(1).total, 1);
});

void t.test('a stream of an unknown connection is refused', async (t) => {
  const { service } = await openSdsScene(t);
  const statuses: unknown[] = [];
  const call = { getPeer: () => 'nobody', emit: (_event: string, status: unknown) => statuses.push(status) };
  const open = service.handlers['StreamSecrets'] as (stream: unknown) => void;
  open(call);
  t.match(statuses, [{ code: 7 }]);
});

void t.test('U04: every authority that HTTP/2 knows is served, what it does not know is a reset of that stream', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'node' });
  // A slash is no character of an authority (RFC 3986 §3.2); nghttp2 wants either an authority or a host.
  for (const headers of [[[':authority', '/run/signet/sds.sock']], [[':authority', '']], []] as const) {
    const [answer] = await rawCall(path, headers);
    t.equal(answer?.type, frameType.rstStream, JSON.stringify(headers));
  }
  const served = [
    [':authority', 'localhost'],
    [':authority', 'sds_cluster'],
    [':authority', '%2Frun%2Fsignet%2Fsds.sock'],
    ['host', 'x'],
  ] as const;
  for (const header of served) {
    const frames = await rawCall(path, [header]);
    t.ok(
      frames.some(({ type, payload }) => type === frameType.data && payload.includes(a)),
      header.join(' '),
    );
  }
});

void t.test('U06: responses are never compressed, whatever a client accepts', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'node' });
  for (const accepted of [[], [['grpc-accept-encoding', 'gzip, deflate'] as const]]) {
    const frames = await rawCall(path, [[':authority', 'sds'], ...accepted]);
    const data = frames.find(({ type }) => type === frameType.data);
    t.equal(data?.payload[0], 0, 'the flag of a compressed message is not set');
    t.ok(data?.payload.includes('-----BEGIN CERTIFICATE-----'));
  }
});

void t.test('garbage instead of a message ends its stream and nothing else', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = client.raw();
  stream.send(Buffer.from('this is no protobuf message'));
  t.not((await stream.ended).code, 0);
  t.same(namesOf(await sotw(client, [a]).next()), [a]);
});
