// What a client of DeltaSecrets (incremental) sees, rule by rule, over a real socket. "Quiet" means that nothing came although
// the server has answered a later call on the same connection.

import t from 'tap';
import { settle } from '../fixtures/clock.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { DeltaRequestFields, DeltaResponse, SdsClient, Talk } from '../fixtures/sds-script.js';
import { encodeDelta, namesOf, node, typeUrl } from '../fixtures/sds-script.js';
import { uri } from '../fixtures/secrets.js';

type Stream = Talk<DeltaRequestFields, DeltaResponse>;

const a = uri('a');
const b = uri('b');
const absent = uri('absent');
const late = uri('late');
const error = { code: 13, message: 'Failed to load private key from <inline>' };

/** Opens a stream for the names. */
function subscribe(client: SdsClient, resourceNamesSubscribe: string[], more: DeltaRequestFields = {}): Stream {
  const stream = client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe, ...more });
  return stream;
}

function ack(stream: Stream, response: DeltaResponse, more: DeltaRequestFields = {}): void {
  stream.send({ typeUrl, responseNonce: response.nonce, ...more });
}

async function quiet(client: SdsClient, stream: { readonly untaken: number }, marker?: string): Promise<boolean> {
  await client.settled(marker);
  await settle();
  return stream.untaken === 0;
}

void t.test('D01: a known name is answered with resource, version and nonce', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const response = await stream.next();
  t.match(response, { typeUrl, nonce: /./, systemVersionInfo: /./, removedResources: [] });
  t.match(response.resources, [{ name: a, version: /^[0-9a-f]{32}$/ }]);
  t.same(namesOf(response), [a]);
  ack(stream, response);
  t.ok(await quiet(client, stream));
});

void t.test('D02: a name subscribed to again is sent again, though unchanged', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  stream.send({ typeUrl, resourceNamesSubscribe: [a] });
  const second = await stream.next();
  t.same(second.resources[0]?.version, first.resources[0]?.version);
  t.not(second.nonce, first.nonce, 'a nonce is used once on a stream');
});

void t.test('D03, D04: an absent name is told as removed at once, and pushed when it exists', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [absent]);
  const removal = await stream.next();
  t.match(removal, { removedResources: [absent], resources: [] });
  ack(stream, removal);
  t.ok(await quiet(client, stream));
  secrets.issue(absent);
  t.same(namesOf(await stream.next()), [absent]);
});

void t.test('D05: while a certificate is issued the answer is held for 3 s, then it is a removal', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  secrets.wait(late);
  const patient = subscribe(client, [late]);
  t.ok(await quiet(client, patient));
  t.same(secrets.urged, [late]);
  await clock.advance(2_900);
  t.ok(await quiet(client, patient));
  await clock.advance(200);
  const removal = await patient.next();
  t.same(removal.removedResources, [late]);
  ack(patient, removal);
  await client.settled();
  t.equal(clock.alarms, 0);

  const lucky = subscribe(client, [late]);
  await client.settled();
  await clock.advance(1_000);
  secrets.issue(late);
  t.same(namesOf(await lucky.next()), [late]);
  t.same(namesOf(await patient.next()), [late]);
});

void t.test('D06: one message acknowledges, subscribes and unsubscribes', async (t) => {
  const { client, secrets, service } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), { resourceNamesSubscribe: [b], resourceNamesUnsubscribe: [a] });
  t.same(namesOf(await stream.next()), [b]);
  secrets.issue(a);
  t.ok(await quiet(client, stream));
  t.match(service.streams(1).streams, [{ nameCount: 1, names: [{ name: b }] }]);
});

void t.test('D07: a subscription counts whatever its nonce is', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  ack(stream, first);
  await client.settled();
  secrets.issue(a);
  await stream.next();
  for (const nonce of [first.nonce, 'nobody knows this']) {
    stream.send({ typeUrl, responseNonce: nonce, resourceNamesSubscribe: [b] });
    t.same(namesOf(await stream.next()), [b]);
  }
});

void t.test('D08, D09: an identity that ends is told once; back with equal content it is pushed', async (t) => {
  const { client, metrics, secrets } = await openSdsScene(t);
  const svid = secrets.issue(a);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  ack(stream, first);
  await client.settled();
  secrets.remove(a);
  const removal = await stream.next();
  t.match(removal, { removedResources: [a], resources: [] });
  ack(stream, removal);
  secrets.remove(a);
  t.ok(await quiet(client, stream));
  t.equal(await metrics.read('signet_sds_removals_total'), 1);
  secrets.give(svid);
  t.equal((await stream.next()).resources[0]?.version, first.resources[0]?.version);
});

void t.test('D10: after a reconnect all names are answered, those that are gone as removed', async (t) => {
  const { client } = await openSdsScene(t);
  const before = subscribe(client, [a]);
  const version = (await before.next()).resources[0]?.version ?? '';
  const gone = uri('gone');
  const stream = subscribe(client, [a, b, gone], { initialResourceVersions: { [a]: version, [b]: 'old', [gone]: 'x' } });
  const response = await stream.next();
  t.same(namesOf(response).sort(), [a, b]);
  t.same(response.removedResources, [gone]);
});

void t.test(
  'D10: a certificate that a client has is not told as removed because a server that has just started knows nothing yet',
  async (t) => {
    const { client, clock, secrets } = await openSdsScene(t);
    secrets.wait(a);
    const stream = subscribe(client, [a, late], { initialResourceVersions: { [a]: 'of the server before' } });
    secrets.wait(late);
    await quiet(client, stream, b);
    await clock.advance(3_000);
    const response = await stream.next();
    t.same([namesOf(response), response.removedResources], [[], [late]]);
    secrets.issue(a);
    t.same(namesOf(await stream.next()), [a]);
  },
);

void t.test('D11: empty requests and * reveal nothing and keep the stream', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const empty = subscribe(client, []);
  t.ok(await quiet(client, empty));
  empty.send({});
  t.ok(await quiet(client, empty));
  const star = subscribe(client, ['*']);
  t.match(await star.next(), { removedResources: ['*'], resources: [] });
  secrets.issue(a);
  t.ok(await quiet(client, star));
  for (const stream of [empty, star]) {
    stream.send({ typeUrl, resourceNamesSubscribe: [a] });
    t.same(namesOf(await stream.next()), [a]);
  }
});

void t.test('D12: unsubscribing from an unknown name, and resource locators alone, are ignored', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  ack(stream, await stream.next(), { resourceNamesUnsubscribe: [b, 'never heard of it'] });
  t.ok(await quiet(client, stream));

  const locators = client.raw();
  // resource_locators_subscribe (8): {name (1): "x"}
  locators.send(Buffer.concat([encodeDelta({ node, typeUrl }), Buffer.from([0x42, 0x03, 0x0a, 0x01, 0x78])]));
  t.ok(await quiet(client, locators));
  locators.send(encodeDelta({ resourceNamesSubscribe: [a] }));
  t.same(namesOf(await locators.next()), [a]);
});

void t.test('D13: of two names one is unsubscribed: it is not pushed, and the other stays', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a, b]);
  ack(stream, await stream.next(), { resourceNamesUnsubscribe: [a] });
  t.ok(await quiet(client, stream));
  secrets.issue(a);
  t.ok(await quiet(client, stream));
  secrets.issue(b);
  t.same(namesOf(await stream.next()), [b]);
});

void t.test('D14: refused bytes do not come again, also when asked for within 10 s; new content does', async (t) => {
  const { client, clock, log, secrets } = await openSdsScene(t);
  const svid = secrets.issue(a);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  stream.send({ typeUrl, responseNonce: first.nonce, errorDetail: error });
  t.ok(await quiet(client, stream));
  t.match(
    log.lines.filter((line) => line.level === 'warn'),
    [{ fields: { names: [a], refusal: error.message } }],
  );
  secrets.wait(a);
  secrets.give(svid);
  t.ok(await quiet(client, stream));
  stream.send({ typeUrl, resourceNamesSubscribe: [a] });
  t.ok(await quiet(client, stream));
  await clock.advance(10_000);
  t.equal((await stream.next()).resources[0]?.version, first.resources[0]?.version);
  secrets.issue(a);
  await clock.advance(5_000);
  t.not((await stream.next()).resources[0]?.version, first.resources[0]?.version);
});

void t.test('S10 for delta: with a push unacknowledged the newest follows after the ACK, or after 5 s', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a]);
  const first = await stream.next();
  secrets.issue(a);
  secrets.issue(a);
  t.ok(await quiet(client, stream));
  ack(stream, first);
  const second = await stream.next();
  secrets.issue(a);
  t.ok(await quiet(client, stream));
  await clock.advance(5_000);
  t.not((await stream.next()).resources[0]?.version, second.resources[0]?.version);
});

void t.test('D15: no name twice, none in both lists, names verbatim, a version on each', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [a, absent, a, b, absent], { resourceNamesUnsubscribe: [b] });
  const response = await stream.next();
  t.same(namesOf(response).sort(), [a, b]);
  t.same(response.resources.map((resource) => resource.name).sort(), [a, b]);
  t.same(response.removedResources, [absent]);
  t.ok(response.resources.every((resource) => resource.version !== ''));
  ack(stream, response);
  await client.settled();
  secrets.remove(a);
  secrets.issue(absent);
  await settle();
  const told = new Map<string, string>();
  while (told.size < 2) {
    const next = await stream.next();
    for (const name of namesOf(next)) told.set(name, 'sent');
    for (const name of next.removedResources) told.set(name, 'removed');
    ack(stream, next);
  }
  t.same([...told].sort(), [
    [a, 'removed'],
    [absent, 'sent'],
  ]);
});

void t.test('O03, O12: an equal request twice is answered, and a name that was removed costs nothing', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = subscribe(client, [absent]);
  stream.send({ node, typeUrl, resourceNamesSubscribe: [absent] });
  t.same((await stream.next()).removedResources, [absent]);
  stream.send({ typeUrl, resourceNamesUnsubscribe: [absent] });
  await client.settled();
  stream.call.cancel();
  await stream.ended;
  await client.settled();
  t.equal(secrets.subscribers(), 0);
  secrets.issue(absent);
  t.same(namesOf(await subscribe(client, [absent]).next()), [absent]);
});

void t.test('C03: without any root the name of the roots is held, told as removed, and pushed when there is one', async (t) => {
  const { client, clock, secrets } = await openSdsScene(t);
  secrets.setRoots([]);
  const delta = subscribe(client, ['ROOTCA']);
  const sotw = client.sotw();
  sotw.send({ node, typeUrl, resourceNames: ['ALL'] });
  t.ok(await quiet(client, delta, a));
  await clock.advance(3_000);
  t.match(await delta.next(), { removedResources: ['ROOTCA'], resources: [] });
  t.equal(sotw.untaken, 0);
  secrets.setRoots([secrets.root]);
  t.same(namesOf(await delta.next()), ['ROOTCA']);
  t.same(namesOf(await sotw.next()), ['ALL']);
  ack(delta, delta.received[1] as DeltaResponse);
  await client.settled(a);
  secrets.setRoots([]);
  t.ok(await quiet(client, delta, a), 'what is there stays in use');
});
