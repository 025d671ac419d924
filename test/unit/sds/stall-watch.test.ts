import t from 'tap';
import { createStallWatch } from '../../../agent/sds/stall-watch.js';
import { createFakeClock } from '../../fixtures/clock.js';

void t.test('tells each writer that is not done in time, once, by one alarm', async (t) => {
  const clock = createFakeClock();
  const stalled: string[] = [];
  const watch = createStallWatch<string>(clock, 1_000, (writer) => stalled.push(writer));
  watch.begin('a');
  await clock.advance(400);
  watch.begin('b');
  watch.begin('c');
  t.equal(clock.alarms, 1);
  watch.end('b');
  await clock.advance(599);
  t.same(stalled, []);
  await clock.advance(1);
  t.same(stalled, ['a']);
  await clock.advance(400);
  t.same(stalled, ['a', 'c']);
  t.equal(clock.alarms, 0);
});

void t.test('has no alarm while nothing is written', async (t) => {
  const clock = createFakeClock();
  const watch = createStallWatch<string>(clock, 1_000, () => t.fail('done in time'));
  watch.begin('a');
  watch.end('a');
  t.equal(clock.alarms, 0);
  watch.begin('a');
  await clock.advance(999);
  watch.end('a');
  watch.begin('a');
  await clock.advance(999);
  watch.end('a');
  t.equal(clock.alarms, 0);
});
