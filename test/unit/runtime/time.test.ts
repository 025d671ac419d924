import fc from 'fast-check';
import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { aborted, backoff, maxAlarmMs, nextTurn, settleWithin, sleep, systemClock, withDeadline } from '../../../agent/runtime/time.js';
import { createFakeClock } from '../../fixtures/clock.js';

t.test('backoff doubles, is capped, and jitter takes off at most a half', async (t) => {
  const options = { minMs: 200, maxMs: 5_000 };
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 1_000].map((attempt) => backoff(attempt, options, () => 0));
  t.same(ceilings, [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, random) => {
      const wait = backoff(attempt, options, () => random);
      return wait > 100 - 1e-9 && wait <= 5_000;
    }),
  );
  t.ok(backoff(1, options) <= 200, 'random by default');
});

t.test('sleep', async (t) => {
  const clock = createFakeClock();
  const controller = new AbortController();
  let woke = false;
  const sleeping = sleep(clock, 100, controller.signal).then(() => (woke = true));
  await clock.advance(99);
  t.notOk(woke);
  await clock.advance(1);
  t.ok(woke);
  await sleeping;

  const cancelled = sleep(clock, 100, controller.signal);
  controller.abort();
  await t.rejects(cancelled, { name: 'SignetError', kind: 'cancelled' });
  await t.rejects(sleep(clock, 100, controller.signal), { name: 'SignetError', kind: 'cancelled' }, 'a signal that is aborted already');
  t.equal(clock.alarms, 0);
});

t.test('withDeadline', async (t) => {
  const never = new AbortController().signal;
  t.test('passes the result and errors on and leaves no alarm', async (t) => {
    const clock = createFakeClock();
    t.equal(await withDeadline(clock, 10, 'call', never, async () => 5), 5);
    await t.rejects(
      withDeadline(clock, 10, 'call', never, async () => Promise.reject(new SignetError('denied', 'no'))),
      { name: 'SignetError', kind: 'denied' },
    );
    await t.rejects(
      withDeadline(clock, 10, 'call', never, () => {
        throw new SignetError('invalid', 'thrown before the first await');
      }),
      { name: 'SignetError', kind: 'invalid' },
    );
    t.equal(clock.alarms, 0);
  });
  t.test('settles at the deadline even when the work does not, and aborts it', async (t) => {
    const clock = createFakeClock();
    let inner: AbortSignal | undefined;
    let settled: unknown;
    void withDeadline(clock, 10_000, 'call', never, (signal) => {
      inner = signal;
      return new Promise(() => {});
    }).catch((error: unknown) => (settled = error));
    await clock.advance(9_999);
    t.equal(settled, undefined);
    await clock.advance(1);
    t.match(settled, { kind: 'deadline', message: 'call took too long', fields: { deadlineMs: 10_000 } });
    t.ok(inner?.aborted);
  });
  t.test('work that fails after the deadline is not an unhandled rejection', async (t) => {
    const clock = createFakeClock();
    const call = withDeadline(clock, 1, 'call', never, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new Error('too late');
    });
    const rejected = t.rejects(call, { name: 'SignetError', kind: 'deadline' });
    await clock.advance(1);
    await rejected;
    await nextTurn();
  });
  t.test('the outer signal cancels', async (t) => {
    const clock = createFakeClock();
    const controller = new AbortController();
    let inner: AbortSignal | undefined;
    const call = withDeadline(clock, 10, 'call', controller.signal, (signal) => {
      inner = signal;
      return new Promise(() => {});
    });
    controller.abort();
    await t.rejects(call, { name: 'SignetError', kind: 'cancelled' });
    t.ok(inner?.aborted);
    let called = false;
    await t.rejects(
      withDeadline(clock, 10, 'call', controller.signal, async () => (called = true)),
      { name: 'SignetError', kind: 'cancelled' },
    );
    t.notOk(called, 'work is not begun under an aborted signal');
    t.equal(clock.alarms, 0);
  });
  t.test('a deadline above it is one for it too', async (t) => {
    const clock = createFakeClock();
    let seen: unknown;
    const outer = withDeadline(clock, 10, 'all of it', never, (above) =>
      withDeadline(clock, 20, 'a part', above, (signal) => {
        signal.addEventListener('abort', () => (seen = signal.reason));
        return new Promise(() => {});
      }),
    );
    const rejected = t.rejects(outer, { name: 'SignetError', kind: 'deadline', message: 'all of it took too long' });
    await clock.advance(10);
    await rejected;
    t.match(seen, { kind: 'deadline', message: 'all of it took too long' });
    t.equal(clock.alarms, 0);
  });
});

t.test('settleWithin', async (t) => {
  const clock = createFakeClock();
  t.equal(await settleWithin(clock, 10, 'call', async () => 5), 5);
  await t.rejects(
    settleWithin(clock, 10, 'call', () => {
      throw new SignetError('invalid', 'thrown before the first await');
    }),
    { name: 'SignetError', kind: 'invalid' },
  );
  t.equal(clock.alarms, 0);

  let fail = (_error: Error): void => {};
  const call = settleWithin(clock, 10, 'call', () => new Promise((_resolve, reject) => (fail = reject)));
  const rejected = t.rejects(call, { name: 'SignetError', kind: 'deadline', message: 'call took too long', fields: { deadlineMs: 10 } });
  await clock.advance(10);
  await rejected;
  fail(new Error('too late: not an unhandled rejection'));
  await nextTurn();
});

t.test('the system clock', async (t) => {
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1_000);
  t.ok(systemClock.monotonic() <= systemClock.monotonic());
  const overflowing = systemClock.alarm(10 ** 13, () => t.fail('a delay above 2^31-1 ms must not fire at once'));
  await new Promise<void>((resolve) => systemClock.alarm(-1, resolve));
  const cancelled = systemClock.alarm(0, () => t.fail('cancelled'));
  cancelled.cancel();
  await new Promise<void>((resolve) => systemClock.alarm(2, resolve));
  overflowing.cancel();
  t.equal(maxAlarmMs, 86_400_000);
});

t.test('nextTurn comes after all microtasks', async (t) => {
  const seen: string[] = [];
  const turn = nextTurn().then(() => seen.push('turn'));
  void Promise.resolve().then(() => queueMicrotask(() => seen.push('microtask')));
  await turn;
  t.same(seen, ['microtask', 'turn']);
});

t.test('aborted', async (t) => {
  const controller = new AbortController();
  let seen = false;
  const waiting = aborted(controller.signal).then(() => (seen = true));
  await nextTurn();
  t.notOk(seen);
  controller.abort();
  await waiting;
  await aborted(controller.signal);
});
