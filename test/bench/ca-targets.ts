// The certificate services that `ca-rates` calls, as processes of their own under the shipped launch settings: `signet ca`, and the
// bare server beside it.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { caAudience, caTrustDomain, writeCaKubeconfig } from '../fixtures/authority.js';
import type { Cluster } from '../fixtures/cluster.js';
import { freePorts } from '../fixtures/free-ports.js';
import type { Scene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';
import { launchEnvironment } from './measure.js';

export interface Target {
  /** host:port */
  readonly target: string;
  readonly rootsFile: string;
  /** Of the tokens that it takes. */
  readonly audience: string;
  readonly pid: number;
}

/** The shipped bundle. SIGNET_BENCH_CA_FLAGS: flags of Node, such as those of its profiler. */
export async function startSignetCa(scene: Scene, cluster: Cluster, node: string, agent: string): Promise<Target> {
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
  const flags = process.env['SIGNET_BENCH_CA_FLAGS']?.split(' ') ?? [];
  const child = spawn(node, [...flags, 'dist/signet.cjs', 'ca', '--config', join(directory, 'ca.yaml')], {
    env: launchEnvironment('launch-ca.env'),
    stdio: 'ignore',
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  };
  scene.add({ name: 'signet ca', tail: () => '', stop });
  await until('signet ca is ready', 20_000, async () => ((await fetch(`http://127.0.0.1:${httpPort}/readyz`)).ok ? true : undefined));
  return { target: `localhost:${port}`, rootsFile: join(directory, 'state', 'issuer.crt'), audience: caAudience, pid: child.pid ?? 0 };
}

/** See bare-ca.ts. It takes any token. */
export async function startBareCa(scene: Scene, node: string): Promise<Target> {
  const rootsFile = join(scene.directory, 'bare-root.crt');
  const child = fork(join(import.meta.dirname, 'bare-ca.js'), [rootsFile], { execPath: node, env: launchEnvironment('launch-ca.env') });
  scene.add({ name: 'bare server', tail: () => '', stop: async () => child.disconnect() });
  const [port] = (await once(child, 'message')) as [number];
  return { target: `localhost:${port}`, rootsFile, audience: caAudience, pid: child.pid ?? 0 };
}
