// The Pods API of the kubelet, spoken by a real gRPC server.

import { status } from '@grpc/grpc-js';
import t from 'tap';
import type { Test } from 'tap';
import { createKubeletPodsApiSource } from '../../../agent/pods/kubelet-pods-api-source.js';
import { apiPod } from '../../fixtures/api-server.js';
import { createFakeClock, settle, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import type { PodsApiStream } from '../../fixtures/pods-api.js';
import { createPodsApi, podsApiEvent } from '../../fixtures/pods-api.js';
import { start } from '../../fixtures/reasons.js';

async function scene(t: Test, handle: (stream: PodsApiStream) => void) {
  const api = await createPodsApi(t, handle);
  const clock = createFakeClock();
  const { metrics, read } = createTestMetrics();
  const log = createRecordingLogger();
  const source = createKubeletPodsApiSource({ socket: api.socket, clock, log, metrics, random: () => 0 });
  start(t, source);
  const uids = (): string[] => [...source.view.value.pods.keys()].sort();
  return {
    api,
    clock,
    log,
    source,
    read,
    uids,
    has: async (...expected: string[]) => await until(() => uids().join() === expected.join(), expected.join()),
  };
}

const synced =
  (...pods: object[]) =>
  (stream: PodsApiStream): void => {
    for (const pod of pods) stream.write(podsApiEvent('ADDED', pod));
    stream.write(podsApiEvent('INITIAL_SYNC_COMPLETE'));
  };

t.test('nothing before all is there, then every change', async (t) => {
  const { api, source, has, read } = await scene(t, (stream) => {
    stream.write(podsApiEvent('ADDED', apiPod('a', { metadata: { labels: { app: 'a' } }, spec: { hostNetwork: true } })));
    stream.write(podsApiEvent('ADDED', apiPod('static', { account: null })));
  });
  await until(() => api.streams.length === 1);
  await settle(500);
  t.match(source.view.value, { complete: false, reason: { code: 'pods-unread' } });
  const stream = api.streams[0] as PodsApiStream;
  stream.write(podsApiEvent('INITIAL_SYNC_COMPLETE'));
  await has('uid-a');
  t.match(source.view.value.pods.get('uid-a'), {
    name: 'a',
    namespace: 'shop',
    serviceAccount: 'a',
    phase: 'Running',
    labels: { app: 'a' },
    hostNetwork: true,
  });
  t.equal(source.view.value.reason, undefined);
  stream.write(podsApiEvent('ADDED', apiPod('b', { phase: 'Pending' })));
  await has('uid-a', 'uid-b');
  stream.write(podsApiEvent('MODIFIED', apiPod('b', { phase: 'Succeeded' })));
  await until(() => source.view.value.pods.get('uid-b')?.phase === 'Succeeded');
  stream.write(podsApiEvent('DELETED', { metadata: { name: 'a', namespace: 'shop', uid: 'uid-a' } }));
  await has('uid-b');
  t.equal(await read('signet_pod_source_up', { source: 'kubelet-pods-api' }), 1);
});

t.test('a kubelet that is not ready is waited for', async (t) => {
  const { api, source, clock, has } = await scene(t, (stream) =>
    stream.emit('error', { code: status.FAILED_PRECONDITION, details: 'sources not ready' }),
  );
  await until(() => source.view.value.reason?.code === 'pods-api-not-ready');
  t.equal(source.view.value.reason?.detail, 'sources not ready');
  api.handle = synced(apiPod('a'));
  await until(() => clock.alarms === 1);
  await clock.advance(2_000);
  await has('uid-a');
});

t.test('a kubelet that goes away freezes the view; what left meanwhile is gone after it is back', async (t) => {
  const { api, source, clock, log, has, uids } = await scene(t, synced(apiPod('a'), apiPod('b')));
  await has('uid-a', 'uid-b');
  api.handle = (stream) => stream.end();
  api.streams[0]?.end();
  await until(() => source.view.value.reason?.code === 'pods-api-unavailable' && clock.alarms === 1);
  const tries = api.streams.length;
  for (let second = 0; second < 60; second += 1) {
    await until(() => clock.alarms === 1);
    await clock.advance(1_000);
  }
  t.same(uids(), ['uid-a', 'uid-b']);
  t.ok(api.streams.length - tries < 10, 'no storm');
  t.match(log.lines, [{ level: 'warn', message: /keeping the last good view/ }]);
  api.handle = synced(apiPod('b'));
  for (let second = 0; second < 40 && uids().length === 2; second += 1) {
    await clock.advance(1_000);
    await until(() => clock.alarms <= 1);
  }
  await has('uid-b');
});

t.test('a kubelet that never says that all is there is left after half a minute', async (t) => {
  const { api, source, clock } = await scene(t, () => {});
  await until(() => api.streams.length === 1);
  await clock.advance(30_000);
  await until(() => source.view.value.reason?.code === 'pods-api-unavailable');
});

t.test('a kubelet that hangs: all is read by a new stream every four minutes, and one that stays silent is told', async (t) => {
  const { api, source, clock, has, uids } = await scene(t, synced(apiPod('a')));
  await has('uid-a');
  const reasons: unknown[] = [];
  source.view.subscribe(({ reason }) => reasons.push(reason?.code));
  api.handle = synced(apiPod('b'));
  await clock.advance(239_999);
  t.equal(api.streams.length, 1);
  await clock.advance(1);
  await has('uid-b');
  t.same(new Set(reasons), new Set([undefined]), 'a change of streams is no fault');

  api.handle = () => {};
  await clock.advance(240_000);
  await until(() => api.streams.length === 3 && clock.alarms === 1);
  await clock.advance(30_000);
  await until(() => source.view.value.reason?.code === 'pods-api-unavailable');
  t.same(uids(), ['uid-b']);
});

t.test('bytes that are no pod', async (t) => {
  const { source } = await scene(t, (stream) => stream.write(Buffer.from([0x08, 1, 0x12, 2, 0x0a, 0x7f])));
  await until(() => source.view.value.reason?.code === 'pods-api-unavailable');
});

t.test('no socket', async (t) => {
  const clock = createFakeClock();
  const { metrics } = createTestMetrics();
  const log = createRecordingLogger();
  const source = createKubeletPodsApiSource({ socket: `${t.testdir({})}/none.sock`, clock, log, metrics });
  start(t, source);
  await until(() => source.view.value.reason?.code === 'pods-api-unavailable');
  t.match(source.view.value.reason?.detail, /^connect ENOENT/);
  t.match(log.lines, [{ level: 'info' }], 'no warning: nothing is lost that there was');
});
