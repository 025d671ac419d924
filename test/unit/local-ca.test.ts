// The local CA endpoint as a listener: where it is, what keeps it from being there, how it ends, and as a part of the agent.

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import type { Clock } from '../../agent/runtime/time.js';
import { systemClock } from '../../agent/runtime/time.js';
import { until as untilWatched } from '../../agent/runtime/watched.js';
import { idOf, podsOf, startTestAgent, statusWhere } from '../fixtures/agent.js';
import { createRawCaClient } from '../fixtures/authority.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { createLocalCaScene, localCaId, startDoor, ztunnelPod } from '../fixtures/local-ca.js';
import { until } from '../fixtures/until.js';

const cart = localCaId('shop/cart');
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const knowsReusePort = major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));

t.test('all addresses, of both families where there are two', async (t) => {
  const { door, rootFile, podsRead } = startDoor(t, { place: { address: { host: '', port: 0 } } });
  await Promise.all([untilWatched(door.address, (address) => address !== undefined), podsRead]);
  for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
    const client = createRawCaClient(`${host}:${door.address.value?.port}`, rootFile);
    t.match(await client.call({ identity: cart }), { code: 16, details: /^token-missing/ }, host);
    client.close();
  }
});

t.test('a taken address is told once and had as soon as it is free', async (t) => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { door, log } = startDoor(t, { place: { address: { host: '127.0.0.1', port } } });
  await untilWatched(door.reason, (reason) => reason?.code === 'local-ca-unserved');
  other.close();
  await untilWatched(door.address, (address) => address !== undefined);
  t.equal(door.reason.value, undefined);
  t.equal(log.lines.filter(({ level }) => level === 'error').length, 1);
});

t.test('two agents at once share the address where Node can, else the next one has it when the one before has ended', async (t) => {
  const first = startDoor(t, { place: { address: { host: '127.0.0.1', port: 0 }, reusePort: true } });
  await untilWatched(first.door.address, (address) => address !== undefined);
  const place = { address: { host: '127.0.0.1', port: first.door.address.value?.port ?? 0 }, reusePort: true };
  const next = startDoor(t, { place });
  await Promise.race([
    untilWatched(next.door.address, (address) => address !== undefined),
    untilWatched(next.door.reason, (reason) => reason !== undefined),
  ]);
  t.equal(next.door.address.value !== undefined, knowsReusePort);
  await first.stop();
  await untilWatched(next.door.address, (address) => address !== undefined);
  t.equal(next.door.reason.value, undefined);
});

t.test('at its end calls under way are answered, and nothing new is taken', async (t) => {
  // However long the machine takes for the answer.
  const clock: Clock = { ...systemClock, alarm: (delayMs, fire) => systemClock.alarm(delayMs * 100, fire) };
  const scene = await createLocalCaScene(t, { clock });
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  scene.forward = async (request) => {
    await released;
    return await scene.sign(request);
  };
  const call = scene.call({ token: scene.tokenOf(ztunnelPod), identity: cart });
  await until('it is forwarded', 30_000, () => scene.forwards.length === 1);
  const stopped = scene.stop();
  await untilWatched(scene.door.address, (address) => address === undefined);
  release();
  t.equal((await call).code, 0);
  await stopped;
});

t.test('calls of one address leave room for those of others', async (t) => {
  const scene = await createLocalCaScene(t);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  scene.forward = async (request) => {
    await released;
    return await scene.sign(request);
  };
  const second = createRawCaClient(`localhost:${scene.door.address.value?.port}`, join(scene.directory, 'root', 'root-cert.pem'));
  t.teardown(() => second.close());
  const call = { token: scene.tokenOf(ztunnelPod), identity: cart, csr: createTestCsr({ uris: [cart] }) };
  const codes: number[] = [];
  const all = [scene.client, second].flatMap((client) =>
    Array.from({ length: 150 }, () => client.call(call).then(({ code }) => codes.push(code))),
  );
  await until('some are refused, all others forwarded', 60_000, () => codes.length === 44 && scene.forwards.length === 256);
  t.notOk(codes.includes(0));
  release();
  await Promise.all(all);
  t.equal(codes.filter((code) => code === 0).length, 256);
});

t.test('as a part of the agent', async (t) => {
  const running = await startTestAgent({
    pods: podsOf('cart'),
    settings: { 'localCa.address': '127.0.0.1:0', 'localCa.auth': 'upstream' },
  });
  t.teardown(() => running.stop());
  const { localCa } = running.agent;
  if (localCa === undefined) throw new Error('no endpoint');
  await untilWatched(localCa, (address) => address !== undefined);
  const rootFile = join(running.directory, `signet-${process.getuid?.()}`, 'local-ca', 'root-cert.pem');
  const client = createRawCaClient(`127.0.0.1:${localCa.value?.port}`, rootFile);
  t.match(await client.call({ identity: idOf('cart') }), { code: 16, details: /^token-missing/ });
  client.close();
  const status = await statusWhere(running, ({ ready }) => ready);
  t.match(status.localCa, { address: { port: localCa.value?.port }, certificates: [] });
  t.equal((await startTestAgentWithout(t)).localCa, undefined);
});

async function startTestAgentWithout(t: Parameters<typeof createLocalCaScene>[0]) {
  const running = await startTestAgent({ pods: podsOf('cart') });
  t.teardown(() => running.stop());
  t.equal(running.agent.localCa, undefined);
  return await statusWhere(running, ({ ready }) => ready);
}
