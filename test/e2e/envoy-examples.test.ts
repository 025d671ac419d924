// Every example of docs/envoy.md: valid on each Envoy that it is for, and run there with real requests. See suites.md.

import type { Test } from 'tap';
import t from 'tap';
import type { EchoApp } from '../fixtures/echo-app.js';
import { startEchoApp } from '../fixtures/echo-app.js';
import { startEnvoy, validateConfig } from '../fixtures/envoy.js';
import type { Envoy } from '../fixtures/envoy.js';
import { chosenEnvoys, isSince } from '../fixtures/envoy-binary.js';
import { accessLog, idOf } from '../fixtures/envoy-config.js';
import type { Bootstrap, Json, JsonObject } from '../fixtures/envoy-examples.js';
import { mapJson, readExamples } from '../fixtures/envoy-examples.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import { get, outcome } from '../fixtures/traffic.js';
import { until } from '../fixtures/until.js';
import { clientIdentity } from './client-identity.js';
import { noRejections } from './scenes.js';

const examples = readExamples();

interface Place {
  readonly socket: string;
  readonly app: EchoApp;
  /** Where the example's 10.0.0.2 is. */
  readonly peerPort?: number;
  /** Service accounts to put in the place of those that the example names. */
  readonly accounts?: Readonly<Record<string, string>>;
}

/** The example with its addresses and names changed to those of a test, and an access log on each listener. */
function placed(name: string, place: Place): Bootstrap {
  const config = examples.find((example) => example.name === name)?.config;
  if (config === undefined) throw new Error(`docs/envoy.md has no ${name}`);
  return mapJson(config as unknown as Json, (value, key) => {
    if (key === 'path') return place.socket;
    if (key === 'socket_address') return { address: '127.0.0.1', port_value: portOf(value as JsonObject, place) };
    if (typeof value === 'string') return value.replace(/(?<=\/ns\/shop\/sa\/)\w+$/, (account) => place.accounts?.[account] ?? account);
    if (typeof value !== 'object' || value === null || !('stat_prefix' in value)) return value;
    const { stat_prefix: listener } = value;
    return typeof listener === 'string' ? { ...value, access_log: accessLog(listener) } : value;
  }) as unknown as Bootstrap;
}

function portOf(address: JsonObject, place: Place): number {
  if (address['port_value'] === 8080) return place.app.port;
  return address['address'] === '10.0.0.2' ? (place.peerPort ?? 1) : 0;
}

interface Stage {
  readonly scene: Scene;
  readonly signet: Signet;
  readonly app: EchoApp;
  start(example: string, name: string, place?: Partial<Place>): Promise<Envoy>;
}

async function createStage(t: Test, version: string): Promise<Stage> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['web', 'orders', 'cart', 'client'] });
  await signet.start();
  const app = await startEchoApp(scene);
  return {
    scene,
    signet,
    app,
    async start(example, name, place = {}) {
      const envoy = await startEnvoy(scene, { name, version, config: placed(example, { socket: signet.socket, app, ...place }) });
      await envoy.ready();
      return envoy;
    },
  };
}

async function bothDirections(t: Test, version: string): Promise<void> {
  const { start } = await createStage(t, version);
  const orders = await start('both-directions.yaml', 'orders', { accounts: { web: 'orders', orders: 'web' } });
  const web = await start('both-directions.yaml', 'web', { peerPort: await orders.port('inbound') });
  t.equal(await outcome({ port: await web.port('outbound') }), '200 app saw GET /', 'the request passes');
  const line = await until('the request is logged', 60_000, async () => (await orders.accessLog())[0]);
  t.match(line, { peer: idOf('web'), local: idOf('orders') }, 'between the two identities');
  await noRejections(t, [web, orders]);
}

async function onDemandBySni(t: Test, version: string): Promise<void> {
  const { scene, signet, start } = await createStage(t, version);
  const envoy = await start('on-demand-sni.yaml', 'node-proxy');
  const port = await envoy.port('inbound');
  const client = await clientIdentity(scene, signet.socket, 'client');
  for (const account of ['web', 'orders', 'cart']) {
    const { peer } = await get({ port, tls: { ...client, servername: idOf(account) } });
    t.equal(peer, idOf(account), `the name ${account} is served its certificate`);
  }
  const hostile = await outcome({ port, tls: { ...client, servername: 'xdstp://x' } });
  t.match(hostile, /^failed/, 'a name that would end Envoy is kept away from it');
  const { peer } = await get({ port, tls: { ...client, servername: idOf('web') } });
  t.equal(peer, idOf('web'), 'which goes on serving');
  await noRejections(t, [envoy]);
}

async function hbone(t: Test, version: string): Promise<void> {
  const { app, start } = await createStage(t, version);
  const inbound = await start('inbound-hbone.yaml', 'inbound');
  const peerPort = await inbound.port('inbound');
  const envoys = [await start('on-demand-filter-state.yaml', 'as-web', { peerPort })];
  envoys.push(await start('on-demand-filter-state.yaml', 'as-cart', { peerPort, accounts: { web: 'cart' } }));
  for (const envoy of envoys) {
    const port = await envoy.port('outbound');
    for (let request = 0; request < 3; request += 1)
      t.match(await outcome({ port }), /^200/, `a request passes the tunnel of ${envoy.name}`);
    t.equal(await envoy.stat('cluster.hbone_peer.upstream_cx_total'), 1, 'three requests share one connection');
  }
  t.equal(app.requests(), 6, 'all arrived');
  const peers = await until('the tunnels are logged', 60_000, async () => {
    const lines = (await inbound.accessLog()).filter((line) => line.listener === 'inbound' && line.peer !== '-' && line.peer !== null);
    return lines.length >= 6 && new Set(lines.map((line) => line.peer));
  });
  t.same(peers, new Set([idOf('web'), idOf('cart')]), 'under both identities');
  await noRejections(t, [inbound, ...envoys]);
}

for (const version of chosenEnvoys) {
  await t.test(`the examples are valid on Envoy ${version}`, async (t) => {
    const scene = await createScene(t);
    for (const { name, since, config } of examples) {
      const result = await validateConfig(scene, version, name, config);
      if (isSince(version, since))
        t.match(result, { code: 0, stdout: /OK/, stderr: /^((?!warning).)*$/s }, `${name} is valid, without a warning`);
      else t.not(result.code, 0, `${name} needs a later Envoy, as the page says`);
    }
  });
  await t.test(`one identity, both directions, on Envoy ${version}`, (t) => bothDirections(t, version));
  await t.test(`on demand by SNI on Envoy ${version}`, { skip: !isSince(version, 37) }, (t) => onDemandBySni(t, version));
  await t.test(`HBONE on Envoy ${version}`, { skip: !isSince(version, 38) }, (t) => hbone(t, version));
}
