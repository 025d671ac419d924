// From the API server to the wire: pods that come one by one, all at once, and a node that is full when the agent starts. See suites.md.

import t from 'tap';
import type { Test } from 'tap';
import { sharedCluster } from '../fixtures/cluster.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import { createAccounts, createPods, formatLatencies, measurePods } from '../fixtures/cluster-crowd.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import type { TestNode } from '../fixtures/cluster-objects.js';
import { createNamespace, createNode } from '../fixtures/cluster-objects.js';
import { needs } from '../fixtures/cluster-version.js';
import { agentAccount, podsComponent } from '../fixtures/manifests.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { createScene } from '../fixtures/scene.js';
import type { Scene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);

interface Place {
  readonly scene: Scene;
  readonly node: TestNode;
  readonly agent: ClusterAgent;
}

/** istiod as shipped, and an agent on a node of its own that does not run yet. */
async function prepare(t: Test): Promise<Place> {
  const components = [podsComponent];
  const scene = await createScene(t);
  await installRights(t, cluster, components);
  const node = await createNode(cluster);
  const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [`${agentAccount.namespace}/${agentAccount.account}`] });
  const agent = await createClusterAgent(scene, cluster, {
    node,
    components,
    caRoots: istiod.roots,
    config: ({ upstream }) => ({ upstreams: [{ ...upstream, endpoints: [`localhost:${istiod.port()}`] }] }),
  });
  return { scene, node, agent };
}

await t.test('200 pods of 200 accounts, one every 100 ms and then at once, get their secrets through istiod', async (t) => {
  const { scene, node, agent } = await prepare(t);
  await agent.start();
  for (const [name, everyMs] of [
    ['one every 100 ms', 100],
    ['at once', 0],
  ] as const) {
    const namespace = await createNamespace(cluster, 'crowd');
    const accounts = await createAccounts(cluster, namespace, 'app', 200);
    const { toWire, allMs } = await measurePods(scene, cluster, agent, { namespace, accounts, node: node.name }, everyMs);
    t.equal(toWire.length, 200);
    const perSecond = Math.round(200_000 / allMs);
    t.comment(`${name}: accepted to wire ${formatLatencies(toWire)}; ${perSecond} certificates a second, istiod makes 80 calls a second`);
  }
});

await t.test('1,000 pods of 300 accounts are read by one list, and all are served', needs('impersonation'), async (t) => {
  const { scene, node, agent } = await prepare(t);
  const namespace = await createNamespace(cluster, 'full');
  const accounts = await createAccounts(cluster, namespace, 'app', 300);
  await createPods(cluster, { namespace, accounts, node: node.name }, 1_000);
  await agent.start();
  const names = accounts.map((account) => `spiffe://cluster.local/ns/${namespace}/sa/${account}`);
  const elapsed = stopwatch();
  const { received } = connectSds(scene, agent.socket).watch('delta', names);
  await until(
    'every account has its secret',
    120_000,
    () => new Set(received.filter(({ chain }) => chain !== '').map(({ name }) => name)).size === 300,
  );
  t.comment(`all served ${(elapsed() / 1_000).toFixed(1)} s after the start`);
  t.equal(await agent.metric('signet_pods'), 1_001, 'its own pod too');

  const complete = async (way: string): Promise<number> => (await agent.metric('signet_kube_lists_total', { resource: 'pods', way })) ?? 0;
  t.equal((await complete('watch')) + (await complete('list')), 1, 'the pods were read once');
  const asNode = cluster.audit().filter(({ impersonatedUser }) => impersonatedUser?.username === `system:node:${node.name}`);
  const requests = new Set(asNode.map(({ auditID }) => auditID)).size;
  t.ok(requests > 0 && requests < 20, `${requests} requests of the agent and its fixture in all`);
});
