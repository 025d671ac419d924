// What the cache does when the published roots change: certificates that none of them verifies are renewed soon, a few at a time, and
// served meanwhile. When they change again and again: svid-cache-roots-flap.

import t from 'tap';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { WantedIdentity } from '../../../agent/cache/svid-cache.js';
import { unverifiedOf } from '../../../agent/cache/svid-state.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createRoot, testTime } from '../../fixtures/pki.js';
import { stateRoot, svidOf } from '../../fixtures/sealed-state.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

// Thousands of real certificates, as in svid-cache-load.
t.setTimeout(300_000);

const second = 1_000;
const minute = 60 * second;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n-${index}`);
const unpublished = createRoot().certificate;

t.test('renewed within seconds, served until then, told once', async (t) => {
  const scene = createCacheScene(t);
  const { ca, clock, want, state, svid, log, callsFor, cache } = scene;
  const watched: (string | undefined)[] = [];
  await want('a', 'b');
  cache.watch(uriOf('a')).subscribe((now) => watched.push(now?.status));
  const before = svid('a');
  const next = ca.rotate();
  await scene.publish(next);
  const withdrawn = { code: 'root-withdrawn', detail: `sha-256 ${before.root.fingerprint}` };
  t.match(state('a'), { status: 'retained', svid: before, failures: 0, reason: withdrawn, unverified: withdrawn });
  const now = state('a');
  t.ok(now?.status === 'retained' && now.retryAt > clock.now() && now.retryAt <= clock.now() + 10 * second, 'the time is known');
  t.match(
    log.lines.filter(({ level }) => level === 'warn'),
    [
      {
        message: 'certificates are renewed, as no published root verifies them',
        fields: { reason: 'root-withdrawn', root: before.root.fingerprint, certificates: 2, id: uriOf('a') },
      },
    ],
  );
  await clock.advance(10 * second);
  t.match(state('a'), { status: 'issued', svid: { root: next } });
  t.same(watched, ['issued', 'retained', 'issued']);
  await clock.advance(60 * minute);
  t.same([callsFor('a'), callsFor('b')], [2, 2], 'once');
});

t.test('both roots for a while: each certificate is renewed when it is due and not again', async (t) => {
  const scene = createCacheScene(t, { lifetimeMs: 60 * minute });
  const { ca, clock, want, svid, callsFor } = scene;
  await want('a');
  const [former] = ca.ownRoots;
  if (former === undefined) throw new Error('no root');
  const next = ca.rotate();
  await scene.publish(former, next);
  await clock.advance(18 * minute);
  t.equal(callsFor('a'), 1, 'not before it is due');
  await clock.advance(12 * minute);
  t.equal(svid('a').root, next);
  await scene.publish(next);
  // Its own renewal is due after 40 minutes at the earliest.
  await clock.advance(9 * minute);
  t.equal(callsFor('a'), 2, 'nothing is left under the former root');
});

t.test('R047: a thousand certificates at once: spread over seconds, bounded calls, one log line', async (t) => {
  const scene = createCacheScene(t);
  const { ca, clock, want, state, log } = scene;
  await want(...names(1_000));
  const before = ca.calls.length;
  ca.latencyMs = 20;
  await scene.publish(ca.rotate());
  const startedAt = clock.now();
  await clock.advance(30 * second);
  const calls = ca.calls.slice(before).map(({ at }) => at - startedAt);
  t.equal(calls.length, 1_000);
  t.ok((calls[0] ?? Infinity) < second, `the first after ${calls[0]} ms`);
  const perSecond = Array.from({ length: 10 }, (_, index) => calls.filter((at) => Math.floor(at / second) === index).length);
  t.ok(Math.max(...perSecond) < 200, `in each second ${perSecond.join(', ')}`);
  t.ok(ca.maxInFlight <= 8);
  t.equal(names(1_000).filter((name) => state(name)?.status === 'issued').length, 1_000);
  t.equal(log.lines.filter(({ fields }) => fields['reason'] === 'root-withdrawn').length, 1);
});

t.test('who has no certificate comes first, then those under a former root, then routine', async (t) => {
  const scene = createCacheScene(t, { concurrency: 1, deadlineMs: 24 * 60 * minute });
  const { ca, clock, want } = scene;
  const [former] = ca.ownRoots;
  if (former === undefined) throw new Error('no root');
  await want('former');
  const next = ca.rotate();
  await scene.publish(former, next);
  await want('former', 'routine');
  ca.outcome = ({ id }) => (id.serviceAccount === 'blocker' ? 'hang' : undefined);
  await want('former', 'routine', 'blocker');
  await clock.advance(11.5 * 60 * minute);
  const before = ca.calls.length;
  t.equal(before, 3, 'both are due and wait');
  await scene.publish(next);
  await clock.advance(10 * second);
  await want('former', 'routine', 'blocker', 'new');
  ca.release();
  await clock.advance(0);
  t.same(
    ca.calls.slice(before).map(({ uri }) => uri),
    ['new', 'former', 'routine'].map(uriOf),
  );
});

t.test('the CA signs under a root that is not published either: backed off, served on, and mended by its root', async (t) => {
  const scene = createCacheScene(t);
  const { ca, clock, want, state, svid, callsFor } = scene;
  await want('a');
  await clock.advance(2 * minute);
  const before = svid('a');
  const next = ca.rotate();
  await scene.publish(unpublished);
  await clock.advance(10 * minute);
  t.match(state('a'), {
    status: 'retained',
    svid: before,
    reason: { code: 'trust-anchor-unknown' },
    unverified: { code: 'root-withdrawn' },
  });
  t.ok(callsFor('a') <= 1 + 7 + 10, `${callsFor('a')} calls in ten minutes`);
  await scene.publish(unpublished, next);
  await clock.advance(10 * second);
  t.match(state('a'), { status: 'issued', svid: { root: next } }, 'within seconds');
});

t.test('the CA is away: as with any renewal that fails, until the root is back', async (t) => {
  const scene = createCacheScene(t);
  const { ca, clock, want, state } = scene;
  await want('a');
  ca.outcome = () => new SignetError('unavailable', 'down');
  await scene.publish(unpublished);
  await clock.advance(minute);
  t.match(state('a'), { status: 'retained', reason: { code: 'ca-unavailable' }, unverified: { code: 'root-withdrawn' } });
  await scene.publish(...ca.ownRoots);
  t.match(state('a'), { status: 'issued' }, 'not due, and verified');
  const asked = ca.calls.length;
  await clock.advance(60 * minute);
  t.equal(ca.calls.length, asked, 'so the CA is left alone');

  await clock.advance(11 * 60 * minute);
  t.match(state('a'), { status: 'retained', reason: { code: 'ca-unavailable' } }, 'due by now');
  await scene.publish(unpublished);
  await scene.publish(...ca.ownRoots);
  const now = state('a');
  t.match(now, { status: 'retained', reason: { code: 'ca-unavailable' } }, 'which goes on failing');
  t.equal(now === undefined ? now : unverifiedOf(now), undefined);
});

t.test('a root that is back before the renewal: nothing was needed', async (t) => {
  const scene = createCacheScene(t, { concurrency: 1 });
  const { ca, clock, want, state, svid, cache, settled, log } = scene;
  await want('a', 'b');
  const before = svid('a');
  const due = state('a');
  ca.outcome = () => 'hang';
  await want('a', 'b', 'blocker');
  await scene.publish(unpublished);
  await clock.advance(10 * second - 1);
  t.equal(ca.calls.length, 3, 'both wait for their turn behind another');
  await scene.publish(...ca.ownRoots);
  t.strictSame(state('a'), due, 'due when it was');
  t.equal(svid('a'), before);
  t.equal(log.lines.at(-1)?.message, 'certificates are verified by a published root again');
  await scene.publish(unpublished);
  cache.renew(uriOf('a'));
  await scene.publish(...ca.ownRoots);
  ca.outcome = () => undefined;
  ca.release();
  await settled();
  t.equal(ca.calls.length, 4, 'what somebody asked for is made nevertheless');
  t.not(svid('a'), before);
});

t.test('the roots change while an answer is on its way: the next one follows, and no loop', async (t) => {
  const published = new WatchedValue<readonly Certificate[]>([unpublished]);
  const { clock, want, state, callsFor, ca, settled } = createCacheScene(t, { roots: published });
  await want('a');
  t.match(state('a'), { status: 'retained', reason: { code: 'root-withdrawn' } }, 'accepted by the roots of before');
  await clock.advance(10 * minute);
  t.ok(callsFor('a') <= 21, `${callsFor('a')} calls in ten minutes`);
  published.set(ca.ownRoots);
  await settled();
  t.match(state('a'), { status: 'issued' });
});

t.test('certificates from before a restart, whose root was replaced meanwhile', async (t) => {
  const wanted = (restored: boolean): ReadonlyMap<string, WantedIdentity> =>
    new Map(
      ['a'].map((name) => [
        uriOf(name),
        { id: createSpiffeId('example.org', 'test', name), since: testTime, ...(restored ? { restored } : {}) },
      ]),
    );
  const before = svidOf(uriOf('a'));
  const identities = new WatchedValue(wanted(true));
  const published = new WatchedValue<readonly Certificate[]>([]);
  const options = { identities, restored: new Map([[uriOf('a'), before]]), roots: published, startAt: testTime };
  const { state, clock, ca, settled } = createCacheScene(t, options);
  t.match(state('a'), { status: 'issued', svid: before }, 'before any root is known');
  published.set([stateRoot.certificate]);
  await clock.advance(minute);
  t.match(state('a'), { status: 'issued', svid: before }, 'the roots from before');
  published.set(ca.ownRoots);
  await clock.advance(minute);
  t.match(state('a'), { status: 'retained', svid: before, reason: { code: 'root-withdrawn' } });
  t.equal(ca.calls.length, 0, 'never for a pod that no source has seen');
  identities.set(wanted(false));
  await settled();
  t.match(state('a'), { status: 'issued', svid: { root: ca.ownRoots[0] } });
  t.equal(ca.calls.length, 1);
});
