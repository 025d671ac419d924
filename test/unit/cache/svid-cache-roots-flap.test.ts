// Published roots that change again and again: calls stay bounded, for as long as it goes on; what helps is not held up by what was
// before; many identities go on being spread.

import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createRoot } from '../../fixtures/pki.js';
import type { CacheScene } from '../../fixtures/svid-cache.js';
import { createCacheScene, uriOf } from '../../fixtures/svid-cache.js';

t.setTimeout(300_000);

const second = 1_000;
const minute = 60 * second;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n-${index}`);
const unpublished = createRoot().certificate;
const another = createRoot().certificate;

/** Calls within any time of that length. */
function busiest({ ca }: CacheScene, lengthMs: number, uri?: string): number {
  const instants = ca.calls.filter((call) => uri === undefined || call.uri === uri).map(({ at }) => at);
  return Math.max(0, ...instants.map((from, index) => instants.slice(index).filter((at) => at < from + lengthMs).length));
}

/** Each of the identities is asked for once in the ten seconds after `from`, and they are not all asked for together. */
function isSpread(t: Test, scene: CacheScene, from: number, count: number): void {
  const instants = scene.ca.calls.filter(({ at }) => at >= from).map(({ at }) => at - from);
  t.equal(instants.length, count);
  t.ok(Math.max(...instants) <= 10 * second, `after ${instants.join(', ')} ms`);
  t.ok(Math.max(...instants.map((at) => instants.filter((other) => other >= at && other < at + second).length)) < count * 0.75);
}

t.test('a source that flaps brings each certificate forward twice a minute at most, and does not keep it from its renewal', async (t) => {
  const scene = createCacheScene(t);
  const { ca, clock, want, svid } = scene;
  await want(...names(50));
  const next = ca.rotate();
  // The CA signs under the next root, and the former one comes and goes.
  for (let times = 0; times < 15; times += 1) {
    await scene.publish(next);
    await clock.advance(second);
    await scene.publish(...ca.ownRoots, next);
    await clock.advance(second);
  }
  t.equal(ca.calls.length, 100, 'one new certificate each');
  t.ok(names(50).every((name) => svid(name).root === next));
  // Now it is the other way round: the CA signs under a root that comes and goes.
  await clock.advance(2 * minute);
  const before = ca.calls.length;
  for (let times = 0; times < 120; times += 1) {
    await scene.publish(times % 2 === 0 ? unpublished : next);
    await clock.advance(second);
  }
  const calls = ca.calls.length - before;
  // Of each two tries the second is what follows a failure, within the same second.
  t.ok(calls <= 50 * 10, `${calls} calls for 50 identities in two minutes`);
  t.ok(busiest(scene, 29 * second, uriOf('n-0')) <= 2);
});

t.test('a root that comes and goes slowly forgets no back-off', async (t) => {
  for (const [awayMs, backMs] of [
    [20, 10],
    [9, 1],
    [29, 1],
    [45, 15],
  ].map((pair) => pair.map((seconds) => seconds * second)) as [number, number][]) {
    const scene = createCacheScene(t);
    const { ca, clock, want, publish, stop } = scene;
    await want('a');
    await clock.advance(2 * minute);
    ca.rotate();
    for (let passed = 0; passed < 10 * minute; passed += awayMs + backMs) {
      await publish(another);
      await clock.advance(awayMs);
      await publish(...ca.ownRoots);
      await clock.advance(backMs);
    }
    // The first one; two a minute, the last at the very end; and those of the back-off, 1 s doubling, in the first half minute.
    t.ok(scene.callsFor('a') <= 1 + 21 + 5, `${awayMs} ms, ${backMs} ms: ${scene.callsFor('a')} calls in ten minutes`);
    t.ok(busiest(scene, minute) <= 8);
    // Nobody is kept from the certificate meanwhile.
    await publish(ca.rotate());
    await clock.advance(30 * second);
    t.match(scene.state('a'), { status: 'issued', svid: { root: ca.roots.value[0] } });
    await stop();
  }
});

t.test('a pod without a certificate gets it as soon as its root comes, whatever came before', async (t) => {
  for (const [changes, everyMs, quietMs] of [
    [10, second, minute],
    [5, 5 * second, 15 * second],
    [5, 5 * second, minute],
    [40, second, 4 * minute],
  ] as const) {
    const scene = createCacheScene(t);
    const { ca, clock, want, publish, state, stop } = scene;
    const right = ca.rotate();
    await publish(another);
    await want('a');
    for (let times = 0; times < changes; times += 1) {
      await publish(times % 2 === 0 ? unpublished : another);
      await clock.advance(everyMs);
    }
    await clock.advance(quietMs);
    t.match(state('a'), { status: 'unavailable', reason: { code: 'trust-anchor-unknown' } });
    await publish(another, right);
    t.match(state('a'), { status: 'issued' }, `${changes} changes, one in ${everyMs} ms`);
    await stop();
  }
});

t.test('a withdrawal after others is spread', async (t) => {
  const all = names(20);
  const scene = createCacheScene(t);
  const { ca, clock, want, publish } = scene;
  await want(...all);
  await clock.advance(2 * minute);
  const right = ca.rotate();
  for (let times = 0; times < 9; times += 1) {
    await publish(times % 2 === 0 ? another : unpublished);
    await clock.advance(4 * second);
  }
  await publish(right);
  await clock.advance(90 * second);
  for (const gapMs of [45, 55, 75, 300].map((seconds) => seconds * second)) {
    const from = clock.now();
    await publish(ca.rotate());
    await clock.advance(gapMs);
    isSpread(t, scene, from, all.length);
  }
});

t.test('a root that comes to many is spread, and at once for who has no certificate', async (t) => {
  const all = names(20);
  const scene = createCacheScene(t);
  const { ca, clock, want, publish, state } = scene;
  await want(...all);
  await clock.advance(2 * minute);
  const right = ca.rotate();
  await publish(another);
  await want(...all, 'new');
  await clock.advance(5 * minute);
  t.match(state('new'), { status: 'unavailable' });
  const from = clock.now();
  await publish(another, right);
  t.match(state('new'), { status: 'issued' });
  await clock.advance(30 * second);
  isSpread(t, scene, from, all.length + 1);
  t.ok(all.every((name) => state(name)?.status === 'issued'));
});

t.test('what an operator asked for and failed is still due when a root comes and goes', async (t) => {
  const { ca, clock, want, publish, settled, cache, state } = createCacheScene(t);
  await want('a');
  await clock.advance(2 * minute);
  ca.outcome = () => new SignetError('unavailable', 'down');
  cache.renew(uriOf('a'));
  await settled();
  await publish(another);
  await publish(...ca.ownRoots);
  const now = state('a');
  t.match(now, { status: 'retained', reason: { code: 'ca-unavailable' }, unverified: undefined });
  t.ok(now?.status === 'retained' && now.retryAt > clock.now() && now.retryAt <= clock.now() + second, 'the time is known');
  ca.outcome = () => undefined;
  await clock.advance(second);
  t.match(state('a'), { status: 'issued' });
  t.equal(ca.calls.length, 3);
});

t.test('a root that goes while an attempt is under way: the next one is not said to be due before', async (t) => {
  const { ca, clock, want, publish, settled, cache, state } = createCacheScene(t);
  await want('a');
  await clock.advance(2 * minute);
  ca.outcome = () => 'hang';
  cache.renew(uriOf('a'));
  await settled();
  await clock.advance(5 * second);
  await publish(another);
  t.match(state('a'), { status: 'retained', reason: { code: 'root-withdrawn' }, retryAt: clock.now() });
});

t.test('property: whatever is published, a certificate is served, calls are bounded, and in the end all is well', async (t) => {
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 40 * second }),
    published: fc.subarray([0, 1, 2], { minLength: 1 }),
    rotates: fc.boolean(),
  });
  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
  const run = async (steps: readonly Step[], rounds: number): Promise<void> => {
    const scene = createCacheScene(t);
    const { ca, clock, want, publish, svid, state, log, stop } = scene;
    await want('a', 'b');
    await clock.advance(2 * minute);
    const until = clock.now() + 10 * minute;
    const roots: Certificate[] = [...ca.ownRoots, unpublished];
    for (let round = 0; round < rounds; round += 1) {
      for (const { waitMs, published, rotates } of steps) {
        if (rotates && round === 0) roots.push(ca.rotate());
        await publish(...published.flatMap((index) => roots.at(-1 - index) ?? []));
        await clock.advance(Math.min(waitMs, until - clock.now()));
        for (const name of ['a', 'b']) svid(name);
      }
    }
    for (const uri of ['a', 'b'].map(uriOf)) {
      // The tries of one forward move and their back-off, 1 s doubling, and those of the next one.
      const most = busiest(scene, 30 * second, uri);
      if (most > 12) throw new Error(`${most} calls for one identity in 30 s`);
      // Two a minute, two that were saved up, the rest of a back-off; each success begins another one, of five tries until it is slower.
      const renewed = log.lines.filter(({ message, fields }) => message === 'certificate renewed' && fields['id'] === uri).length;
      const calls = ca.calls.filter((call) => call.uri === uri).length;
      if (calls > 1 + 22 + 10 + 5 * (renewed + 1)) throw new Error(`${calls} calls for one identity in ten minutes, ${renewed} successes`);
    }
    await publish(ca.rotate());
    await clock.advance(90 * second);
    const wrong = ['a', 'b'].filter((name) => state(name)?.status !== 'issued' || svid(name).root !== ca.roots.value[0]);
    if (wrong.length > 0) throw new Error(`not renewed: ${JSON.stringify(state(wrong[0] ?? ''))}`);
    await stop();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 60 }), run), {
    numRuns: 15,
    // The CA signs under the next root, which nobody publishes, and the former one comes and goes.
    examples: [
      [
        [
          { waitMs: 20 * second, published: [1], rotates: true },
          { waitMs: 10 * second, published: [2], rotates: false },
        ],
        20,
      ],
    ],
  });
  t.pass();
});
