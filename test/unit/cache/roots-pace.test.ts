import t from 'tap';
import { RootsPace } from '../../../agent/cache/roots-pace.js';
import type { Lifetime } from '../../../agent/cache/schedule.js';

const second = 1_000;
const day = 24 * 3_600 * second;
const start = Date.UTC(2026, 0, 1);
/** Its share of ten seconds is five. */
const served: Lifetime = {
  receivedAt: start,
  notBefore: start,
  notAfter: start + day,
  expiresAt: start + day,
  fingerprint: '80000000'.padEnd(64, '0'),
};
/** A pace after attempts that changed roots brought forward, at those instants. */
const after = (...attempts: readonly number[]): RootsPace => {
  const pace = new RootsPace();
  for (const at of attempts) {
    pace.broughtForward();
    pace.begin(at);
  }
  return pace;
};
const s = (instant: number): number => (instant - start) / second;

t.test('a renewal: spread, twice a minute, and kept while the root comes and goes', async (t) => {
  const pace = new RootsPace();
  t.equal(s(pace.renewalAt(served, start)), 5);
  pace.putBack();
  t.equal(s(pace.renewalAt(served, start + 2 * second)), 5, 'as planned before');
  t.equal(s(pace.renewalAt(served, start + 34 * second)), 34, 'its time came while it was not needed');
  t.equal(s(pace.renewalAt(served, start + 35 * second)), 40, 'long ago');
  t.equal(s(pace.renewalAt(served, start - day)), 30 - 86_400, 'the clock was set back');
  pace.begin(start + 40 * second);
  t.equal(s(pace.renewalAt(served, start + 41 * second)), 46, 'an attempt that nothing brought forward does not count');
  t.equal(s(after(start).renewalAt(served, start + second)), 30);
  t.equal(s(after(start).renewalAt(served, start + 28 * second)), 33, 'the spread is kept after the bound');
  t.equal(s(after(start).renewalAt(served, start + 45 * second)), 50);
});

t.test('a retry: at once where nothing is served, two in a row, then twice a minute', async (t) => {
  t.equal(s(new RootsPace().retryAt(undefined, start)), 0);
  t.equal(s(new RootsPace().retryAt(served, start)), 5);
  t.equal(s(after(start).retryAt(undefined, start + second)), 1, 'a second time');
  t.equal(s(after(start, start + second).retryAt(undefined, start + 2 * second)), 30, 'then not for a while');
  t.equal(s(after(start + day, start + day).retryAt(undefined, start)), 30, 'the clock was set back');
  t.equal(s(after(start + day, start).renewalAt(served, start)), 30, 'and the bound is forgotten soon');
});
