import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createReadiness, createTaskGroup } from '../../../agent/runtime/lifecycle.js';
import type { ReadinessState } from '../../../agent/runtime/lifecycle.js';
import type { Reason } from '../../../agent/runtime/reasons.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

const unread: Reason = { code: 'pods-unread', detail: '' };
const bundleMissing: Reason = { code: 'bundle-missing', detail: '' };

t.test('readiness: ready when no needed reason is left, latched until the drain', async (t) => {
  const readiness = createReadiness();
  const [pods, bundle, http] = [unread, bundleMissing, undefined].map((reason) => new WatchedValue<Reason | undefined>(reason)) as [
    WatchedValue<Reason | undefined>,
    WatchedValue<Reason | undefined>,
    WatchedValue<Reason | undefined>,
  ];
  readiness.follow('pods', pods, 'needed');
  readiness.follow('bundle', bundle, 'needed');
  readiness.follow('http', http, 'noted');
  const state = async (): Promise<unknown> => {
    await settle();
    const { ready, reasons } = readiness.state.value;
    return [ready, [...reasons].map(([name, reason]) => `${name}:${reason.code}`)];
  };
  t.same(await state(), [false, ['pods:pods-unread', 'bundle:bundle-missing']]);
  pods.set(undefined);
  http.set({ code: 'http-port-taken', detail: '' });
  t.same(await state(), [false, ['bundle:bundle-missing', 'http:http-port-taken']]);
  bundle.set(undefined);
  t.same(await state(), [true, ['http:http-port-taken']], 'what is only noted keeps nothing back');
  pods.set({ code: 'pods-file-invalid', detail: 'document 2, line 7' });
  http.set(undefined);
  t.same(await state(), [true, ['pods:pods-file-invalid']], 'a later fault shows, the latch holds');
  readiness.drain();
  t.same(await state(), [false, ['pods:pods-file-invalid', 'process:draining']]);
  pods.set(undefined);
  t.same(await state(), [false, ['process:draining']], 'draining is for good');
});

t.test('readiness: of one name some reasons are needed and others only noted', async (t) => {
  const readiness = createReadiness();
  const roots = new WatchedValue<Reason | undefined>(bundleMissing);
  readiness.follow('roots', roots, ({ code }) => (code === 'root-expired' ? 'noted' : 'needed'));
  t.equal(readiness.state.value.ready, false);
  roots.set({ code: 'root-expired', detail: 'sha-256 0a' });
  await settle();
  t.equal(readiness.state.value.ready, true);
  t.equal(readiness.state.value.reasons.get('roots')?.code, 'root-expired', 'and is shown');
});

t.test('readiness: what is followed in one turn counts together', async (t) => {
  const readiness = createReadiness();
  const pods = new WatchedValue<Reason | undefined>({ code: 'pods-restored', detail: '' });
  const roots = new WatchedValue<Reason | undefined>(bundleMissing);
  readiness.follow('pods', pods, 'noted');
  readiness.follow('roots', roots, 'needed');
  await settle();
  t.equal(readiness.state.value.ready, false, 'not by the first of them alone');
  roots.set(undefined);
  await settle();
  t.equal(readiness.state.value.ready, true);
  const all = createReadiness();
  all.follow('pods', pods, 'noted');
  all.follow('http', new WatchedValue<Reason | undefined>(undefined), 'noted');
  await settle();
  t.equal(all.state.value.ready, true, 'and at once when nothing is needed');
});

t.test('readiness: only changes are told', async (t) => {
  const readiness = createReadiness();
  const pods = new WatchedValue<Reason | undefined>(unread);
  readiness.follow('pods', pods, 'needed');
  const seen: ReadinessState[] = [];
  readiness.state.subscribe((state) => seen.push(state));
  for (const reason of [{ ...unread }, { ...unread, detail: 'other' }, undefined, undefined]) {
    pods.set(reason);
    await settle();
  }
  t.equal(seen.length, 3);
});

t.test('task group: stop aborts all and waits for them', async (t) => {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const group = createTaskGroup(clock, log);
  const ended: string[] = [];
  const task =
    (name: string, cancelled: boolean) =>
    async (signal: AbortSignal): Promise<void> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.push(name);
      if (cancelled) throw new SignetError('cancelled', 'wait cancelled');
    };
  group.start('a', task('a', false));
  group.start('b', task('b', true));
  group.start('short', async () => {});
  await settle();
  t.same(ended, []);
  await group.stop(1_000);
  t.same(ended, ['a', 'b']);
  await group.ended;
  await group.stop(1_000);
  t.equal(clock.alarms, 0);
  t.same(log.lines, []);
});

t.test('task group: a task that does not end is left behind at the deadline', async (t) => {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const group = createTaskGroup(clock, log);
  group.start('stuck', () => new Promise(() => {}));
  let stopped = false;
  const stopping = group.stop(1_000).then(() => (stopped = true));
  await clock.advance(999);
  t.notOk(stopped);
  await clock.advance(1);
  await stopping;
  t.match(log.lines, [{ level: 'warn', message: 'tasks did not end in time', fields: { tasks: 1 } }]);
});

t.test('task group: a task that fails ends the group with its error', async (t) => {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const group = createTaskGroup(clock, log);
  group.start('broken', async () => {
    throw new SignetError('internal', 'bug: impossible');
  });
  await t.rejects(group.ended, { message: 'bug: impossible' });
  t.match(log.lines, [{ level: 'error', fields: { task: 'broken', error: 'bug: impossible', kind: 'internal' } }]);
  await group.stop(1_000);
});
