// From the pods file to the wire: arrival and removal. See suites.md.

import t from 'tap';
import { systemClock } from '../../agent/runtime/time.js';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { idOf } from '../fixtures/envoy-config.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { createSignet } from '../fixtures/signet.js';
import { pause, percentile } from '../fixtures/until.js';
import { removalKeepsTraffic } from './scenes.js';

await t.test('a new pod is on the wire', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['first'] });
  await signet.start();
  const connection = connectSds(scene, signet.socket);
  await connection.watch('sotw', [idOf('first')]).first(idOf('first'));
  const accounts = Array.from({ length: 60 }, (_, index) => `pod${index}`);
  const early = { sotw: connection.watch('sotw', accounts.map(idOf)), delta: connection.watch('delta', accounts.map(idOf)) };
  await early.delta.first(idOf('pod0'));
  t.same(early.sotw.received, [], 'a SotW client that asked before its pods exist hears nothing');
  t.ok(
    early.delta.received.every((item) => item.removed),
    'a delta client is told that they do not exist',
  );

  const times: number[] = [];
  for (const [index, account] of accounts.entries()) {
    const writtenAt = systemClock.monotonic();
    signet.setAccounts(['first', ...accounts.slice(0, index + 1)]);
    const received = await Promise.all([
      early.sotw.first(idOf(account)),
      early.delta.first(idOf(account), 1),
      connection.watch('sotw', [idOf(account)]).first(idOf(account)),
    ]);
    times.push(Math.max(...received.map((item) => item.at)) - writtenAt);
    await pause(20);
  }
  t.comment(
    `pods file renamed to secret received by three clients, ms: median ${percentile(times, 0.5).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)}`,
  );
  t.equal(times.length, accounts.length, 'also for clients that asked before');
});

await t.test('the removal of the last pod', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['stays', 'goes'] });
  await signet.start();
  const connection = connectSds(scene, signet.socket);
  const sotw = connection.watch('sotw', [idOf('stays'), idOf('goes')]);
  const delta = connection.watch('delta', [idOf('stays'), idOf('goes')]);
  await Promise.all([sotw, delta].flatMap((watch) => [watch.first(idOf('stays')), watch.first(idOf('goes'))]));
  t.notOk(
    delta.received.some((item) => item.removed),
    'nothing is called removed right after the start, before the pods are read',
  );
  const before = sotw.received.length;
  const writtenAt = systemClock.monotonic();
  signet.setAccounts(['stays']);
  const removal = await delta.first(idOf('goes'), 1);
  t.ok(removal.removed, 'reaches a delta client as removed_resources');
  t.comment(`after ${Math.round(removal.at - writtenAt)} ms, with a linger of 1 s`);
  t.ok(removal.at - writtenAt >= 990, 'not before the linger is over');
  await pause(300);
  t.equal(sotw.received.length, before, 'and never shows in a SotW one');
  t.equal(delta.received.filter((item) => item.removed).length, 1, 'it is told once');
  t.same([sotw.status(), delta.status()], [undefined, undefined], 'both streams stay open');
});

await t.test('a removed identity, an Envoy that uses it', (t) => removalKeepsTraffic(t, wholeSuiteEnvoy));
