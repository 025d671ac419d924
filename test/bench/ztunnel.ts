// How long the identities of a ztunnel take one after the other, as its prefetch asks for them: straight at a real istiod, and through
// the agent of its node. Part of `npm run bench -- cluster`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAdminClient } from '../../agent/admin/client.js';
import { systemClock } from '../../agent/runtime/time.js';
import type { Cluster } from '../fixtures/cluster.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { istioClusterId, startIstiod } from '../fixtures/cluster-istiod.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { freePorts } from '../fixtures/free-ports.js';
import type { MeshNode } from '../fixtures/mesh-node.js';
import { createMeshNode } from '../fixtures/mesh-node.js';
import type { Scene } from '../fixtures/scene.js';
import { openScene } from '../fixtures/scene.js';
import { createSignet } from '../fixtures/signet.js';
import { pause, percentile, stopwatch, until } from '../fixtures/until.js';
import { readAnswer } from '../fixtures/ztunnel-client.js';
import { createCaChannel } from '../fixtures/ztunnel-wire.js';
import type { Row } from './measure.js';
import { launchSettings } from './measure.js';

const count = 250;

interface Target {
  readonly port: number;
  readonly rootsFile: string;
}

/** ms of each call, one after the other. */
async function callEach(mesh: MeshNode, { port, rootsFile }: Target, nagle: boolean): Promise<readonly number[]> {
  const roots = readFileSync(rootsFile, 'utf8');
  const channel = createCaChannel({ address: `https://localhost:${port}`, roots, nagle, clock: systemClock });
  const token = await mesh.createToken(mesh.pods.ztunnel);
  const took: number[] = [];
  for (const identity of mesh.identities) {
    const elapsed = stopwatch();
    const csr = createTestCsr({ uris: [identity] });
    const answer = await channel.createCertificate({ token, clusterId: istioClusterId, csr, seconds: 86_400, impersonate: identity });
    took.push(elapsed());
    readAnswer(answer, identity);
  }
  channel.close();
  return took;
}

/** A real agent on the node, which has its own certificates already. */
async function startAgent(scene: Scene, cluster: Cluster, mesh: MeshNode, ca: Target, node: string): Promise<Target> {
  const name = `agent-${ca.port}`;
  const directory = join(scene.directory, `${name}-files`);
  mkdirSync(directory);
  const file = (base: string): string => join(directory, base);
  writeFileSync(file('token'), await mesh.createToken(mesh.pods.agent));
  const [port] = await freePorts(1);
  const roots = { kind: 'file', path: ca.rootsFile };
  const signet = createSignet(scene, {
    name,
    mode: 'agent',
    accounts: [],
    node,
    environment: launchSettings(),
    config: {
      trustDomain: 'cluster.local',
      node: mesh.node.name,
      kubeconfig: writeKubeconfig(file('kubeconfig'), cluster, mesh.node.credential),
      pods: { sources: [{ kind: 'apiserver' }] },
      upstreams: [
        { kind: 'istio', endpoints: [`localhost:${ca.port}`], tls: { roots }, tokenFile: file('token'), clusterId: istioClusterId },
      ],
      trustBundle: { sources: [roots] },
      localCa: { address: `127.0.0.1:${port}`, rootDirectory: file('root'), delegates: [mesh.nodeAccounts.ztunnel] },
    },
  });
  await signet.start();
  const admin = createAdminClient({ path: signet.adminSocket, clock: systemClock });
  await until('the agent has its own certificates', 120_000, async () => {
    const { identities } = await admin.status(new AbortController().signal);
    return identities.filter(({ state }) => state === 'issued').length >= count;
  });
  return { port, rootsFile: join(file('root'), 'root-cert.pem') };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

async function measure(scene: Scene, cluster: Cluster, mesh: MeshNode, node: string): Promise<readonly Row[]> {
  const trustedNodeAccounts = Object.values(mesh.nodeAccounts);
  const shipped = await startIstiod(scene, cluster, { trustedNodeAccounts });
  const istiod = { port: shipped.port(), rootsFile: shipped.rootsFile };
  const direct = sum(await callEach(mesh, istiod, true));
  const agent = await startAgent(scene, cluster, mesh, istiod, node);
  // istiod's burst of calls to its API server is there again.
  await pause(3_000);
  const through = sum(await callEach(mesh, agent, true));
  await shipped.stop();

  const flags = ['--kubernetesApiQPS=20000', '--kubernetesApiBurst=20000'];
  const lifted = await startIstiod(scene, cluster, { name: 'istiod-lifted', trustedNodeAccounts, flags });
  const fast = { port: lifted.port(), rootsFile: lifted.rootsFile };
  const fastAgent = await startAgent(scene, cluster, mesh, fast, node);
  const [plain, hop] = [await callEach(mesh, fast, false), await callEach(mesh, fastAgent, false)];
  const [p50, hopP50] = [percentile(plain, 0.5), percentile(hop, 0.5)];
  return [
    {
      what: `${count} identities of a ztunnel one after the other, through the agent`,
      value: through / direct,
      unit: '× istiod',
      bound: 0.25,
      beside: `through the agent ${(through / 1_000).toFixed(1)} s, straight at istiod ${(direct / 1_000).toFixed(1)} s; a real ztunnel there 12.2 s`,
    },
    {
      what: 'what the agent adds to a call, client without Nagle, p50',
      value: hopP50 - p50,
      unit: 'ms',
      bound: 2,
      beside: `through the agent ${milliseconds(hopP50)}, straight at istiod with its API limit lifted ${milliseconds(p50)}`,
    },
  ];
}

export async function ztunnelStart(node: string): Promise<readonly Row[]> {
  const scene = await openScene();
  try {
    const cluster = await startControlPlane(scene);
    return await measure(scene, cluster, await createMeshNode(cluster, count), node);
  } finally {
    await scene.close({ showLogs: false });
  }
}
