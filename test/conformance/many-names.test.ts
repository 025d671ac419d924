// A client that has a thousand names on one stream, as the proxy of a node has that serves all of its pods.

import t from 'tap';
import { parseSpiffeId } from '../../agent/identity/spiffe-id.js';
import { Svid } from '../../agent/x509/svid.js';
import { until } from '../fixtures/clock.js';
import { createIntermediate, createLeaf, keyPem, testTime } from '../fixtures/pki.js';
import type { SdsScene } from '../fixtures/sds-scene.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { DeltaResponse, SotwResponse } from '../fixtures/sds-script.js';
import { encodeDelta, namesOf, node, sizeOf, typeUrl } from '../fixtures/sds-script.js';
import { uri } from '../fixtures/secrets.js';

const names = Array.from({ length: 1_000 }, (_, index) => uri(`n${index}`));
const mebibyte = 1024 * 1024;
const refusal = { code: 13, message: 'refused by the test' };

/** Gives each of the identities a new certificate under an intermediate: together more than 1 MiB. */
function issue({ secrets }: SdsScene, identities: readonly string[]): void {
  const intermediate = createIntermediate(secrets.root);
  for (const identity of identities) {
    const leaf = createLeaf(intermediate, identity);
    const chain = [leaf.certificate, intermediate.certificate];
    secrets.give(
      new Svid({ id: parseSpiffeId(identity), chain, root: secrets.root.certificate, privateKeyPem: keyPem(leaf), receivedAt: testTime }),
    );
  }
}

interface Stream<Response> {
  next(): Promise<Response>;
}

/** Takes responses until they have told of all names, each of them once; `taken` is called with each. */
async function takeAll<Response extends SotwResponse | DeltaResponse>(
  stream: Stream<Response>,
  taken: (response: Response) => void = () => {},
): Promise<readonly Response[]> {
  const told = new Set<string>();
  const responses: Response[] = [];
  while (told.size < names.length) {
    const response = await stream.next();
    const here = [...namesOf(response), ...('removedResources' in response ? response.removedResources : [])];
    if (here.length === 0 || here.some((name) => told.has(name))) throw new Error('nothing told, or something twice');
    for (const name of here) told.add(name);
    responses.push(response);
    taken(response);
  }
  return responses;
}

void t.test('delta: responses below 1 MiB, each settled by its own nonce; a renewal of all comes once for each', async (t) => {
  const scene = await openSdsScene(t);
  const { client, metrics, secrets, service } = scene;
  issue(scene, names);
  const stream = client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe: names });
  const responses = await takeAll(stream);
  const [first, second, ...others] = responses;
  if (first === undefined || second === undefined) throw new Error('one response is not cut');
  t.ok(
    responses.every((response) => sizeOf(response) <= mebibyte),
    `${responses.map(sizeOf).join(', ')} bytes`,
  );
  t.equal(new Set(responses.map(({ nonce }) => nonce)).size, responses.length, 'a nonce is used once');
  t.match(service.streams(1).streams, [{ nameCount: names.length }]);

  stream.send({ typeUrl, responseNonce: first.nonce });
  stream.send({ typeUrl, responseNonce: second.nonce, errorDetail: refusal });
  for (const { nonce } of others) stream.send({ typeUrl, responseNonce: nonce });
  const counted = (kind: string) => metrics.read('signet_sds_requests_total', { protocol: 'delta', kind });
  await until(async () => (await counted('ack')) === responses.length - 1 && (await counted('nack')) === 1, 'all of them are settled');
  const [accepted = '', refused = ''] = [first, second].map((response) => namesOf(response)[0]);
  stream.send({ typeUrl, resourceNamesSubscribe: [accepted, refused] });
  const again = await stream.next();
  t.same(namesOf(again), [accepted], 'what was in the refused response is not sent again');
  stream.send({ typeUrl, responseNonce: again.nonce });
  await client.settled();
  t.equal(stream.untaken, 0);

  issue(scene, names);
  const pushes = await takeAll(stream, ({ nonce }) => stream.send({ typeUrl, responseNonce: nonce }));
  t.ok(pushes.every((push) => sizeOf(push) <= mebibyte));
  await client.settled();
  secrets.issue(refused);
  t.same(namesOf(await stream.next()), [refused]);
  t.equal(stream.untaken, 0);
});

void t.test('state of the world: the same; an acknowledgement of a response before the last changes nothing', async (t) => {
  const scene = await openSdsScene(t);
  const { client, metrics, secrets, service } = scene;
  issue(scene, names);
  const stream = client.sotw();
  stream.send({ node, typeUrl, resourceNames: names });
  const responses = await takeAll(stream);
  t.ok(responses.length > 1 && responses.every((response) => sizeOf(response) <= mebibyte));
  for (const { nonce, versionInfo } of responses) stream.send({ typeUrl, responseNonce: nonce, versionInfo, resourceNames: names });
  const counted = (kind: string) => metrics.read('signet_sds_requests_total', { protocol: 'sotw', kind });
  await until(async () => (await counted('ack')) === 1 && (await counted('stale')) === responses.length - 1, 'the last one counts');
  t.match(service.streams(1).streams, [{ nameCount: names.length }]);
  const [name = ''] = names;
  secrets.issue(name);
  t.same(namesOf(await stream.next()), [name]);
  t.equal(stream.untaken, 0);
});

void t.test('names without a pod are told as removed, and each comes as soon as there is a certificate', async (t) => {
  const scene = await openSdsScene(t);
  const stream = scene.client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe: names });
  t.same(
    (await takeAll(stream)).flatMap((response) => namesOf(response)),
    [],
  );
  for (const { nonce } of stream.received) stream.send({ typeUrl, responseNonce: nonce });
  for (const name of names) scene.secrets.wait(name);
  await scene.client.settled();
  t.equal(stream.untaken, 0, 'a certificate that is being made is no news');
  issue(scene, names);
  const pushes = await takeAll(stream, ({ nonce }) => stream.send({ typeUrl, responseNonce: nonce }));
  t.same(
    pushes.flatMap((push) => push.removedResources),
    [],
  );
});

void t.test('after a reconnect one request has all names and versions, however long the names are', async (t) => {
  const scene = await openSdsScene(t);
  const { client } = scene;
  // As long as Kubernetes lets a namespace and an account be: 63 and 253 characters.
  const long = names.map((_, index) => `spiffe://example.org/ns/${'n'.repeat(63)}/sa/${String(index).padStart(253, 'a')}`);
  issue(scene, long);
  const request = {
    node,
    typeUrl,
    resourceNamesSubscribe: long,
    initialResourceVersions: Object.fromEntries(long.map((name) => [name, 'f'.repeat(32)])),
  };
  t.ok(encodeDelta(request).length > mebibyte / 2);
  const stream = client.delta();
  stream.send(request);
  const answered: string[] = [];
  while (answered.length < long.length) answered.push(...namesOf(await stream.next()));
  t.same(answered.sort(), long.sort());
});
