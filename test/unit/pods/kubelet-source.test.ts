// A kubelet that is polled: how often, what it may say, and what happens when it fails or has just started.

import t from 'tap';
import type { Test } from 'tap';
import { createKubeletSource } from '../../../agent/pods/kubelet-source.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { apiList, apiPod } from '../../fixtures/api-server.js';
import { until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { start } from '../../fixtures/reasons.js';

async function scene(t: Test, answer: (call: ApiCall) => void) {
  const kube = await createKubeScene(t, answer, { target: 'kubelet' });
  let started = 0;
  const request: typeof kube.client.request = async (...wanted) => {
    started += 1;
    return await kube.client.request(...wanted);
  };
  const source = createKubeletSource({ ...kube, client: { ...kube.client, request }, random: () => 0 });
  start(t, source);
  const { clock } = kube;
  let polled = -1;
  source.view.subscribe(() => (polled += 1));
  /** Every poll has been answered, and the source waits for the next one. */
  const rest = async (): Promise<void> => await until(() => polled === started && clock.alarms === 1, 'the pause');
  await until(() => started === 1);
  await rest();
  /** Lets time pass, poll by poll. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advance(500);
      await rest();
    }
  };
  return { ...kube, source, pass, uids: () => [...source.view.value.pods.keys()].sort() };
}

const list =
  (...pods: unknown[]) =>
  (call: ApiCall): void =>
    call.json(apiList(pods, ''));

t.test('R062, F118: a list', async (t) => {
  const { source, server, uids, read } = await scene(t, list(apiPod('a'), apiPod('static', { account: null }), null, 'x'));
  t.match(server.calls[0], { method: 'GET', path: '/pods' });
  t.same(uids(), ['uid-a']);
  t.match(source.view.value, { complete: true, reason: undefined });
  t.equal(await read('signet_pod_source_up', { source: 'kubelet' }), 1);
});

t.test('R063: items: null is an empty list', async (t) => {
  const { source } = await scene(t, (call) => call.json(apiList(null)));
  t.match(source.view.value, { complete: true, reason: undefined });
});

t.test('every ten seconds, every second while a pod is starting, but not for ever', async (t) => {
  const { server, pass } = await scene(t, list(apiPod('a')));
  await pass(20_000);
  t.equal(server.calls.length, 3);
  server.handle = list(apiPod('a'), apiPod('b', { phase: 'Pending' }));
  await pass(10_000);
  t.equal(server.calls.length, 4);
  await pass(10_000);
  t.equal(server.calls.length, 14);
  await pass(60_000);
  const before = server.calls.length;
  await pass(20_000);
  t.equal(server.calls.length - before, 2, 'b cannot start');
});

t.test('a pod that is missing is gone after a minute; one that was over, at once', async (t) => {
  const { server, pass, uids } = await scene(t, list(apiPod('a'), apiPod('b'), apiPod('done', { phase: 'Succeeded' })));
  server.handle = list(apiPod('a'));
  await pass(10_000);
  t.same(uids(), ['uid-a', 'uid-b']);
  server.handle = list(apiPod('a'), apiPod('b'));
  await pass(30_000);
  server.handle = list(apiPod('a'));
  await pass(60_000);
  t.same(uids(), ['uid-a', 'uid-b'], 'counted from when it was missing last');
  await pass(10_000);
  t.same(uids(), ['uid-a']);
});

t.test('F052: a kubelet that restarts with 100 pods: none is forgotten', async (t) => {
  const pods = Array.from({ length: 100 }, (_, index) => apiPod(`p${index}`));
  const { server, pass, uids } = await scene(t, list(...pods));
  server.handle = (call) => call.drop();
  await pass(10_000);
  server.handle = list();
  await pass(20_000);
  server.handle = list(...pods.slice(0, 7));
  await pass(20_000);
  t.equal(uids().length, 100);
  server.handle = list(...pods);
  await pass(20_000);
  t.equal(uids().length, 100);
});

for (const [name, answer, code] of [
  ['R064, F033: 401 in plain text', (call) => call.json('Unauthorized', 401), 'kubelet-unauthenticated'],
  [
    'F033: 403 in plain text',
    (call) => call.json('Forbidden (user=x, verb=get, resource=nodes, subresource(s)=[pods proxy])', 403),
    'kubelet-denied',
  ],
  ['500', (call) => call.json('Internal Error', 500), 'kubelet-unavailable'],
  ['R065, F086: JSON that is cut', (call) => call.json('{"kind":"PodList","items":[{"metadata":'), 'kubelet-answer-invalid'],
  ['JSON that is no list of pods', (call) => call.json({ kind: 'Status' }), 'kubelet-answer-invalid'],
  ['a connection that is cut', (call) => call.drop(), 'kubelet-unavailable'],
] as [string, (call: ApiCall) => void, string][]) {
  t.test(`${name}: the view stays, and why is said once`, async (t) => {
    const { source, server, pass, uids, log, read } = await scene(t, list(apiPod('a')));
    server.handle = answer;
    await pass(40_000);
    t.same(uids(), ['uid-a']);
    t.equal(source.view.value.reason?.code, code);
    t.equal(log.lines.length, 1);
    t.ok(server.calls.length > 3 && server.calls.length < 10, `${server.calls.length} calls`);
    t.equal(await read('signet_pod_source_up', { source: 'kubelet' }), 0);
    server.handle = list(apiPod('a'), apiPod('b'));
    await pass(30_000);
    t.same(uids(), ['uid-a', 'uid-b']);
    t.equal(source.view.value.reason, undefined);
  });
}
