import * as fc from 'fast-check';
import t from 'tap';
import type { Call, CallQueue, Group, Priority } from '../../../agent/ca/call-queue.js';
import { createCallQueue, priorities, takeTurn } from '../../../agent/ca/call-queue.js';
import { until } from '../../fixtures/clock.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

interface QueueScene {
  readonly queue: CallQueue;
  /** Names in the order of their turns. */
  readonly started: string[];
  readonly running: ReadonlyMap<string, () => void>;
  add(name: string, priority: Priority, group: Group): Call;
  /** Ends a call, and waits until the queue has given its slot away. */
  end(name: string): Promise<void>;
  waiting(): Promise<number | undefined>;
  inFlight(): Promise<number | undefined>;
}

function createQueueScene(concurrency: number): QueueScene {
  const { metrics, read } = createTestMetrics();
  const queue = createCallQueue({ concurrency, metrics });
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const scene: QueueScene = {
    queue,
    started,
    running,
    add(name, priority, group) {
      const call = (): Promise<void> => {
        started.push(name);
        return new Promise((resolve) => running.set(name, resolve));
      };
      queue.add(call, priority, group);
      return call;
    },
    async end(name) {
      const before = await scene.inFlight();
      const waiting = await scene.waiting();
      running.get(name)?.();
      running.delete(name);
      await until(async () => (await scene.inFlight()) !== before || (await scene.waiting()) !== waiting, 'the end of a call');
    },
    waiting: () => read('signet_svid_requests_queued'),
    inFlight: () => read('signet_svid_requests_in_flight'),
  };
  return scene;
}

/** Ends one call after the other until nothing is left. */
async function drain({ started, running, end }: QueueScene): Promise<readonly string[]> {
  await until(() => running.size > 0);
  for (let name = started.at(-1); running.size > 0; name = started.at(-1)) await end(name ?? '');
  return started;
}

t.test('by priority, first come first served within one, the struggling after their equals', async (t) => {
  const scene = createQueueScene(1);
  scene.add('routine', 'routine', 'own');
  scene.add('new-struggling', 'new', 'struggling');
  scene.add('near-expiry', 'near-expiry', 'own');
  scene.add('new-1', 'new', 'own');
  scene.add('new-2', 'new', 'own');
  scene.add('waited-for', 'waited-for', 'own');
  scene.add('forwarded', 'waited-for', 'forwarded');
  t.same(await drain(scene), ['forwarded', 'waited-for', 'new-1', 'new-2', 'new-struggling', 'near-expiry', 'routine']);
  t.equal(await scene.waiting(), 0);
});

t.test('a call waits once: added again it keeps its place, or moves to its new lane', async (t) => {
  const scene = createQueueScene(1);
  const a = scene.add('a', 'routine', 'own');
  scene.add('b', 'routine', 'own');
  const c = scene.add('c', 'routine', 'own');
  scene.queue.add(a, 'routine', 'own');
  scene.queue.add(c, 'waited-for', 'own');
  t.same(await drain(scene), ['c', 'a', 'b']);
});

t.test('what is taken out never runs, and whether it waited is told', async (t) => {
  const scene = createQueueScene(1);
  const first = scene.add('first', 'new', 'own');
  const second = scene.add('second', 'new', 'own');
  await until(() => scene.running.size === 1);
  t.equal(scene.queue.delete(first), false, 'it runs');
  t.equal(scene.queue.delete(second), true);
  t.equal(await scene.waiting(), 0);
  t.same(await drain(scene), ['first']);
});

t.test('calls that hang leave slots to the other groups', async (t) => {
  const scene = createQueueScene(8);
  for (let n = 0; n < 10; n += 1) scene.add(`struggling-${n}`, 'waited-for', 'struggling');
  for (let n = 0; n < 10; n += 1) scene.add(`forwarded-${n}`, 'waited-for', 'forwarded');
  await until(() => scene.running.size === 8);
  t.equal(scene.started.filter((name) => name.startsWith('forwarded')).length, 6);
  const other = createQueueScene(8);
  for (let n = 0; n < 10; n += 1) other.add(`forwarded-${n}`, 'waited-for', 'forwarded');
  for (let n = 0; n < 3; n += 1) other.add(`own-${n}`, 'routine', 'own');
  await until(() => other.running.size === 8);
  t.same(other.started.slice(6), ['own-0', 'own-1'], 'the routine of the agent, while forwarded ones wait for good');
});

const laneArbitrary = fc.tuple(fc.constantFrom(...priorities), fc.constantFrom<Group>('forwarded', 'own', 'struggling'));

t.test('any order of adding and ending: never more at once than allowed, and each call once', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(laneArbitrary, { maxLength: 40 }), async (concurrency, lanes) => {
      const scene = createQueueScene(concurrency);
      lanes.forEach(([priority, group], index) => scene.add(`${index}`, priority, group));
      while (scene.started.length < lanes.length || scene.running.size > 0) {
        await until(() => scene.running.size > 0);
        if (scene.running.size > concurrency) return false;
        const [name = ''] = scene.running.keys();
        await scene.end(name);
      }
      return new Set(scene.started).size === lanes.length && scene.started.length === lanes.length;
    }),
    { numRuns: 30 },
  );
  t.pass();
});

const lane = { priority: 'new', group: 'forwarded' } as const;

t.test('a turn settles as its work does', async (t) => {
  const { queue } = createQueueScene(1);
  const { signal } = new AbortController();
  t.equal(await takeTurn(queue, lane, async () => 'done', signal).result, 'done');
  await t.rejects(takeTurn(queue, lane, async () => Promise.reject(new Error('no')), signal).result, { message: 'no' });
});

t.test('an abort ends the wait and frees the slot, whatever the work does', async (t) => {
  const scene = createQueueScene(1);
  const abort = new AbortController();
  let runs = 0;
  const hang = (): Promise<never> => {
    runs += 1;
    return new Promise(() => {});
  };
  const [held, waiting] = [takeTurn(scene.queue, lane, hang, abort.signal), takeTurn(scene.queue, lane, hang, abort.signal)];
  await until(() => runs === 1);
  const reason = new Error('enough');
  const rejected = Promise.all([held, waiting].map(({ result }) => t.rejects(result, { message: 'enough' })));
  abort.abort(reason);
  await rejected;
  t.equal(await takeTurn(scene.queue, lane, async () => 'next', new AbortController().signal).result, 'next');
  await t.rejects(takeTurn(scene.queue, lane, hang, abort.signal).result, { message: 'enough' }, 'aborted before');
  t.equal(runs, 1);
});

t.test('a turn that waits may move ahead, one that has begun stays as it is', async (t) => {
  const scene = createQueueScene(1);
  scene.add('blocker', 'new', 'own');
  await until(() => scene.running.size === 1);
  scene.add('other', 'near-expiry', 'own');
  const { signal } = new AbortController();
  const turn = takeTurn(scene.queue, { ...lane, priority: 'routine' }, async () => void scene.started.push('moved'), signal);
  turn.move('waited-for');
  await scene.end('blocker');
  await turn.result;
  turn.move('new');
  await until(() => scene.running.size === 1);
  t.same(scene.started, ['blocker', 'moved', 'other']);
});
