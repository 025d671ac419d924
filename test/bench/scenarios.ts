// The scenarios of the bench, one function for each budget. Each starts what it needs, measures, and stops it.

import { setTimeout as delay } from 'node:timers/promises';
import { caRates } from './ca-rates.js';
import { clusterScenarios } from './cluster-scenarios.js';
import type { Row, Scenario } from './measure.js';
import { bareNodeMs, identity, idleMiB, newer, median, podsFile, residentMiB, startBareServer, startClient } from './measure.js';
import { startSignet } from './signet.js';
import { percentile } from '../fixtures/until.js';

async function start(node: string): Promise<readonly Row[]> {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    bare.push(await bareNodeMs(node));
    const signet = await startSignet(node, podsFile(3));
    ours.push(signet.startMs);
    await signet.stop();
  }
  const beside = `node -e 0: ${median(bare).toFixed(0)} ms, signet: ${median(ours).toFixed(0)} ms; SPIRE agent: 91–100 ms`;
  return [{ what: 'exec to socket accepting', value: median(ours) / median(bare), unit: '× node -e 0', bound: 2.2, beside }];
}

async function idle(node: string): Promise<readonly Row[]> {
  const signet = await startSignet(node, podsFile(3));
  const value = await idleMiB(signet);
  await signet.stop();
  return [{ what: 'idle, 3 identities', value, unit: 'MiB', bound: newer(node) ? 70 : 60, beside: 'SPIRE agent: 58–59 MiB' }];
}

async function manyClients(node: string): Promise<readonly Row[]> {
  const count = 250;
  const signet = await startSignet(node, podsFile(count));
  const client = startClient();
  const names = Array.from({ length: count }, (_, index) => identity(index));
  const opened = await client.ask({
    kind: 'open',
    path: signet.socket,
    connections: count,
    streams: 2 * count,
    protocol: 'sotw',
    names,
    namesPerStream: 1,
  });
  const all = await client.ask({ kind: 'await', count: 2 * count });
  await delay(5000);
  const value = residentMiB(signet.pid);
  client.stop();
  await signet.stop();
  return [
    {
      what: '250 clients, 500 streams, 250 identities',
      value,
      unit: 'MiB',
      bound: newer(node) ? 98 : 88,
      beside: 'SPIRE agent: 105–121 MiB',
    },
    {
      what: 'the same, first to last answer',
      value: Math.max(...all.at) - opened.openedAt,
      unit: 'ms',
      bound: undefined,
      beside: 'SPIRE agent: 650–1069 ms',
    },
  ];
}

async function fanOut(node: string): Promise<readonly Row[]> {
  const streams = 500;
  const rounds = 12;
  const spread = async (path: string, push: () => Promise<void>, name: string): Promise<number[]> => {
    const client = startClient();
    await client.ask({ kind: 'open', path, connections: 250, streams, protocol: 'sotw', names: [name], namesPerStream: 1 });
    await client.ask({ kind: 'await', count: streams });
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await client.ask({ kind: 'reset' });
      const answer = client.ask({ kind: 'await', count: streams });
      await push();
      const { at } = await answer;
      const first = Math.min(...at);
      if (round >= 2) samples.push(...at.map((arrival) => arrival - first));
      await delay(1100);
    }
    client.stop();
    return samples;
  };
  const signet = await startSignet(node, podsFile(1));
  const ours = await spread(signet.socket, () => signet.renew(identity(0)), identity(0));
  await signet.stop();
  const server = await startBareServer(900);
  const bare = await spread(server.socket, () => server.push(), identity(0));
  server.stop();
  const beside = `bare grpc-js: p99 ${percentile(bare, 0.99).toFixed(1)} ms, signet: p99 ${percentile(ours, 0.99).toFixed(1)} ms`;
  return [
    {
      what: 'one renewal to 500 streams, p99',
      value: percentile(ours, 0.99) / percentile(bare, 0.99),
      unit: '× bare grpc-js',
      bound: 1.3,
      beside,
    },
  ];
}

async function podToWire(node: string): Promise<readonly Row[]> {
  const samples: number[] = [];
  const count = 200;
  const signet = await startSignet(node, podsFile(1));
  const client = startClient();
  const names = Array.from({ length: count }, (_, index) => identity(index + 1));
  await client.ask({ kind: 'open', path: signet.socket, connections: 1, streams: count, protocol: 'sotw', names, namesPerStream: 1 });
  await delay(500);
  for (let index = 1; index <= count; index += 1) {
    const next = podsFile(index + 1);
    const answer = client.ask({ kind: 'await', count: index });
    const writtenAt = signet.replacePods(next);
    const { at } = await answer;
    samples.push((at[index - 1] ?? Number.NaN) - writtenAt);
    await delay(20);
  }
  client.stop();
  await signet.stop();
  return [
    {
      what: 'pod event to secret on the wire, built-in issuer, p99',
      value: percentile(samples, 0.99),
      unit: 'ms',
      bound: 20,
      beside: `p50 ${median(samples).toFixed(1)} ms; SPIRE agent: median 4.7 s`,
    },
  ];
}

async function coldFill(node: string): Promise<readonly Row[]> {
  const count = 1000;
  const samples: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const signet = await startSignet(node, podsFile(0));
    const client = startClient();
    const names = Array.from({ length: count }, (_, index) => identity(index));
    await client.ask({ kind: 'open', path: signet.socket, connections: 1, streams: 1, protocol: 'sotw', names, namesPerStream: count });
    await delay(500);
    const answer = client.ask({ kind: 'await', count });
    const writtenAt = signet.replacePods(podsFile(count));
    samples.push(Math.max(...(await answer).at) - writtenAt);
    client.stop();
    await signet.stop();
  }
  return [
    {
      what: '1,000 identities cold, file to wire, built-in issuer',
      value: median(samples) / 1000,
      unit: 's',
      bound: 0.5,
      beside: 'SPIRE agent: 1.19 s',
    },
  ];
}

async function manyStreams(node: string): Promise<readonly Row[]> {
  const streams = 5000;
  const signet = await startSignet(node, podsFile(250));
  const [crowd, other] = [startClient(), startClient()];
  const names = Array.from({ length: 250 }, (_, index) => identity(index));
  const probe = { kind: 'probe', path: signet.socket, name: identity(0), count: 400 } as const;
  await other.ask(probe);
  const before = await other.ask(probe);
  const opened = await crowd.ask({
    kind: 'open',
    path: signet.socket,
    connections: 1,
    streams,
    protocol: 'sotw',
    names,
    namesPerStream: 1,
  });
  const meanwhile = other.ask(probe);
  const all = await crowd.ask({ kind: 'await', count: streams });
  const during = await meanwhile;
  const after = await other.ask(probe);
  crowd.stop();
  other.stop();
  await signet.stop();
  const beside = `others' p99: idle ${percentile(before.at, 0.99).toFixed(1)} ms, meanwhile ${percentile(during.at, 0.99).toFixed(1)} ms; SPIRE agent hangs at 2,000`;
  return [
    {
      what: '5,000 streams at once on one connection, last answer',
      value: (Math.max(...all.at) - opened.openedAt) / 1000,
      unit: 's',
      bound: 5,
      beside: `${all.errors} errors`,
    },
    {
      what: "others' p99 beside the 5,000 open streams",
      value: percentile(after.at, 0.99) / percentile(before.at, 0.99),
      unit: '× idle',
      bound: 2,
      beside,
    },
  ];
}

export const scenarios: readonly Scenario[] = [
  { name: 'start', run: start },
  { name: 'idle', run: idle },
  ...clusterScenarios,
  { name: 'many-clients', run: manyClients },
  { name: 'fan-out', run: fanOut },
  { name: 'pod-to-wire', run: podToWire },
  { name: 'cold-fill', run: coldFill },
  { name: 'many-streams', run: manyStreams },
  { name: 'ca-rates', run: caRates },
];
