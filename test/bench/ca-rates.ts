// How many certificates a second `signet ca` signs behind a real API server, and istiod beside it where its binary is built already:
// one caller's token again and again, and a new token on each call.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { caAudience, caTrustDomain, writeCaKubeconfig } from '../fixtures/authority.js';
import { hasIstiodBinary, hasKubernetesBinaries } from '../fixtures/cluster-binaries.js';
import { istioAudience, startIstiod } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import type { Cluster } from '../fixtures/cluster.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { freePorts } from '../fixtures/free-ports.js';
import type { OpenScene } from '../fixtures/scene.js';
import { openScene } from '../fixtures/scene.js';
import { percentile, until } from '../fixtures/until.js';
import type { Load, LoadResult } from './ca-load.js';
import type { Row } from './measure.js';
import { launchEnvironment } from './measure.js';

interface Rate {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time of the CA for one certificate, in ms: says something on a busy machine too. */
  readonly cpuMs: number;
}

interface Target {
  readonly target: string;
  readonly rootsFile: string;
  readonly audience: string;
  readonly pid: number;
}

/** Calls, each with a token of its own; the API server makes some hundred a second. */
const newTokens = 3_000;

export async function caRates(node: string): Promise<readonly Row[]> {
  if (!(await hasKubernetesBinaries())) return [];
  const scene = await openScene();
  try {
    const cluster = await startControlPlane(scene);
    const namespace = await createNamespace(cluster, 'bench');
    for (const account of ['agent', 'web']) await createAccount(cluster, namespace, account);
    const place = await createNode(cluster);
    const pods = await Promise.all(
      ['agent', 'web'].map((account) => createPod(cluster, { namespace, account, node: place.name, phase: 'Running' })),
    );
    const tokensFor = (audience: string, count: number): Promise<readonly string[]> =>
      inTurns(count, 16, () =>
        createToken(cluster, { namespace, account: 'agent', audience, ...(pods[0] === undefined ? {} : { pod: pods[0] }) }),
      );
    const identity = `spiffe://${caTrustDomain}/ns/${namespace}/sa/web`;
    const measure = async ({ target, rootsFile, audience, pid }: Target, inFlight: number, count: number): Promise<Rate> => {
      const tokens = await tokensFor(audience, count);
      const before = cpuMsOf(pid);
      const result = await runLoad(scene, {
        target,
        rootsFile,
        identity,
        inFlight,
        forMs: 6_000,
        tokens,
        calls: count === 1 ? Infinity : count,
      });
      return toRate(result, cpuMsOf(pid) - before);
    };

    const ours = await startSignetCa(scene, cluster, node, `${namespace}/agent`);
    const one = await measure(ours, 1, 1);
    const many = await measure(ours, 64, 1);
    const fresh = await measure(ours, 64, newTokens);
    const theirs = await istiodRates(scene, cluster, `${namespace}/agent`, measure);
    const latency = ({ p50, p99, cpuMs }: Rate): string =>
      `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${cpuMs.toFixed(2)} ms of CPU each`;
    return [
      {
        what: 'signet ca, one in flight',
        value: 600 / one.perSecond,
        unit: '× of 600/s',
        bound: 1,
        beside: `${one.perSecond.toFixed(0)}/s, ${latency(one)}${theirs.one}`,
      },
      {
        what: 'signet ca, 64 in flight',
        value: 2_000 / many.perSecond,
        unit: '× of 2,000/s',
        bound: 1,
        beside: `${many.perSecond.toFixed(0)}/s, ${latency(many)}${theirs.many}`,
      },
      {
        what: 'signet ca, 64 in flight, a new token on each call',
        value: theirs.freshPerSecond === undefined ? 0 : (1.3 * theirs.freshPerSecond) / fresh.perSecond,
        unit: '× of 1.3 istiod',
        bound: theirs.freshPerSecond === undefined ? undefined : 1,
        beside: `${fresh.perSecond.toFixed(0)}/s, ${latency(fresh)}${theirs.fresh}`,
      },
    ];
  } finally {
    await scene.close({ showLogs: false });
  }
}

async function istiodRates(
  scene: OpenScene,
  cluster: Cluster,
  agent: string,
  measure: (target: Target, inFlight: number, count: number) => Promise<Rate>,
) {
  if (!(await hasIstiodBinary())) return { one: '', many: '', fresh: '', freshPerSecond: undefined };
  const istiod = await startIstiod(scene, cluster, {
    trustedNodeAccounts: [agent],
    flags: ['--kubernetesApiQPS=20000', '--kubernetesApiBurst=20000'],
  });
  const target: Target = { target: `localhost:${istiod.port()}`, rootsFile: istiod.rootsFile, audience: istioAudience, pid: istiod.pid() };
  const [one, many, fresh] = [await measure(target, 1, 1), await measure(target, 64, 1), await measure(target, 64, newTokens)];
  const text = ({ perSecond, cpuMs }: Rate): string =>
    `; istiod with its API limit lifted: ${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(2)} ms`;
  return { one: text(one), many: text(many), fresh: text(fresh), freshPerSecond: fresh.perSecond };
}

function toRate({ calls, failed, ms, latencies }: LoadResult, cpuMs: number): Rate {
  if (failed > 0) throw new Error(`${failed} of ${calls} calls failed`);
  return { perSecond: (calls / ms) * 1_000, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), cpuMs: cpuMs / calls };
}

/** utime and stime of proc(5), in ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The shipped bundle under the shipped launch settings. */
async function startSignetCa(scene: OpenScene, cluster: Cluster, node: string, agent: string): Promise<Target> {
  const directory = join(scene.directory, 'signet-ca');
  mkdirSync(directory);
  const [port, httpPort] = await freePorts(2);
  const config = {
    trustDomain: caTrustDomain,
    kubeconfig: await writeCaKubeconfig(join(directory, 'kubeconfig'), cluster),
    nodeAgents: [agent],
    state: { directory: join(directory, 'state') },
    audit: { file: join(directory, 'audit.log') },
    listen: { address: `127.0.0.1:${port}`, names: ['localhost'] },
    http: { address: `127.0.0.1:${httpPort}` },
  };
  writeFileSync(join(directory, 'ca.yaml'), JSON.stringify(config));
  const child = spawn(
    node,
    [...(process.env['SIGNET_BENCH_CA_FLAGS']?.split(' ') ?? []), 'dist/signet.cjs', 'ca', '--config', join(directory, 'ca.yaml')],
    {
      env: launchEnvironment('launch-ca.env'),
      stdio: 'ignore',
    },
  );
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  };
  scene.add({ name: 'signet ca', tail: () => '', stop });
  await until('signet ca is ready', 20_000, async () => ((await fetch(`http://127.0.0.1:${httpPort}/readyz`)).ok ? true : undefined));
  return { target: `localhost:${port}`, rootsFile: join(directory, 'state', 'issuer.crt'), audience: caAudience, pid: child.pid ?? 0 };
}

async function runLoad(scene: OpenScene, load: Load): Promise<LoadResult> {
  const file = join(scene.directory, 'load.json');
  writeFileSync(file, JSON.stringify({ ...load, calls: Number.isFinite(load.calls) ? load.calls : Number.MAX_SAFE_INTEGER }));
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
