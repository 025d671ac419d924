// How many calls are under way, and when there are none left.

import { Gauge, Histogram } from 'prom-client';
import t from 'tap';
import { createCalls } from '../../../agent/grpc/calls.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

function createScene() {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const inFlight = new Gauge({ name: 'in_flight', help: 'x', registers: [] });
  const seconds = new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers: [] });
  return { clock, log, inFlight, seconds, calls: createCalls({ limit: 2, clock, log, metrics: { inFlight, seconds } }) };
}

t.test('so many at once and no more', async (t) => {
  const { calls, inFlight, seconds, clock } = createScene();
  const [first, second] = [calls.enter(), calls.enter()];
  t.ok(first !== undefined && second !== undefined);
  t.equal(calls.enter(), undefined);
  t.equal((await inFlight.get()).values[0]?.value, 2);
  await clock.advance(3_000);
  first?.leave();
  t.ok(calls.enter(), 'one that left makes room');
  t.match((await seconds.get()).values, [{ value: 0 }, { value: 1 }, { value: 3 }, { value: 1 }], 'one of three seconds');
});

t.test('idle waits for the last call, or for its deadline', async (t) => {
  const { calls, clock, log } = createScene();
  await calls.idle(1_000);
  const [first, second] = [calls.enter(), calls.enter()];
  let isIdle = false;
  const idle = calls.idle(1_000).then(() => (isIdle = true));
  first?.leave();
  await clock.advance(999);
  t.notOk(isIdle);
  second?.leave();
  await idle;
  t.same(log.lines, []);

  calls.enter();
  const late = calls.idle(1_000);
  await clock.advance(1_000);
  await late;
  t.match(log.lines, [{ level: 'warn', fields: { calls: 1 } }]);
});
