// What the cache promises for many identities: bounded calls, order, no waves, and none that slows the others.

import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

// Thousands of real certificates: seconds of work where all cores are busy with other tests.
t.setTimeout(120_000);

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const names = (count: number, prefix = 'n'): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

t.test('R041, F005: one identity that always fails beside twenty good ones: they are served within 2 s', async (t) => {
  const { ca, clock, want, state } = createCacheScene(t);
  ca.latencyMs = 100;
  ca.outcome = ({ id }) => (id.serviceAccount === 'bad' ? new SignetError('unauthenticated', 'who are you') : undefined);
  await want('bad', ...names(20));
  await clock.advance(2 * second);
  t.same(
    names(20).filter((name) => state(name)?.status !== 'issued'),
    [],
  );
  t.match(state('bad'), { status: 'unavailable', reason: { code: 'ca-denied' } });
});

t.test('identities whose calls hang take at most half of the slots once they are known to', async (t) => {
  const { ca, clock, want, state } = createCacheScene(t);
  const hanging = names(30, 'hanging');
  ca.outcome = ({ id }) => (id.serviceAccount.startsWith('hanging') ? 'hang' : undefined);
  await want(...hanging);
  await clock.advance(600 * second);
  t.equal(ca.maxInFlight, 8);
  t.ok(ca.inFlight <= 4, `${ca.inFlight} under way`);
  t.match(state('hanging-0'), { status: 'unavailable', reason: { code: 'ca-deadline' } });
  await want(...hanging, ...names(50, 'good'));
  t.same(
    names(50, 'good').filter((name) => state(name)?.status !== 'issued'),
    [],
    'served although 30 others hang',
  );
});

t.test('calls that ignore their abort give their slot back, and only so many are left behind', async (t) => {
  const { ca, clock, want, state, settled } = createCacheScene(t, { concurrency: 2, deadlineMs: 10 * second });
  ca.outcome = ({ id }) => (id.serviceAccount === 'good' ? undefined : 'hang-and-ignore-abort');
  await want(...names(3));
  await clock.advance(second);
  await want(...names(3), 'good');
  t.equal(state('good')?.status, 'pending');
  await clock.advance(10 * second);
  t.equal(state('good')?.status, 'issued', 'waited for the deadline, no longer');
  await clock.advance(1_800 * second);
  t.ok(ca.inFlight <= 8 + 2, `${ca.inFlight} calls left behind`);
  t.match(state('n-0'), { status: 'unavailable', reason: { code: 'ca-deadline' } });
  ca.outcome = () => undefined;
  ca.release();
  await settled();
  await clock.advance(120 * second);
  t.equal(state('n-0')?.status, 'issued', 'calls go out again when the old ones ended');
});

t.test('R047, F037: 500 identities at once: never more calls than allowed, and no second wave', async (t) => {
  const { ca, clock, want, state } = createCacheScene(t, { lifetimeMs: day, concurrency: 5 });
  ca.latencyMs = 20;
  await want(...names(500));
  await clock.advance(3 * second);
  t.equal(ca.calls.length, 500);
  t.equal(ca.maxInFlight, 5);
  const firstWaveMs = (ca.calls.at(-1)?.at ?? 0) - (ca.calls[0]?.at ?? 0);
  t.ok(firstWaveMs <= 2 * second, `${firstWaveMs} ms`);
  t.equal(names(500).filter((name) => state(name)?.status === 'issued').length, 500);
  const before = ca.calls.length;
  await clock.advance(0.46 * day);
  const renewals = ca.calls.slice(before).map(({ at }) => at);
  t.equal(renewals.length, 500);
  t.ok((renewals.at(-1) ?? 0) - (renewals[0] ?? 0) > 0.09 * day, 'spread over a tenth of the life');
  const busiest = Math.max(...renewals.map((from) => renewals.filter((at) => at >= from && at < from + 60 * second).length));
  t.ok(busiest < 20, `${busiest} in the busiest minute`);
});

t.test('R047, F056: 200 prewarms are queued and somebody waits: served next', async (t) => {
  const { cache, ca, clock, want, state } = createCacheScene(t);
  ca.latencyMs = second;
  await want(...names(200));
  await clock.advance(500);
  cache.urgent(uriOf('n-199'));
  await clock.advance(2 * second);
  t.equal(state('n-199')?.status, 'issued');
  t.equal(ca.calls.length, 24);
});

t.test('who subscribed to a name before its pod came is served before the prewarms', async (t) => {
  const { cache, ca, clock, want, state } = createCacheScene(t);
  ca.latencyMs = second;
  cache.watch(uriOf('awaited')).subscribe(() => {});
  await want(...names(200));
  await want(...names(200), 'new', 'awaited');
  await clock.advance(2 * second);
  t.equal(state('awaited')?.status, 'issued');
  t.equal(state('new')?.status, 'pending');
});

t.test('order: who waits, then new, then near its end, then routine', async (t) => {
  const { cache, ca, clock, want } = createCacheScene(t, { concurrency: 1, deadlineMs: day });
  ca.lifetimeMs = 20 * hour;
  await want('routine');
  ca.lifetimeMs = 10 * hour;
  await want('routine', 'near-expiry');
  ca.outcome = ({ id }) => (id.serviceAccount === 'blocker' ? 'hang' : undefined);
  await want('routine', 'near-expiry', 'blocker');
  await clock.advance(9.5 * hour);
  cache.watch(uriOf('awaited')).subscribe(() => {});
  await want('routine', 'near-expiry', 'blocker', 'new', 'awaited');
  t.equal(ca.calls.length, 3);
  ca.release();
  await clock.advance(0);
  t.same(
    ca.calls.slice(3).map(({ uri }) => uri),
    ['awaited', 'new', 'near-expiry', 'routine'].map(uriOf),
  );
});

t.test('the CA is back after all certificates lapsed: bounded calls, all served', async (t) => {
  const { ca, clock, want, state } = createCacheScene(t, { lifetimeMs: hour });
  await want(...names(40));
  ca.outcome = () => new SignetError('unavailable', 'down');
  await clock.advance(1.2 * hour);
  t.equal(names(40).filter((name) => state(name)?.status === 'unavailable').length, 40);
  ca.outcome = () => undefined;
  ca.latencyMs = 10;
  await clock.advance(90 * second);
  t.equal(names(40).filter((name) => state(name)?.status === 'issued').length, 40);
  t.ok(ca.maxInFlight <= 8);
});
