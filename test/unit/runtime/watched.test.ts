import t from 'tap';
import { WatchedByKey, WatchedValue, joinWatched, mapWatched } from '../../../agent/runtime/watched.js';
import { settle } from '../../fixtures/clock.js';

t.test('a subscriber gets the current value at once and then only the newest', async (t) => {
  const watched = new WatchedValue(1);
  const seen: number[] = [];
  watched.subscribe((value) => seen.push(value));
  t.same(seen, [1]);
  watched.set(2);
  watched.set(3);
  watched.set(4);
  t.equal(watched.value, 4);
  t.same(seen, [1], 'not in the middle of the setter');
  await settle();
  t.same(seen, [1, 4]);
});

t.test('equal values are dropped', async (t) => {
  const byIdentity = new WatchedValue({ a: 1 });
  const byContent = new WatchedValue({ a: 1 }, (x, y) => x.a === y.a);
  let calls = 0;
  byIdentity.subscribe(() => (calls += 1));
  byContent.subscribe(() => (calls += 1));
  calls = 0;
  byContent.set({ a: 1 });
  await settle();
  t.equal(calls, 0);
  byIdentity.set({ a: 1 });
  await settle();
  t.equal(calls, 1);
});

t.test('after unsubscribe no call, not even the pending one; idempotent', async (t) => {
  const watched = new WatchedValue(1);
  const seen: number[] = [];
  const stop = watched.subscribe((value) => seen.push(value));
  watched.set(2);
  stop();
  stop();
  await settle();
  t.same(seen, [1]);
  t.equal(watched.subscribers, 0);
});

t.test('an aborted signal unsubscribes', async (t) => {
  const watched = new WatchedValue(1);
  const controller = new AbortController();
  const seen: number[] = [];
  watched.subscribe((value) => seen.push(value), controller.signal);
  watched.set(2);
  controller.abort();
  await settle();
  t.same(seen, [1]);
  t.equal(watched.subscribers, 0);
  watched.subscribe((value) => seen.push(value), controller.signal);
  t.same(seen, [1], 'a signal that is aborted already: not called at all');
});

t.test('a listener may set, subscribe and unsubscribe', async (t) => {
  const watched = new WatchedValue(0);
  const seen: string[] = [];
  const stop = watched.subscribe((value) => {
    seen.push(`a${value}`);
    if (value === 1) {
      watched.set(2);
      watched.subscribe((inner) => seen.push(`b${inner}`));
    }
    if (value === 2) stop();
  });
  watched.set(1);
  await settle();
  watched.set(3);
  await settle();
  t.same(seen, ['a0', 'a1', 'b2', 'a2', 'b3']);
});

t.test('by key: the value is the owner’s, a key lives while it is subscribed to', async (t) => {
  const state = new Map([['a', 1]]);
  const byKey = new WatchedByKey((key) => state.get(key));
  const a = byKey.watch('a');
  t.equal(a.value, 1);
  t.equal(byKey.size, 0, 'reading costs nothing');
  const seen: (number | undefined)[] = [];
  const one = a.subscribe((value) => seen.push(value));
  const two = byKey.watch('a').subscribe((value) => seen.push(value));
  t.same([byKey.size, byKey.has('a'), byKey.has('b')], [1, true, false]);
  state.set('a', 2);
  byKey.changed('a');
  byKey.changed('b');
  await settle();
  t.same(seen, [1, 1, 2, 2]);
  one();
  one();
  t.equal(byKey.size, 1);
  two();
  t.equal(byKey.size, 0);
  state.set('a', 3);
  byKey.changed('a');
  await settle();
  t.same(seen, [1, 1, 2, 2]);
  t.equal(a.value, 3);
});

t.test('by key: a name that comes later reaches who waited; a change nobody announced reaches the next subscriber', async (t) => {
  const state = new Map<string, number>();
  const byKey = new WatchedByKey((key) => state.get(key));
  const seen: (number | undefined)[] = [];
  const stop = byKey.watch('late').subscribe((value) => seen.push(value));
  state.set('late', 7);
  byKey.changed('late');
  await settle();
  t.same(seen, [undefined, 7]);
  state.set('late', 8);
  const other: (number | undefined)[] = [];
  const stopOther = byKey.watch('late').subscribe((value) => other.push(value));
  t.same(other, [8]);
  stop();
  stopOther();
  t.equal(byKey.size, 0);
});

t.test('by key: signals', async (t) => {
  const byKey = new WatchedByKey((key) => key);
  const controller = new AbortController();
  byKey.watch('a').subscribe(() => {}, controller.signal);
  t.equal(byKey.size, 1);
  controller.abort();
  t.equal(byKey.size, 0);
  byKey.watch('a').subscribe(() => t.fail('aborted before'), controller.signal);
  t.equal(byKey.size, 0);
  const inside = new AbortController();
  byKey.watch('a').subscribe(() => inside.abort(), inside.signal);
  t.equal(byKey.size, 0, 'aborted by the first call');
});

t.test('by key: ten thousand names leave nothing behind', async (t) => {
  const byKey = new WatchedByKey(() => undefined);
  const stops = Array.from({ length: 10_000 }, (_, index) => byKey.watch(`name-${index}`).subscribe(() => {}));
  t.equal(byKey.size, 10_000);
  for (const stop of stops) stop();
  t.equal(byKey.size, 0);
});

t.test('mapWatched shows the source through a projection', async (t) => {
  const source = new WatchedValue(1);
  const doubled = mapWatched(source, (value) => value * 2);
  const seen: number[] = [];
  const unsubscribe = doubled.subscribe((value) => seen.push(value));
  source.set(2);
  t.equal(doubled.value, 4);
  await settle();
  unsubscribe();
  source.set(3);
  await settle();
  t.same(seen, [2, 4]);
});

t.test('joinWatched shows all sources as one', async (t) => {
  const [one, two] = [new WatchedValue(1), new WatchedValue(2)];
  const joined = joinWatched([one, two]);
  const seen: (readonly number[])[] = [];
  const unsubscribe = joined.subscribe((value) => seen.push(value));
  t.same(seen, [[1, 2]], 'once at the start');
  two.set(3);
  t.same(joined.value, [1, 3]);
  await settle();
  unsubscribe();
  one.set(4);
  await settle();
  t.same(seen, [
    [1, 2],
    [1, 3],
  ]);
  const stop = new AbortController();
  joined.subscribe((value) => seen.push(value), stop.signal);
  stop.abort();
  joined.subscribe((value) => seen.push(value), stop.signal);
  two.set(5);
  await settle();
  t.equal(seen.length, 3);
  t.equal(one.subscribers + two.subscribers, 0);
});
