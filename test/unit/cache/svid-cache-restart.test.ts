// Certificates from before a restart, in the cache.

import t from 'tap';
import type { Test } from 'tap';
import type { WantedIdentity } from '../../../agent/cache/svid-cache.js';
import { renewAt } from '../../../agent/cache/schedule.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Svid } from '../../../agent/x509/svid.js';
import { dayMs, testTime } from '../../fixtures/pki.js';
import { stateRoot, svidOf } from '../../fixtures/sealed-state.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

type Wanted = ReadonlyMap<string, WantedIdentity>;

function wanted(names: readonly string[], restored: boolean): Wanted {
  return new Map(
    names.map((name) => [
      uriOf(name),
      { id: createSpiffeId('example.org', 'test', name), since: testTime, ...(restored ? { restored: true as const } : {}) },
    ]),
  );
}

/** A cache that starts with pods of before, and certificates for some of them. */
function startAgain(t: Test, names: readonly string[], certificates: readonly string[], startAt = testTime) {
  const svids = new Map<string, Svid>(certificates.map((name) => [uriOf(name), svidOf(uriOf(name))]));
  const identities = new WatchedValue<Wanted>(wanted(names, true));
  const roots = new WatchedValue([stateRoot.certificate]);
  const scene = createCacheScene(t, { identities, restored: svids, roots, startAt });
  roots.set([stateRoot.certificate, ...scene.ca.ownRoots]);
  return { ...scene, svids, identities, confirm: (...of: readonly string[]) => identities.set(wanted(of, false)) };
}

t.test('what was restored is served at once, and due when it would have been', async (t) => {
  const { state, svids, cache } = startAgain(t, ['a'], ['a']);
  const svid = svids.get(uriOf('a'));
  t.match(state('a'), { status: 'issued', svid, renewAt: svid === undefined ? 0 : renewAt(svid) });
  t.equal(cache.changes.value, 0);
});

t.test('nothing is asked for a pod that no source has seen since: not when due, not when urged, not for a first certificate', async (t) => {
  const { state, ca, clock, cache, confirm, settled } = startAgain(t, ['a', 'b'], ['a']);
  t.match(state('b'), { status: 'pending', reason: { code: 'pods-restored' } });
  for (const name of ['a', 'b']) cache.urgent(uriOf(name));
  cache.renew(uriOf('a'));
  await clock.advance(dayMs / 2);
  t.equal(ca.calls.length, 0);
  t.equal(state('a')?.status, 'issued', 'overdue, and valid still');
  confirm('a', 'b');
  await settled();
  t.equal(ca.calls.length, 2, 'when a source has, what is due is asked for at once');
  t.equal(state('b')?.status, 'issued');
});

t.test('confirmed before it is due, it is renewed when it is due', async (t) => {
  const { ca, clock, confirm, svid, svids, settled } = startAgain(t, ['a'], ['a']);
  const before = svids.get(uriOf('a'));
  confirm('a');
  await settled();
  t.equal(svid('a'), before, 'the very same');
  t.equal(ca.calls.length, 0);
  const due = before === undefined ? 0 : renewAt(before);
  await clock.advance(due - clock.now() - 1);
  t.equal(ca.calls.length, 0);
  await clock.advance(1);
  t.equal(ca.calls.length, 1);
  t.not(svid('a'), before);
});

t.test('a first certificate that is on its way says so', async (t) => {
  const { state, ca, confirm, settled } = startAgain(t, ['b'], []);
  ca.outcome = () => 'hang';
  confirm('b');
  await settled();
  t.match(state('b'), { status: 'pending', reason: { code: 'issuing' } });
});

t.test('the certificate of a pod that is gone goes, and its key', async (t) => {
  const { state, identities, svids, settled } = startAgain(t, ['a'], ['a', 'stray']);
  t.throws(() => svids.get(uriOf('stray'))?.privateKeyPem(), { message: /wiped/ }, 'nobody wants it');
  identities.set(new Map());
  await settled();
  t.equal(state('a'), undefined);
  t.throws(() => svids.get(uriOf('a'))?.privateKeyPem(), { message: /wiped/ });
});

t.test('it is never served past its end', async (t) => {
  const { state, ca, clock } = startAgain(t, ['a'], ['a']);
  await clock.advance(dayMs);
  t.match(state('a'), { status: 'unavailable', reason: { code: 'certificate-expired' } });
  t.equal(ca.calls.length, 0);
});

t.test('each change of a certificate is a change of the whole', async (t) => {
  const { cache, confirm, settled } = startAgain(t, ['a'], ['a']);
  const before = cache.changes.value;
  confirm('a');
  cache.renew(uriOf('a'));
  await settled();
  t.ok(cache.changes.value > before);
});
