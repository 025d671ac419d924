// When it looks, and what it says of what it finds.

import t from 'tap';
import type { Reason } from '../../../agent/runtime/reasons.js';
import { reasons } from '../../../agent/runtime/reasons.js';
import type { Checks } from '../../../agent/runtime/self-check.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { runSelfCheck } from '../../fixtures/self-check.js';

const denied: Reason = { code: 'kube-denied', detail: 'list pods' };

interface Scripted extends Checks {
  verdict: ReadonlyMap<string, Reason | undefined> | Error;
  looks: number;
}

function scripted(name: string): Scripted {
  const checks: Scripted = {
    names: [name],
    verdict: new Map([[name, undefined]]),
    looks: 0,
    async look() {
      checks.looks += 1;
      if (checks.verdict instanceof Error) throw checks.verdict;
      return checks.verdict;
    },
  };
  return checks;
}

t.test('a line when a fault is found, becomes another, and is gone', async (t) => {
  const checks = scripted('pods');
  const { look, selfCheck, faults } = runSelfCheck(t, [checks]);
  t.same(
    selfCheck.checks.map(({ name }) => name),
    ['pods'],
  );
  t.equal(selfCheck.lookedAt.value, undefined);
  t.same(await look(), []);
  checks.verdict = new Map([['pods', denied]]);
  const { sentence, action } = reasons['kube-denied'];
  const fields = { check: 'pods', reason: 'kube-denied', detail: 'list pods', sentence, action };
  t.same(await look(), [{ level: 'warn', message: 'self-check found a fault', fields }]);
  t.same(await look(), [], 'once');
  checks.verdict = new Map([['pods', { ...denied, detail: 'watch pods' }]]);
  t.match(await look(), [{ level: 'warn', fields: { detail: 'watch pods' } }]);
  t.same(faults(), { pods: 'kube-denied' });
  checks.verdict = new Map([['pods', undefined]]);
  t.same(await look(), [{ level: 'info', message: 'self-check: a fault is gone', fields: { check: 'pods', reason: 'kube-denied' } }]);
  t.same(faults(), {});
});

t.test('what cannot be told changes nothing, and keeps nobody else from looking', async (t) => {
  const [pods, ca] = [scripted('pods'), scripted('ca')];
  const { look, faults, log, selfCheck } = runSelfCheck(t, [pods, ca]);
  const told = (): readonly boolean[] => selfCheck.checks.map(({ isTold }) => isTold.value);
  t.same(told(), [false, false], 'before it looked');
  pods.verdict = new Map([['pods', denied]]);
  await look();
  t.same(told(), [true, true]);
  pods.verdict = new Map();
  t.same(await look(), []);
  pods.verdict = new Error('no answer');
  t.same(await look(), []);
  t.same(told(), [false, true]);
  t.match(log.lines.at(-1), { level: 'debug', fields: { checks: ['pods'], error: 'no answer' } });
  t.same(faults(), { pods: 'kube-denied' });
  t.equal(ca.looks, pods.looks);
});

t.test('after a second, then every ten minutes; with a fault sooner, ever less often', async (t) => {
  const checks = scripted('pods');
  const { clock } = runSelfCheck(t, [checks]);
  await clock.advance(999);
  t.equal(checks.looks, 0, 'the start goes first');
  await clock.advance(1);
  t.equal(checks.looks, 1);
  await clock.advance(599_999);
  t.equal(checks.looks, 1);
  checks.verdict = new Map([['pods', denied]]);
  await clock.advance(1);
  t.equal(checks.looks, 2);
  for (const delay of [15_000, 30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
    const { looks } = checks;
    await clock.advance(delay - 1);
    t.equal(checks.looks, looks, `not before ${delay} ms`);
    await clock.advance(1);
    t.equal(checks.looks, looks + 1);
  }
});

t.test('a new reason elsewhere is a cause to look, ten seconds after the last time', async (t) => {
  const checks = scripted('pods');
  const sign = new WatchedValue<Reason | undefined>(undefined);
  const { clock } = runSelfCheck(t, [checks], [sign]);
  await clock.advance(1_000);
  await clock.advance(60_000);
  sign.set(denied);
  await clock.advance(0);
  t.equal(checks.looks, 2, 'at once, as the last time was a minute ago');
  sign.set({ ...denied, detail: 'the same, in other words' });
  await clock.advance(100_000);
  t.equal(checks.looks, 2);
  sign.set(undefined);
  await clock.advance(0);
  t.equal(checks.looks, 3);
  sign.set(denied);
  await clock.advance(9_999);
  t.equal(checks.looks, 3, 'not at once');
  await clock.advance(1);
  t.equal(checks.looks, 4);
});

t.test('nodes that meet the same thing in one moment do not look in step', async (t) => {
  const checks = scripted('pods');
  const sign = new WatchedValue<Reason | undefined>(undefined);
  const { clock } = runSelfCheck(t, [checks], [sign], 0.5);
  await clock.advance(61_000);
  sign.set(denied);
  await clock.advance(2_499);
  t.equal(checks.looks, 1);
  await clock.advance(1);
  t.equal(checks.looks, 2, 'the half of five seconds after it');
});

t.test('with nothing to check it does nothing', async (t) => {
  const { clock } = runSelfCheck(t, []);
  t.equal(clock.alarms, 0);
});
