// The scenarios of `npm run bench -- cluster`, with a real control plane and a real istiod, whose programs take minutes to build the
// first time. Here: from the API server to the wire.

import type { Cluster } from '../fixtures/cluster.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { createClusterAgent } from '../fixtures/cluster-agent.js';
import type { Latencies } from '../fixtures/cluster-crowd.js';
import { createAccounts, measurePods } from '../fixtures/cluster-crowd.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { createNamespace, createNode } from '../fixtures/cluster-objects.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { agentAccount, applyManifests, readManifests } from '../fixtures/manifests.js';
import type { Scene } from '../fixtures/scene.js';
import { openScene } from '../fixtures/scene.js';
import { percentile } from '../fixtures/until.js';
import type { Row } from './measure.js';
import { launchSettings } from './measure.js';
import { ztunnelStart } from './ztunnel.js';

type Auth = 'node' | 'workload';

const count = 200;

const componentsFor: Readonly<Record<Auth, readonly ManifestComponent[]>> = {
  node: ['pods-as-node'],
  workload: ['pods-as-node', 'workload-tokens'],
};

/** Two runs with a pod for each of `count` accounts: one every 100 ms, then all at once. */
async function measure(
  scene: Scene,
  cluster: Cluster,
  nodeBinary: string,
  auth: Auth,
): Promise<readonly [steady: Latencies, burst: Latencies]> {
  const components = componentsFor[auth];
  await applyManifests(cluster, readManifests(components));
  const trustedNodeAccounts = auth === 'node' ? [`${agentAccount.namespace}/${agentAccount.account}`] : [];
  const istiod = await startIstiod(scene, cluster, { name: `istiod-${auth}`, trustedNodeAccounts });
  const node = await createNode(cluster);
  const agent = await createClusterAgent(scene, cluster, {
    name: `agent-${auth}`,
    node,
    components,
    caRoots: istiod.roots,
    config: ({ upstream }) => ({ upstreams: [{ ...upstream, endpoints: [`localhost:${istiod.port()}`] }] }),
    environment: launchSettings(),
    nodeBinary,
  });
  await agent.start();
  const run = async (everyMs: number): Promise<Latencies> => {
    const namespace = await createNamespace(cluster, 'bench');
    const accounts = await createAccounts(cluster, namespace, 'app', count);
    return await measurePods(scene, cluster, agent, { namespace, accounts, node: node.name }, everyMs);
  };
  const both = [await run(100), await run(0)] as const;
  await agent.stop();
  await istiod.stop();
  return both;
}

async function podToWire(nodeBinary: string): Promise<readonly Row[]> {
  const scene = await openScene();
  try {
    const cluster = await startControlPlane(scene);
    const rows: Row[] = [];
    for (const auth of ['node', 'workload'] as const) {
      const [steady, burst] = await measure(scene, cluster, nodeBinary, auth);
      rows.push(
        {
          what: `API server accepts a pod to secret on the wire, through istiod, auth ${auth}, p99`,
          value: percentile(steady.toWire, 0.99),
          unit: 'ms',
          bound: 60,
          beside: `p50 ${percentile(steady.toWire, 0.5).toFixed(1)} ms; ${count} pods, one every 100 ms`,
        },
        {
          what: `the same, ${count} pods at once, the last`,
          value: burst.allMs / 1_000,
          unit: 's',
          bound: undefined,
          beside: 'istiod makes 160 calls to the API server, then 80 a second, one for each certificate: 0.5 s',
        },
      );
    }
    return rows;
  } finally {
    await scene.close({ showLogs: false });
  }
}

export const controlPlaneScenarios = [
  { name: 'control-plane', run: podToWire },
  { name: 'ztunnel', run: ztunnelStart },
];
