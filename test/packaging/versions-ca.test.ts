// An agent of one version and a CA of another, as their manifests run them, and the issuer's Secret as the two versions of the CA find it.

import { join } from 'node:path';
import t from 'tap';
import { currentBuild, previousBuild } from '../fixtures/builds.js';
import { createCaAgent } from '../fixtures/ca-agent.js';
import { installCa, untilReady } from '../fixtures/ca-installation.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { until } from '../fixtures/until.js';

const older = await previousBuild(join(t.testdir({}), 'older'));
const newer = await currentBuild();
t.comment(`${older.version} and ${newer.version}`);

t.test('each version of the agent gets certificates from each of the CA, under one root', async (t) => {
  const scene = await createScene(t);
  // Of its own: the CA writes to every namespace.
  const cluster = await startControlPlane(scene);
  const { startReplica } = await installCa(t, scene, cluster);
  const replica = await startReplica('signet-ca');
  await untilReady(replica);

  const { agent, web } = await createCaAgent(t, scene, cluster, replica);

  const sds = connectSds(scene, agent.socket);
  const seen = new Set<string>();
  const bundles = new Set<string>();
  for (const ca of [older, newer, older]) {
    await replica.child().stop();
    replica.start(ca.launcher);
    await untilReady(replica);
    for (const of of [newer, older]) {
      agent.use(of.launcher);
      await agent.start();
      const what = `agent ${of.version}, CA ${ca.version}`;
      const first = await until(`a certificate: ${what}`, 60_000, async () => (await sds.fetch(web)).chain);
      await agent.renew(web);
      const next = await until(`a new certificate: ${what}`, 60_000, async () => {
        const { chain } = await sds.fetch(web);
        return chain === first ? undefined : chain;
      });
      t.notOk(seen.has(next), what);
      seen.add(next);
      bundles.add((await sds.fetch('ROOTCA')).roots);
      t.equal(await agent.stop(), 0);
    }
  }
  t.equal(bundles.size, 1, 'each CA signs with the issuer that the first one made');
});
