// Certificates on demand: when the first one is asked for, and that it is kept like any other afterwards.

import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { dayMs } from '../../fixtures/pki.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

const issue = 'on-demand';

t.test('nothing is asked for until somebody waits for it, or wants it renewed', async (t) => {
  const { want, state, cache, ca, clock, settled, metrics } = createCacheScene(t, { issue });
  await want('a', 'b', 'c');
  await clock.advance(dayMs);
  t.equal(ca.calls.length, 0);
  t.match(state('a'), { status: 'idle', reason: { code: 'issued-on-demand' } });
  cache.urgent(uriOf('a'));
  t.match(state('a'), { status: 'pending', reason: { code: 'issuing' } }, 'who waits is told');
  await settled();
  cache.renew(uriOf('b'));
  await settled();
  t.same(
    [...'abc'].map((name) => state(name)?.status),
    ['issued', 'issued', 'idle'],
  );
  t.equal(ca.calls.length, 2);
  t.equal(await metrics.read('signet_first_certificate_seconds_sum'), 0, 'counted from the demand');
});

t.test('who subscribed to the name before it was an identity has asked', async (t) => {
  const { want, state, cache, ca } = createCacheScene(t, { issue });
  const end = new AbortController();
  cache.watch(uriOf('a')).subscribe(() => {}, end.signal);
  await want('a', 'b');
  end.abort();
  t.same(
    [...'ab'].map((name) => state(name)?.status),
    ['issued', 'idle'],
  );
  t.equal(ca.calls.length, 1);
});

t.test('once it was asked for it is kept like any other: tried again, renewed, and begun anew when the identity comes back', async (t) => {
  const { want, state, cache, ca, clock, settled, callsFor } = createCacheScene(t, { issue });
  const { outcome } = ca;
  ca.outcome = () => new SignetError('unavailable', 'away');
  await want('a', 'b');
  cache.urgent(uriOf('a'));
  await settled();
  t.equal(state('a')?.status, 'unavailable');
  ca.outcome = outcome;
  await clock.advance(10_000);
  t.equal(state('a')?.status, 'issued');
  const calls = callsFor('a');
  await clock.advance(dayMs);
  t.ok(callsFor('a') > calls, 'renewed though nobody waits');
  t.equal(callsFor('b'), 0);
  await want('b');
  await want('a', 'b');
  t.equal(state('a')?.status, 'idle');
});
