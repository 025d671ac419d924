import fc from 'fast-check';
import t from 'tap';
import type { NextStep, RotationFacts, RotationState } from '../../../agent/authority/rotation.js';
import { nextStep, publishedRoots, takeStep } from '../../../agent/authority/rotation.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createIntermediate, createRoot, dayMs, hourMs, testTime } from '../../fixtures/pki.js';

const life = { notBefore: testTime, notAfter: testTime + 1_000 * dayMs };
const pool = Array.from({ length: 12 }, () => createRoot(life));
const at = (index: number): Certificate => {
  const found = pool[index % pool.length];
  if (found === undefined) throw new Error('no certificate');
  return found.certificate;
};
const [one, two, three] = [at(0), at(1), at(2)];
const below = createIntermediate(pool[0] ?? createRoot(), life).certificate;

const leafLifetimeMs = 10 * hourMs;
const lagMs = hourMs;
const facts: RotationFacts = { confirmed: [one], leafLifetimeMs, lagMs };
const steady: RotationState = {
  issuer: { certificate: one, roots: [one] },
  noted: [one],
  former: [],
  longestLifetimeMs: leafLifetimeMs,
  requested: false,
};
const now = testTime + dayMs;
const dueAt = testTime + 800 * dayMs;

t.test('the next step', (t) => {
  const next = { next: { certificate: two } };
  const confirmed = { next: { certificate: two, publishedAt: now } };
  const switchAt = now + 7 * hourMs;
  const former = (until: number) => ({ former: [{ certificate: three, until }] });
  const cases: readonly (readonly [
    what: string,
    state: Partial<RotationState>,
    facts: Partial<RotationFacts>,
    now: number,
    expected: NextStep,
  ])[] = [
    ['nothing is due', {}, {}, now, { step: 'wait', until: dueAt }],
    ['a longer life than was ever noted', {}, { leafLifetimeMs: leafLifetimeMs + 1 }, now, { step: 'note' }],
    ['the issuer was replaced', { issuer: { certificate: two, roots: [two] } }, {}, now, { step: 'note' }],
    ['a root came beside it', { issuer: { certificate: one, roots: [one, two] } }, {}, now, { step: 'note' }],
    ['an older copy was put back', {}, { lost: [two] }, now, { step: 'note' }],
    ['what it lacked is noted', former(now + 1), { lost: [three] }, now, { step: 'wait', until: now + 1 }],
    ['somebody asks', { requested: true }, {}, now, { step: 'prepare' }],
    ['the last fifth of its life', {}, {}, dueAt, { step: 'prepare' }],
    ['leaves live too long for that', { longestLifetimeMs: 100 * dayMs }, {}, testTime + 700 * dayMs, { step: 'prepare' }],
    [
      'never in the first half',
      { longestLifetimeMs: 900 * dayMs },
      {},
      testTime + 500 * dayMs - 1,
      { step: 'wait', until: testTime + 500 * dayMs },
    ],
    [
      'a root above it: not ours to replace',
      { issuer: { certificate: below, roots: [one] }, requested: true },
      {},
      dueAt,
      { step: 'wait', until: Infinity },
    ],
    [
      'too many former roots',
      { requested: true, former: Array.from({ length: 8 }, () => ({ certificate: three, until: dueAt })) },
      {},
      now,
      { step: 'wait', until: dueAt },
    ],
    ['not every target is known', next, { confirmed: undefined }, now, { step: 'wait', until: Infinity }],
    ['not every target has the next root', next, {}, now, { step: 'wait', until: Infinity }],
    ['every target has it', next, { confirmed: [two, one] }, now, { step: 'confirm' }],
    [
      'every target has it, but lost a former one',
      { ...next, ...former(dueAt) },
      { confirmed: [two, one] },
      now,
      { step: 'wait', until: dueAt },
    ],
    ['a target was seen without the next root', confirmed, { lapsedAt: now }, switchAt, { step: 'lapse' }],
    ['that comes first', { ...confirmed, ...former(now) }, { lapsedAt: switchAt }, switchAt, { step: 'lapse' }],
    ['a target was seen without it before all had it', confirmed, { lapsedAt: now - 1 }, switchAt, { step: 'switch' }],
    ['too early to switch', confirmed, {}, switchAt - 1, { step: 'wait', until: switchAt }],
    ['0.6 of the longest life and the lag later', confirmed, {}, switchAt, { step: 'switch' }],
    ['somebody does not want to wait for targets', { ...next, force: 'switch' }, {}, now, { step: 'switch' }],
    ['a leaf of the old issuer may live', former(now + 1), {}, now, { step: 'wait', until: now + 1 }],
    ['none does', former(now), {}, now, { step: 'retire' }],
    ['none does, while another rotation waits', { ...confirmed, ...former(now) }, {}, now, { step: 'retire' }],
    ['somebody does not want to wait for leaves', { ...former(dueAt), force: 'retire' }, {}, now, { step: 'retire' }],
  ];
  for (const [what, state, more, moment, expected] of cases)
    t.same(nextStep({ ...steady, ...state }, moment, { ...facts, ...more }), expected, what);
  t.end();
});

t.test('a rotation from end to end', (t) => {
  let state: RotationState = { ...steady, requested: true };
  const take = (moment: number, confirmed: readonly Certificate[]): string => {
    const { step } = nextStep(state, moment, { ...facts, confirmed });
    if (step !== 'wait') state = takeStep(state, step, moment, { ...facts, confirmed }, two);
    return `${step}: ${[...publishedRoots(state)].map((root) => [one, two].indexOf(root) + 1).join(' ')}`;
  };
  t.equal(take(now, [one]), 'prepare: 1 2');
  t.equal(take(now + 1, [one]), 'wait: 1 2');
  t.equal(take(now + 2, [one, two]), 'confirm: 1 2');
  t.equal(take(now + 2 + 7 * hourMs - 1, [one, two]), 'wait: 1 2');
  const switchedAt = now + 2 + 7 * hourMs;
  t.equal(take(switchedAt, [one, two]), 'switch: 2 1');
  t.equal(take(switchedAt, [one, two]), 'note: 2 1');
  t.equal(take(switchedAt + leafLifetimeMs + lagMs - 1, [one, two]), 'wait: 2 1');
  t.equal(take(switchedAt + leafLifetimeMs + lagMs, [one, two]), 'retire: 2');
  t.same(state, { ...steady, issuer: { certificate: two, roots: [two] }, noted: [two] });
  t.end();
});

t.test('what others did to the issuer', (t) => {
  const next = { certificate: two };
  const replaced = takeStep({ ...steady, next, issuer: { certificate: three, roots: [three] } }, 'note', now, facts);
  t.same(replaced.former, [{ certificate: one, until: now + leafLifetimeMs + lagMs }], 'its former root stays as long as its leaves');
  t.same(replaced.next, next, 'a rotation goes on from there');
  const given = takeStep({ ...steady, next, issuer: { certificate: below, roots: [three] } }, 'note', now, facts);
  t.notOk(given.next, 'it ends when the issuer gets a root of its own');
  const back = takeStep({ ...replaced, issuer: steady.issuer }, 'note', now + 1, facts);
  t.same(publishedRoots(back), [one, two, three], 'each once, those of the issuer first');
  const forced = takeStep({ ...replaced, force: 'retire' }, 'retire', now, facts);
  t.same([forced.former, forced.force], [[], undefined], 'by force all former roots go, once');
  t.equal(
    takeStep({ ...replaced, next, force: 'switch' }, 'retire', now, facts).force,
    'switch',
    'what was forced is not forgotten meanwhile',
  );
  const foreign = takeStep({ ...steady, issuer: { certificate: one, roots: [one, three] }, next }, 'switch', now, facts);
  t.same(foreign.issuer, { certificate: two, roots: [two, three] }, 'roots of others beside ours stay');
  t.end();
});

/**
 * Two replicas, each with a view of the Secret that may lag; either may believe to hold the Lease; each write is fenced by the
 * version and may be lost or be followed by a crash. Targets are written at once or not, also by a replica whose view lags, which
 * whoever watches them sees; clients read a target with each of their certificates, which they renew at half of their life.
 */
interface World {
  now: number;
  state: RotationState;
  version: number;
  readonly views: { state: RotationState; version: number; at: number }[];
  target: readonly Certificate[];
  lapsedAt?: number;
  made: number;
  readonly leaves: { readonly issuer: Certificate; readonly notAfter: number }[];
  readonly clients: { trusts: readonly Certificate[]; renewAt: number }[];
  switches: number;
}

const minuteMs = 60_000;
type Action = { readonly do: 'see' | 'act' | 'publish' | 'ask' | 'pass'; readonly replica: 0 | 1; readonly ms: number };

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    do: fc.oneof(
      ...(Object.entries({ act: 8, see: 4, publish: 2, ask: 2, pass: 5 }) as [Action['do'], number][]).map(([name, weight]) => ({
        weight,
        arbitrary: fc.constant(name),
      })),
    ),
    replica: fc.constantFrom<(0 | 1)[]>(0, 1),
    ms: fc.constantFrom(1, 29 * minuteMs, 2 * hourMs, 4 * hourMs),
  }),
  { minLength: 50, maxLength: 200 },
);

function createWorld(): World {
  return {
    now,
    state: steady,
    version: 1,
    views: [0, 1].map(() => ({ state: steady, version: 1, at: now })),
    target: [one],
    made: 0,
    leaves: [],
    clients: Array.from({ length: 3 }, (_, index) => ({ trusts: [one], renewAt: now + index * hourMs })),
    switches: 0,
  };
}

function act(world: World, { do: what, replica, ms }: Action): void {
  const view = world.views[replica];
  if (view === undefined) return;
  if (what === 'see') Object.assign(view, { state: world.state, version: world.version, at: world.now });
  if (what === 'publish') {
    world.target = publishedRoots(view.state);
    if (!publishedRoots(world.state).every((root) => has(world.target, root))) world.lapsedAt = world.now;
  }
  if (what === 'ask' && world.state.next === undefined) {
    world.state = { ...world.state, requested: true };
    world.version += 1;
  }
  if (what === 'pass') pass(world, ms);
  if (what !== 'act') return;
  const known = { ...facts, confirmed: world.target, lapsedAt: world.lapsedAt };
  const { step } = nextStep(view.state, world.now, known);
  // A write of a version that is gone is refused; the replica may crash right after one that is not.
  if (step === 'wait' || view.version !== world.version) return;
  world.state = takeStep(view.state, step, world.now, known, step === 'prepare' ? at(2 + ((world.made += 1) % 10)) : undefined);
  world.version += 1;
  if (step === 'switch') world.switches += 1;
}

/** Time passes in steps so small that no client misses its renewal and no replica its bound. */
function pass(world: World, ms: number): void {
  const end = world.now + ms;
  while (world.now < end) {
    world.now = Math.min(end, world.now + 10 * minuteMs);
    for (const view of world.views)
      if (world.now - view.at >= lagMs - 10 * minuteMs) Object.assign(view, { state: world.state, version: world.version, at: world.now });
    for (const [index, client] of world.clients.entries()) {
      if (world.now < client.renewAt) continue;
      const signer = world.views[index % 2];
      if (signer === undefined) continue;
      world.leaves.push({ issuer: signer.state.issuer.certificate, notAfter: world.now + leafLifetimeMs });
      // Some learn roots from the answer, some from a target.
      const trusts = index === 2 ? world.target : publishedRoots(signer.state);
      Object.assign(client, { trusts, renewAt: world.now + leafLifetimeMs / 2 });
    }
  }
}

const has = (roots: readonly Certificate[], issuer: Certificate): boolean =>
  roots.some(({ fingerprint }) => fingerprint === issuer.fingerprint);

t.test('whatever crashes and lags: every leaf verifies everywhere', (t) => {
  let switches = 0;
  fc.assert(
    fc.property(actions, (list) => {
      const world = createWorld();
      for (const action of list) {
        act(world, action);
        const living = world.leaves.filter(({ notAfter }) => notAfter > world.now);
        for (const { issuer } of [...living, ...world.views.map(({ state }) => ({ issuer: state.issuer.certificate }))]) {
          if (!has(publishedRoots(world.state), issuer)) return false;
          if (!world.clients.every(({ trusts }) => has(trusts, issuer))) return false;
        }
      }
      switches += world.switches;
      return true;
    }),
    { numRuns: 200 },
  );
  t.ok(switches > 100, `and issuers did change: ${switches} times`);
  t.end();
});
