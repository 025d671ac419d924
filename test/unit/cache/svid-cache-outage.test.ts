import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createCacheScene } from '../../fixtures/svid-cache.js';

const minuteMs = 60_000;
const names = Array.from({ length: 16 }, (_, index) => `a${index}`);

t.test('when the CA is back the first that gets its certificate wakes all others, within the bound', async (t) => {
  for (const reason of ['ca-unavailable', 'ca-unauthenticated'] as const) {
    let draw = 0;
    const { ca, clock, state, want } = createCacheScene(t, { random: () => (draw = (draw + 0.618) % 1) });
    ca.outcome = () => new SignetError('unavailable', 'no', { reason });
    ca.latencyMs = 20;
    await want(...names);
    await clock.advance(4 * minuteMs);
    const before = ca.calls.length;
    await clock.advance(minuteMs);
    t.ok(ca.calls.length - before <= 3 * names.length, 'each is asked for about once a minute');
    ca.outcome = () => undefined;
    let waited = 0;
    for (; !names.some((name) => state(name)?.status === 'issued') && waited < 61; waited += 1) await clock.advance(1_000);
    t.ok(waited <= 60);
    await clock.advance(2_000);
    t.same(new Set(names.map((name) => state(name)?.status)), new Set(['issued']), reason);
    t.ok(ca.maxInFlight <= 8);
  }
});

t.test('what fails for one identity alone is not woken by the success of others', async (t) => {
  const { ca, cache, callsFor, clock, want } = createCacheScene(t, { random: () => 0 });
  const refused = new SignetError('unauthenticated', 'no', { reason: 'ca-impersonation-refused' });
  ca.outcome = ({ id }) => (id.serviceAccount === 'a0' ? refused : undefined);
  await want('a0', 'a1');
  await clock.advance(10 * minuteMs);
  const before = callsFor('a0');
  for (let round = 0; round < 20; round += 1) {
    cache.renew('spiffe://example.org/ns/test/sa/a1');
    await clock.advance(1_000);
  }
  t.ok(callsFor('a0') - before <= 1);
});
