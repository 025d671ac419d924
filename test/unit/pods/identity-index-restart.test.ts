// Pods from before a restart, in the index.

import t from 'tap';
import type { IdentityIndexOptions } from '../../../agent/pods/identity-index.js';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import type { KnownPod, Pod } from '../../../agent/pods/pod.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';

const uri = (account: string): string => `spiffe://example.org/ns/shop/sa/${account}`;
const known = (source: string, ...pods: readonly Pod[]): KnownPod[] => pods.map((pod) => ({ source, pod }));
const [cart, checkout] = [createPod('cart'), createPod('checkout')];

function createScene(options: Pick<IdentityIndexOptions, 'sources' | 'restored'>) {
  const clock = createFakeClock();
  const services = { clock, log: createRecordingLogger(), metrics: createTestMetrics().metrics };
  const index = createIdentityIndex({ trustDomain: 'example.org', select: new WatchedValue({}), ...services, ...options });
  const stop = new AbortController();
  let ended = Promise.resolve();
  return {
    clock,
    index,
    run(): void {
      ended = index.run(stop.signal);
    },
    restored: (account: string) => index.identities.value.get(uri(account))?.restored,
    pods: () => [...index.pods.value.keys()].sort(),
    async stop() {
      stop.abort();
      await ended;
      return clock.alarms;
    },
  };
}

t.test('they are there before anything runs, good for decisions, and marked', async (t) => {
  const source = createFakePodSource('apiserver', 'cluster');
  const { index, restored, pods, clock } = createScene({ sources: [source], restored: known('cluster', cart) });
  t.same(pods(), ['uid-cart']);
  t.equal(index.idOf('uid-cart')?.uri, uri('cart'));
  t.equal(restored('cart'), true);
  t.match(index.reason.value, { code: 'pods-restored', detail: 'apiserver: pods-unread (apiserver)' });
  t.equal(index.explain(uri('other')).code, 'pods-restored', 'nobody can say that another name is absent');
  t.equal(clock.alarms, 0, 'nothing runs yet');
});

t.test('they stay while the source fails, which the reason says', async (t) => {
  const source = createFakePodSource('apiserver', 'cluster');
  const { index, pods, clock, run, restored, stop } = createScene({ sources: [source], restored: known('cluster', cart) });
  run();
  source.fail({ code: 'kube-unavailable', detail: 'connection refused' });
  await clock.advance(3_600_000);
  t.same(pods(), ['uid-cart']);
  t.equal(restored('cart'), true);
  t.match(index.reason.value, { code: 'pods-restored', detail: 'apiserver: kube-unavailable (connection refused)' });
  t.equal(await stop(), 0);
});

t.test('the first complete list confirms them or drops them', async (t) => {
  const source = createFakePodSource('apiserver', 'cluster');
  const { index, pods, clock, run, restored, stop } = createScene({ sources: [source], restored: known('cluster', cart, checkout) });
  run();
  const { since } = index.identities.value.get(uri('cart')) ?? {};
  await clock.advance(1_000);
  source.set([cart]);
  await settle();
  t.same(pods(), ['uid-cart'], 'the pod that is gone gets nothing any more');
  t.equal(restored('cart'), undefined);
  t.equal(index.identities.value.get(uri('cart'))?.since, since);
  t.match(
    index.identities.value.get(uri('checkout')),
    { pods: [], restored: true },
    'its identity lingers, and is no reason for a certificate',
  );
  t.equal(index.reason.value, undefined);
  await clock.advance(30_000);
  t.notOk(index.identities.value.has(uri('checkout')));
  source.fail({ code: 'kube-unavailable', detail: '' });
  await settle();
  t.equal(restored('cart'), undefined, 'once confirmed, it stays so');
  t.equal(await stop(), 0);
});

t.test('an identity is confirmed by one pod of it', async (t) => {
  const source = createFakePodSource('file');
  const other = createFakePodSource('apiserver', 'cluster');
  const second = createPod('cart-2', { serviceAccount: 'cart' });
  const { run, restored, index, stop } = createScene({
    sources: [source, other],
    restored: [...known('file', cart), ...known('cluster', second)],
  });
  run();
  source.set([cart]);
  await settle();
  t.equal(restored('cart'), undefined);
  t.same(index.identities.value.get(uri('cart'))?.pods, ['uid-cart', 'uid-cart-2']);
  source.set([]);
  await settle();
  t.equal(restored('cart'), true, 'and is what it was when that one leaves');
  await stop();
});

t.test('a list that is empty is doubted, as any other', async (t) => {
  const source = createFakePodSource('apiserver', 'cluster');
  const { pods, clock, run, stop } = createScene({ sources: [source], restored: known('cluster', cart, checkout) });
  run();
  source.set([]);
  await clock.advance(4_999);
  t.equal(pods().length, 2);
  await clock.advance(1);
  t.same(pods(), []);
  await stop();
});

t.test('of sources that read the same pods the first complete one decides; others have their own', async (t) => {
  const [first, second] = [createFakePodSource('apiserver', 'cluster'), createFakePodSource('kubelet', 'cluster')];
  const file = createFakePodSource('file');
  const proxy = createPod('proxy');
  const { pods, run, stop, index } = createScene({
    sources: [first, second, file],
    restored: [...known('cluster', cart, checkout), ...known('file', proxy)],
  });
  run();
  second.set([checkout]);
  await settle();
  t.same(pods(), ['uid-checkout', 'uid-proxy'], 'the file was not read yet');
  t.match(index.reason.value, { code: 'pods-restored', detail: /^file/ });
  await stop();
});

t.test('what is known goes into the next start with the source that knows it; over and unknown sources are left out', async (t) => {
  const source = createFakePodSource('apiserver', 'cluster');
  const file = createFakePodSource('file');
  const { index, run, stop } = createScene({
    sources: [source, file],
    restored: [...known('cluster', cart), ...known('kubelet-of-before', checkout)],
  });
  t.same(index.known(), known('cluster', cart));
  run();
  source.set([cart, createPod('done', { phase: 'Succeeded' })]);
  file.set([createPod('proxy')]);
  await settle();
  t.same(index.known(), [...known('cluster', cart), ...known('file', createPod('proxy'))]);
  await stop();
});
