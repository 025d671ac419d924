import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { IdentityIndexOptions } from '../../../agent/pods/identity-index.js';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import type { Selection } from '../../../agent/pods/selection.js';
import { formatReason } from '../../../agent/runtime/reasons.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';

const uri = (account: string, namespace = 'shop'): string => `spiffe://example.org/ns/${namespace}/sa/${account}`;

function createScene(options: Partial<IdentityIndexOptions> = {}) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const metrics = createTestMetrics();
  const source = createFakePodSource();
  const select = new WatchedValue<Selection>({});
  const services = { clock, log, metrics: metrics.metrics };
  const index = createIdentityIndex({ sources: [source], trustDomain: 'example.org', select, ...services, ...options });
  const stop = new AbortController();
  const ended = index.run(stop.signal);
  let published = 0;
  index.identities.subscribe(() => (published += 1));
  return {
    clock,
    log,
    metrics,
    source,
    select,
    index,
    uris: (): string[] => [...index.identities.value.keys()].sort(),
    published: (): number => published,
    async stop() {
      stop.abort();
      await ended;
      return clock.alarms;
    },
  };
}

t.test('an identity starts in the tick in which its first pod is seen, Pending or Running', async (t) => {
  const { index, source, uris, clock, metrics, stop } = createScene();
  t.same(uris(), []);
  source.set([createPod('cart', { phase: 'Pending' }), createPod('done', { phase: 'Succeeded' }), createPod('lost', { phase: 'Failed' })]);
  await Promise.resolve();
  const id = { trustDomain: 'example.org', namespace: 'shop', serviceAccount: 'cart', uri: uri('cart') };
  t.same([...index.identities.value], [[uri('cart'), { id, pods: ['uid-cart'], since: clock.now() }]]);
  t.same([...index.pods.value.keys()], ['uid-cart']);
  t.equal(index.idOf('uid-cart')?.uri, uri('cart'));
  t.equal(index.idOf('uid-done'), undefined);
  t.equal(await metrics.read('signet_pods'), 1);
  t.equal(await stop(), 0, 'no alarm is left behind');
});

t.test('R057, F036: it is counted by pod UID and ends after the linger of the last pod', async (t) => {
  const { index, source, uris, clock, stop } = createScene();
  const one = createPod('one', { serviceAccount: 'cart' });
  const two = createPod('two', { serviceAccount: 'cart' });
  source.set([two, one]);
  await settle();
  t.same(index.identities.value.get(uri('cart'))?.pods, ['uid-one', 'uid-two']);
  source.set([one, { ...two, phase: 'Succeeded' }]);
  await clock.advance(60_000);
  t.same(index.identities.value.get(uri('cart'))?.pods, ['uid-one']);
  source.set([{ ...one, phase: 'Failed' }]);
  await clock.advance(29_999);
  t.same(index.identities.value.get(uri('cart'))?.pods, [], 'it lingers');
  t.equal(index.idOf('uid-one'), undefined, 'the pod has it no longer');
  t.equal(clock.alarms, 1, 'one alarm for the earliest end');
  await clock.advance(1);
  t.same(uris(), []);
  t.equal(clock.alarms, 0);
  await stop();
});

t.test('F036: a pod that comes back within the linger finds the same entry', async (t) => {
  const { index, source, clock, stop } = createScene();
  source.set([createPod('cart'), createPod('other')]);
  await settle();
  const since = index.identities.value.get(uri('cart'))?.since;
  source.set([createPod('other')]);
  await clock.advance(29_000);
  source.set([createPod('other'), createPod('cart', { uid: 'uid-again' })]);
  await clock.advance(120_000);
  t.match(index.identities.value.get(uri('cart')), { since, pods: ['uid-again'] });
  source.set([createPod('other')]);
  await clock.advance(30_000);
  t.equal(index.identities.value.has(uri('cart')), false, 'the next linger counts from the next end');
  await stop();
});

t.test('R060, F055: a pod that was made anew under its name is another one, and the identity stays', async (t) => {
  const { index, source, uris, clock, stop } = createScene();
  source.set([createPod('cart', { uid: 'one' })]);
  await settle();
  const { since } = index.identities.value.get(uri('cart')) ?? {};
  source.set([createPod('cart', { uid: 'two', phase: 'Pending' })]);
  await settle();
  t.match(index.identities.value.get(uri('cart')), { pods: ['two'], since });
  t.equal(index.idOf('one'), undefined, 'the peer policy knows the old one no more');
  t.equal(index.idOf('two')?.uri, uri('cart'));
  await clock.advance(3_600_000);
  t.same(uris(), [uri('cart')]);
  await stop();
});

t.test('identities end one by one, each after its own linger', async (t) => {
  const { source, uris, clock, stop } = createScene({ lingerMs: 10_000 });
  source.set([createPod('a'), createPod('b'), createPod('c')]);
  await clock.advance(1_000);
  source.set([createPod('b'), createPod('c')]);
  await clock.advance(4_000);
  source.set([createPod('c')]);
  await clock.advance(5_999);
  t.same(uris(), [uri('a'), uri('b'), uri('c')]);
  await clock.advance(1);
  t.same(uris(), [uri('b'), uri('c')]);
  await clock.advance(4_000);
  t.same(uris(), [uri('c')]);
  await stop();
});

t.test('without a linger the last pod takes its identity along', async (t) => {
  const { source, uris, stop } = createScene({ lingerMs: 0 });
  source.set([createPod('a')]);
  await settle();
  source.set([]);
  await settle();
  t.same(uris(), [], 'one pod of one: no doubt about an empty list');
  await stop();
});

t.test('F034: a source that fails freezes the view and says why', async (t) => {
  const { index, source, uris, clock, stop } = createScene();
  t.same(index.reason.value, { code: 'pods-unread', detail: 'fake' });
  t.match(index.explain(uri('cart')), { code: 'pods-unread' });
  source.set([createPod('cart')]);
  await settle();
  t.equal(index.reason.value, undefined);
  source.fail({ code: 'pods-file-invalid', detail: 'document 1, line 2: kind is missing' });
  await clock.advance(3_600_000);
  t.same(uris(), [uri('cart')]);
  t.equal(index.idOf('uid-cart')?.uri, uri('cart'));
  t.match(index.reason.value, { code: 'pods-file-invalid' });
  t.match(index.explain(uri('other')), { code: 'not-on-node', detail: 'as of the last good view of the pods: pods-file-invalid' });
  source.set([]);
  await clock.advance(30_000);
  t.same(uris(), []);
  t.equal(index.reason.value, undefined);
  await stop();
});

t.test('F123: a list that is suddenly empty is believed only when it stands', async (t) => {
  const { index, source, uris, clock, log, stop } = createScene();
  const all = [createPod('a'), createPod('b'), createPod('c')];
  source.set(all);
  await settle();
  source.set([]);
  await clock.advance(4_999);
  t.equal(index.pods.value.size, 3);
  t.equal(index.idOf('uid-a')?.uri, uri('a'), 'peers keep what they may');
  source.set(all);
  await clock.advance(3_600_000);
  t.same(uris(), [uri('a'), uri('b'), uri('c')]);
  t.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);

  source.set([]);
  await clock.advance(5_000);
  t.equal(index.pods.value.size, 0);
  t.same(uris(), [uri('a'), uri('b'), uri('c')], 'the linger begins only now');
  await clock.advance(30_000);
  t.same(uris(), []);
  await stop();
});

t.test('F117: static pods, invalid names and pods left out have no identity, and the reason is told', async (t) => {
  const { index, source, uris, log, stop } = createScene();
  source.set([
    createPod('static', { mirror: true }),
    createPod('system', { namespace: 'kube-system' }),
    createPod('bad', { serviceAccount: 'Not_Valid' }),
    createPod('worse', { namespace: '../shop' }),
    createPod('cart'),
  ]);
  await settle();
  t.same(uris(), [uri('cart')]);
  t.equal(index.pods.value.size, 5, 'the peer policy sees them all');
  t.match(index.explain(uri('static')), { code: 'not-on-node', detail: 'static is a static pod, which has no service account' });
  t.match(index.explain(uri('system', 'kube-system')), { code: 'not-selected', detail: 'namespace kube-system is in excludeNamespaces' });
  t.match(index.explain(uri('nobody')), { code: 'not-on-node', detail: '' });
  t.match(index.explain('spiffe://elsewhere.org/ns/shop/sa/cart'), { code: 'trust-domain-foreign', detail: 'elsewhere.org' });
  t.match(index.explain('file-root:system'), { code: 'name-invalid' });
  t.match(formatReason(index.explain(uri('nobody'))), /No running pod on this node/);

  source.set([createPod('bad', { serviceAccount: 'Not_Valid' }), createPod('cart')]);
  await settle();
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  t.same(
    warnings.map(({ fields }) => fields['pod']),
    ['uid-bad', 'uid-worse'],
    'one warning a pod',
  );
  await stop();
});

t.test('the selection is followed', async (t) => {
  const { index, source, select, uris, clock, stop } = createScene();
  source.set([createPod('cart'), createPod('pay', { labels: { tier: 'gold' } })]);
  await settle();
  t.same(uris(), [uri('cart'), uri('pay')]);
  select.set({ podLabels: { tier: 'gold' } });
  await clock.advance(30_000);
  t.same(uris(), [uri('pay')]);
  t.equal(index.idOf('uid-cart'), undefined);
  t.match(index.explain(uri('cart')), { code: 'not-selected', detail: 'pod cart has no label tier=gold' });
  select.set({});
  await settle();
  t.same(uris(), [uri('cart'), uri('pay')]);
  await stop();
});

t.test('F124: nothing is published when nothing changed', async (t) => {
  const { index, source, published, stop } = createScene();
  source.set([createPod('cart')]);
  await settle();
  const count = published();
  const { value } = index.identities;
  const pods = index.pods.value;
  source.set([createPod('cart'), createPod('done', { phase: 'Succeeded' })]);
  await settle();
  source.set([createPod('cart')]);
  await settle();
  t.equal(published(), count);
  t.equal(index.identities.value, value);
  t.equal(index.pods.value, pods);
  source.set([createPod('cart', { phase: 'Pending' })]);
  await settle();
  t.equal(index.identities.value, value, 'a phase is no matter of identities');
  t.not(index.pods.value, pods);
  source.set([createPod('cart'), createPod('pay')]);
  await settle();
  t.equal(index.identities.value.get(uri('cart')), value.get(uri('cart')), 'the others stay the very same objects');
  await stop();
});

t.test('several sources are merged by UID, the earlier one counts', async (t) => {
  const first = createFakePodSource('first');
  const second = createFakePodSource('second');
  const { index, uris, clock, stop } = createScene({ sources: [first, second] });
  second.set([createPod('cart'), createPod('pay')]);
  await settle();
  t.same(uris(), [uri('cart'), uri('pay')]);
  t.match(index.reason.value, { detail: 'first' });
  t.match(index.explain(uri('other')), { code: 'pods-unread' }, 'the first may know it');
  first.set([createPod('cart', { phase: 'Succeeded' }), createPod('extra')]);
  await clock.advance(30_000);
  t.same(uris(), [uri('extra'), uri('pay')]);
  t.equal(index.reason.value, undefined);
  await stop();
});

t.test('a name that no source has is absent only when each source was read, or another reads the same pods', async (t) => {
  const [cluster, kubelet, one, two] = [
    createFakePodSource('apiserver', 'cluster'),
    createFakePodSource('kubelet', 'cluster'),
    createFakePodSource('one'),
    createFakePodSource('two'),
  ];
  const { index, stop } = createScene({ sources: [cluster, kubelet, one, two] });
  one.set([createPod('cart'), createPod('system', { namespace: 'kube-system' })]);
  two.fail({ code: 'pods-file-missing', detail: '/pods/two.yaml' });
  kubelet.set([]);
  await settle();
  const missing = { code: 'pods-file-missing', detail: '/pods/two.yaml' };
  t.same(index.explain(uri('pay')), missing, 'the file that could not be read may name it');
  t.same(index.explain(uri('system', 'kube-system')), missing, 'and may have a pod with this name that is not left out');
  two.set([]);
  await settle();
  t.match(index.explain(uri('pay')), { code: 'not-on-node', detail: '' }, 'the kubelet has read what the API server would say');
  two.fail({ code: 'pods-file-missing', detail: '/pods/two.yaml' });
  await settle();
  t.match(index.explain(uri('pay')), { code: 'not-on-node', detail: /last good view/ }, 'once read is enough');
  await stop();
});

t.test('a source that ends with an error ends the run with it', async (t) => {
  const broken = { ...createFakePodSource(), run: () => Promise.reject(new Error('bug: source')) };
  const index = createIdentityIndex({
    sources: [broken],
    trustDomain: 'example.org',
    select: new WatchedValue<Selection>({}),
    clock: createFakeClock(),
    log: createRecordingLogger(),
    metrics: createTestMetrics().metrics,
  });
  await t.rejects(index.run(new AbortController().signal), { message: 'bug: source' });
});

t.test('any sequence of changes leaves what a naive model says', async (t) => {
  // In whole seconds, of which the linger and the time of doubt are multiples.
  const accounts = ['a', 'b', 'c'];
  const podSets = fc.subarray(['1', '2', '3', '4', '5', '6']);
  const step = fc.record({ pods: podSets, over: podSets, seconds: fc.constantFrom(0, 1, 3, 5, 8, 29, 31) });
  const accountOf = (name: string): string => accounts[Number(name) % accounts.length] ?? '';
  const podOf = (name: string, over: readonly string[]) =>
    createPod(name, { serviceAccount: accountOf(name), phase: over.includes(name) ? 'Succeeded' : 'Running' });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { source, uris, clock, stop } = createScene();
      let believed: readonly string[] = [];
      let alive: readonly string[] = [];
      let emptyFor = 0;
      let time = 0;
      const lastSeen = new Map<string, number>();
      const see = (names: readonly string[]): void => {
        for (const name of names) lastSeen.set(accountOf(name), time);
      };
      for (const { pods, over, seconds } of steps) {
        source.set(pods.map((name) => podOf(name, over)));
        await settle(1);
        for (let second = 0; second <= seconds; second += 1) {
          if (second > 0) {
            await clock.advance(1_000);
            time += 1;
          }
          see(alive);
          const doubted = pods.length === 0 && believed.length > 1;
          if (doubted && second > 0) emptyFor += 1;
          if (!doubted) emptyFor = 0;
          if (!doubted || emptyFor >= 5) {
            believed = pods;
            alive = pods.filter((name) => !over.includes(name));
            emptyFor = 0;
          }
          see(alive);
          const expected = accounts.filter((account) => time - (lastSeen.get(account) ?? -Infinity) < 30);
          deepStrictEqual(
            uris(),
            expected.map((account) => uri(account)),
          );
        }
      }
      await stop();
    }),
    { numRuns: 60, interruptAfterTimeLimit: 5_000 },
  );
  t.pass();
});

t.test('of sources that read the same pods, one that has failed for a minute is not believed', async (t) => {
  const [first, second, file] = [
    createFakePodSource('first', 'cluster'),
    createFakePodSource('second', 'cluster'),
    createFakePodSource('file'),
  ];
  const clock = createFakeClock();
  const select = new WatchedValue({});
  const index = createIdentityIndex({
    sources: [first, second, file],
    trustDomain: 'example.org',
    select,
    clock,
    log: createRecordingLogger(),
    metrics: createTestMetrics().metrics,
  });
  const stop = new AbortController();
  const ended = index.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await ended;
  });
  const lost = { code: 'kube-unavailable', detail: '' } as const;
  const uids = (): string[] => [...index.pods.value.keys()].sort();
  first.set([createPod('both'), createPod('old')]);
  file.set([createPod('own')]);
  await settle();
  t.equal(index.reason.value, undefined, 'one of the two is enough');
  second.set([createPod('both', { phase: 'Pending' }), createPod('new')]);
  await settle();
  t.same(uids(), ['uid-both', 'uid-new', 'uid-old', 'uid-own']);
  t.equal(index.pods.value.get('uid-both')?.phase, 'Running', 'the earlier in the list');

  first.fail(lost);
  file.fail(lost);
  await settle();
  t.equal(index.pods.value.get('uid-both')?.phase, 'Pending', 'the one that works');
  await clock.advance(59_000);
  t.same(uids(), ['uid-both', 'uid-new', 'uid-old', 'uid-own']);
  await clock.advance(1_000);
  t.same(uids(), ['uid-both', 'uid-new', 'uid-own'], 'what only the failed one knew may be over; the file is alone with its pods');
  second.fail(lost);
  await settle();
  t.same(uids(), ['uid-both', 'uid-new', 'uid-old', 'uid-own'], 'none works: all that is known');
  t.equal(index.reason.value?.code, 'kube-unavailable');
});
