import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { Lifetime } from '../../../agent/cache/schedule.js';
import { hastenedMs, isOverdue, lifeMs, priorityOf, renewAt, retryAt, soonAfter } from '../../../agent/cache/schedule.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);

const fingerprint = (index: number): string => createHash('sha256').update(String(index)).digest('hex');
const lived = (life: number, share = '80000000', backdatedMs = 0): Lifetime => ({
  receivedAt: start,
  notBefore: start - backdatedMs,
  notAfter: start + life,
  expiresAt: start + life,
  fingerprint: share.padEnd(64, '0'),
});

t.test('the renewal is due at 40 % of the life, give or take 5 %', async (t) => {
  const lives: readonly (readonly [string, number])[] = [
    ['10 s', 10 * second],
    ['1 min', minute],
    ['1 h', hour],
    ['24 h', day],
    ['90 d', 90 * day],
    ['10 years', 3_652 * day],
    ['until year 9999', Date.UTC(9999, 11, 31, 23, 59, 59) - start],
  ];
  for (const [name, life] of lives) {
    const share = (drawn: string): string => ((renewAt(lived(life, drawn)) - start) / life).toFixed(6);
    t.same([share('00000000'), share('80000000'), share('ffffffff')], ['0.350000', '0.400000', '0.450000'], name);
  }
});

t.test('property: the renewal is before half of the life and before the margin, and always the same', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 10 * second, max: 20_000 * day }), fc.integer(), (life, index) => {
      const lifetime = { ...lived(life), fingerprint: fingerprint(index) };
      const due = renewAt(lifetime);
      t.equal(due, renewAt({ ...lifetime }));
      return due > start && due < start + life / 2 && due <= lifetime.expiresAt - Math.min(life / 10, 5 * minute);
    }),
  );
});

t.test('clients count half from notBefore: a CA that dates back is asked sooner, by at most a half', async (t) => {
  const cases: readonly (readonly [string, life: number, backdated: number, shares: readonly string[]])[] = [
    ['signet ca, 24 h', day, 2 * minute, ['0.3495', '0.3994', '0.4494']],
    ['signet ca, 10 s', 10 * second, second, ['0.3150', '0.3600', '0.4050']],
    ['istiod, 10 min', 10 * minute, 2 * minute, ['0.2800', '0.3200', '0.3600']],
    ['istiod, 5 min', 5 * minute, 2 * minute, ['0.2100', '0.2400', '0.2700']],
    ['half is over when it comes', minute, 10 * day, ['0.1750', '0.2000', '0.2250']],
    ['the clock of the CA is ahead', hour, -minute, ['0.3500', '0.4000', '0.4500']],
  ];
  for (const [name, life, backdated, shares] of cases) {
    const share = (drawn: string): string => ((renewAt(lived(life, drawn, backdated)) - start) / life).toFixed(4);
    t.same([share('00000000'), share('80000000'), share('ffffffff')], shares, name);
  }
});

t.test('property: unless a CA dates back by half of the life, its certificates are renewed before half of their validity', async (t) => {
  const lives = fc.integer({ min: 10 * second, max: 20_000 * day });
  const shares = fc.double({ min: -0.5, max: 0.5, noNaN: true });
  const isBeforeHalf = (life: number, share: number, index: number): boolean => {
    const lifetime = { ...lived(life, undefined, life * share), fingerprint: fingerprint(index) };
    return renewAt(lifetime) < (lifetime.notBefore + lifetime.notAfter) / 2;
  };
  t.doesNotThrow(() => fc.assert(fc.property(lives, shares, fc.integer(), isBeforeHalf)));
});

t.test('the signer may want it sooner, not later, and not before a minute is over', async (t) => {
  const due = (refreshMs: number, life = day): number => renewAt({ ...lived(life), refreshAt: start + refreshMs }) - start;
  t.equal(due(hour), hour);
  t.equal(due(0.9 * day), 0.4 * day);
  for (const past of [minute, 0, -hour, -Infinity]) t.equal(due(past), minute);
  t.equal(due(-hour, 10 * second), 4 * second, 'what lives shorter is renewed as ever');
});

t.test('a certificate that is nearly or quite at its end when it comes makes no tight loop', async (t) => {
  for (const life of [5 * second, second, 1, 0, -hour]) t.ok(renewAt(lived(life)) >= start + 2 * second, `${life} ms`);
  t.equal(lifeMs(lived(-hour)), 0);
});

t.test('certificates issued at once are not due at once', async (t) => {
  const due = Array.from({ length: 500 }, (_, index) => renewAt({ ...lived(day), fingerprint: fingerprint(index) }));
  const spread = Math.max(...due) - Math.min(...due);
  t.ok(spread > 0.095 * day, `spread over ${spread / day} of the life`);
  const perBucket = new Map<number, number>();
  for (const at of due)
    perBucket.set(Math.floor((at - start) / (day / 200)), (perBucket.get(Math.floor((at - start) / (day / 200))) ?? 0) + 1);
  t.ok(perBucket.size >= 20, 'all twentieths of the window are used');
  t.ok(Math.max(...perBucket.values()) < 50, 'no twentieth has twice its share');
});

t.test('overdue is a tenth of the life after the due time', async (t) => {
  t.equal(isOverdue(lived(hour), start + 0.5 * hour), false);
  t.equal(isOverdue(lived(hour), start + 0.5 * hour + 1), true);
});

t.test('priorities', async (t) => {
  const served = lived(hour);
  const table: readonly (readonly [boolean, Lifetime | undefined, number, string])[] = [
    [true, undefined, start, 'waited-for'],
    [true, served, start, 'waited-for'],
    [false, undefined, start, 'new'],
    [false, served, start + 24 * minute, 'routine'],
    [false, served, start + 45 * minute, 'routine'],
    [false, served, start + 45 * minute + 1, 'near-expiry'],
  ];
  for (const [waitedFor, lifetime, now, expected] of table)
    t.equal(priorityOf(waitedFor, lifetime, true, now), expected, `${waitedFor} ${now - start}`);
  t.equal(priorityOf(false, served, false, start), 'near-expiry', 'that no published root verifies');
  t.equal(priorityOf(false, undefined, true, start), 'new');
  t.equal(priorityOf(true, served, false, start), 'waited-for');
});

t.test('soon: spread over ten seconds, or a tenth of the life', async (t) => {
  const of = (share: string, life = day): Lifetime => lived(life, share);
  t.equal(soonAfter(of('00000000'), start), start);
  t.equal(soonAfter(of('80000000'), start), start + 5 * second);
  t.equal(soonAfter(of('80000000', minute), start), start + 3 * second, 'a short life cannot wait');
});

t.test('back-off: fast for a young identity, else slower, both capped', async (t) => {
  const waits = (since: number, lifetimeMs: number): number[] =>
    [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => retryAt({ failures, since, served: undefined, lifetimeMs }, start, () => 0) - start);
  t.same(waits(start - 59_999, day), [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]);
  t.same(waits(start - minute, day), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  t.same(
    waits(start - minute, 20 * second),
    [1_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000],
    'short lives cannot wait a minute',
  );
  t.same(waits(start - minute, second), [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000], 'but never below a second');
  const jittered = retryAt({ failures: 100, since: 0, served: undefined, lifetimeMs: day }, start, () => 0.999) - start;
  t.ok(jittered > 30_000 && jittered < 30_100, 'jitter takes off up to a half');
});

t.test('property: no retry is so late that a kept certificate ends without a last try', async () => {
  const share = fc.double({ min: 0, max: 0.9999, noNaN: true });
  fc.assert(
    fc.property(
      fc.integer({ min: 10 * second, max: 90 * day }),
      share,
      share,
      fc.integer({ min: 1, max: 50 }),
      (life, elapsed, random, failures) => {
        const served = lived(life);
        const now = start + life * elapsed;
        const at = retryAt({ failures, since: 0, served, lifetimeMs: life }, now, () => random);
        const lastTryAt = served.expiresAt - Math.min(life / 10, 5 * minute);
        return at > now && (now >= lastTryAt || at <= lastTryAt);
      },
    ),
  );
});

t.test('who waits may have another try a second after the last failure', async (t) => {
  t.same([0, 400, 1_000, hour].map(hastenedMs), [1_000, 600, 0, 0]);
});
