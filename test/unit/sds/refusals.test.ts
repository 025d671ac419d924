import t from 'tap';
import { createRefusals } from '../../../agent/sds/refusals.js';
import { createFakeClock } from '../../fixtures/clock.js';

void t.test('a refusal holds 10 s, for its connection and name alone', async (t) => {
  const clock = createFakeClock();
  const refusals = createRefusals(clock);
  t.equal(refusals.find('x', 'a'), undefined);
  refusals.add('x', 'a', 'v1');
  t.match(refusals.find('x', 'a'), { version: 'v1', until: clock.monotonic() + 10_000 });
  t.equal(refusals.find('y', 'a'), undefined);
  t.equal(refusals.find('x', 'b'), undefined);
  await clock.advance(9_999);
  t.ok(refusals.find('x', 'a'));
  await clock.advance(1);
  t.equal(refusals.find('x', 'a'), undefined);
});

void t.test('the newest counts, and the oldest makes room', async (t) => {
  const clock = createFakeClock();
  const refusals = createRefusals(clock);
  refusals.add('x', 'a', 'v1');
  await clock.advance(6_000);
  refusals.add('x', 'a', 'v2');
  await clock.advance(6_000);
  t.match(refusals.find('x', 'a'), { version: 'v2' });
  for (let index = 0; index < 4_096; index += 1) refusals.add('x', `n${index}`, 'v');
  t.equal(refusals.find('x', 'a'), undefined);
  t.ok(refusals.find('x', 'n0'));
});
