// The stand-in for ztunnel must do what ztunnel does before anything is tested with it: order, retries, refreshes, what it forgets.

import t from 'tap';
import { createFakeClock, settle } from '../fixtures/clock.js';
import type { HeldCertificate } from '../fixtures/ztunnel-secrets.js';
import { createSecretManager } from '../fixtures/ztunnel-secrets.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function createScene() {
  const clock = createFakeClock();
  const calls: { identity: string; grant(lifetimeMs?: number): Promise<HeldCertificate>; refuse(): Promise<void> }[] = [];
  const secrets = createSecretManager({
    clock,
    random: () => 0.5,
    fetch: (identity) =>
      new Promise<HeldCertificate>((resolve, reject) => {
        calls.push({
          identity,
          async grant(lifetimeMs = hourMs) {
            const held = { notBefore: clock.now(), notAfter: clock.now() + lifetimeMs };
            resolve(held);
            await settle();
            return held;
          },
          async refuse() {
            reject(new Error('no'));
            await settle();
          },
        });
      }),
  });
  const asked = (): readonly string[] => calls.map(({ identity }) => identity);
  const call = (index: number): (typeof calls)[number] => {
    const found = calls.at(index);
    if (found === undefined) throw new Error(`no call ${index}`);
    return found;
  };
  /** Without interest in the answer. */
  const ask = (...args: Parameters<typeof secrets.request>): void => void secrets.request(...args).catch(() => undefined);
  return { clock, secrets, calls, asked, call, ask };
}

t.test('eight at once, and of those that wait the highest priority first', async (t) => {
  const { secrets, asked, call, ask } = createScene();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const name of names) ask(name, 'warmup');
  for (const [name, priority] of [
    ['background', 'background'],
    ['warmup', 'warmup'],
    ['raised', 'warmup'],
    ['real-time', 'real-time'],
  ] as const) {
    ask(name, priority);
  }
  ask('raised', 'real-time');
  ask('real-time', 'background');
  t.same(asked(), names, 'no ninth');
  for (let index = 0; index < 4; index += 1) await call(index).grant();
  t.same(asked().slice(8), ['raised', 'real-time', 'warmup', 'background'], 'among equals the one due first; raised, never lowered');
  secrets.close();
});

t.test('all that wait for an identity share one fetch', async (t) => {
  const { secrets, asked, call } = createScene();
  const [one, two] = [secrets.request('a'), secrets.request('a')];
  t.equal(secrets.state('a'), 'Initializing');
  const held = await call(0).grant();
  t.equal(await one, held);
  t.equal(await two, held);
  t.equal(await secrets.request('a'), held);
  t.same(asked(), ['a']);
  t.equal(secrets.state('a'), 'Available');
  secrets.close();
});

t.test('arrivals are fetched one at a time, and what does not fit is dropped', async (t) => {
  const { secrets, asked, call } = createScene();
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
  secrets.prefetch(names);
  for (let index = 0; index < 256; index += 1) {
    t.equal(asked().length, index + 1);
    await (index === 7 ? call(index).refuse() : call(index).grant());
  }
  t.same(asked(), names.slice(0, 256), 'one that fails does not stop the others');
  t.equal(secrets.state('n299'), undefined);
  secrets.close();
});

t.test('a refresh at half of the lifetime, which keeps what there is while it fails', async (t) => {
  const { clock, secrets, asked, call, ask } = createScene();
  ask('a');
  const first = await call(0).grant(hourMs);
  t.equal(secrets.dueAt('a'), clock.now() + hourMs / 2);
  await clock.advance(hourMs / 2 - 1);
  t.equal(asked().length, 1);
  await clock.advance(1);
  t.equal(asked().length, 2);
  await call(1).refuse();
  t.equal(secrets.state('a'), 'Available');
  t.equal(await secrets.request('a'), first);
  t.equal(secrets.dueAt('a'), clock.now() + 1_000);
  await clock.advance(1_000);
  const second = await call(2).grant(hourMs);
  t.equal(secrets.held('a'), second);
  t.equal(secrets.dueAt('a'), clock.now() + hourMs / 2);
  secrets.close();
});

t.test('at the end of the lifetime it is asked once more, then there is nothing', async (t) => {
  const { clock, secrets, calls, call, ask } = createScene();
  ask('a');
  const { notAfter } = await call(0).grant(2 * minuteMs);
  await clock.advance(minuteMs);
  while (clock.now() < notAfter) {
    await call(-1).refuse();
    t.equal(secrets.state('a'), 'Available');
    const due = secrets.dueAt('a') ?? 0;
    t.ok(due <= notAfter);
    await clock.advance(due - clock.now());
  }
  const before = calls.length;
  await call(-1).refuse();
  t.equal(secrets.state('a'), 'Unavailable: no');
  await t.rejects(secrets.request('a'), { message: 'no' }, 'at once');
  t.equal(calls.length, before, 'and without a call');
  secrets.close();
});

t.test('retries double from 1 s to 150 s, each a fifth more or less, and are flat after 15 min', async (t) => {
  const { clock, secrets, call, ask } = createScene();
  ask('a');
  const waits: number[] = [];
  for (let tries = 0; tries < 14; tries += 1) {
    await call(-1).refuse();
    const wait = (secrets.dueAt('a') ?? 0) - clock.now();
    waits.push(wait / 1_000);
    await clock.advance(wait);
  }
  t.same(waits, [1, 2, 4, 8, 16, 32, 64, 128, 150, 150, 150, 150, 150, 150]);
  await call(-1).grant();
  t.equal(secrets.state('a'), 'Available');
  secrets.close();
});

t.test('a lifetime whose half is past is fetched again and again', async (t) => {
  const { clock, secrets, asked, call, ask } = createScene();
  ask('a');
  await clock.advance(minuteMs);
  await call(0).grant(-2 * minuteMs);
  await clock.advance(0);
  t.equal(asked().length, 2);
  secrets.close();
});

t.test('a step of the wall clock is not seen', async (t) => {
  const { clock, secrets, asked, call, ask } = createScene();
  ask('a');
  await call(0).grant(hourMs);
  clock.step(2 * hourMs);
  await clock.advance(hourMs / 2 - 1);
  t.equal(asked().length, 1);
  await clock.advance(1);
  t.equal(asked().length, 2);
  secrets.close();
});

t.test('what is forgotten is not fetched again; what returns in between takes the answer under way', async (t) => {
  const { clock, secrets, asked, call, ask } = createScene();
  const waiting = secrets.request('a');
  secrets.forget('a');
  await t.rejects(waiting, { message: 'forgotten' });
  t.equal(secrets.state('a'), undefined);
  const again = secrets.request('a');
  const held = await call(0).grant();
  t.equal(await again, held);
  t.same(asked(), ['a']);
  secrets.forget('a');
  ask('b');
  secrets.forget('b');
  await call(1).grant();
  t.equal(secrets.state('b'), undefined);
  await clock.advance(hourMs);
  t.same(asked(), ['a', 'b']);
  t.equal(clock.alarms, 0);
});

t.test('at its end nothing is left', async (t) => {
  const { clock, secrets, call, ask } = createScene();
  const waiting = secrets.request('a');
  ask('b');
  await call(1).grant();
  secrets.close();
  await t.rejects(waiting, { message: 'closed' });
  await call(0).grant();
  t.equal(clock.alarms, 0);
});
