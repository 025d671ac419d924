import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createReadiness, createTaskGroup } from '../../../agent/runtime/lifecycle.js';
import type { ReadinessState } from '../../../agent/runtime/lifecycle.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

t.test('readiness: ready when all gates are open, latched until the drain', async (t) => {
  const readiness = createReadiness();
  const pods = readiness.gate('pods', { code: 'pods-unread', detail: '' });
  const bundle = readiness.gate('bundle', { code: 'bundle-missing', detail: '' });
  const codes = (): string[] => [...readiness.state.value.reasons].map(([gate, reason]) => `${gate}:${reason.code}`);
  t.same([readiness.state.value.ready, codes()], [false, ['pods:pods-unread', 'bundle:bundle-missing']]);
  pods.open();
  t.same([readiness.state.value.ready, codes()], [false, ['bundle:bundle-missing']]);
  bundle.open();
  t.same([readiness.state.value.ready, codes()], [true, []]);
  pods.close({ code: 'pods-file-invalid', detail: 'document 2, line 7' });
  t.same([readiness.state.value.ready, codes()], [true, ['pods:pods-file-invalid']], 'a later fault shows, the latch holds');
  readiness.drain();
  t.same([readiness.state.value.ready, codes()], [false, ['pods:pods-file-invalid', 'process:draining']]);
  pods.open();
  t.equal(readiness.state.value.ready, false, 'draining is for good');
});

t.test('readiness: only changes are told', async (t) => {
  const readiness = createReadiness();
  const gate = readiness.gate('pods', { code: 'pods-unread', detail: '' });
  const seen: ReadinessState[] = [];
  readiness.state.subscribe((state) => seen.push(state));
  gate.close({ code: 'pods-unread', detail: '' });
  await settle();
  t.equal(seen.length, 1);
  gate.close({ code: 'pods-unread', detail: 'other' });
  await settle();
  gate.open();
  await settle();
  gate.open();
  await settle();
  t.equal(seen.length, 3);
});

t.test('task group: stop aborts all and waits for them', async (t) => {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const group = createTaskGroup(clock, log);
  const ended: string[] = [];
  const task = (name: string, cancelled: boolean) => async (signal: AbortSignal): Promise<void> => {
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
