import t from 'tap';
import type { Test } from 'tap';
import { createLease } from '../../../agent/kube/lease.js';
import type { ApiStore } from '../../fixtures/api-store.js';
import { createApiStore } from '../../fixtures/api-store.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import type { KubeScene } from '../../fixtures/kube.js';
import { createKubeScene } from '../../fixtures/kube.js';

const path = '/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca';

interface Candidate {
  /** Whether it works now. */
  readonly works: () => boolean;
  readonly times: () => number;
  stop(): Promise<void>;
}

interface Scene extends KubeScene {
  readonly store: ApiStore;
  add(holder: string): Candidate;
  spec(): Record<string, unknown>;
}

async function createScene(t: Test): Promise<Scene> {
  const store = createApiStore();
  const scene = await createKubeScene(t, (call) => store.handle(call));
  const { client, clock, log } = scene;
  return {
    ...scene,
    store,
    spec: () => (store.get(path)?.['spec'] ?? {}) as Record<string, unknown>,
    add(holder) {
      const controller = new AbortController();
      let working = false;
      let times = 0;
      const lease = createLease({ client, namespace: 'signet-system', name: 'signet-ca', holder, clock, log });
      const running = lease.run(async (signal) => {
        working = true;
        times += 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        working = false;
      }, controller.signal);
      const stop = async (): Promise<void> => {
        controller.abort();
        await running;
      };
      t.teardown(stop);
      return { works: () => working, times: () => times, stop };
    },
  };
}

t.test('the first one holds it, keeps it, and gives it back', async (t) => {
  const { add, spec, clock } = await createScene(t);
  const a = add('a');
  await until(a.works);
  t.match(spec(), { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0, renewTime: /^2026-01-01T00:00:00\.000000Z$/ });
  const b = add('b');
  await clock.advance(120_000);
  t.same([a.works(), a.times(), b.times()], [true, 1, 0]);
  t.match(spec(), { holderIdentity: 'a', acquireTime: /^2026-01-01T00:00:00\.000000Z$/ });
  await a.stop();
  t.notOk(a.works());
  t.match(spec(), { holderIdentity: '', leaseDurationSeconds: 1 });
  await advanceUntil(clock, 200, b.works);
  t.match(spec(), { holderIdentity: 'b', leaseTransitions: 1 });
});

t.test('one that dies loses it when it runs out', async (t) => {
  const { add, store, clock, read } = await createScene(t);
  store.put(path, {
    metadata: { name: 'signet-ca' },
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2036-01-01T00:00:00.000000Z', leaseTransitions: 6 },
  });
  const a = add('a');
  await until(async () => (await read('signet_kube_requests_total', { result: 'ok' })) === 1, 'the first look');
  await clock.advance(14_000);
  t.notOk(a.works(), 'whatever its clock says');
  const startedAt = clock.monotonic();
  await advanceUntil(clock, 100, a.works);
  t.ok(clock.monotonic() - startedAt < 15_000);
  t.match(store.get(path), { spec: { holderIdentity: 'a', leaseTransitions: 7 } });
});

t.test('work is told to stop before another can hold it', async (t) => {
  const { add, store, clock, log } = await createScene(t);
  const a = add('a');
  await until(a.works);
  store.refuse = () => 503;
  const lostAt = clock.monotonic();
  await advanceUntil(clock, 100, () => !a.works());
  t.ok(clock.monotonic() - lostAt < 14_000);
  t.ok(log.lines.some(({ message }) => message === 'lost the lock, it could not be renewed in time'));
  store.refuse = () => undefined;
  await advanceUntil(clock, 100, a.works);
  t.equal(a.times(), 2);
});

t.test('one that was taken away is given up', async (t) => {
  const { add, store, clock, log } = await createScene(t);
  const a = add('a');
  await until(a.works);
  store.put(path, { metadata: { name: 'signet-ca' }, spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } });
  await advanceUntil(clock, 100, () => !a.works());
  t.ok(log.lines.some(({ message }) => message === 'lost the lock to another process'));
  await clock.advance(10_000);
  t.notOk(a.works());
});

t.test('of several that start at once one works', async (t) => {
  const { add, clock } = await createScene(t);
  const all = ['a', 'b', 'c'].map(add);
  const working = (): number => all.filter(({ works }) => works()).length;
  await advanceUntil(clock, 100, () => working() > 0);
  await clock.advance(30_000);
  t.equal(working(), 1);
});

t.test('waits while the API server cannot be asked, and while it answers nonsense', async (t) => {
  const { add, store, clock, log } = await createScene(t);
  store.refuse = () => 403;
  const a = add('a');
  await until(() => log.lines.length > 0);
  await clock.advance(20_000);
  t.equal(log.lines.length, 1, 'told once');
  t.match(log.lines[0], { level: 'warn', message: 'cannot ask for the lock', fields: { reason: 'kube-denied' } });
  store.refuse = () => undefined;
  await advanceUntil(clock, 100, a.works);
});
