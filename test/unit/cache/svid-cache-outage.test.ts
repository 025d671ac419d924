import t from 'tap';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import type { NodeIdentity } from '../../../agent/pods/identity-index.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';
import { start } from '../../fixtures/reasons.js';
import { createCacheScene } from '../../fixtures/svid-cache.js';

const minuteMs = 60_000;
const names = Array.from({ length: 16 }, (_, index) => `a${index}`);

t.test('F141: when the CA is back the first that gets its certificate wakes all others, within the bound', async (t) => {
  for (const reason of ['ca-unavailable', 'ca-unauthenticated', 'kube-unavailable'] as const) {
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

t.test('R073, F034: the API server is down for an hour: no identity goes, and what does not need it is renewed', async (t) => {
  const down = { code: 'kube-unavailable', detail: 'connect ECONNREFUSED' } as const;
  const identities = new WatchedValue<ReadonlyMap<string, NodeIdentity>>(new Map());
  // Forty minutes: due twice within the hour, and the second time past the end of those that cannot be renewed.
  const { ca, cache, clock, log, metrics } = createCacheScene(t, { identities, lifetimeMs: 40 * minuteMs });
  const source = createFakePodSource('apiserver', 'cluster');
  const select = new WatchedValue({});
  const index = createIdentityIndex({ sources: [source], trustDomain: 'example.org', select, clock, log, metrics: metrics.metrics });
  start(t, index);
  index.identities.subscribe((next) => identities.set(next));
  source.set([createPod('built-in'), createPod('by-token')]);
  await clock.advance(1_000);
  const stateOf = (name: string) => cache.watch(`spiffe://example.org/ns/shop/sa/${name}`).value;
  const serialOf = (name: string): string | undefined => {
    const state = stateOf(name);
    return state?.status === 'issued' || state?.status === 'retained' ? state.svid.serial : undefined;
  };
  const first = [serialOf('built-in'), serialOf('by-token')];
  t.ok(first.every((serial) => serial !== undefined));

  source.fail(down);
  ca.outcome = ({ id }) =>
    id.serviceAccount === 'by-token' ? new SignetError('unavailable', 'cannot talk to the api server', { reason: down.code }) : undefined;
  for (let passed = 1; passed <= 38; passed += 1) {
    await clock.advance(minuteMs);
    t.ok(serialOf('built-in') !== undefined && serialOf('by-token') === first[1], `minute ${passed}`);
  }
  t.match(stateOf('by-token'), { status: 'retained', reason: { code: 'kube-unavailable' } });
  for (let passed = 39; passed <= 60; passed += 1) {
    await clock.advance(minuteMs);
    t.equal(stateOf('built-in')?.status, 'issued');
  }
  t.not(serialOf('built-in'), first[0]);
  t.match(stateOf('by-token'), { status: 'unavailable', reason: { code: 'kube-unavailable' } }, 'to its end and not past it');
  t.equal(identities.value.size, 2);

  source.set([createPod('built-in'), createPod('by-token')]);
  ca.outcome = () => undefined;
  await clock.advance(minuteMs);
  t.equal(stateOf('by-token')?.status, 'issued');
});
