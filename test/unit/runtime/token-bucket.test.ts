import t from 'tap';
import { createTokenBucket } from '../../../agent/runtime/token-bucket.js';
import { createFakeClock } from '../../fixtures/clock.js';

t.test('the burst at once, then what time brings back, never more than the burst', async (t) => {
  const clock = createFakeClock();
  const bucket = createTokenBucket(clock, 3, 2);
  const takeAll = (): number => {
    let taken = 0;
    while (bucket.take()) taken += 1;
    return taken;
  };
  t.ok(bucket.isFull);
  t.equal(takeAll(), 3);
  t.notOk(bucket.isFull);
  await clock.advance(499);
  t.equal(takeAll(), 0);
  await clock.advance(1);
  t.equal(takeAll(), 1);
  await clock.advance(1_499);
  t.notOk(bucket.isFull);
  await clock.advance(1);
  t.ok(bucket.isFull);
  await clock.advance(60_000);
  t.equal(takeAll(), 3);
  clock.step(3_600_000);
  t.equal(takeAll(), 0, 'a step of the wall clock brings nothing');
});
