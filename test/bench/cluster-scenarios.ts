// The scenarios of the bench with pods from an API server.

import type { BenchCluster, Client, Row, Scenario } from './measure.js';
import { identity, idleMiB, newer, startClient, startCluster } from './measure.js';
import type { Signet } from './signet.js';
import { istioUpstream, startInCluster, startWithKubeconfig } from './signet.js';

type Start = (node: string, cluster: BenchCluster) => Promise<Signet>;

/** Opens a stream for each of the first identities and waits until all are served. */
async function askForAll({ socket }: Signet, count: number): Promise<{ readonly client: Client; readonly at: readonly number[] }> {
  const client = startClient();
  const names = Array.from({ length: count }, (_, index) => identity(index));
  await client.ask({ kind: 'open', path: socket, connections: 1, streams: count, protocol: 'sotw', names, namesPerStream: 1 });
  const { at } = await client.ask({ kind: 'await', count });
  if (at.length < count) throw new Error(`${at.length} of ${count} identities are served`);
  return { client, at };
}

async function idle(node: string, start: Start, what: string, bound: number): Promise<readonly Row[]> {
  const cluster = await startCluster(3, 3);
  const signet = await start(node, cluster);
  const value = await idleMiB(signet);
  const { client } = await askForAll(signet, 3);
  client.stop();
  await signet.stop();
  cluster.stop();
  return [{ what: `idle ${what}, 3 identities`, value, unit: 'MiB', bound, beside: '' }];
}

const startUnderIstio: Start = (node, cluster) => startInCluster(node, cluster, istioUpstream(cluster));

async function thousandPods(node: string): Promise<readonly Row[]> {
  const [pods, accounts] = [1_000, 300];
  const cluster = await startCluster(pods, accounts);
  const signet = await startInCluster(node, cluster);
  const { client, at } = await askForAll(signet, accounts);
  const calls = await cluster.calls();
  const value = await idleMiB(signet);
  client.stop();
  await signet.stop();
  cluster.stop();
  const what = `${pods.toLocaleString('en')} pods of ${accounts} accounts from an API server`;
  return [
    {
      what: `${what}, exec to the last identity on the wire`,
      value: (Math.max(...at) - signet.startedAt) / 1_000,
      unit: 's',
      bound: undefined,
      beside: `calls to the API server: ${calls}`,
    },
    { what: 'the same, memory', value, unit: 'MiB', bound: undefined, beside: '' },
  ];
}

export const clusterScenarios: readonly Scenario[] = [
  { name: 'idle-in-cluster', run: (node) => idle(node, startInCluster, 'in-cluster', newer(node) ? 70 : 60) },
  {
    name: 'idle-istio',
    run: (node) => idle(node, startUnderIstio, 'in-cluster, certificates from the CA of Istio', newer(node) ? 70 : 60),
  },
  { name: 'idle-kubeconfig', run: (node) => idle(node, startWithKubeconfig, 'with a kubeconfig', newer(node) ? 88 : 78) },
  { name: 'thousand-pods', run: thousandPods },
];
