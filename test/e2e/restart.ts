// Scenes in which Signet is not there, or another one is: late, killed, stopped, replaced; Envoy keeps its certificates and comes
// back by itself.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import type { Envoy } from '../fixtures/envoy.js';
import { startEnvoy } from '../fixtures/envoy.js';
import { bootstrap, clientTls, cluster, idOf } from '../fixtures/envoy-config.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import { get, outcome, startLoad } from '../fixtures/traffic.js';
import { createTmpfsDirectory, whyNoTmpfs } from '../fixtures/tmpfs.js';
import { pause, stopwatch, until } from '../fixtures/until.js';
import { pairAccounts, startPair } from './pair.js';
import { endLoad, noRejections } from './scenes.js';

/** Envoy waits for the socket and is ready as soon as Signet is, or heals when it had given up waiting. */
export async function envoyFirst(t: Test, version: string, options: { fetchTimeout: string; signetAfterMs: number }): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts });
  const app = await startEchoApp(scene);
  const { fetchTimeout } = options;
  const { server, client, port } = await startPair(scene, {
    version,
    protocol: 'sotw',
    socket: signet.socket,
    app,
    fetchTimeout,
    awaitReady: false,
  });
  await pause(options.signetAfterMs);
  t.match(await outcome({ port }), /^failed/, 'nothing passes without certificates');
  await signet.start();
  const elapsed = stopwatch();
  await until('a request passes', 60_000, async () => (await outcome({ port, deadlineMs: 5_000 })).startsWith('200'));
  t.comment(`a request passes ${Math.round(elapsed())} ms after the socket is there`);
  await Promise.all([server.ready(), client.ready()]);
  await noRejections(t, [server, client]);
}

export interface Wide {
  readonly envoy: Envoy;
  /** Secrets, one stream each. */
  readonly streams: number;
}

export const wideAccounts: readonly string[] = Array.from({ length: 100 }, (_, index) => `wide${index}`);

/** An Envoy that holds 100 certificates and the bundle, with the shipped SDS cluster and back-off. */
export async function startWide(scene: Scene, version: string, socket: string): Promise<Wide> {
  const clusters = wideAccounts.map((account) => cluster(account, 1, clientTls({ own: { name: idOf(account) }, protocol: 'sotw' })));
  const envoy = await startEnvoy(scene, { name: 'wide', version, config: bootstrap({ socket, clusters, listeners: [] }) });
  await envoy.ready();
  return { envoy, streams: wideAccounts.length + 1 };
}

export interface RestartOptions {
  /** Restarts after each of which the way back is measured. */
  readonly measured: number;
  /** Restarts without a pause, after those. */
  readonly hasty: number;
}

/** SIGKILL and start again, over and over, under traffic. */
export async function killedUnderLoad(t: Test, version: string, options: RestartOptions): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: [...pairAccounts, ...wideAccounts] });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port } = await startPair(scene, { version, protocol: 'sotw', socket: signet.socket, app });
  const wide = await startWide(scene, version, signet.socket);
  const load = startLoad(scene, 50, () => get({ port }));

  const answered: number[] = [];
  const back: number[] = [];
  for (let restart = 0; restart < options.measured; restart += 1) {
    const updates = await wide.envoy.stat(/^sds\..*\.update_success$/);
    await signet.kill();
    await signet.start();
    const elapsed = stopwatch();
    const connection = connectSds(scene, signet.socket);
    const allBack = until('all streams are back', 60_000, async () => {
      const active = await wide.envoy.stat('cluster.signet.upstream_rq_active');
      return active === wide.streams && (await wide.envoy.stat(/^sds\..*\.update_success$/)) >= updates + wide.streams && elapsed();
    });
    await connection.watch('sotw', [idOf('client')]).first(idOf('client'));
    answered.push(elapsed());
    back.push(await allBack);
    connection.close();
  }
  t.comment(`new client answered after socket is back, ms: ${answered.map(Math.round).join(' ')}`);
  t.comment(`all ${wide.streams} streams of an Envoy back, ms: ${back.map(Math.round).join(' ')}`);

  for (let restart = 0; restart < options.hasty; restart += 1) {
    await signet.kill();
    await signet.start();
  }
  await until(
    'all streams are back at the end',
    60_000,
    async () => (await wide.envoy.stat('cluster.signet.upstream_rq_active')) === wide.streams,
  );
  await endLoad(t, load);
  await noRejections(t, [server, client, wide.envoy]);
}

/** SIGTERM under traffic: a clean end, and back again. */
export async function stoppedUnderLoad(t: Test, version: string): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: [...pairAccounts, ...wideAccounts] });
  await signet.start();
  const app = await startEchoApp(scene);
  const { port } = await startPair(scene, { version, protocol: 'delta', socket: signet.socket, app });
  const wide = await startWide(scene, version, signet.socket);
  const load = startLoad(scene, 50, () => get({ port }));
  await pause(300);
  await stopCleanly(t, signet);
  await pause(1_000);
  await signet.start();
  await until('all streams are back', 60_000, async () => (await wide.envoy.stat('cluster.signet.upstream_rq_active')) === wide.streams);
  await endLoad(t, load);
}

/** A new process takes the socket over and the old one drains, over and over, under traffic. */
export async function upgradedUnderLoad(t: Test, version: string, upgrades: number): Promise<void> {
  const scene = await createScene(t);
  const whyNot = whyNoTmpfs();
  const signet = createSignet(scene, {
    accounts: [...pairAccounts, ...wideAccounts],
    mode: 'agent',
    environment: {
      SIGNET_SDS_SOCKET_TAKEOVER: 'true',
      ...(whyNot === undefined ? { SIGNET_STATE_DIRECTORY: join(createTmpfsDirectory(scene), 'state') } : {}),
    },
  });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port } = await startPair(scene, { version, protocol: 'delta', socket: signet.socket, app });
  const wide = await startWide(scene, version, signet.socket);
  const load = startLoad(scene, 50, () => get({ port }));
  const served = async (): Promise<string> => {
    const connection = connectSds(scene, signet.socket);
    const { version: of, chain, privateKey } = await connection.watch('sotw', [idOf('client')]).first(idOf('client'));
    connection.close();
    return [of, chain, privateKey].join('\n');
  };
  const before = await served();
  const codes: (number | string)[] = [];
  for (let upgrade = 0; upgrade < upgrades; upgrade += 1) {
    codes.push(await signet.upgrade());
    await until('all streams are back', 60_000, async () => (await wide.envoy.stat('cluster.signet.upstream_rq_active')) === wide.streams);
  }
  t.same(new Set(codes), new Set([0]), 'each old process ended cleanly');
  if (whyNot === undefined) t.equal(await served(), before, 'and the last one serves the bytes of the first');
  else t.comment(`nothing is sealed here: ${whyNot}`);
  await endLoad(t, load);
  await noRejections(t, [server, client, wide.envoy]);
}

async function stopCleanly(t: Test, signet: Signet): Promise<void> {
  const elapsed = stopwatch();
  t.equal(await signet.stop(), 0, 'SIGTERM ends with exit code 0');
  t.comment(`after ${Math.round(elapsed())} ms`);
  t.notOk(existsSync(signet.socket), 'the socket is gone');
}
