import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createAdmission } from '../../../agent/sds/limits.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { defaultLimits } from '../../fixtures/limits.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

function admission(limits: Partial<typeof defaultLimits>) {
  const clock = createFakeClock();
  const metrics = createTestMetrics();
  const all = createAdmission({ ...defaultLimits, ...limits }, clock, metrics.metrics);
  const reached = (limit: string) => metrics.read('signet_limit_reached_total', { limit });
  return { all, clock, reached };
}

const exhausted = { name: 'SignetError', kind: 'exhausted', reason: 'peer-limit' };

void t.test('streams in all and of one owner', async (t) => {
  const { all, reached } = admission({ streams: 3, streamsPerOwner: 2 });
  const [x, y] = [all.account('x'), all.account('y')];
  all.open(x);
  all.open(x);
  t.throws(() => all.open(x), exhausted);
  all.open(y);
  t.throws(() => all.open(y), exhausted);
  t.same([await reached('streams-per-owner'), await reached('streams')], [1, 1]);
  all.close(x);
  all.open(y);
});

void t.test('opens: a burst, then a rate', async (t) => {
  const { all, clock, reached } = admission({ openBurst: 3, openRate: 10 });
  const x = all.account('x');
  for (let index = 0; index < 3; index += 1) all.open(x);
  t.throws(() => all.open(x), exhausted);
  await clock.advance(100);
  all.open(x);
  t.throws(() => all.open(x), exhausted);
  t.equal(await reached('opens-per-owner'), 2);
  await clock.advance(3_600_000);
  for (let index = 0; index < 3; index += 1) all.open(x);
  t.throws(() => all.open(x), exhausted, 'the burst does not grow');
});

void t.test('names of one owner', async (t) => {
  const { all, reached } = admission({ namesPerOwner: 5 });
  const x = all.account('x');
  all.addNames(x, 5);
  t.throws(() => all.addNames(x, 1), exhausted);
  all.removeNames(x, 2);
  all.addNames(x, 2);
  t.equal(await reached('names-per-owner'), 1);
  t.ok(all.refuse('message') instanceof SignetError);
  t.equal(await reached('message'), 1);
});

void t.test('an owner that went is forgotten, unless it would get a new burst by that', async (t) => {
  const { all, clock } = admission({ openBurst: 1, openRate: 1 });
  const spent = all.account('spent');
  all.open(spent);
  const others = Array.from({ length: 1_200 }, (_, index) => all.account(`other-${index}`));
  t.equal(all.account('spent'), spent, 'it has a stream');
  all.close(spent);
  t.ok(
    others.some((account) => all.account(account.owner) !== account),
    'idle ones were forgotten',
  );
  t.equal(all.account('spent'), spent, 'its burst is not full');
  await clock.advance(1_000);
  for (let index = 0; index < 1_200; index += 1) all.account(`more-${index}`);
  t.not(all.account('spent'), spent);
});
