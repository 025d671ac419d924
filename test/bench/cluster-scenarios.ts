// The scenarios of the bench with pods from an API server, or certificates from a CA that goes away.

import { mkdtempSync, rmSync } from 'node:fs';
import type { BenchCluster, Client, Row, Scenario } from './measure.js';
import { bareNodeMs, identity, idleMiB, median, newer, podsFile, startClient, startCluster } from './measure.js';
import type { Signet } from './signet.js';
import { istioUpstream, startInCluster, startSealed, startWithKubeconfig } from './signet.js';

type Start = (node: string, cluster: BenchCluster) => Promise<Signet>;

interface Asked {
  readonly client: Client;
  readonly at: readonly number[];
}

/** Opens a stream for each of the first identities and waits until all are served. */
async function askForAll({ socket }: Signet, count: number, client = startClient()): Promise<Asked> {
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

/** CA and pods are gone when it starts again. */
async function restartInOutage(node: string): Promise<readonly Row[]> {
  const counts = [3, 250];
  const rows: Row[] = [];
  for (const count of counts) {
    const cluster = await startCluster(0, 1);
    const state = mkdtempSync('/dev/shm/sb-');
    const first = await startSealed(node, cluster, state, podsFile(count));
    (await askForAll(first, count)).client.stop();
    await first.stop();
    cluster.stop();
    const [bare, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < 15; round += 1) {
      bare.push(await bareNodeMs(node));
      const client = startClient();
      // It has started when it answers.
      await client.ask({ kind: 'reset' });
      const signet = await startSealed(node, cluster, state);
      const { at } = await askForAll(signet, count, client);
      ours.push(Math.max(...at) - signet.startedAt);
      client.stop();
      await signet.stop();
    }
    rmSync(state, { recursive: true });
    rows.push({
      what: `after a restart in an outage, the same ${count} certificates on the wire again`,
      value: median(ours) / median(bare),
      unit: '× node -e 0',
      bound: count === counts[0] ? 4 : undefined,
      beside: `node -e 0: ${median(bare).toFixed(0)} ms, signet: ${median(ours).toFixed(0)} ms`,
    });
  }
  return rows;
}

export const clusterScenarios: readonly Scenario[] = [
  { name: 'idle-in-cluster', run: (node) => idle(node, startInCluster, 'in-cluster', newer(node) ? 70 : 60) },
  {
    name: 'idle-istio',
    run: (node) => idle(node, startUnderIstio, 'in-cluster, certificates from the CA of Istio', newer(node) ? 70 : 60),
  },
  { name: 'idle-kubeconfig', run: (node) => idle(node, startWithKubeconfig, 'with a kubeconfig', newer(node) ? 88 : 78) },
  { name: 'thousand-pods', run: thousandPods },
  { name: 'restart-in-outage', run: restartInOutage },
];
