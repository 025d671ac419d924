import t from 'tap';
import { createLineBound } from '../../../agent/runtime/line-bound.js';
import { createFakeClock } from '../../fixtures/clock.js';

t.test('a burst, then one a second; what is left out is counted for the next line', async (t) => {
  const clock = createFakeClock();
  const lines = createLineBound(clock, 3);
  for (let line = 0; line < 3; line += 1) t.strictSame(lines.take(), {});
  t.equal(lines.take(), undefined);
  t.equal(lines.take(), undefined);
  t.equal(lines.isFull, false);
  await clock.advance(1_000);
  t.strictSame(lines.take(), { suppressed: 2 });
  await clock.advance(1_000);
  t.strictSame(lines.take(), {}, 'counted once');
  await clock.advance(3_000);
  t.equal(lines.isFull, true);
});
