// Two Envoys that speak mutual TLS with each other, each with an identity of its own: `client` → `server` → the application.
// The client has two more ways out, which must be refused: as an identity that the server does not list, and to a server
// that is not the one expected.

import type { EchoApp } from '../fixtures/echo-app.js';
import type { Envoy } from '../fixtures/envoy.js';
import { startEnvoy } from '../fixtures/envoy.js';
import type { BootstrapParts, Protocol } from '../fixtures/envoy-config.js';
import { bootstrap, bundleName, clientTls, cluster, idOf, listener, serverTls } from '../fixtures/envoy-config.js';
import type { Bootstrap, Json } from '../fixtures/envoy-examples.js';
import { mapJson } from '../fixtures/envoy-examples.js';
import type { Scene } from '../fixtures/scene.js';

export const pairAccounts = ['client', 'server', 'stranger'] as const;

export interface PairOptions {
  readonly version: string;
  readonly protocol: Protocol;
  readonly socket: string;
  readonly app: EchoApp;
  /** False: do not wait until the Envoys have their secrets. */
  readonly awaitReady?: boolean;
  /** Name of the secret with the roots. Default: the trust domain. */
  readonly bundle?: string;
  /** `initial_fetch_timeout`. Default: the one of docs/envoy.md. */
  readonly fetchTimeout?: string;
}

export interface Pair {
  readonly server: Envoy;
  readonly client: Envoy;
  /** Port of the server's mutual TLS listener. */
  readonly serverPort: number;
  /** Plain ports of the client: as `client`, as `stranger`, and as `client` expecting another server. */
  readonly port: number;
  readonly strangerPort: number;
  readonly misledPort: number;
}

export async function startPair(scene: Scene, options: PairOptions): Promise<Pair> {
  const { version, protocol, socket, app, fetchTimeout, bundle = bundleName } = options;
  const withTimeout = (parts: BootstrapParts): Bootstrap =>
    mapJson(bootstrap(parts) as unknown as Json, (value, key) =>
      key === 'initial_fetch_timeout' ? (fetchTimeout ?? value) : value,
    ) as unknown as Bootstrap;
  const server = await startEnvoy(scene, {
    name: `server-${protocol}`,
    version,
    config: withTimeout({
      socket,
      clusters: [cluster('app', app.port)],
      listeners: [
        listener({
          name: 'server',
          cluster: 'app',
          transportSocket: serverTls({ own: { name: idOf('server') }, peer: idOf('client'), protocol, bundle }),
        }),
      ],
    }),
  });
  const serverPort = await server.port('server');
  const way = (account: string, peer: string) =>
    cluster(`as-${account}-to-${peer}`, serverPort, clientTls({ own: { name: idOf(account) }, peer: idOf(peer), protocol, bundle }));
  const client = await startEnvoy(scene, {
    name: `client-${protocol}`,
    version,
    config: withTimeout({
      socket,
      clusters: [way('client', 'server'), way('stranger', 'server'), way('client', 'elsewhere')],
      listeners: [
        listener({ name: 'client', cluster: 'as-client-to-server' }),
        listener({ name: 'stranger', cluster: 'as-stranger-to-server' }),
        listener({ name: 'misled', cluster: 'as-client-to-elsewhere' }),
      ],
    }),
  });
  if (options.awaitReady !== false) await Promise.all([server.ready(), client.ready()]);
  return {
    server,
    client,
    serverPort,
    port: await client.port('client'),
    strangerPort: await client.port('stranger'),
    misledPort: await client.port('misled'),
  };
}
