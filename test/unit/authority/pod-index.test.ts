// The pods of a cluster by name and by place, over what a watch brings.

import fc from 'fast-check';
import t from 'tap';
import { PodSet, createPodIndex } from '../../../agent/authority/pod-index.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import { until } from '../../../agent/runtime/watched.js';
import { Registry } from 'prom-client';
import type { ApiStream } from '../../fixtures/api-server.js';
import { apiList, apiPod } from '../../fixtures/api-server.js';
import { clusterPod, randomCluster } from '../../fixtures/cluster-pods.js';
import { until as turnUntil } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';

t.test('random changes leave what a scan would find', (t) => {
  fc.assert(
    fc.property(randomCluster, fc.array(fc.nat(29), { maxLength: 40 }), (pods, moves) => {
      const set = new PodSet();
      const model = new Map<string, (typeof pods)[number]>();
      for (const [turn, index] of moves.entries()) {
        const pod = pods[index];
        if (pod === undefined) continue;
        if (turn % 3 === 2) {
          set.remove(pod.uid);
          model.delete(pod.uid);
        } else {
          const moved = { ...pod, node: turn % 2 === 0 ? pod.node : 'node-x' };
          set.put(moved);
          model.set(pod.uid, moved);
        }
      }
      t.equal(set.size, model.size);
      for (const pod of pods) {
        t.strictSame(set.byName(pod.namespace, pod.name), model.get(pod.uid));
        for (const node of ['node-a', 'node-x']) {
          const scan = [...model.values()].filter(
            (each) => each.node === node && each.namespace === pod.namespace && each.serviceAccount === pod.serviceAccount,
          );
          t.strictSame(new Set([...set.on(node, pod)].map(({ uid }) => uid)), new Set(scan.map(({ uid }) => uid)));
        }
      }
    }),
    { numRuns: 100 },
  );
  t.end();
});

t.test('a pod made again under its name: whichever event comes first', (t) => {
  const [old, next] = [clusterPod('shop/web', { uid: 'one' }), clusterPod('shop/web', { uid: 'two' })];
  const set = new PodSet([old]);
  set.put(next);
  set.remove('one');
  t.strictSame(set.byName('shop', 'web'), next);
  t.equal([...set.on('node-a', next)].length, 1);
  t.end();
});

t.test('closed until it was read; tells who went; knows how old it is', async (t) => {
  let stream: ApiStream | undefined;
  const { client, clock, log, server } = await createKubeScene(t, (call) => {
    if (call.query['watch'] === undefined) call.json(apiList([apiPod('web'), apiPod('cart')]));
    else if (call.query['sendInitialEvents'] !== undefined) call.status(422, 'not served');
    else stream = call.stream();
  });
  const gone: string[] = [];
  const index = createPodIndex({
    client,
    cluster: 'one',
    onGone: (uid) => gone.push(uid),
    clock,
    log,
    metrics: createAuthorityMetrics(new Registry()),
  });
  t.equal(index.reason.value?.code, 'index-unread');
  t.equal(index.staleMs(), Infinity);
  const stop = new AbortController();
  const running = index.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await running;
  });
  await until(index.reason, (reason) => reason === undefined);
  t.equal(index.staleMs(), 0);
  t.match(index.byName('shop', 'web'), { node: 'node-a', serviceAccount: 'web', phase: 'Running' });

  await turnUntil(() => stream !== undefined);
  stream?.event('MODIFIED', apiPod('web', { version: '101', phase: 'Succeeded' }));
  stream?.event('ADDED', apiPod('orders', { version: '102' }));
  stream?.event('DELETED', apiPod('cart', { version: '103' }));
  await turnUntil(() => gone.length > 0);
  t.strictSame(gone, ['uid-cart']);
  t.equal(index.byName('shop', 'web')?.phase, 'Succeeded');
  t.equal([...index.on('node-a', { namespace: 'shop', serviceAccount: 'orders' })].length, 1);
  t.equal([...index.all()].length, 2);

  server.handle = (call) => call.status(503, 'away');
  stream?.cut();
  await until(index.reason, (reason) => reason !== undefined);
  await clock.advance(5_000);
  t.ok(index.staleMs() >= 5_000, 'it is as old as the watch');
  t.match(index.byName('shop', 'web'), { uid: 'uid-web' }, 'and not emptied');
});
