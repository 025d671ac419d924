// What the scenarios share: the signet process under the shipped launch settings, clients, memory, percentiles.

import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Arrivals, Command } from './stream-client.js';

export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The value below which the given share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

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

/**
 * The environment of the shipped launch: packaging/launch.env over ours, and without NODE_EXTRA_CA_CERTS, which no shipped
 * launch has: Node 20 reads that file at each start (50 ms and 2 MiB here), which would hide half of what is measured.
 */
export function launchEnvironment(): NodeJS.ProcessEnv {
  const lines = readFileSync('packaging/launch.env', 'utf8').split('\n');
  const entries = lines.flatMap((line) => {
    const parts = /^([A-Z_]+)=(.*)$/.exec(line);
    return parts === null ? [] : [[parts[1] ?? '', (parts[2] ?? '').replace(/^(["'])(.*)\1$/, '$2')] as const];
  });
  return { ...plainEnvironment(), ...Object.fromEntries(entries) };
}

/** Ours without what changes how Node itself starts. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...rest } = process.env;
  return rest;
}

/** Resident memory of a process in MiB (VmRSS). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
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

export interface Signet {
  readonly pid: number;
  readonly socket: string;
  readonly pods: string;
  /** From exec until the SDS socket accepted, in ms. */
  readonly startMs: number;
  /** Asks for a renewal through the command line. */
  renew(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startSignet(node: string, pods: string): Promise<Signet> {
  const directory = mkdtempSync(join(tmpdir(), 'sb-'));
  const podsPath = join(directory, 'pods.json');
  writeFileSync(podsPath, pods);
  const environment = { ...launchEnvironment(), XDG_RUNTIME_DIR: directory };
  const socket = join(directory, `signet-${process.getuid?.() ?? 0}`, 'sds', 'sds.sock');
  const command = ['dist/signet.cjs', 'dev', '--pods', podsPath, '--http-address', '127.0.0.1:0', '--log-level', 'error'];
  const startedAt = now();
  const child = spawn(node, command, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  const startMs = (await acceptedAt(socket, child)) - startedAt;
  return {
    pid: child.pid ?? 0,
    socket,
    pods: podsPath,
    startMs,
    renew: async (name) => {
      const renewal = spawn(node, ['dist/signet.cjs', 'renew', name], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
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

function forkBench(file: string, args: readonly string[] = []): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { env: launchEnvironment() });
}
