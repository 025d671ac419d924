import t from 'tap';
import { createSeldom } from '../../../agent/sds/seldom.js';
import { createFakeClock } from '../../fixtures/clock.js';

t.test('each key is said once in a time', async (t) => {
  const clock = createFakeClock();
  const may = createSeldom(clock, 60_000);
  t.same([may('a'), may('a'), may('b')], [true, false, true]);
  await clock.advance(59_999);
  t.notOk(may('a'));
  await clock.advance(1);
  t.same([may('a'), may('b'), may('a')], [true, true, false]);
});

t.test('the memory is bounded', async (t) => {
  const clock = createFakeClock();
  const may = createSeldom(clock, 60_000);
  const said = Array.from({ length: 5_000 }, (_, index) => may(`${index}`)).filter(Boolean);
  t.equal(said.length, 1024);
  await clock.advance(60_000);
  t.ok(may('4000'));
});
