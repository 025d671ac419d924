// An agent that is killed and started again while the CA and the API server are gone. See suites.md.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { readNodeUid } from '../../agent/kube/node-uid.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken, deletePod } from '../fixtures/cluster-objects.js';
import { idA } from '../fixtures/cgroup-words.js';
import { repository } from '../fixtures/envoy-examples.js';
import { createCgroups, spawnIn, whyNoCgroups } from '../fixtures/real-cgroups.js';
import { podsComponent } from '../fixtures/manifests.js';
import { createScene } from '../fixtures/scene.js';
import type { Scene } from '../fixtures/scene.js';
import type { Received } from '../fixtures/secret-watch.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { askedByTests } from '../fixtures/signet.js';
import { createTmpfsDirectory, whyNoTmpfs } from '../fixtures/tmpfs.js';
import { stopwatch, until } from '../fixtures/until.js';

const names = ['web', 'orders'] as const;

/** What a delegate of the node gets for these names, in their order. */
async function fetchAsNode(scene: Scene, { socket }: ClusterAgent, uris: readonly string[]): Promise<readonly Omit<Received, 'at'>[]> {
  const connection = connectSds(scene, socket);
  const watch = connection.watch('delta', [...uris, 'ROOTCA']);
  const found = [];
  for (const name of [...uris, 'ROOTCA']) {
    const { at: _, ...secret } = await watch.first(name);
    found.push(secret);
  }
  connection.close();
  return found;
}

/** What a process of the pod gets when it asks for its own certificate. */
async function fetchAsPod(scene: Scene, t: Test, { socket }: ClusterAgent, { uid }: TestPod): Promise<readonly string[]> {
  const cgroups = createCgroups(t);
  const own = cgroups.make(cgroups.unified, `kubepods/besteffort/pod${uid}/${idA}`);
  const out = mkdtempSync(join(scene.directory, 'own-'));
  const binary = join(repository, 'dist', 'signet.cjs');
  const peer = spawnIn([own], [process.execPath, binary, 'fetch', 'default', '--timeout', '60', '--socket', socket, '--write', out]);
  const [code] = (await once(peer, 'exit')) as [number];
  if (code !== 0) throw new Error(`signet fetch in the pod ended with ${code}`);
  return ['svid.pem', 'svid.key', 'bundle.pem'].map((file) => readFileSync(join(out, file), 'utf8'));
}

await t.test(
  'killed in an outage, started again: the same bytes for a pod and for the node',
  { skip: whyNoTmpfs() ?? false },
  async (t) => {
    const scene = await createScene(t);
    const cluster = await startControlPlane(scene);
    await installRights(t, cluster, [podsComponent]);
    const namespace = await createNamespace(cluster, 'restart');
    for (const account of names) await createAccount(cluster, namespace, account);
    const node = await createNode(cluster);
    const [web, orders] = await Promise.all([
      createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running' }),
      createPod(cluster, { namespace, account: 'orders', node: node.name, phase: 'Running' }),
    ]);
    const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: ['signet-system/signet-agent'] });
    const state = createTmpfsDirectory(scene);
    const agent = await createClusterAgent(scene, cluster, {
      node,
      components: [podsComponent],
      caRoots: istiod.roots,
      config: ({ upstream }) => ({
        upstreams: [{ ...upstream, endpoints: [`localhost:${istiod.port()}`] }],
        peers: [...askedByTests, { pod: {}, grant: 'own' }],
        state: { directory: join(state, 'state') },
      }),
    });
    const token = join(scene.directory, 'token');
    writeFileSync(token, await createToken(cluster, { namespace, account: 'web', audience: 'any', pod: web }));
    t.equal(readNodeUid([token]), node.uid, 'the tokens of pods name what the state is bound to');

    await agent.start();
    const uris = names.map((account) => `spiffe://cluster.local/ns/${namespace}/sa/${account}`);
    const asPod = async (): Promise<readonly string[] | undefined> =>
      whyNoCgroups() === undefined ? await fetchAsPod(scene, t, agent, web) : undefined;
    const before = await fetchAsNode(scene, agent, uris);
    const ownBefore = await asPod();
    if (ownBefore === undefined) t.comment(`no peer in a pod: ${whyNoCgroups()}`);
    else t.equal(ownBefore[0], before[0]?.chain, 'a pod has the certificate that the node has for it');

    await agent.kill();
    await deletePod(cluster, orders);
    await Promise.all([istiod.stop(), cluster.stopApiServer()]);
    const elapsed = stopwatch();
    await agent.start();
    t.same(await fetchAsNode(scene, agent, uris), before, 'chains, keys, versions and roots are the same');
    t.comment(`the same again ${Math.round(elapsed())} ms after the start`);
    t.same(await asPod(), ownBefore, 'for the pod too');
    const { ready, reasons } = await agent.status();
    t.ok(ready, 'it is ready');
    t.match(reasons, [{ gate: 'pods', code: 'pods-restored' }], 'and says what its pods are');
    t.equal(await agent.metric('signet_svid_requests_total', { result: 'ok' }), undefined, 'no certificate was asked for');

    await agent.kill();
    await agent.start();
    t.same(await fetchAsNode(scene, agent, uris), before, 'and once more, with what was restored');

    await Promise.all([istiod.start(), cluster.startApiServer()]);
    const [webUri = '', ordersUri = ''] = uris;
    await until('the pod that is gone is dropped', 60_000, async () => (await agent.identity(ordersUri)) === undefined);
    const after = await agent.status();
    t.same(
      after.reasons.filter(({ gate }) => gate === 'pods'),
      [],
      'the pods are confirmed',
    );
    t.same(await fetchAsNode(scene, agent, [webUri]), [before[0], before[2]], 'and what was confirmed is still the same');
  },
);
