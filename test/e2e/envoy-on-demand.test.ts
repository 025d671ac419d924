// `on_demand_secret` against the real binary: many identities behind one listener, and one per connection upstream. See suites.md.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isSince, wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { bundleName, idOf } from '../fixtures/envoy-config.js';
import { createScene } from '../fixtures/scene.js';
import { percentile, stopwatch, until } from '../fixtures/until.js';
import type { Authority } from './authority.js';
import { createAuthority, leafOf } from './authority.js';
import { onDemandByFilterState, onDemandBySni, startBySni } from './on-demand.js';
import { noRejections } from './scenes.js';

const downstream = { skip: !isSince(wholeSuiteEnvoy, 37) && 'from Envoy 1.37' };
const upstream = { skip: !isSince(wholeSuiteEnvoy, 38) && 'from Envoy 1.38' };

await t.test('one listener picks among 50 identities by SNI', downstream, (t) => onDemandBySni(t, wholeSuiteEnvoy, 50));

await t.test('one cluster picks the identity by filter state', upstream, (t) => onDemandByFilterState(t, wholeSuiteEnvoy));

await t.test('100 handshakes at once for a cold name share one request', downstream, async (t) => {
  const scene = await createScene(t);
  const { envoy, served } = await startBySni(scene, wholeSuiteEnvoy, ['cold']);
  const before = await envoy.stat(/on_demand_secret\.cert_requested$/);
  const peers = await Promise.all(Array.from({ length: 100 }, async () => (await served('cold')).peer));
  t.same(new Set(peers), new Set([idOf('cold')]), 'all are served');
  t.equal((await envoy.stat(/on_demand_secret\.cert_requested$/)) - before, 1, 'by one request');
});

await t.test('odd names are refused and harm nobody', downstream, async (t) => {
  const scene = await createScene(t);
  const { signet, envoy, app, served, outcomeOf } = await startBySni(scene, wholeSuiteEnvoy, ['good']);
  // Without xdstp://, which ends Envoy: see docs/envoy.md.
  const names = ['*', '../x', 'a'.repeat(255), '%s%n', 'x\ny', 'file-root:system', 'ROOTCA', 'ALL', 'default', `${bundleName}/ns/shop/sa`];
  const odd = [...names, idOf('good').toUpperCase(), `${idOf('good')}/../good`, `${idOf('good')}/x`, `${idOf('good')} `];
  const answers = await Promise.all(odd.map((name) => outcomeOf(name)));
  for (const [index, answer] of answers.entries()) t.match(answer, /^failed/, `${JSON.stringify(odd[index])} is refused`);
  t.equal(app.requests(), 0, 'nothing reached the application');
  t.equal((await served('good')).peer, idOf('good'), 'a real name is served afterwards');
  t.ok(signet.running() && envoy.running(), 'both still run');
});

await t.test('a flood of random names is refused, and a known one is served meanwhile', downstream, async (t) => {
  const scene = await createScene(t);
  const { envoy, served, outcomeOf } = await startBySni(scene, wholeSuiteEnvoy, ['good']);
  await served('good');
  let refused = 0;
  let left = 1_000;
  const flood = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if ((await outcomeOf(`${idOf('nobody')}-${left}`)).startsWith('failed')) refused += 1;
    }
  };
  const times: number[] = [];
  const others = async (): Promise<void> => {
    while (left > 0) {
      const elapsed = stopwatch();
      await served('good');
      times.push(elapsed());
    }
  };
  await Promise.all([...Array.from({ length: 8 }, flood), others()]);
  t.equal(refused, 1_000, 'every unknown name is refused');
  t.comment(
    `handshakes of a known name meanwhile: ${times.length}, ms: median ${percentile(times, 0.5).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)}`,
  );
  await noRejections(t, [envoy]);
});

await t.test('new roots reach contexts that exist, without asking for certificates again', downstream, async (t) => {
  const scene = await createScene(t);
  const [other, added] = [createAuthority('other'), createAuthority('added')];
  const file = join(scene.directory, 'roots.pem');
  const writeRoot = ({ root }: Authority): void => {
    writeFileSync(`${file}.new`, root.pem);
    renameSync(`${file}.new`, file);
  };
  writeRoot(other);
  const sources = [{ kind: 'issuer' }, { kind: 'file', path: file }];
  const { envoy, served, outcomeOf } = await startBySni(scene, wholeSuiteEnvoy, ['good'], { trustBundle: { sources } });
  await served('good');
  const requested = await envoy.stat(/on_demand_secret\.cert_requested$/);
  const stranger = leafOf(added, idOf('stranger'));
  t.match(await outcomeOf(idOf('good'), stranger), /^failed/, 'a client of another root is refused');
  writeRoot(added);
  await until('a client of the new root is accepted', 60_000, async () => (await outcomeOf(idOf('good'), stranger)).startsWith('200'));
  t.match(await outcomeOf(idOf('good')), /^200/, 'as are those of before');
  t.equal(await envoy.stat(/on_demand_secret\.cert_requested$/), requested, 'no certificate was asked for');
  await noRejections(t, [envoy]);
});
