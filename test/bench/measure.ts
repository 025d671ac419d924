// What the scenarios share: rows, the environment of the shipped launch, memory, and the processes beside signet.

import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { percentile } from '../fixtures/until.js';
import type { Arrivals, Command } from './stream-client.js';

// What the build knows already; a module of packaging/, so loaded by its path.
const { launchEnv } = (await import(pathToFileURL(resolve('packaging/code-cache.mjs')).href)) as {
  launchEnv(file?: string): Readonly<Record<string, string>>;
};

export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** One row of the report. `bound` is the budget as a number in the same unit; undefined when there is none. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bound: number | undefined;
  /** What it is held against: the figure of the reference in the same run, or what others reach. */
  readonly beside: string;
}

export interface Scenario {
  readonly name: string;
  run(node: string): Promise<readonly Row[]>;
}

/** Whether it is the image's Node, which has bounds of its own. */
export const newer = (node: string): boolean => node !== process.execPath;

/**
 * The environment of the shipped launch: packaging/launch.env over ours, and without NODE_EXTRA_CA_CERTS, which no shipped
 * launch has: Node 20 reads that file at each start (50 ms and 2 MiB here), which would hide half of what is measured.
 */
export function launchEnvironment(file = 'launch.env'): NodeJS.ProcessEnv {
  return { ...plainEnvironment(), ...launchEnv(file) };
}

/** What the shipped launch sets. */
export function launchSettings(): Readonly<Record<string, string>> {
  const plain = plainEnvironment();
  const isOfLaunch = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && plain[entry[0]] !== entry[1];
  return Object.fromEntries(Object.entries(launchEnvironment()).filter(isOfLaunch));
}

/** Ours without what changes how Node itself starts, and without the settings of the bench, which are none of the agent's. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const own = (name: string): boolean => name === 'NODE_EXTRA_CA_CERTS' || name === 'NODE_OPTIONS' || name.startsWith('SIGNET_');
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own(name)));
}

/** Resident memory of a process in MiB (VmRSS). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

/** The larger of 5 s and 20 s after the start: V8 collects what the start left behind only after some 10 s without work. */
export async function idleMiB({ pid }: { readonly pid: number }): Promise<number> {
  await delay(5_000);
  const early = residentMiB(pid);
  await delay(15_000);
  return Math.max(early, residentMiB(pid));
}

/** A start of Node that does nothing, to its end. */
export async function bareNodeMs(node: string): Promise<number> {
  const startedAt = now();
  await once(spawn(node, ['-e', '0'], { stdio: 'ignore', env: plainEnvironment() }), 'exit');
  return now() - startedAt;
}

/** Pod manifests, one pod for each of `count` service accounts in namespace bench. */
export function podsFile(count: number, first = 0): string {
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'bench', name: `pod-${first + index}`, labels: { app: 'bench' } },
    spec: { serviceAccountName: `sa-${first + index}` },
    status: { phase: 'Running' },
  }));
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

export const identity = (index: number): string => `spiffe://example.org/ns/bench/sa/sa-${index}`;

export interface Client {
  ask(command: Command): Promise<Arrivals>;
  stop(): void;
}

export function startClient(): Client {
  const child = forkBench('stream-client.js');
  return {
    ask: async (command) => {
      child.send(command);
      const [answer] = (await once(child, 'message')) as [Arrivals];
      return answer;
    },
    stop: () => child.disconnect(),
  };
}

export interface BareServer {
  readonly socket: string;
  /** Pushes a fresh message to every stream. */
  push(): Promise<void>;
  stop(): void;
}

export async function startBareServer(secretBytes: number): Promise<BareServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sb-'));
  const socket = join(directory, 'bare.sock');
  const child = forkBench('bare-server.js', [socket, String(secretBytes)]);
  await once(child, 'message');
  return {
    socket,
    push: async () => {
      child.send('push');
      await once(child, 'message');
    },
    stop: () => {
      child.disconnect();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Of `cluster-server.ts`, on 127.0.0.1; roots are PEM. */
export interface ClusterAddresses {
  readonly apiServer: { readonly port: number; readonly root: string };
  readonly istio: { readonly port: number; readonly servingRoot: string; readonly root: string };
}

export interface BenchCluster extends ClusterAddresses {
  /** How many calls the API server has answered. */
  calls(): Promise<number>;
  stop(): void;
}

/** With pods on node-a, of that many accounts in turn. */
export async function startCluster(pods: number, accounts: number): Promise<BenchCluster> {
  const child = forkBench('cluster-server.js', [String(pods), String(accounts)]);
  const [addresses] = (await once(child, 'message')) as [ClusterAddresses];
  return {
    ...addresses,
    calls: async () => {
      child.send('calls');
      const [calls] = (await once(child, 'message')) as [number];
      return calls;
    },
    stop: () => child.disconnect(),
  };
}

function forkBench(file: string, args: readonly string[] = []): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { env: launchEnvironment() });
}
