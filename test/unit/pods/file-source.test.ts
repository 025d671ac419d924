import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createFileSource } from '../../../agent/pods/file-source.js';
import type { IdentityIndex } from '../../../agent/pods/identity-index.js';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import { parseManifests } from '../../../agent/pods/manifest.js';
import type { KnownPod } from '../../../agent/pods/pod.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { advanceUntil, createFakeClock, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { start as startPart } from '../../fixtures/reasons.js';

const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, uid: uid-${name}}\n`;

function start(test: Pick<typeof t, 'teardown'>, path: string) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const source = createFileSource({ path, node: 'node-a', clock, log, metrics });
  const stop = new AbortController();
  const ended = source.run(stop.signal);
  test.teardown(async () => {
    stop.abort();
    await ended;
  });
  return {
    clock,
    log,
    read,
    source,
    uids: (): string[] => [...source.view.value.pods.keys()],
    /** Until the reason has this code. */
    reason: (code: string | undefined) => until(() => source.view.value.reason?.code === code, `reason ${code}`),
  };
}

t.test('a file with a fault or a missing file keeps the last good view and says what is wrong', async (t) => {
  const path = join(t.testdir({ 'pods.yaml': pod('a') }), 'pods.yaml');
  const { source, uids, reason, log, read, clock } = start(t, path);
  t.equal(source.name, path);
  t.same(source.view.value, { pods: new Map(), complete: false, reason: { code: 'pods-unread', detail: path } });
  await reason(undefined);
  t.match(source.view.value, { complete: true });
  t.same(uids(), ['uid-a']);
  t.equal(await read('signet_pod_source_up', { source: path }), 1);

  writeFileSync(path, `${pod('a')}---\nkind: Pod\n\tx: 1\n`);
  await reason('pods-file-invalid');
  t.equal(source.view.value.reason?.detail, 'document 2, line 6: Tabs are not allowed as indentation');
  t.same(uids(), ['uid-a']);
  t.equal(source.view.value.complete, true);
  t.match(log.lines.at(-1), { level: 'warn', fields: { path, document: 2, line: 6, reason: 'pods-file-invalid' } });
  t.equal(await read('signet_pod_source_up', { source: path }), 0);
  t.equal(await read('signet_reloads_total', { file: 'pods', result: 'invalid' }), 1);

  writeFileSync(path, `${pod('a')}---\n${pod('b')}`);
  await reason(undefined);
  t.same(uids(), ['uid-a', 'uid-b']);

  rmSync(path);
  await advanceUntil(clock, 250, () => source.view.value.reason !== undefined);
  t.same(source.view.value.reason, { code: 'pods-file-missing', detail: `${path}: file does not exist` });
  t.same(uids(), ['uid-a', 'uid-b']);
  t.equal(await read('signet_pod_source_errors_total', { source: path }), 2);
});

t.test('started with a broken or missing file, the view is not complete until the file is good', async (t) => {
  const path = join(t.testdir({}), 'pods.yaml');
  const { source, uids, reason } = start(t, path);
  await reason('pods-file-missing');
  t.equal(source.view.value.complete, false);
  writeFileSync(path, 'kind: Pod\n');
  await reason('pods-file-invalid');
  t.equal(source.view.value.complete, false);
  writeFileSync(path, pod('a'));
  await reason(undefined);
  t.equal(source.view.value.complete, true);
  t.same(uids(), ['uid-a']);
});

t.test('of two files each has a gauge of its own and, after a restart, pods of its own', async (t) => {
  const directory = t.testdir({ 'a.yaml': pod('a'), 'b.yaml': pod('b') });
  const [first, second] = [join(directory, 'a.yaml'), join(directory, 'b.yaml')];
  const services = { clock: createFakeClock(), log: createRecordingLogger() };
  const { metrics, read } = createTestMetrics();
  const indexWith = (restored: readonly KnownPod[]): IdentityIndex => {
    const sources = [first, second].map((path) => createFileSource({ path, node: 'node-a', metrics, ...services }));
    return createIdentityIndex({ sources, restored, trustDomain: 'example.org', select: new WatchedValue({}), metrics, ...services });
  };
  const before = indexWith([]);
  startPart(t, before);
  await until(() => before.pods.value.size === 2, 'both files');

  rmSync(second);
  writeFileSync(first, pod('c'));
  const after = indexWith(before.known());
  t.same([...after.pods.value.keys()].sort(), ['uid-a', 'uid-b'], 'as it was');
  startPart(t, after);
  await advanceUntil(services.clock, 250, () => after.pods.value.has('uid-c'));
  t.same([...after.pods.value.keys()].sort(), ['uid-b', 'uid-c'], 'what left a file is gone, whatever the other one is like');
  await advanceUntil(services.clock, 250, () => after.reason.value?.detail.includes('pods-file-missing') === true);
  t.equal(await read('signet_pod_source_up', { source: first }), 1);
  t.equal(await read('signet_pod_source_up', { source: second }), 0);
});

t.test('kinds that are not pods are told in the log', async (t) => {
  const path = join(t.testdir({ 'pods.yaml': 'apiVersion: apps/v1\nkind: Deployment\n' }), 'pods.yaml');
  const { reason, log } = start(t, path);
  await reason(undefined);
  t.match(log.lines.at(-1), { level: 'info', message: 'read the pods file', fields: { pods: 0, otherKinds: ['Deployment'] } });
});

t.test('the example file holds three service accounts', async (t) => {
  const { pods, otherKinds } = parseManifests(readFileSync('docs/examples/pods.yaml'), { node: 'node-a' });
  t.same(
    [...pods.values()].map(({ namespace, serviceAccount, phase }) => [namespace, serviceAccount, phase]),
    [
      ['shop', 'checkout', 'Running'],
      ['shop', 'cart', 'Running'],
      ['shop', 'cart', 'Running'],
      ['shop', 'payments', 'Pending'],
    ],
  );
  t.same(otherKinds, []);
});
