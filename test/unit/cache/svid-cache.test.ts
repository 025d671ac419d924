// What the cache promises for one identity: issue, renew, keep, lapse, come back, leave.

import { inspect } from 'node:util';
import t from 'tap';
import type { SvidState } from '../../../agent/cache/svid-cache.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { settle } from '../../fixtures/clock.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const down = new SignetError('unavailable', 'connect to the ca');

t.test('an identity that arrives gets its certificate at once', async (t) => {
  const { cache, ca, clock, log, metrics, svid, want, state } = createCacheScene(t, { lifetimeMs: hour });
  const seen: (string | undefined)[] = [];
  cache.watch(uriOf('a')).subscribe((now) => seen.push(now?.status));
  t.equal(state('a'), undefined);
  ca.latencyMs = 40;
  await want('a');
  t.match(state('a'), { status: 'pending', reason: { code: 'issuing' } });
  await clock.advance(40);
  t.same(seen, [undefined, 'pending', 'issued']);
  t.equal(svid('a').id.uri, uriOf('a'));
  t.match(svid('a').privateKeyPem().toString(), /BEGIN PRIVATE KEY/);
  t.match([...cache.states()], [[uriOf('a'), { status: 'issued' }]]);
  t.match(log.lines, [
    {
      level: 'info',
      message: 'certificate issued',
      fields: { id: uriOf('a'), serial: svid('a').serial, notAfter: '2026-01-01T01:00:00.000Z', lifetimeSeconds: 3_600 },
    },
  ]);
  t.equal(await metrics.read('signet_svid_requests_total', { result: 'ok' }), 1);
  t.equal(await metrics.read('signet_first_certificate_seconds_sum'), 0.04);
  t.equal(await metrics.read('signet_svid_request_seconds_count'), 1);
});

t.test('it is renewed before half of its life with a new key; the old one is wiped after all were told', async (t) => {
  const { cache, clock, log, svid, want, state, metrics } = createCacheScene(t, { lifetimeMs: hour });
  await want('a');
  const old = svid('a');
  const readable: boolean[] = [];
  cache.watch(uriOf('a')).subscribe(() => readable.push(old.privateKeyPem().length > 0 && svid('a').privateKeyPem().length > 0));
  const { renewAt } = state('a') as Extract<SvidState, { status: 'issued' }>;
  await clock.advance(renewAt - clock.now() - 1);
  t.equal(svid('a'), old);
  await clock.advance(1);
  t.not(svid('a').serial, old.serial);
  t.not(svid('a').chain[0]?.publicKeySpki.toString('hex'), old.chain[0]?.publicKeySpki.toString('hex'));
  t.same(readable, [true, true], 'a subscriber could still read the old key when it was told');
  t.throws(() => old.privateKeyPem(), /wiped/);
  t.same(
    log.lines.map(({ message }) => message),
    ['certificate issued', 'certificate renewed'],
  );
  t.equal(await metrics.read('signet_first_certificate_seconds_count'), 1, 'a renewal is no first certificate');
});

t.test('R100 a signer that wants its certificates renewed in the past: once a minute', async (t) => {
  const { ca, clock, want, state, callsFor } = createCacheScene(t, { lifetimeMs: day });
  ca.refreshMs = -hour;
  await want('a');
  for (let minutes = 1; minutes <= 5; minutes += 1) {
    t.match(state('a'), { status: 'issued', renewAt: clock.now() + minute });
    await clock.advance(minute - 1);
    t.equal(callsFor('a'), minutes, 'not sooner');
    await clock.advance(1);
    t.equal(callsFor('a'), minutes + 1);
  }
});

t.test('F004: the CA is down from 30 % to 95 % of the life: the certificate is kept, then renewed', async (t) => {
  const { ca, clock, log, svid, want, state, callsFor } = createCacheScene(t, { lifetimeMs: hour });
  await want('a');
  const old = svid('a');
  await clock.advance(0.3 * hour);
  ca.outcome = () => down;
  for (let share = 0.3; share < 0.949; share += 0.01) {
    await clock.advance(0.01 * hour);
    t.equal(svid('a'), old);
  }
  t.match(state('a'), { status: 'retained', reason: { code: 'ca-unavailable', detail: 'connect to the ca' } });
  t.ok((state('a') as { failures: number }).failures > 10);
  t.ok(callsFor('a') < 60, `${callsFor('a')} calls in 39 minutes`);
  ca.outcome = () => undefined;
  await clock.advance(minute);
  t.not(svid('a').serial, old.serial);
  t.equal(state('a')?.status, 'issued');
  t.match(
    log.lines.map(({ level, message, fields }) => [level, message, fields['reason']]),
    [
      ['info', 'certificate issued', undefined],
      ['warn', 'renewal failed, certificate retained', 'ca-unavailable'],
      ['info', 'certificate renewed', undefined],
    ],
    'one line per change, none per attempt',
  );
});

t.test('the CA is down past the end: tried shortly before, never served after, back as soon as the CA is', async (t) => {
  const { cache, ca, clock, log, svid, want, state } = createCacheScene(t, { lifetimeMs: hour, random: () => 0.3 });
  await want('a');
  const old = svid('a');
  ca.outcome = () => down;
  const seen: string[] = [];
  const lapsedAt: number[] = [];
  cache.watch(uriOf('a')).subscribe((now) => {
    seen.push(`${now?.status}`);
    if (now?.status === 'unavailable') lapsedAt.push(clock.now());
  });
  await clock.advance(old.expiresAt - clock.now());
  t.same(lapsedAt, [old.expiresAt], 'told at the very end, without anybody asking');
  t.ok(
    ca.calls.some(({ at }) => at >= old.expiresAt - 5 * minute),
    'a try in the last five minutes',
  );
  t.match(state('a'), { status: 'unavailable', reason: { code: 'ca-unavailable' } });
  t.throws(() => old.privateKeyPem(), /wiped/);
  await clock.advance(hour);
  ca.outcome = () => undefined;
  await clock.advance(minute);
  t.equal(svid('a').id.uri, uriOf('a'));
  t.same(seen, ['issued', 'retained', 'unavailable', 'issued']);
  t.same(
    log.lines.map(({ message }) => message),
    ['certificate issued', 'renewal failed, certificate retained', 'certificate unavailable', 'certificate issued'],
  );
});

t.test('another reason of the same state is told', async (t) => {
  const { ca, clock, log, want, state } = createCacheScene(t);
  ca.outcome = () => down;
  await want('a');
  ca.outcome = () => new SignetError('denied', 'not this node', { fields: { node: 'n' } });
  await clock.advance(5 * second);
  t.match(state('a'), { status: 'unavailable', reason: { code: 'ca-denied', detail: 'not this node, node n' } });
  t.same(
    log.lines.map(({ fields }) => fields['reason']),
    ['ca-unavailable', 'ca-denied'],
  );
});

t.test('a refusal is retried for ever: fast while the pod is young, then at most every minute', async (t) => {
  const { ca, clock, want, callsFor } = createCacheScene(t);
  ca.outcome = () => new SignetError('denied', 'no pod of this account on this node');
  await want('a');
  await clock.advance(1.5 * second);
  t.equal(callsFor('a'), 4, 'at 0, 0.2, 0.6 and 1.4 s');
  await clock.advance(minute);
  const young = callsFor('a');
  t.ok(young > 10, `${young} in the first minute`);
  await clock.advance(10 * minute);
  t.ok(callsFor('a') - young >= 10 && callsFor('a') - young <= 12, `${callsFor('a') - young} in the ten minutes after`);
});

t.test('F060: lifetimes from 10 s to year 9999, and issuers that give next to nothing', async (t) => {
  const table: readonly (readonly [string, number, number, number, number])[] = [
    // name, lifetime given, time to pass, fewest calls, most calls
    ['10 s', 10 * second, 60 * second, 13, 18],
    ['1 min', minute, 10 * minute, 22, 30],
    ['10 years', 3_650 * day, 2 * day, 1, 1],
    ['year 9999', Date.UTC(9999, 0, 1) - Date.UTC(2026, 0, 1), 2 * day, 1, 1],
    ['1 s', second, 60 * second, 25, 31],
  ];
  for (const [name, given, passing, fewest, most] of table) {
    const { ca, clock, want, callsFor, stop } = createCacheScene(t, { lifetimeMs: given });
    await want('a');
    await clock.advance(passing);
    t.ok(callsFor('a') >= fewest && callsFor('a') <= most, `${name}: ${callsFor('a')} calls`);
    t.ok(ca.maxInFlight === 1);
    await stop();
  }
});

t.test('a life of 10 s in an outage of 3 s never lapses', async (t) => {
  const { ca, clock, want, state } = createCacheScene(t, { lifetimeMs: 10 * second });
  await want('a');
  ca.outcome = () => (clock.now() % (10 * second) < 3 * second ? down : undefined);
  for (let step = 0; step < 600; step += 1) {
    await clock.advance(100);
    if (state('a')?.status === 'unavailable') t.fail(`lapsed after ${step / 10} s`);
  }
});

t.test('F076: asked for 90 days, given 1 h: the hour rules, and both are exported', async (t) => {
  const { ca, clock, metrics, want, callsFor } = createCacheScene(t, { lifetimeMs: 90 * day });
  ca.lifetimeMs = hour;
  await want('a');
  t.equal(ca.calls[0]?.lifetimeMs, 90 * day);
  t.equal(await metrics.read('signet_requested_lifetime_seconds'), 90 * 86_400);
  t.equal(await metrics.read('signet_issued_lifetime_seconds'), 3_600);
  await clock.advance(0.46 * hour);
  t.equal(callsFor('a'), 2);
});

t.test('F015: the clock of the CA is 30 s ahead: taken, and the difference is shown', async (t) => {
  const { metrics, want, state } = createCacheScene(t, { lifetimeMs: hour, aheadMs: 30 * second });
  await want('a');
  t.equal(state('a')?.status, 'issued');
  t.equal(await metrics.read('signet_ca_clock_difference_seconds'), 30);
});

t.test('F145: the clock of the CA is 4 h ahead: not taken, retried, the reason says why', async (t) => {
  const { clock, log, metrics, want, state, callsFor } = createCacheScene(t, { lifetimeMs: day, aheadMs: 4 * hour });
  await want('a');
  await clock.advance(10 * second);
  t.match(state('a'), { status: 'unavailable', reason: { code: 'certificate-not-yet-valid' } });
  t.ok(callsFor('a') > 3);
  t.equal(log.lines.length, 1);
  const { detail } = log.lines[0]?.fields ?? {};
  for (const time of ['now 2026-01-01T00:00:00.000Z', 'notBefore 2026-01-01T04:00:00.000Z', 'notAfter 2026-01-02T04:00:00.000Z'])
    t.match(detail, time);
  t.equal(await metrics.read('signet_ca_answers_refused_total', { upstream: 'fake', reason: 'certificate-not-yet-valid' }), callsFor('a'));
});

t.test('an intermediate that ends before the leaf sets the time of renewal and the end', async (t) => {
  const start = Date.UTC(2026, 0, 1);
  const { clock, svid, want, state } = createCacheScene(t, { lifetimeMs: day, intermediateNotAfter: start + hour });
  await want('a');
  t.equal(svid('a').notAfter, start + day);
  t.equal(svid('a').expiresAt, start + hour);
  const { renewAt } = state('a') as Extract<SvidState, { status: 'issued' }>;
  t.ok(renewAt < start + hour / 2);
  await clock.advance(hour);
  t.match(state('a'), { status: 'unavailable', reason: { code: 'certificate-expired' } }, 'the CA has nothing better to give');
});

t.test('an identity that leaves is gone with its key and is not renewed; one that comes back is new', async (t) => {
  const { cache, clock, log, svid, want, state, callsFor } = createCacheScene(t, { lifetimeMs: hour });
  const seen: (string | undefined)[] = [];
  cache.watch(uriOf('a')).subscribe((now) => seen.push(now?.status));
  await want('a', 'b');
  const old = svid('a');
  await want('b');
  await settle();
  t.equal(state('a'), undefined);
  t.throws(() => old.privateKeyPem(), /wiped/);
  t.same([...cache.states().keys()], [uriOf('b')]);
  await clock.advance(3 * hour);
  t.equal(callsFor('a'), 1);
  await want('a', 'b');
  t.not(svid('a').serial, old.serial);
  t.same(seen.slice(0, 3), [undefined, 'pending', 'issued']);
  t.same(seen.slice(-3), [undefined, 'pending', 'issued']);
  t.ok(log.lines.some(({ message, fields }) => message === 'identity gone' && fields['id'] === uriOf('a')));
});

t.test('an answer that comes after the identity left is thrown away; what stays is not touched', async (t) => {
  const { ca, clock, log, want, state, callsFor, svid } = createCacheScene(t);
  await want('b');
  const kept = svid('b');
  ca.latencyMs = 100;
  await want('a', 'b');
  await want('b');
  t.equal(ca.inFlight, 0, 'the call is aborted');
  await clock.advance(50);
  await want('a', 'b');
  t.equal(state('a')?.status, 'pending');
  await clock.advance(60);
  t.equal(state('a')?.status, 'pending', 'the answer of the aborted call does not count');
  await clock.advance(40);
  t.equal(state('a')?.status, 'issued');
  t.equal(callsFor('a'), 2);
  t.equal(svid('b'), kept);
  t.same(
    log.lines.map(({ message }) => message),
    ['certificate issued', 'identity gone', 'certificate issued'],
  );
});

t.test('renew makes a new certificate at once and keeps the old one until then', async (t) => {
  const { cache, ca, clock, svid, want, state, callsFor, settled } = createCacheScene(t);
  cache.renew(uriOf('unknown'));
  await want('a');
  const old = svid('a');
  ca.latencyMs = 100;
  cache.renew(uriOf('a'));
  cache.renew(uriOf('a'));
  await settled();
  cache.renew(uriOf('a'));
  await clock.advance(99);
  t.equal(svid('a'), old);
  await clock.advance(1);
  t.not(svid('a'), old);
  t.equal(callsFor('a'), 2, 'never two at once');
  ca.outcome = () => down;
  cache.renew(uriOf('a'));
  await clock.advance(100);
  t.match(state('a'), { status: 'retained', reason: { code: 'ca-unavailable' } }, 'a renewal by hand that fails changes nothing else');
});

t.test('urgent cuts a back-off, but not below a second after the last failure', async (t) => {
  const { cache, ca, clock, want, state, callsFor, settled } = createCacheScene(t);
  ca.outcome = () => down;
  cache.urgent(uriOf('unknown'));
  await want('a');
  await clock.advance(10 * minute);
  const lastCallAt = ca.calls.at(-1)?.at ?? 0;
  const before = callsFor('a');
  await clock.advance(lastCallAt + 70_000 - clock.now());
  const settledCalls = callsFor('a');
  t.equal(settledCalls, before + 1);
  for (let times = 0; times < 5; times += 1) cache.urgent(uriOf('a'));
  await settled();
  t.equal(callsFor('a'), settledCalls + 1, 'at once, as the last failure is long ago');
  for (let times = 0; times < 50; times += 1) {
    cache.urgent(uriOf('a'));
    await clock.advance(100);
  }
  t.equal(callsFor('a'), settledCalls + 6, 'then once a second');
  ca.outcome = () => undefined;
  cache.urgent(uriOf('a'));
  t.match(state('a'), { status: 'unavailable', retryAt: (ca.calls.at(-1)?.at ?? 0) + second });
  await clock.advance(second);
  t.equal(state('a')?.status, 'issued');
  cache.urgent(uriOf('a'));
  await settled();
  t.equal(callsFor('a'), settledCalls + 7, 'who has a certificate does not wait for one');
});

t.test('no roots: nothing is accepted; when they appear it is tried at once', async (t) => {
  for (const reason of ['bundle-missing', 'trust-anchor-unknown'] as const) {
    const { ca, want, state, settled, callsFor, clock, stop } = createCacheScene(t);
    const other = createCacheScene(t);
    ca.roots.set(reason === 'bundle-missing' ? [] : other.ca.ownRoots);
    await want('a');
    await clock.advance(10 * minute);
    t.match(state('a'), { status: 'unavailable', reason: { code: reason } });
    const before = callsFor('a');
    ca.roots.set([...other.ca.ownRoots, ...ca.ownRoots]);
    await settled();
    t.equal(state('a')?.status, 'issued');
    t.equal(callsFor('a'), before + 1);
    await stop();
  }
});

t.test('F058: new roots alone never start a request, nor do they hasten what failed for another reason', async (t) => {
  const { ca, want, state, settled, callsFor, clock } = createCacheScene(t);
  await want('good');
  ca.outcome = () => down;
  await want('good', 'bad');
  await clock.advance(10 * minute);
  const before = callsFor('bad');
  const other = createCacheScene(t);
  ca.roots.set([...ca.ownRoots, ...other.ca.ownRoots]);
  await settled();
  t.equal(callsFor('good'), 1);
  t.equal(callsFor('bad'), before);
  t.equal(state('good')?.status, 'issued');
});

t.test('a name that is no identity costs nothing once nobody watches it', async (t) => {
  const { cache } = createCacheScene(t);
  for (let index = 0; index < 10_000; index += 1) {
    const watched = cache.watch(uriOf(`random-${index}`));
    if (watched.value !== undefined) t.fail('a state of a name that is no identity');
    watched.subscribe(() => {})();
    cache.urgent(uriOf(`random-${index}`));
    cache.renew(uriOf(`random-${index}`));
  }
  t.equal(cache.states().size, 0);
  t.match(inspect(cache, { depth: 5 }), /^Cache \{\}$/, 'all that it holds is private');
});

t.test('stop ends calls, wipes keys, leaves no alarm and makes no call any more', async (t) => {
  const { cache, ca, clock, svid, want, stop, callsFor } = createCacheScene(t);
  await want('a');
  const kept = svid('a');
  ca.outcome = () => 'hang';
  await want('a', 'b');
  await stop();
  t.equal(clock.alarms, 0);
  t.throws(() => kept.privateKeyPem(), /wiped/);
  cache.renew(uriOf('a'));
  cache.urgent(uriOf('b'));
  await want('c');
  await clock.advance(day);
  t.equal(callsFor('a') + callsFor('b') + callsFor('c'), 2);
  t.equal(clock.alarms, 0);
});

t.test('states show no key', async (t) => {
  const { cache, svid, want } = createCacheScene(t);
  await want('a');
  const body = svid('a').privateKeyPem().toString().split('\n')[1] ?? '';
  const shown = inspect(cache.states(), { depth: 10, showHidden: true }) + JSON.stringify([...cache.states()]);
  t.ok(body.length > 40);
  t.notMatch(shown, body);
  t.notMatch(shown, 'PRIVATE KEY');
});
