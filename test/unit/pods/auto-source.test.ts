// Which source is used, when it is left for another, and what is said of it.

import t from 'tap';
import type { Test } from 'tap';
import { createAutoSource, logOfCandidate } from '../../../agent/pods/auto-source.js';
import { reasons } from '../../../agent/runtime/reasons.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';
import { start } from '../../fixtures/reasons.js';

async function scene(t: Test) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const candidates = ['one', 'two', 'three'].map((name) => createFakePodSource(name, 'cluster'));
  const [one, two, three] = candidates as [(typeof candidates)[0], (typeof candidates)[0], (typeof candidates)[0]];
  const auto = createAutoSource({ candidates, clock, log });
  start(t, auto);
  await settle();
  return { clock, log, one, two, three, auto, names: () => [...auto.view.value.pods.values()].map(({ name }) => name) };
}

const denied = { code: 'kube-denied', detail: 'pods is forbidden' } as const;

t.test('F033: the first that works, and why those before it do not', async (t) => {
  const { one, two, auto, names, log, clock } = await scene(t);
  one.fail({ code: 'pods-api-unavailable', detail: 'ENOENT' });
  await settle();
  two.set([createPod('a')]);
  await settle();
  t.same(names(), ['a']);
  t.match(auto.view.value, { complete: true, reason: undefined });
  t.equal(auto.explain(), 'uses two; one: pods-api-unavailable (ENOENT)');
  t.match(log.lines, [{ level: 'info', fields: { source: 'two', passedOver: ['one: pods-api-unavailable (ENOENT)'] } }]);
  t.equal(clock.alarms, 0);
});

t.test('one that says nothing is left after 15 seconds', async (t) => {
  const { two, names, clock, auto } = await scene(t);
  await clock.advance(15_000);
  two.set([createPod('a')]);
  await settle();
  t.same(names(), ['a']);
  t.match(auto.explain(), /one: pods-unread/);
});

t.test('none works: all are said, and tried again', async (t) => {
  const { one, two, three, auto, clock, log, names } = await scene(t);
  for (const each of [one, two, three]) {
    each.fail(denied);
    await settle();
  }
  t.match(auto.view.value, { complete: false, reason: { code: 'kube-denied', detail: /one: .*; two: .*; three: / } });
  t.match(auto.explain(), /no source works/);
  await clock.advance(10_000);
  for (const each of [one, two, three]) {
    each.fail({ ...denied });
    await settle();
  }
  t.match(log.lines, [{ level: 'warn', message: 'no source of pods works', fields: { passedOver: { length: 3 } } }]);
  t.equal(log.lines.length, 1, 'told once');
  await clock.advance(10_000);
  one.set([createPod('a')]);
  await settle();
  t.same(names(), ['a']);
  t.equal(auto.view.value.reason, undefined);
});

t.test('none ever worked: the reason is that of the first that refuses', async (t) => {
  const { one, two, three, auto } = await scene(t);
  for (const [source, reason] of [
    [one, { code: 'pods-api-unavailable', detail: 'ENOENT' }],
    [two, denied],
    [three, { code: 'kubelet-unavailable', detail: 'ECONNREFUSED' }],
  ] as const) {
    source.fail(reason);
    await settle();
  }
  t.match(auto.view.value.reason, { code: 'kube-denied', detail: /^one: pods-api-unavailable .*; two: .*; three: kubelet-unavailable/ });
});

t.test('one that worked has a minute to recover; its view stays until another is complete', async (t) => {
  const { one, two, auto, clock, log, names } = await scene(t);
  one.set([createPod('a')]);
  await settle();
  one.fail(denied);
  await clock.advance(59_000);
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  const told = { source: 'one', reason: 'kube-denied', detail: denied.detail, action: reasons['kube-denied'].action };
  t.strictSame(warnings, [{ level: 'warn', message: 'the source of pods fails, keeping what was read', fields: told }]);
  t.equal(auto.view.value.reason?.code, 'kube-denied');
  one.set([createPod('a'), createPod('b')]);
  await settle();
  t.equal(auto.view.value.reason, undefined);
  one.fail(denied);
  await clock.advance(60_000);
  await clock.advance(10_000);
  t.same(names(), ['a', 'b']);
  one.fail({ ...denied });
  await settle();
  two.set([createPod('b')]);
  await settle();
  t.same(names(), ['b']);
  t.match(auto.explain(), /uses two; one: kube-denied/);
});

t.test('none works any more: the reason is that of the last that did', async (t) => {
  const { one, two, three, auto, clock, names } = await scene(t);
  one.fail({ code: 'pods-api-unavailable', detail: 'ENOENT' });
  await settle();
  two.set([createPod('a')]);
  await settle();
  two.fail({ code: 'kube-unavailable', detail: 'ECONNREFUSED' });
  await clock.advance(60_000);
  await clock.advance(10_000);
  one.fail({ code: 'pods-api-unavailable', detail: 'ENOENT' });
  await settle();
  two.fail({ code: 'kube-unavailable', detail: 'ECONNREFUSED' });
  await settle();
  three.fail({ code: 'kubelet-unavailable', detail: 'ECONNREFUSED' });
  await settle();
  t.match(auto.view.value.reason, {
    code: 'kube-unavailable',
    detail: /one: pods-api-unavailable .*; two: .*; three: kubelet-unavailable/,
  });
  t.same(names(), ['a']);
});

t.test('what a candidate says of itself is no warning', (t) => {
  const log = createRecordingLogger();
  const ofCandidate = logOfCandidate(log);
  ofCandidate.warn('one', { a: 1 });
  ofCandidate.child({ b: 2 }).warn('two');
  ofCandidate.error('three');
  t.match(log.lines, [
    { level: 'info', message: 'one', fields: { a: 1 } },
    { level: 'info', message: 'two', fields: { b: 2 } },
    { level: 'error', message: 'three' },
  ]);
  t.end();
});
