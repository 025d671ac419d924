import t from 'tap';
import type { Bell } from '../../../agent/runtime/bell.js';
import { createBell, watchChanges } from '../../../agent/runtime/bell.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock } from '../../fixtures/clock.js';

function createScene() {
  const [clock, stop] = [createFakeClock(), new AbortController()];
  return { clock, stop, bell: createBell(clock, stop.signal) };
}

/** What a wait that is under way tells in the end. */
function waiting(bell: Pick<Bell, 'wait'>, delayMs: number) {
  const seen: boolean[] = [];
  const ended = bell.wait(delayMs).then((rang) => void seen.push(rang));
  return { seen, ended };
}

t.test('a wait ends after its time, or when it rings', async (t) => {
  const { clock, bell } = createScene();
  const silent = waiting(bell, 1_000);
  await clock.advance(999);
  t.same(silent.seen, []);
  await clock.advance(1);
  await silent.ended;
  t.same(silent.seen, [false]);
  const rung = waiting(bell, 1_000);
  bell.ring();
  await rung.ended;
  t.same(rung.seen, [true]);
  t.equal(clock.alarms, 0);
});

t.test('it rang meanwhile, however often: the next wait ends at once, the one after it does not', async (t) => {
  const { clock, bell } = createScene();
  bell.ring();
  bell.ring();
  t.equal(await bell.wait(1_000), true);
  const next = waiting(bell, 1_000);
  await clock.advance(999);
  t.same(next.seen, []);
  bell.ring();
  await next.ended;
});

t.test('what is forgotten does not count', async (t) => {
  const { clock, bell } = createScene();
  bell.ring();
  bell.forget();
  const { seen, ended } = waiting(bell, 1_000);
  await clock.advance(1_000);
  await ended;
  t.same(seen, [false]);
});

t.test('the end of the signal ends every wait, and is no ring', async (t) => {
  const { clock, stop, bell } = createScene();
  const { seen, ended } = waiting(bell, 1_000);
  stop.abort();
  await ended;
  t.same(seen, [false]);
  t.equal(await bell.wait(1_000), false);
  t.equal(await bell.wait(1_000), false);
  t.equal(clock.alarms, 0);
});

t.test('changes of a value ring; the value that it has does not', async (t) => {
  const { clock, stop } = createScene();
  const value = new WatchedValue(1);
  const changes = watchChanges(value, clock, stop.signal);
  const first = waiting(changes, 1_000);
  await clock.advance(500);
  t.same(first.seen, []);
  value.set(2);
  await first.ended;
  t.same(first.seen, [true]);
  stop.abort();
});
