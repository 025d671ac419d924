// Look-ups of what the index lacks: what is asked, that calls for the same are one, and how many a node may cause.

import { Registry } from 'prom-client';
import t from 'tap';
import type { Test } from 'tap';
import { createPodLookup, missedBy, withPods } from '../../../agent/authority/pod-lookup.js';
import { PodSet } from '../../../agent/authority/pod-index.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { apiList, apiPod } from '../../fixtures/api-server.js';
import { agentPod, caIdOf, callerOf, clusterPod } from '../../fixtures/cluster-pods.js';
import { until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';

async function createScene(t: Test, handle: (call: ApiCall) => void = (call) => call.json(apiList([apiPod('web')]))) {
  const scene = await createKubeScene(t, handle);
  return {
    ...scene,
    lookup: createPodLookup({ client: scene.client, clock: scene.clock, metrics: createAuthorityMetrics(new Registry()) }),
  };
}

const query = { namespace: 'shop', fieldSelector: 'spec.nodeName=node-a,spec.serviceAccountName=web' };

t.test('asks for the newest there is, and calls for the same pods are one', async (t) => {
  const { lookup, server } = await createScene(t);
  const all = await Promise.all([lookup.find(query, 'node-a'), lookup.find(query, 'node-a'), lookup.find(query, 'node-b')]);
  t.equal(server.calls.length, 1);
  t.match(server.calls[0], { path: '/api/v1/namespaces/shop/pods', query: { fieldSelector: query.fieldSelector } });
  t.equal(server.calls[0]?.query['resourceVersion'], undefined);
  for (const found of all) t.match(found, [{ name: 'web', node: 'node-a' }]);
  await lookup.find(query, 'node-a');
  t.equal(server.calls.length, 2, 'nothing is kept');
});

t.test('one node cannot make it ask for ever, and takes nothing from another', async (t) => {
  const { lookup, server, clock } = await createScene(t);
  const selector = (index: number) => ({ namespace: 'shop', fieldSelector: `metadata.name=pod-${index}` });
  for (let index = 0; index < 50; index += 1) t.ok(await lookup.find(selector(index), 'node-a'));
  t.equal(await lookup.find(selector(50), 'node-a'), undefined);
  t.equal(server.calls.length, 50);
  t.ok(await lookup.find(selector(50), 'node-b'));
  await clock.advance(100);
  t.ok(await lookup.find(selector(51), 'node-a'), 'one more after a tenth of a second');
});

t.test('an API server that fails or is silent is no answer', async (t) => {
  const failing = await createScene(t, (call) => call.status(503, 'away'));
  await t.rejects(failing.lookup.find(query, 'node-a'), { name: 'SignetError', kind: 'unavailable' });
  const silent = await createScene(t, () => {});
  const answer = silent.lookup.find(query, 'node-a');
  await until(() => silent.server.calls.length === 1);
  await Promise.all([t.rejects(answer, { name: 'SignetError', kind: 'deadline' }), silent.clock.advance(3_000)]);
});

t.test('what could change a decision', (t) => {
  const pods = new PodSet([agentPod]);
  const request = { caller: callerOf(agentPod), identity: caIdOf('shop/web') };
  const refused = (reason: Parameters<typeof missedBy>[0] & { granted: false }) => missedBy(reason, request, pods);
  t.strictSame(refused({ granted: false, reason: 'identity-not-on-node', detail: '' }), query);
  t.strictSame(refused({ granted: false, reason: 'identity-finished', detail: '' }), query);
  const own = { namespace: 'signet-system', fieldSelector: 'metadata.name=signet-agent' };
  t.strictSame(refused({ granted: false, reason: 'caller-pod-gone', detail: '' }), own);
  t.strictSame(refused({ granted: false, reason: 'caller-pod-replaced', detail: '' }), own);
  for (const reason of ['identity-denied', 'identity-invalid', 'caller-no-node-agent', 'caller-pod-finished', 'token-unbound'] as const) {
    t.equal(refused({ granted: false, reason, detail: '' }), undefined, reason);
  }
  t.end();
});

t.test('newer pods stand before those of the index', (t) => {
  const [old, next] = [clusterPod('shop/web'), clusterPod('shop/web', { phase: 'Failed' })];
  const more = clusterPod('shop/web', { name: 'web-2' });
  const view = withPods(new PodSet([old, more]), [next]);
  t.equal(view.byName('shop', 'web')?.phase, 'Failed');
  t.strictSame(
    [...view.on('node-a', old)].map(({ name, phase }) => `${name} ${phase}`),
    ['web Failed', 'web-2 Running'],
  );
  t.end();
});
