// What a client of StreamSecrets (state of the world) sees, rule by rule, over a real socket. "Quiet" means that nothing came
// although the server has answered a later call on the same connection.

import t from 'tap';
import { settle } from '../fixtures/clock.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { SdsClient, SotwRequestFields, SotwResponse, Talk } from '../fixtures/sds-script.js';
import { namesOf, node, secretsOf, typeUrl } from '../fixtures/sds-script.js';
import { uri } from '../fixtures/secrets.js';

type Stream = Talk<SotwRequestFields, SotwResponse>;

const a = uri('a');
const b = uri('b');
const late = uri('late');
const error = { code: 13, message: 'Failed to load certificate chain from <inline>' };

/** Opens a stream for the names. */
function subscribe(client: SdsClient, resourceNames: string[]): Stream {
  const stream = client.sotw();
  stream.send({ node, typeUrl, resourceNames });
  return stream;
}

function ack(stream: Stream, response: SotwResponse, resourceNames: string[]): void {
  stream.send({ versionInfo: response.versionInfo, responseNonce: response.nonce, typeUrl, resourceNames });
}

function nack(stream: Stream, response: SotwResponse, resourceNames: string[]): void {
  stream.send({ responseNonce: response.nonce, typeUrl, resourceNames, errorDetail: error });
}

async function quiet(client: SdsClient, stream: Stream): Promise<boolean> {
  await client.settled();
  await settle();
  return stream.untaken === 0;
}

void t.test('S01: a known name is answered by one response with everything set', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const response = await stream.next();
  t.equal(response.typeUrl, typeUrl);
  t.match(response.versionInfo, /^[0-9a-f]{32}$/);
  t.not(response.nonce, '');
  t.same(namesOf(response), [a]);
  t.ok(await quiet(client, stream));
});

void t.test('S02: version and nonce of an earlier server do not matter in the first request', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = client.sotw();
  stream.send({ node, typeUrl, resourceNames: [a], versionInfo: 'x', responseNonce: '4711' });
  t.same(namesOf(await stream.next()), [a]);
});

void t.test('S03: an ACK is not answered', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), [a]);
  t.ok(await quiet(client, stream));
});

void t.test('S04: a NACK is not answered, and told once with name and message', async (t) => {
  const { client, log, metrics } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  nack(stream, await stream.next(), [a]);
  t.ok(await quiet(client, stream));
  const lines = log.lines.filter((line) => line.level === 'warn');
  t.equal(lines.length, 1);
  t.match(lines[0]?.fields, { names: [a], refusal: error.message, nodeId: 'node-1' });
  t.notMatch(JSON.stringify(log.lines), /PRIVATE KEY/);
  t.equal(await metrics.read('signet_sds_requests_total', { protocol: 'sotw', kind: 'nack' }), 1);
});

void t.test('S04: what a client says in a NACK is cut to 1 KiB', async (t) => {
  const { client, log } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const { nonce } = await stream.next();
  stream.send({ responseNonce: nonce, typeUrl, resourceNames: [a], errorDetail: { code: 13, message: 'x'.repeat(100_000) } });
  await client.settled();
  t.equal(log.lines.find((line) => line.level === 'warn')?.fields['refusal']?.toString().length, 1024);
});

void t.test('S05: refused bytes do not come again on this stream, and on a new one at most every 10 s', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  const svid = secrets.issue(a);
  const stream = subscribe(client, [a]);
  nack(stream, await stream.next(), [a]);
  secrets.wait(a);
  secrets.give(svid);
  t.ok(await quiet(client, stream));
  await clock.advance(60_000);
  t.ok(await quiet(client, stream));

  const again = subscribe(client, [a]);
  nack(again, await again.next(), [a]);
  await client.settled();
  const third = subscribe(client, [a]);
  await clock.advance(9_000);
  t.ok(await quiet(client, third));
  await clock.advance(2_000);
  t.same(namesOf(await third.next()), [a]);
});

void t.test('S06: after a NACK the next content is pushed with a new version and nonce', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  nack(stream, first, [a]);
  await client.settled();
  secrets.issue(a);
  const second = await stream.next();
  t.not(second.versionInfo, first.versionInfo);
  t.not(second.nonce, first.nonce);
});

void t.test('S07: a stale nonce is not answered, and its names do not count', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  ack(stream, first, [a]);
  await client.settled();
  secrets.issue(a);
  const second = await stream.next();
  ack(stream, first, [b]);
  t.ok(await quiet(client, stream));
  ack(stream, second, [a, b]);
  t.same(namesOf(await stream.next()), [b]);
});

void t.test('S08: a name that an ACK adds is answered', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), [a, b]);
  t.same(namesOf(await stream.next()), [b]);
});

void t.test('S09: a NACK that changes the names answers the new one', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  nack(stream, await stream.next(), [b]);
  t.same(namesOf(await stream.next()), [b]);
});

void t.test('S10: with a push unacknowledged, three changes are one push more, after the ACK', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  for (let change = 0; change < 3; change += 1) {
    secrets.issue(a);
    await settle();
  }
  t.ok(await quiet(client, stream));
  const newest = (await client.fetch({ resourceNames: [a] })) as SotwResponse;
  ack(stream, first, [a]);
  const second = await stream.next();
  t.equal(second.versionInfo, newest.versionInfo);
  t.ok(await quiet(client, stream));
});

void t.test('S10: a client that never acknowledges gets the newest after 5 s', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  await stream.next();
  secrets.issue(a);
  secrets.issue(a);
  await clock.advance(4_900);
  t.ok(await quiet(client, stream));
  await clock.advance(200);
  await stream.next();
  t.ok(await quiet(client, stream));
  t.equal(clock.alarms, 0, 'an idle stream has no timer');
});

void t.test('S11: an empty list of names after names ends all subscriptions, not the stream', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), []);
  await client.settled();
  secrets.issue(a);
  t.ok(await quiet(client, stream));
  t.equal(secrets.subscribers(), 0);
  stream.send({ typeUrl, resourceNames: [a] });
  t.same(namesOf(await stream.next()), [a], 'the stream is still of use');
});

void t.test('S12: no names, or *, gets nothing and keeps the stream', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  for (const names of [[], ['*']]) {
    const stream = subscribe(client, names);
    t.ok(await quiet(client, stream));
    secrets.issue(a);
    t.ok(await quiet(client, stream));
    stream.send({ typeUrl, resourceNames: [a] });
    t.same(namesOf(await stream.next()), [a]);
  }
});

void t.test('S13: a name given twice is one name', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a, a]);
  t.same(namesOf(await stream.next()), [a]);
  t.ok(await quiet(client, stream));
});

void t.test('S14: an empty type URL means secrets, another one is refused', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = client.sotw();
  stream.send({ node, resourceNames: [a] });
  t.equal((await stream.next()).typeUrl, typeUrl);
  const wrong = client.sotw();
  wrong.send({ node, typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster', resourceNames: [a] });
  t.equal((await wrong.ended).code, 3);
});

void t.test('S15: an identity without certificate is waited for in silence and pushed when it is there', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  const absent = subscribe(client, [uri('absent')]);
  secrets.wait(late);
  const waiting = subscribe(client, [late]);
  t.ok(await quiet(client, absent));
  t.ok(await quiet(client, waiting));
  t.same(secrets.urged, [late], 'the cache is told that somebody waits');
  await clock.advance(60_000);
  secrets.issue(late);
  secrets.issue(uri('absent'));
  t.same(namesOf(await waiting.next()), [late]);
  t.same(namesOf(await absent.next()), [uri('absent')]);
});

void t.test('S16: of a known and an unknown name the known one is answered at once', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [late, a]);
  t.same(namesOf(await stream.next()), [a]);
  secrets.issue(late);
  t.same(namesOf(await stream.next()), [late], 'without waiting for an ACK: it was asked for');
});

void t.test('S18: an identity that ends is silence, and counted', async (t) => {
  const { client, metrics, secrets, service } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), [a]);
  await client.settled();
  t.match(service.streams(1).streams, [{ names: [{ name: a, state: 'acked' }] }]);
  secrets.remove(a);
  t.ok(await quiet(client, stream));
  t.match(service.streams(1).streams, [{ names: [{ name: a, state: 'waiting' }] }], 'the answer of before is not that of now');
  t.equal(await metrics.read('signet_sds_identity_gone_total'), 1);
  secrets.issue(a);
  t.same(namesOf(await stream.next()), [a]);
});

void t.test('S19: later requests need no node, and another node changes nothing', async (t) => {
  const { client, service } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), [a, b]);
  const second = await stream.next();
  stream.send({ node: { ...node, id: 'somebody-else' }, typeUrl, resourceNames: [a, b], responseNonce: second.nonce });
  t.ok(await quiet(client, stream));
  t.equal(service.streams(10).streams[0]?.nodeId, 'node-1');
});

void t.test('S20: five streams of one name get equal bytes', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const streams = Array.from({ length: 5 }, () => subscribe(client, [a]));
  for (const stream of streams) ack(stream, await stream.next(), [a]);
  await client.settled();
  secrets.issue(a);
  const pushes = await Promise.all(streams.map((stream) => stream.next()));
  t.equal(new Set(pushes.map((push) => push.versionInfo)).size, 1);
  t.equal(new Set(pushes.map((push) => Buffer.from(push.resources[0]?.value ?? []).toString('hex'))).size, 1);
});

void t.test('S21: of 200 names only the one that changed is pushed', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const names = Array.from({ length: 200 }, (_, index) => uri(`n${index}`));
  for (const name of names) secrets.issue(name);
  const stream = subscribe(client, names);
  const all = await stream.next();
  t.equal(all.resources.length, 200);
  ack(stream, all, names);
  await client.settled();
  secrets.issue(uri('n77'));
  t.same(namesOf(await stream.next()), [uri('n77')]);
});

void t.test('S23: the version is a hash of the content: equal in another process and in the other protocol', async (t) => {
  const one = await openSdsScene(t);
  const two = await openSdsScene(t);
  const svid = one.secrets.issue(a);
  const versions = [];
  const first = subscribe(one.client, [a]);
  versions.push((await first.next()).versionInfo);
  const delta = one.client.delta();
  delta.send({ node, typeUrl, resourceNamesSubscribe: [a] });
  versions.push((await delta.next()).resources[0]?.version);
  two.secrets.give(svid);
  const restarted = two.client.sotw();
  restarted.send({ node, typeUrl, resourceNames: [a], versionInfo: versions[0] ?? '' });
  versions.push((await restarted.next()).versionInfo);
  t.equal(new Set(versions).size, 1);
});

void t.test('S25: a thousand requests with random nonces get no answer and leave nothing behind', async (t) => {
  const { client, service } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const { nonce } = await stream.next();
  for (let index = 0; index < 1_000; index += 1) {
    const errorDetail = index % 2 === 0 ? null : error;
    stream.send({ typeUrl, resourceNames: [a], responseNonce: `${nonce}-${index}`, errorDetail });
  }
  t.ok(await quiet(client, stream));
  t.match(service.streams(10).streams, [{ nameCount: 1, names: [{ name: a, state: 'sent' }] }]);
});

void t.test('default and ROOTCA on one stream, without node', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'own', id: { trustDomain: 'example.org', namespace: 'demo', serviceAccount: 'a', uri: a } });
  const stream = scene.connect(path).sotw();
  stream.send({ resourceNames: ['default', 'ROOTCA'] });
  const response = await stream.next();
  t.same(namesOf(response).sort(), ['ROOTCA', 'default']);
  t.same(
    secretsOf(response)
      .map((secret) => secret.type)
      .sort(),
    ['tlsCertificate', 'validationContext'],
  );
});
