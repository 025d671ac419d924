// Starts the shipped `signet dev` for the scenarios: with pods from a file, in a pod, with a kubeconfig.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createProjectedVolume, writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { createTestToken } from '../fixtures/tokens.js';
import type { BenchCluster } from './measure.js';
import { launchEnvironment, now } from './measure.js';

export interface Signet {
  readonly pid: number;
  readonly socket: string;
  /** When it was started, as `now` says it. */
  readonly startedAt: number;
  /** From exec until the SDS socket accepted, in ms. */
  readonly startMs: number;
  /** Replaces the pods file of `startSignet`; returns when. */
  replacePods(pods: string): number;
  /** Asks for a renewal through the command line. */
  renew(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** With pods from a file. */
export async function startSignet(node: string, pods: string): Promise<Signet> {
  return await start(node, (directory) => {
    writeFileSync(join(directory, 'pods.json'), pods);
    return { args: ['--pods', join(directory, 'pods.json')] };
  });
}

/**
 * With pods from a file, which is missing without `pods`, certificates from Istio's CA, and a state that is sealed in the
 * directory `state`.
 */
export async function startSealed(node: string, cluster: BenchCluster, state: string, pods?: string): Promise<Signet> {
  return await start(node, (directory) => {
    const [config, file] = [join(directory, 'agent.yaml'), join(directory, 'pods.json')];
    if (pods !== undefined) writeFileSync(file, pods);
    writeFileSync(config, JSON.stringify({ state: { directory: state, sealed: true }, ...istioUpstream(cluster)(directory) }));
    return { args: ['--config', config, '--pods', file] };
  });
}

/** As a pod with an account that may list the pods. `unshare` of util-linux gives it a /var/run of its own, where the account is. */
export async function startInCluster(node: string, { apiServer }: BenchCluster, upstream: Upstream = () => ({})): Promise<Signet> {
  return await start(node, (directory) => {
    createProjectedVolume(join(directory, 'account'), { 'token': 'token', 'ca.crt': apiServer.root });
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    const script = `mount -t tmpfs tmpfs /var/run && mkdir -p ${account} && cp -r "$0"/. ${account} && exec "$@"`;
    return {
      before: ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, join(directory, 'account')],
      args: ['--config', writeClusterConfig(directory, upstream(directory))],
      environment: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(apiServer.port) },
      uid: 0,
    };
  });
}

/** With a kubeconfig, as on a node whose agent runs in no pod. */
export async function startWithKubeconfig(node: string, { apiServer }: BenchCluster): Promise<Signet> {
  return await start(node, (directory) => {
    const cluster = { url: `https://127.0.0.1:${apiServer.port}`, caFile: join(directory, 'ca.crt') };
    writeFileSync(cluster.caFile, apiServer.root);
    const kubeconfig = writeKubeconfig(join(directory, 'kubeconfig'), cluster, { token: 'token' });
    return { args: ['--config', writeClusterConfig(directory), '--kubeconfig', kubeconfig] };
  });
}

/** Settings of who signs, and of the roots, with what they name written into the directory. Without any: the built-in issuer. */
type Upstream = (directory: string) => object;

export const istioUpstream =
  ({ istio }: BenchCluster): Upstream =>
  (directory) => {
    const write = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const tls = { serverName: 'ca.test', roots: { kind: 'file', path: write('serving.pem', istio.servingRoot) } };
    const endpoints = [`127.0.0.1:${istio.port}`];
    return {
      upstreams: [{ kind: 'istio', auth: 'node', endpoints, tokenFile: write('ca-token', createTestToken()), tls }],
      trustBundle: { sources: [{ kind: 'file', path: write('roots.pem', istio.root) }] },
    };
  };

function writeClusterConfig(directory: string, more: object = {}): string {
  const path = join(directory, 'agent.yaml');
  writeFileSync(path, JSON.stringify({ node: 'node-a', pods: { sources: [{ kind: 'apiserver' }] }, ...more }));
  return path;
}

interface Launch {
  /** A command that ends in an exec of its arguments. */
  readonly before?: readonly string[];
  /** Of `signet dev`. */
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** As it sees itself. Default: ours. */
  readonly uid?: number;
}

/** Starts `signet dev` in a directory of its own, where `prepare` writes what it reads. */
async function start(node: string, prepare: (directory: string) => Launch): Promise<Signet> {
  const directory = mkdtempSync(join(tmpdir(), 'sb-'));
  const { before = [], args, environment = {}, uid = process.getuid?.() ?? 0 } = prepare(directory);
  const env = { ...launchEnvironment(), XDG_RUNTIME_DIR: directory, ...environment };
  const socket = join(directory, `signet-${uid}`, 'sds', 'sds.sock');
  const [command, ...rest] = [...before, node, 'dist/signet.cjs', 'dev', ...args, '--http-address', '127.0.0.1:0', '--log-level', 'error'];
  const startedAt = now();
  const child = spawn(command, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const startMs = (await acceptedAt(socket, child)) - startedAt;
  return {
    pid: child.pid ?? 0,
    socket,
    startedAt,
    startMs,
    replacePods: (pods) => {
      const path = join(directory, 'pods.json');
      writeFileSync(`${path}.new`, pods);
      const replacedAt = now();
      renameSync(`${path}.new`, path);
      return replacedAt;
    },
    renew: async (name) => {
      const renewal = spawn(node, ['dist/signet.cjs', 'renew', name], { env, stdio: ['ignore', 'ignore', 'inherit'] });
      await once(renewal, 'exit');
    },
    stop: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function acceptedAt(path: string, child: ChildProcess): Promise<number> {
  for (let attempt = 0; attempt < 10_000; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`signet ended with ${child.exitCode}`);
    const connected = await new Promise<boolean>((resolve) => {
      const socket = net.connect(path);
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (connected) return now();
    await delay(1);
  }
  throw new Error('signet did not listen in time');
}
