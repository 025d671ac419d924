// The fake clock must be right before anything that is tested with it.

import t from 'tap';
import { createFakeClock, until } from '../fixtures/clock.js';

t.test('runs alarms in the order of their due times, with the clock at each', async (t) => {
  const clock = createFakeClock({ startAt: 5_000 });
  const start = clock.monotonic();
  const seen: [string, number, number][] = [];
  const note = (name: string) => (): void => void seen.push([name, clock.now(), clock.monotonic() - start]);
  clock.alarm(30, note('c'));
  clock.alarm(10, note('a'));
  clock.alarm(10, note('b'));
  clock.alarm(41, note('late'));
  await clock.advance(40);
  t.same(seen, [
    ['a', 5_010, 10],
    ['b', 5_010, 10],
    ['c', 5_030, 30],
  ]);
  t.equal(clock.now(), 5_040);
  t.equal(clock.alarms, 1);
});

t.test('an alarm set by an alarm, also after awaits, runs in the same advance', async (t) => {
  const clock = createFakeClock();
  const seen: string[] = [];
  clock.alarm(10, () => {
    seen.push('first');
    void Promise.resolve()
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => clock.alarm(10, () => seen.push('second')));
  });
  await clock.advance(20);
  t.same(seen, ['first', 'second']);
});

t.test('cancel, clamp and negative delay', async (t) => {
  const clock = createFakeClock();
  let fired = 0;
  const alarm = clock.alarm(5, () => (fired += 1));
  alarm.cancel();
  alarm.cancel();
  t.equal(clock.alarms, 0);
  clock.alarm(-5, () => (fired += 1));
  clock.alarm(1e15, () => (fired += 1));
  await clock.advance(0);
  t.equal(fired, 1, 'a negative delay is due at once');
  await clock.advance(24 * 3_600_000);
  t.equal(fired, 2, 'no alarm is later than a day');
});

t.test('step moves the wall clock alone', async (t) => {
  const clock = createFakeClock();
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  let fired = false;
  clock.alarm(1_000, () => (fired = true));
  clock.step(3_600_000);
  await clock.advance(999);
  t.notOk(fired);
  t.equal(clock.now() - wall, 3_600_999);
  t.equal(clock.monotonic() - monotonic, 999);
});

t.test('nextAlarm resolves with the delay', async (t) => {
  const clock = createFakeClock();
  const next = clock.nextAlarm();
  clock.alarm(250, () => {});
  t.equal(await next, 250);
});

t.test('an endless loop of alarms is an error, not a hanging test', async (t) => {
  const clock = createFakeClock();
  const again = (): void => void clock.alarm(0, again);
  again();
  await t.rejects(clock.advance(1), /without end/);
});

t.test('until waits for real work', async (t) => {
  let done = false;
  setTimeout(() => (done = true), 5);
  await until(() => done);
  t.ok(done);
});
