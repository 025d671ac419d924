// How many certificates a second `signet ca` signs behind a real API server: one caller's token again and again, and a new token on
// each call; beside it a bare server, and istiod where its binary is built already. And how soon it signs for a new pod.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { caTrustDomain } from '../fixtures/authority.js';
import { hasIstiodBinary, hasKubernetesBinaries } from '../fixtures/cluster-binaries.js';
import { istioAudience, startIstiod } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import type { Cluster } from '../fixtures/cluster.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { OpenScene, Scene } from '../fixtures/scene.js';
import { openScene } from '../fixtures/scene.js';
import { percentile } from '../fixtures/until.js';
import type { Load, LoadResult } from './ca-load.js';
import { newPods } from './ca-new-pods.js';
import type { Target } from './ca-targets.js';
import { startBareCa, startSignetCa } from './ca-targets.js';
import type { Row } from './measure.js';

interface Rate {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time of the server and of the client for one certificate, in ms: says something on a busy machine too. */
  readonly cpuMs: number;
  readonly clientCpuMs: number;
}

type Tokens = 'one token' | 'new tokens';
type Measure = (target: Target, inFlight: number, tokens: Tokens) => Promise<Rate>;

/** New ones for each run; the API server makes some hundred a second. */
const newTokens = 3_000;
const measureMs = 6_000;

export async function caRates(node: string): Promise<readonly Row[]> {
  if (!(await hasKubernetesBinaries())) return [];
  const scene = await openScene();
  try {
    const cluster = await startControlPlane(scene);
    const namespace = await createNamespace(cluster, 'bench');
    for (const account of ['agent', 'web']) await createAccount(cluster, namespace, account);
    const place = (await createNode(cluster)).name;
    const pod = await createPod(cluster, { namespace, account: 'agent', node: place, phase: 'Running' });
    await createPod(cluster, { namespace, account: 'web', node: place, phase: 'Running' });
    const tokensFor = (audience: string, count: number): Promise<readonly string[]> =>
      inTurns(count, 16, () => createToken(cluster, { namespace, account: 'agent', audience, pod }));
    const identity = `spiffe://${caTrustDomain}/ns/${namespace}/sa/web`;
    const measure: Measure = async ({ target, rootsFile, audience, pid }, inFlight, kind) => {
      const tokens = await tokensFor(audience, kind === 'one token' ? 1 : newTokens);
      const [unmeasured, calls] = kind === 'one token' ? [2_000, Number.MAX_SAFE_INTEGER] : [newTokens / 3, (newTokens * 2) / 3];
      return toRate(await runLoad(scene, { target, pid, rootsFile, identity, inFlight, tokens, unmeasured, calls, forMs: measureMs }));
    };

    const bare = await ratesOf(await startBareCa(scene, node), measure);
    const ca = await startSignetCa(scene, cluster, node, `${namespace}/agent`);
    const ours = await ratesOf(ca, measure);
    const fresh = await measure(ca, 64, 'new tokens');
    const [token = ''] = await tokensFor(ca.audience, 1);
    const latencies = await newPods(cluster, ca, { namespace, node: place, token, count: 200 });
    const theirs = await istiodRates(scene, cluster, `${namespace}/agent`, measure);
    return [
      rowOf('one in flight', 600, ours.one, [`bare server: ${formatRate(bare.one)}`, ...theirs.one]),
      rowOf('64 in flight', 2_000, ours.many, [`bare server: ${formatRate(bare.many)}`, ...theirs.many]),
      {
        what: 'signet ca, 64 in flight, a new token on each call',
        value: theirs.freshPerSecond === undefined ? 0 : (1.3 * theirs.freshPerSecond) / fresh.perSecond,
        unit: '× of 1.3 istiod',
        bound: theirs.freshPerSecond === undefined ? undefined : 1,
        beside: [formatRate(fresh), ...theirs.fresh].join('; '),
      },
      newPodRow(latencies, 0.5, 5),
      newPodRow(latencies, 0.99, 50),
    ];
  } finally {
    await scene.close({ showLogs: false });
  }
}

async function ratesOf(target: Target, measure: Measure): Promise<{ readonly one: Rate; readonly many: Rate }> {
  return { one: await measure(target, 1, 'one token'), many: await measure(target, 64, 'one token') };
}

function rowOf(what: string, budget: number, rate: Rate, beside: readonly string[]): Row {
  return {
    what: `signet ca, ${what}`,
    value: budget / rate.perSecond,
    unit: `× of ${budget}/s`,
    bound: 1,
    beside: [formatRate(rate), ...beside].join('; '),
  };
}

function newPodRow(latencies: readonly number[], share: number, bound: number): Row {
  return {
    what: `API server accepts a pod to a certificate for it, p${share * 100}`,
    value: percentile(latencies, share),
    unit: 'ms',
    bound,
    beside: `${latencies.length} pods, one every 100 ms; the call itself is in it`,
  };
}

async function istiodRates(scene: Scene, cluster: Cluster, agent: string, measure: Measure) {
  if (!(await hasIstiodBinary())) return { one: [], many: [], fresh: [], freshPerSecond: undefined };
  const istiod = await startIstiod(scene, cluster, {
    trustedNodeAccounts: [agent],
    flags: ['--kubernetesApiQPS=20000', '--kubernetesApiBurst=20000'],
  });
  const target = { target: `localhost:${istiod.port()}`, rootsFile: istiod.rootsFile, audience: istioAudience, pid: istiod.pid() };
  const { one, many } = await ratesOf(target, measure);
  const fresh = await measure(target, 64, 'new tokens');
  const text = (rate: Rate): readonly string[] => [`istiod with its API limit lifted: ${formatRate(rate)}`];
  return { one: text(one), many: text(many), fresh: text(fresh), freshPerSecond: fresh.perSecond };
}

function formatRate({ perSecond, p50, p99, cpuMs, clientCpuMs }: Rate): string {
  const cpu = `${cpuMs.toFixed(2)} ms of CPU each, its client ${clientCpuMs.toFixed(2)}`;
  return `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${cpu}`;
}

function toRate({ calls, failed, ms, cpuMs, ownCpuMs, latencies }: LoadResult): Rate {
  if (failed > 0) throw new Error(`${failed} of ${calls} calls failed`);
  return {
    perSecond: (calls / ms) * 1_000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpuMs: cpuMs / calls,
    clientCpuMs: ownCpuMs / calls,
  };
}

async function runLoad(scene: OpenScene, load: Load): Promise<LoadResult> {
  const file = join(scene.directory, 'load.json');
  writeFileSync(file, JSON.stringify(load));
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'ca-load.js'), file], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as LoadResult;
}

async function inTurns<T>(count: number, atOnce: number, make: () => Promise<T>): Promise<readonly T[]> {
  const made: T[] = [];
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      made.push(await make());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return made;
}
