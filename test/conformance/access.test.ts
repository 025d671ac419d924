// Who gets what: names by grant, refusals, a grant that ends, and what is written down about it. For both protocols.

import t from 'tap';
import type { Grant } from '../../agent/sds/grant.js';
import { settle, until } from '../fixtures/clock.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { DeltaResponse, SdsClient, SotwResponse } from '../fixtures/sds-script.js';
import { namesOf, node, typeUrl } from '../fixtures/sds-script.js';
import { uri } from '../fixtures/secrets.js';

const a = uri('a');
const b = uri('b');
const ownA = { kind: 'own' as const, id: { trustDomain: 'example.org', namespace: 'demo', serviceAccount: 'a', uri: a } } satisfies Grant;
const gone: Grant = { kind: 'none', reason: { code: 'peer-unknown', detail: 'pod ended' } };

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

void t.test('S17: a stream whose only names are never allowed ends with PERMISSION_DENIED before any message', async (t) => {
  const scene = await openSdsScene(t);
  const client = scene.connect((await scene.peer(ownA)).path);
  for (const open of [sotw, delta]) {
    const stream = open(client, [b]);
    const status = await stream.ended;
    t.equal(status.code, 7);
    t.match(status.details, a, 'says what it may ask for');
    t.equal(stream.received.length, 0);
  }
  scene.secrets.remove(b);
  t.equal((await sotw(client, [b]).ended).code, 7, 'whether the other identity exists does not show');
  t.equal(scene.secrets.subscribers(), 0);
});

void t.test('A01: of an allowed and a denied name the allowed one is served, and the refusal is an audit line', async (t) => {
  const scene = await openSdsScene(t);
  const client = scene.connect((await scene.peer(ownA, 'pod-a')).path);
  t.same(namesOf(await sotw(client, [a, b]).next()), [a]);
  const response = await delta(client, [a, b]).next();
  t.same(namesOf(response), [a]);
  t.same(response.removedResources, [b]);
  const lines = scene.log.lines.filter((line) => line.message === 'identity refused');
  t.equal(lines.length, 2);
  t.match(lines[0]?.fields, { audit: true, names: [b], reasons: ['peer-denied'], owner: 'pod-a' });
});

void t.test('A02: when a grant ends, pushes stop, delta is told, and the stream ends with PERMISSION_DENIED', async (t) => {
  const scene = await openSdsScene(t);
  const peer = await scene.peer(ownA);
  const client = scene.connect(peer.path);
  const [state, incremental] = [sotw(client, [a]), delta(client, [a])];
  await Promise.all([state.next(), incremental.next()]);
  peer.grant.set(gone);
  scene.secrets.issue(a);
  t.equal((await state.ended).code, 7);
  t.equal(state.untaken, 0);
  t.same((await incremental.next()).removedResources, [a]);
  t.equal((await incremental.ended).code, 7);
  t.equal((await sotw(client, ['ROOTCA']).ended).code, 7, 'nothing is left, the roots included');
  t.equal(peer.grant.subscribers, 0);
  t.equal(scene.secrets.subscribers(), 0);
});

void t.test('A02: when a grant shrinks, what is left of it is still served', async (t) => {
  const scene = await openSdsScene(t);
  const peer = await scene.peer({ kind: 'node' });
  const client = scene.connect(peer.path);
  const [state, incremental] = [sotw(client, [a, b]), delta(client, [a, b])];
  const [first, second] = await Promise.all([state.next(), incremental.next()]);
  state.send({ responseNonce: first.nonce, resourceNames: [a, b] });
  incremental.send({ responseNonce: second.nonce });
  await client.settled();
  peer.grant.set({ kind: 'patterns', patterns: [a] });
  const removal = await incremental.next();
  t.same(removal.removedResources, [b]);
  incremental.send({ responseNonce: removal.nonce });
  await client.settled();
  scene.secrets.issue(a);
  scene.secrets.issue(b);
  t.same(namesOf(await state.next()), [a]);
  t.same(namesOf(await incremental.next()), [a]);
  await client.settled();
  await settle();
  t.equal(state.untaken + incremental.untaken, 0);
});

void t.test('a delegate asks for an identity that is not on the node yet: not denied, served when it is there', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const absent = uri('absent');
  const [state, incremental] = [sotw(client, [absent]), delta(client, [absent])];
  const removal = await incremental.next();
  t.same(removal.removedResources, [absent]);
  t.equal(state.untaken, 0);
  secrets.issue(absent);
  t.same(namesOf(await state.next()), [absent]);
  t.same(namesOf(await incremental.next()), [absent]);
});

void t.test('default is the own identity; for a delegate the only one of the node, if there is one', async (t) => {
  const scene = await openSdsScene(t);
  const own = scene.connect((await scene.peer(ownA)).path);
  const named = await sotw(own, [a]).next();
  const aliased = await sotw(own, ['default']).next();
  t.same(namesOf(aliased), ['default']);
  t.equal(aliased.versionInfo, named.versionInfo);

  const many = await sotw(scene.client, ['default']).ended;
  t.equal(many.code, 7);
  t.match(many.details, `${a}, ${b}`);

  scene.secrets.remove(a);
  const one = sotw(scene.client, ['default']);
  t.same(namesOf(await one.next()), ['default']);
  scene.secrets.remove(b);
  const none = sotw(scene.client, ['default']);
  await scene.client.settled();
  await settle();
  t.equal(none.untaken, 0, 'an empty node is no reason to refuse');
  scene.secrets.issue(a);
  t.same(namesOf(await none.next()), ['default']);

  const patterns = scene.connect((await scene.peer({ kind: 'patterns', patterns: ['spiffe://example.org/ns/demo/sa/*'] })).path);
  t.match(await sotw(patterns, ['default']).ended, { code: 7, details: /may ask for spiffe:\/\/example.org\/ns\/demo\/sa\/\*/ });
});

void t.test('the first hand-out of a key to a delegate is an audit line, once a stream; to the own pod it is debug', async (t) => {
  const scene = await openSdsScene(t);
  const { client, clock, log, metrics, secrets } = scene;
  const stream = sotw(client, [a, 'ROOTCA']);
  await stream.next();
  secrets.issue(a);
  await clock.advance(5_000);
  await stream.next();
  const handedOut = log.lines.filter((line) => line.message === 'identity handed out');
  t.equal(handedOut.length, 1);
  t.match(handedOut[0], {
    level: 'info',
    fields: { audit: true, name: a, identity: a, serial: /^[0-9a-f]+$/, notAfter: /^2026-/, owner: 'delegate' },
  });
  const own = scene.connect((await scene.peer(ownA)).path);
  await sotw(own, ['default']).next();
  t.match(
    log.lines.find((line) => line.fields['name'] === 'default'),
    { level: 'debug', fields: { identity: a } },
  );
  t.equal(await metrics.read('signet_grants_total'), 2);
  t.notMatch(JSON.stringify(log.lines), /PRIVATE/);
});

void t.test('F01: a fetch is one answer: the secret, NOT_FOUND or PERMISSION_DENIED', async (t) => {
  const scene = await openSdsScene(t);
  const own = scene.connect((await scene.peer(ownA)).path);
  t.same(namesOf((await own.fetch({ resourceNames: ['default', 'ROOTCA'] })) as SotwResponse), ['default', 'ROOTCA']);
  t.match(await own.fetch({ resourceNames: [b] }), { code: 7 });
  t.match(await own.fetch({ resourceNames: ['sds://foo', b] }), { code: 7 }, 'denied beats unknown');
  t.match(await own.fetch({ resourceNames: ['sds://foo', 'ROOTCA'] }), { code: 5 });
  t.match(await scene.client.fetch({ resourceNames: [uri('absent')] }), { code: 5 });
  t.match(await own.fetch({ resourceNames: [] }), { code: 3 });
  t.match(await own.fetch({ resourceNames: ['x'.repeat(1025)] }), { code: 3 });
  t.match(await own.fetch({ typeUrl: 'type.googleapis.com/x', resourceNames: [a] }), { code: 3 });
});

void t.test('F02: a fetch waits for a certificate that is being issued, within the deadlines of both sides', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  const late = uri('late');
  secrets.wait(late);
  const served = client.fetch({ resourceNames: [late] });
  await client.settled();
  t.same(secrets.urged, [late]);
  secrets.issue(late);
  t.same(namesOf((await served) as SotwResponse), [late]);

  secrets.wait(late);
  t.match(await client.fetch({ resourceNames: [late] }, Date.now() + 100), { code: 4 });
  await client.settled();
  t.equal(secrets.subscribers(), 0, 'nothing is left of it');
  const patient = client.fetch({ resourceNames: [late] });
  await client.settled();
  await clock.advance(10_000);
  t.match(await patient, { code: 4 });
  t.equal(clock.alarms, 0);
});

void t.test('a fetch that waits is not answered any more when its peer has lost its grant', async (t) => {
  const scene = await openSdsScene(t);
  const late = uri('late');
  const peer = await scene.peer({ ...ownA, id: { ...ownA.id, serviceAccount: 'late', uri: late } });
  const client = scene.connect(peer.path);
  scene.secrets.wait(late);
  const answer = client.fetch({ resourceNames: ['default'] });
  await until(() => scene.secrets.urged.length > 0, 'the fetch waits');
  peer.grant.set(gone);
  scene.secrets.issue(late);
  t.match(await answer, { code: 14 });
});

void t.test('S24: 64 KiB of node metadata and unknown extensions are skipped; an empty node is served', async (t) => {
  const { client, service } = await openSdsScene(t);
  // Node: metadata (3) and extensions (9) as Envoy sends them, behind id (1).
  const bulk = (tag: number, size: number): Buffer =>
    Buffer.concat([Buffer.from([tag, 0x80 | (size & 127), 0x80 | ((size >> 7) & 127), size >> 14]), Buffer.alloc(size, 1)]);
  const body = Buffer.concat([
    Buffer.from([0x0a, 2, 0x6e, 0x31]),
    bulk(0x1a, 64 * 1024),
    ...Array.from({ length: 4 }, () => bulk(0x4a, 16 * 1024)),
  ]);
  const length = body.length;
  const head = Buffer.from([0x0a, 0x80 | (length & 127), 0x80 | ((length >> 7) & 127), length >> 14]);
  const name = Buffer.concat([Buffer.from([0x1a, a.length]), Buffer.from(a)]);
  const stream = client.raw();
  stream.send(Buffer.concat([head, body, name]));
  t.same(namesOf(await stream.next()), [a]);
  t.equal(service.streams(1).streams[0]?.nodeId, 'n1');
  const empty = client.delta();
  empty.send({ node: {}, resourceNamesSubscribe: [a] });
  t.same(namesOf((await empty.next()) as DeltaResponse), [a]);
});
