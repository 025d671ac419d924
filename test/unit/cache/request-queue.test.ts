import t from 'tap';
import { RequestQueue } from '../../../agent/cache/request-queue.js';

const drain = (queue: RequestQueue<string>, struggling = true): string[] => {
  const out: string[] = [];
  for (let item = queue.take(struggling); item !== undefined; item = queue.take(struggling)) out.push(item);
  return out;
};

t.test('by priority, first come first served within one, the struggling after their equals', async (t) => {
  const queue = new RequestQueue<string>();
  queue.add('routine', 'routine', false);
  queue.add('new-struggling', 'new', true);
  queue.add('near-expiry', 'near-expiry', false);
  queue.add('new-1', 'new', false);
  queue.add('new-2', 'new', false);
  queue.add('waited-for', 'waited-for', false);
  t.equal(queue.size, 6);
  t.same(drain(queue), ['waited-for', 'new-1', 'new-2', 'new-struggling', 'near-expiry', 'routine']);
  t.equal(queue.size, 0);
});

t.test('an item is in it once: added again it keeps its place, or moves to its new lane', async (t) => {
  const queue = new RequestQueue<string>();
  queue.add('a', 'routine', false);
  queue.add('b', 'routine', false);
  queue.add('a', 'routine', false);
  t.same(drain(queue), ['a', 'b']);
  queue.add('a', 'routine', false);
  queue.add('b', 'routine', false);
  queue.add('b', 'waited-for', false);
  t.equal(queue.size, 2);
  t.same(drain(queue), ['b', 'a']);
});

t.test('the struggling can be left aside', async (t) => {
  const queue = new RequestQueue<string>();
  queue.add('struggling', 'waited-for', true);
  queue.add('routine', 'routine', false);
  t.same(drain(queue, false), ['routine']);
  t.same(drain(queue), ['struggling']);
});

t.test('delete and clear', async (t) => {
  const queue = new RequestQueue<string>();
  queue.add('a', 'new', false);
  queue.add('b', 'new', true);
  queue.delete('a');
  queue.delete('never there');
  t.same(drain(queue), ['b']);
  queue.add('c', 'new', false);
  queue.clear();
  t.equal(queue.take(true), undefined);
});
