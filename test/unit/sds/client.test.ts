import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { ReceivedSecret, SecretUpdate } from '../../../agent/sds/client.js';
import { createSdsClient } from '../../../agent/sds/client.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { settle, until } from '../../fixtures/clock.js';
import { openSdsScene } from '../../fixtures/sds-scene.js';
import { startSdsServer } from '../../fixtures/sds-server.js';
import { bundleOf, createTestSecrets, uri } from '../../fixtures/secrets.js';

const a = uri('a');
const b = uri('b');
const never = new AbortController().signal;
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const soon = { deadlineMs: 5_000, signal: never };

void t.test('fetches certificate, key and roots, in the order asked for', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'node' });
  const svid = scene.secrets.issue(a);
  const client = createSdsClient({ path, clock: systemClock });
  const [roots, certificate, all] = await client.fetchOnce(['ROOTCA', a, 'ALL'], soon);
  t.match(certificate, { kind: 'certificate', name: a, version: /^[0-9a-f]{32}$/ });
  const { chainPem, privateKeyPem } = certificate as Extract<ReceivedSecret, { kind: 'certificate' }>;
  t.equal(chainPem.toString(), svid.chainPem().toString());
  t.equal(privateKeyPem.toString(), svid.privateKeyPem().toString());
  const pem = bundleOf([scene.secrets.root])?.pem;
  t.match(
    [roots, all],
    [
      { kind: 'roots', name: 'ROOTCA', rootsPem: pem },
      { kind: 'roots', name: 'ALL', rootsPem: pem },
    ],
  );
  await scene.client.settled();
  t.equal(scene.service.streams(10).total, 0, 'and leaves');
});

void t.test('says what is wrong: no socket, no such name, not for you, not in time, cancelled', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'patterns', patterns: [a, uri('late'), uri('absent')] });
  const client = createSdsClient({ path, clock: systemClock });
  t.match(await errorOf(createSdsClient({ path: `${path}.missing`, clock: systemClock }).fetchOnce([a], soon)), {
    kind: 'unavailable',
    message: 'cannot reach the sds socket',
    fields: { path: `${path}.missing` },
  });
  t.match(await errorOf(client.fetchOnce([a, uri('absent')], soon)), { kind: 'notFound', fields: { name: uri('absent') } });
  t.match(await errorOf(client.fetchOnce([b], soon)), { kind: 'denied', cause: { message: /may not have this name/ } });
  scene.secrets.wait(uri('late'));
  t.match(await errorOf(client.fetchOnce([uri('late')], { deadlineMs: 100, signal: never })), { kind: 'deadline' });
  const abort = new AbortController();
  const waiting = client.fetchOnce([uri('late')], { deadlineMs: 5_000, signal: abort.signal });
  await scene.client.settled();
  abort.abort();
  t.match(await errorOf(waiting), { kind: 'cancelled' });
  const drained = client.fetchOnce([uri('late')], soon);
  await until(() => scene.service.streams(1).total === 1);
  await scene.service.drain(1_000);
  t.match(await errorOf(drained), { kind: 'unavailable' });
});

void t.test('who is disconnected learns where the reason stands', async (t) => {
  // Not in t.testdir(), whose path is longer than that of a socket may be.
  const directory = await mkdtemp(join(tmpdir(), 'signet-sds-'));
  const path = join(directory, 's.sock');
  const server = createServer((socket) => socket.destroy()).listen(path);
  t.teardown(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  await once(server, 'listening');
  t.match(await errorOf(createSdsClient({ path, clock: systemClock }).fetchOnce([a], soon)), {
    kind: 'denied',
    reason: 'peer-unknown',
    message: /its log says why/,
  });
});

void t.test('follows changes, tells each version once, and comes back after a restart of the server', async (t) => {
  const secrets = createTestSecrets();
  const svid = secrets.issue(a);
  const first = await startSdsServer({ secrets });
  const { path } = await first.peer({ kind: 'node' });
  const updates: SecretUpdate[] = [];
  const retries: unknown[] = [];
  const stop = new AbortController();
  const onRetry = (error: unknown): void => void retries.push(error);
  const client = createSdsClient({ path, clock: systemClock, random: () => 1 });
  const watching = client.watch([a, b], (update) => updates.push(update), { signal: stop.signal, onRetry });
  await until(() => updates.length === 2, 'the first answer');
  t.match(updates, [
    { name: a, secret: { kind: 'certificate' } },
    { name: b, secret: undefined },
  ]);
  await first.stop();
  await until(() => retries.length > 0, 'a lost connection');

  const second = await startSdsServer({ secrets, path });
  t.teardown(() => second.stop());
  await second.peer({ kind: 'node' });
  await until(() => second.service.streams(1).total === 1, 'a new stream');
  await until(() => second.service.streams(1).streams[0]?.names.every(({ state }) => state !== 'sent') === true, 'its answer');
  await settle();
  t.equal(updates.length, 2, 'what is equal is not told again');
  secrets.issue(a);
  secrets.remove(b);
  await until(() => updates.length === 3, 'the new certificate');
  const renewed = updates[2]?.secret as Extract<ReceivedSecret, { kind: 'certificate' }> | undefined;
  t.match(renewed?.chainPem.toString(), /BEGIN CERTIFICATE/);
  t.not(renewed?.chainPem.toString(), svid.chainPem().toString());
  stop.abort();
  await watching;
  await rm(path, { force: true });
});

void t.test('stops following when the answer will always be no', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'patterns', patterns: [] });
  const client = createSdsClient({ path, clock: systemClock });
  t.match(await errorOf(client.watch([a], () => {}, { signal: never })), { kind: 'denied' });
  const aborted = AbortSignal.abort();
  await client.watch([a], () => t.fail('told after the end'), { signal: aborted });
});
