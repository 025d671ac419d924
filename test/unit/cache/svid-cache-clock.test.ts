// What the cache does when the wall clock steps or the machine sleeps: the monotonic clock, and with it every alarm, stands still.

import t from 'tap';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const names = Array.from({ length: 60 }, (_, index) => `n-${index}`);

t.test('a step past the end: nothing expired is served from that moment, all are issued again, a few at a time', async (t) => {
  const { cache, ca, clock, log, metrics, want, state, settled } = createCacheScene(t, { lifetimeMs: hour });
  await want(...names);
  ca.latencyMs = 50;
  const seen: string[] = [];
  cache.watch(uriOf('n-0')).subscribe((now) => seen.push(`${now?.status}`));
  clock.step(2 * hour);
  t.match(state('n-0'), { status: 'unavailable', reason: { code: 'certificate-expired' } }, 'a reader that comes before the alarm');
  t.equal([...cache.states().values()].filter(({ status }) => status === 'unavailable').length, names.length);
  await settled();
  await clock.advance(30 * second);
  t.equal([...cache.states().values()].filter(({ status }) => status === 'issued').length, names.length);
  t.equal(ca.calls.length, 2 * names.length, 'one call each');
  t.equal(ca.maxInFlight, 8);
  t.same(seen, ['issued', 'unavailable', 'issued']);
  t.match(
    log.lines.filter(({ message }) => message === 'wall clock stepped'),
    [{ level: 'warn', fields: { reason: 'clock-stepped', stepMs: 2 * hour } }],
  );
  t.equal(await metrics.read('signet_clock_steps_total'), 1);
});

t.test('without a reader the step is noticed within 30 s', async (t) => {
  const { cache, clock, want } = createCacheScene(t, { lifetimeMs: day });
  await want('a');
  const seen: string[] = [];
  cache.watch(uriOf('a')).subscribe((now) => seen.push(`${now?.status}`));
  await clock.advance(10 * second);
  clock.step(3 * day);
  await clock.advance(30 * second);
  t.same(seen, ['issued', 'unavailable', 'issued']);
});

t.test('after a step those without a certificate come first, then those near their end, then routine', async (t) => {
  const { ca, clock, want } = createCacheScene(t, { lifetimeMs: hour, concurrency: 1 });
  ca.lifetimeMs = day;
  await want('routine');
  ca.lifetimeMs = 12 * hour;
  await want('routine', 'near-expiry');
  ca.lifetimeMs = hour;
  await want('routine', 'near-expiry', 'expired');
  clock.step(11 * hour);
  ca.lifetimeMs = day;
  const before = ca.calls.length;
  await clock.advance(30 * second);
  t.same(
    ca.calls.slice(before).map(({ uri }) => uri),
    [uriOf('expired'), uriOf('near-expiry'), uriOf('routine')],
  );
});

t.test('F016: a machine that slept past the due time renews when it wakes', async (t) => {
  const { clock, want, state, svid, callsFor } = createCacheScene(t, { lifetimeMs: day });
  await want('a');
  const old = svid('a');
  clock.step(0.6 * day);
  await clock.advance(30 * second);
  t.equal(callsFor('a'), 2);
  t.not(svid('a'), old);
  t.equal(state('a')?.status, 'issued');
});

t.test('a step back: certificates from what is now the future are made anew, others keep their time, retries go at once', async (t) => {
  const { ca, clock, want, state, svid, callsFor } = createCacheScene(t, { lifetimeMs: 90 * day });
  await want('old');
  await clock.advance(2 * hour);
  await want('old', 'fresh');
  ca.outcome = ({ id }) => (id.serviceAccount === 'failing' ? new Error('down') : undefined);
  await want('old', 'fresh', 'failing');
  await clock.advance(10 * minute);
  const before = callsFor('failing');
  const freshSerial = svid('fresh').serial;
  clock.step(-1 * hour);
  await clock.advance(30 * second);
  t.ok(callsFor('failing') > before, 'the retry does not wait for an hour');
  t.not(svid('fresh').serial, freshSerial);
  t.ok(svid('fresh').receivedAt <= clock.now());
  t.equal(callsFor('old'), 1);
  t.equal(state('old')?.status, 'issued');
  await clock.advance(10 * minute);
  t.equal(callsFor('fresh'), 2, 'no loop');
});

t.test('a clock that is slewed or stepped by less than a minute is no event', async (t) => {
  const { clock, log, metrics, want, callsFor } = createCacheScene(t, { lifetimeMs: day });
  await want('a');
  for (const step of [59 * second, -59 * second, 60 * second]) {
    clock.step(step);
    await clock.advance(31 * second);
  }
  t.equal(await metrics.read('signet_clock_steps_total'), 0);
  t.equal(log.lines.length, 1);
  t.equal(callsFor('a'), 1);
});

t.test('one alarm, whatever the number of identities, never later than 30 s', async (t) => {
  const { clock, want } = createCacheScene(t, { lifetimeMs: 3_650 * day });
  await want(...names);
  t.equal(clock.alarms, 1);
  const next = clock.nextAlarm();
  await clock.advance(30 * second);
  t.ok((await next) <= 30 * second);
  t.equal(clock.alarms, 1);
});
