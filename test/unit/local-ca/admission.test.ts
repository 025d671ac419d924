// May this caller have that identity: a pod that is only just scheduled is waited for, and nothing else is. Refusals by their status:
// service.test.ts.

import t from 'tap';
import type { Test } from 'tap';
import { createAdmission } from '../../../agent/local-ca/admission.js';
import type { TokenHolder } from '../../../agent/kube/token-review.js';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import type { KnownPod, Pod } from '../../../agent/pods/pod.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { localCaId, trustDomain, ztunnelPod } from '../../fixtures/local-ca.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';

const never = new AbortController().signal;
const holderOf = ({ namespace, serviceAccount, name, uid }: Pod): TokenHolder => ({
  namespace,
  serviceAccount,
  pod: { name, uid },
  node: undefined,
  credentialId: '',
});

function createScene(t: Test, pods: readonly Pod[], restored: readonly KnownPod[] = []) {
  const clock = createFakeClock();
  const source = createFakePodSource();
  const log = createRecordingLogger();
  const select = new WatchedValue({ excludeNamespaces: ['kube-system'], hostNetwork: 'include' as const });
  const { metrics } = createTestMetrics();
  const index = createIdentityIndex({ sources: [source], restored, trustDomain, select, lingerMs: 30_000, clock, log, metrics });
  if (restored.length === 0) source.set(pods);
  const end = new AbortController();
  const running = index.run(end.signal);
  t.teardown(async () => {
    end.abort();
    await running;
  });
  const admit = createAdmission({ index, node: 'node-a', trustDomain, delegates: new Set(['mesh/ztunnel']), waitMs: 3_000, clock });
  /** What came of it by now. */
  const start = (holder: TokenHolder, requested?: string, signal = never) => {
    const outcome: { is: string } = { is: 'waiting' };
    const done = admit(holder, requested, signal).then(
      ({ uri }) => (outcome.is = uri),
      (error: unknown) => (outcome.is = String((error as { readonly reason?: string }).reason)),
    );
    return { outcome, done };
  };
  return { clock, source, start };
}

t.test('a pod that comes within the wait', async (t) => {
  const { clock, source, start } = createScene(t, [ztunnelPod]);
  const call = start(holderOf(ztunnelPod), localCaId('shop/new'));
  await clock.advance(2_000);
  t.equal(call.outcome.is, 'waiting');
  source.set([ztunnelPod, createPod('new', { phase: 'Pending' })]);
  await call.done;
  t.equal(call.outcome.is, localCaId('shop/new'));
  t.equal(clock.alarms, 0);
});

t.test('a pod that does not', async (t) => {
  const { clock, source, start } = createScene(t, [ztunnelPod]);
  const call = start(holderOf(ztunnelPod), localCaId('shop/never'));
  await clock.advance(1_000);
  source.set([ztunnelPod, createPod('another')]);
  await clock.advance(1_999);
  t.equal(call.outcome.is, 'waiting', 'a change of others does not begin it anew');
  await clock.advance(1);
  await call.done;
  t.equal(call.outcome.is, 'not-on-node');
  t.equal(clock.alarms, 0);
});

t.test('the pod of the caller is waited for too', async (t) => {
  const { clock, source, start } = createScene(t, []);
  const web = createPod('web');
  const call = start(holderOf(web));
  await clock.advance(1_000);
  source.set([web]);
  await call.done;
  t.equal(call.outcome.is, localCaId('shop/web'));
});

t.test('what will not come is not waited for', async (t) => {
  const dns = createPod('dns', { namespace: 'kube-system' });
  const { clock, start } = createScene(t, [ztunnelPod, dns, createPod('web')]);
  for (const [holder, requested, reason] of [
    [holderOf(ztunnelPod), localCaId('kube-system/dns'), 'not-selected'],
    [holderOf(dns), undefined, 'not-selected'],
    [holderOf(createPod('web')), localCaId('shop/never'), 'caller-no-node-agent'],
    [{ ...holderOf(createPod('gone')), node: { name: 'node-b', uid: '' } }, undefined, 'caller-not-on-node'],
  ] as const) {
    const call = start(holder, requested);
    await call.done;
    t.equal(call.outcome.is, reason);
  }
  t.equal(clock.alarms, 0);
});

t.test('a caller that goes away is not waited for', async (t) => {
  const { clock, start } = createScene(t, [ztunnelPod]);
  const away = new AbortController();
  const call = start(holderOf(ztunnelPod), localCaId('shop/never'), away.signal);
  await clock.advance(1_000);
  away.abort();
  await call.done;
  t.equal(clock.alarms, 0);
});

t.test('nothing new for what is over, or known from before a restart alone', async (t) => {
  const web = createPod('web');
  const { clock, source, start } = createScene(t, [ztunnelPod, web]);
  source.set([ztunnelPod]);
  const over = start(holderOf(ztunnelPod), localCaId('shop/web'));
  await clock.advance(3_000);
  await over.done;
  t.equal(over.outcome.is, 'not-on-node', 'it lingers for SDS alone');

  const known = [ztunnelPod, web].map((pod) => ({ source: 'fake', pod }));
  const restarted = createScene(t, [], known);
  const before = restarted.start(holderOf(ztunnelPod), localCaId('shop/web'));
  await restarted.clock.advance(3_000);
  await before.done;
  t.equal(before.outcome.is, 'pods-restored');
});
