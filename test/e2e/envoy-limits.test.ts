// Bad and greedy clients of the real binary, while an Envoy goes on being served. See suites.md.

import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { startChild } from '../fixtures/child.js';
import { startEchoApp } from '../fixtures/echo-app.js';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { idOf } from '../fixtures/envoy-config.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import { get, startLoad } from '../fixtures/traffic.js';
import { percentile, stopwatch, until } from '../fixtures/until.js';
import type { Pair } from './pair.js';
import { pairAccounts, startPair } from './pair.js';
import { endLoad } from './scenes.js';

interface Stage {
  readonly scene: Scene;
  readonly signet: Signet;
  readonly pair: Pair;
}

async function createStage(t: Test, config: JsonObject = {}): Promise<Stage> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: [...pairAccounts, 'hot'], config });
  await signet.start();
  const app = await startEchoApp(scene);
  const pair = await startPair(scene, { version: wholeSuiteEnvoy, protocol: 'sotw', socket: signet.socket, app });
  return { scene, signet, pair };
}

/** A renewal arrives at the Envoy: its streams are alive and served. */
async function stillServes({ signet, pair }: Stage): Promise<void> {
  const updates = async (): Promise<number> => pair.server.stat(`sds.${idOf('server').replace('://', '_')}.update_success`);
  const before = await updates();
  const { code, stderr } = await signet.command('renew', idOf('server'));
  if (code !== 0) throw new Error(`renew ended with ${code}: ${stderr}`);
  await until('the renewed certificate is at Envoy', 60_000, async () => (await updates()) > before);
}

/** Resident memory of the agent, MiB. */
function memoryOf(signet: Signet): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${signet.pid()}/status`, 'utf8'))?.[1]) / 1024;
}

interface ManyStreams {
  signal(name: NodeJS.Signals): void;
  /** A line of many-streams.ts: round 0 when every stream was answered, the later ones for pushes. */
  answered(round?: number): Promise<{ readonly allMs: number; readonly p99Ms: number }>;
}

function openManyStreams(scene: Scene, socket: string, name: string, count: number): ManyStreams {
  let output = '';
  const child = startChild({
    name: `${count} streams`,
    command: process.execPath,
    args: [join(import.meta.dirname, 'many-streams.js'), socket, name, String(count)],
    onOutput: (chunk) => {
      output += chunk;
    },
  });
  scene.add({ ...child, stop: () => child.stop('SIGKILL') });
  return {
    signal: child.signal,
    answered: async (round = 0) => {
      // What is behind the last line feed is no whole line yet.
      const line = (): string | undefined => output.split('\n').slice(0, -1)[round];
      return JSON.parse(await until(`${count} streams are answered, round ${round}`, 120_000, line)) as { allMs: number; p99Ms: number };
    },
  };
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Bytes that are no protocol, the same in each run: of random ones some are the beginning of a frame. */
const noise = (length: number): Buffer => Buffer.alloc(length, 0xa5);

const garbage: Readonly<Record<string, Buffer>> = {
  'noise': noise(65_536),
  'a request of HTTP/1.1': Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'a TLS handshake': Buffer.concat([Buffer.from('160301020001', 'hex'), noise(512)]),
  'a preface and noise': Buffer.concat([Buffer.from(preface), noise(4_096)]),
  'a preface and a frame of 16 MiB': Buffer.concat([Buffer.from(preface), Buffer.from('ffffff0000000000', 'hex'), Buffer.alloc(65_536)]),
  'half a preface': Buffer.from(preface.slice(0, 10)),
  'nothing': Buffer.alloc(0),
};

function send(path: string, bytes: Buffer): Socket {
  const socket = createConnection(path).on('error', () => {});
  socket.resume().write(bytes);
  return socket;
}

await t.test('garbage on the socket', async (t) => {
  const stage = await createStage(t, { sds: { limits: { halfOpen: '5m' } } });
  const load = startLoad(stage.scene, 50, () => get({ port: stage.pair.port }));
  const opened = Object.entries(garbage).map(([kind, bytes]) => ({
    kind,
    sockets: Array.from({ length: 20 }, () => send(stage.signet.socket, bytes)),
  }));
  await stillServes(stage);
  t.pass('an Envoy is served beside 140 connections of garbage');
  const open = (): string => opened.flatMap(({ kind, sockets }) => (sockets.some((each) => !each.destroyed) ? [kind] : [])).join();
  // For `halfOpen`.
  await until('only those are kept that may still become a client', 60_000, () => open() === 'half a preface,nothing');
  for (const { sockets } of opened) for (const socket of sockets) socket.destroy();
  await endLoad(t, load);
  t.ok(stage.signet.running(), 'signet runs');
});

await t.test('a client that stops reading', async (t) => {
  const stage = await createStage(t);
  const { scene, signet } = stage;
  const streams = openManyStreams(scene, signet.socket, idOf('hot'), 1_000);
  await streams.answered();
  const witness = connectSds(scene, signet.socket).watch('sotw', [idOf('hot')]);
  await witness.first(idOf('hot'));
  const rotate = async (times: number): Promise<void> => {
    for (let rotation = 0; rotation < times; rotation += 1) {
      const known = witness.received.length;
      await signet.command('renew', idOf('hot'));
      await until('the renewal is at another client', 60_000, () => witness.received.length > known, 2);
    }
  };
  await rotate(5);
  streams.signal('SIGSTOP');
  await rotate(5);
  const before = memoryOf(signet);
  await rotate(30);
  const after = memoryOf(signet);
  t.comment(
    `resident memory before and after 30 renewals to 1,000 streams that are not read: ${before.toFixed(1)}, ${after.toFixed(1)} MiB`,
  );
  // A queue of them all would hold 30 × 1,000 responses of about 1.5 KB each.
  t.ok(after - before < 16, 'nothing is queued for it');
  await stillServes(stage);
  t.pass('an Envoy is served meanwhile');
  streams.signal('SIGCONT');
});

await t.test('L01: 5,000 streams at once on one connection', async (t) => {
  const stage = await createStage(t);
  const { scene, signet, pair } = stage;
  const load = startLoad(scene, 50, () => get({ port: pair.port }));
  const connection = connectSds(scene, signet.socket);
  const others: number[] = [];
  const other = startLoad(scene, 50, async () => {
    const elapsed = stopwatch();
    const watch = connection.watch('sotw', [idOf('client')]);
    await watch.first(idOf('client'));
    others.push(elapsed());
    watch.cancel();
  });
  const streams = openManyStreams(scene, signet.socket, idOf('hot'), 5_000);
  const { allMs, p99Ms } = await streams.answered();
  t.comment(`5,000 streams answered: p99 ${p99Ms} ms, all ${allMs} ms; agent at ${memoryOf(signet).toFixed(0)} MiB`);
  await signet.command('renew', idOf('hot'));
  const push = await streams.answered(1);
  t.comment(`a renewal pushed to all of them: p99 ${push.p99Ms} ms, all ${push.allMs} ms after the first`);
  await stillServes(stage);
  await endLoad(t, other);
  t.comment(
    `new streams of another client meanwhile, ms: median ${percentile(others, 0.5).toFixed(1)}, p99 ${percentile(others, 0.99).toFixed(1)}`,
  );
  await endLoad(t, load);
});
