// Scenes with `on_demand_secret`: an Envoy that learns the name of the certificate from each connection.

import type { Test } from 'tap';
import type { EchoApp } from '../fixtures/echo-app.js';
import { startEchoApp } from '../fixtures/echo-app.js';
import type { Envoy } from '../fixtures/envoy.js';
import { startEnvoy } from '../fixtures/envoy.js';
import { bootstrap, clientTls, cluster, idOf, listener, serverTls } from '../fixtures/envoy-config.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import type { TlsOptions } from '../fixtures/traffic.js';
import { get, outcome, startLoad } from '../fixtures/traffic.js';
import { pause, percentile, stopwatch, until } from '../fixtures/until.js';
import { clientIdentity } from './client-identity.js';
import { endLoad, noRejections } from './scenes.js';

/** Statistics of the selector, whatever listener or cluster it belongs to. */
const selector = (name: string): RegExp => new RegExp(`on_demand_secret\\.${name}$`);

/** Of `outcome`: Envoy ended it, not the patience of the caller. */
const refused = /^failed: (?!.*no answer in time)/;

export interface BySni {
  readonly signet: Signet;
  readonly envoy: Envoy;
  readonly app: EchoApp;
  /** URI SAN and serial of the certificate that a handshake with this account's name as SNI gets; rejects when refused. */
  served(account: string, as?: TlsOptions): Promise<{ peer: string; serial: string }>;
  /** As a text, for what should be refused. */
  outcomeOf(servername: string, as?: TlsOptions): Promise<string>;
}

/** One listener that serves any identity of the node by SNI; a caller with the identity `client`. */
export async function startBySni(scene: Scene, version: string, accounts: readonly string[], config: JsonObject = {}): Promise<BySni> {
  const signet = createSignet(scene, { accounts: ['client', 'fallback', ...accounts], config });
  await signet.start();
  const app = await startEchoApp(scene);
  const prefetch = [idOf('fallback'), idOf('absent')];
  const transportSocket = serverTls({ own: { bySni: { defaultName: idOf('fallback'), prefetch } }, protocol: 'delta' });
  const envoy = await startEnvoy(scene, {
    name: 'by-sni',
    version,
    config: bootstrap({
      socket: signet.socket,
      clusters: [cluster('app', app.port)],
      listeners: [listener({ name: 'by-sni', cluster: 'app', transportSocket })],
    }),
  });
  await envoy.ready();
  const port = await envoy.port('by-sni');
  const client = await clientIdentity(scene, signet.socket, 'client');
  return {
    signet,
    envoy,
    app,
    served: (account, as = client) => get({ port, tls: { ...as, servername: account === '' ? '' : idOf(account) } }),
    outcomeOf: (servername, as = client) => outcome({ port, tls: { ...as, servername } }),
  };
}

/** Picks among many identities, an unknown name, its arrival, renewal and removal. */
export async function onDemandBySni(t: Test, version: string, identities: number): Promise<void> {
  const scene = await createScene(t);
  const accounts = Array.from({ length: identities }, (_, index) => `s${String(index).padStart(2, '0')}`);
  // Ready, though a prefetched name does not exist.
  const { signet, envoy, served, outcomeOf } = await startBySni(scene, version, accounts);
  t.equal(await envoy.stat(selector('cert_requested')), 2, 'prefetched names are asked for before any handshake');
  t.equal((await served('')).peer, idOf('fallback'), 'no SNI gets the default name');

  const times: number[] = [];
  for (const account of accounts) {
    const elapsed = stopwatch();
    const { peer } = await served(account);
    times.push(elapsed());
    if (peer !== idOf(account)) t.fail(`a handshake for ${account} got ${peer}`);
  }
  t.comment(`first handshakes, ms: median ${percentile(times, 0.5).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)}`);

  const unknown = stopwatch();
  t.match(await outcomeOf(idOf('late')), refused, 'an unknown name is refused');
  t.comment(`an unknown name fails after ${unknown().toFixed(1)} ms`);
  signet.setAccounts(['client', 'fallback', 'late', ...accounts]);
  const late = await until('a handshake with the late name succeeds', 60_000, () => served('late'));
  t.equal(late.peer, idOf('late'), 'the same name works when its pod has appeared');

  const [first = ''] = accounts;
  const before = await served(first);
  t.match(await signet.command('renew', idOf(first)), { code: 0 }, 'renew is accepted');
  await until('a handshake shows a new serial', 60_000, async () => (await served(first)).serial !== before.serial);
  t.ok((await envoy.stat(selector('cert_updated'))) > 0, 'a renewal reaches the cached name');

  signet.setAccounts(['client', 'fallback', 'late', ...accounts.slice(1)]);
  await until('a handshake with the removed name fails', 60_000, async () => (await outcomeOf(idOf(first))).startsWith('failed'));
  t.equal((await served('late')).peer, idOf('late'), 'a removal leaves the others alone');
  signet.setAccounts(['client', 'fallback', ...accounts]);
  await until('a handshake with the name that came back succeeds', 60_000, () => served(first));
  await noRejections(t, [envoy]);
}

/** Two identities through one cluster: the server sees both, each on its own connection. */
export async function onDemandByFilterState(t: Test, version: string): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['server', 'a', 'b'] });
  await signet.start();
  const app = await startEchoApp(scene);
  const server = await startEnvoy(scene, {
    name: 'server',
    version,
    config: bootstrap({
      socket: signet.socket,
      clusters: [cluster('app', app.port)],
      listeners: [
        listener({ name: 'server', cluster: 'app', transportSocket: serverTls({ own: { name: idOf('server') }, protocol: 'delta' }) }),
      ],
    }),
  });
  const own = { byFilterState: { defaultName: idOf('nobody') } };
  const names = ['a', 'b', 'late'];
  const client = await startEnvoy(scene, {
    name: 'client',
    version,
    config: bootstrap({
      socket: signet.socket,
      clusters: [cluster('to-server', await server.port('server'), clientTls({ own, peer: idOf('server'), protocol: 'delta' }))],
      listeners: names.map((name) => listener({ name, cluster: 'to-server', upstreamIdentity: idOf(name) })),
    }),
  });
  await Promise.all([server.ready(), client.ready()]);
  const as = async (account: string): Promise<string> => outcome({ port: await client.port(account), path: `/${account}` });

  for (const account of ['a', 'b', 'a']) t.equal(await as(account), `200 app saw GET /${account}`, `a connection as ${account} passes`);
  const peers = await until('the log of the server has three lines', 60_000, async () => {
    const lines = await server.accessLog();
    return lines.length >= 3 && lines.map((line) => line.peer);
  });
  t.same(peers, [idOf('a'), idOf('b'), idOf('a')], 'the server sees the identity of each connection');

  t.match(await as('late'), refused, 'an identity without a certificate is refused');
  signet.setAccounts(['server', 'a', 'b', 'late']);
  await until('a connection as the late identity passes', 60_000, async () => (await as('late')).startsWith('200'));
  t.equal((await client.stat(selector('cert_requested'))) >= 3, true, 'each name was asked for');
  await noRejections(t, [server, client]);
}

/** SIGKILL and start again under handshakes by SNI: names that were served go on being served. */
export async function onDemandKilledUnderLoad(t: Test, version: string, restarts: number): Promise<void> {
  const scene = await createScene(t);
  const accounts = ['a', 'b', 'c', 'd', 'e'];
  const { signet, envoy, served } = await startBySni(scene, version, accounts);
  for (const account of accounts) await served(account);
  let turn = 0;
  const load = startLoad(scene, 50, () => served(accounts[(turn += 1) % accounts.length] ?? ''));
  for (let restart = 0; restart < restarts; restart += 1) {
    await pause(300);
    await signet.kill();
    await signet.start();
  }
  await pause(1_000);
  await endLoad(t, load);
  await noRejections(t, [envoy]);
}
