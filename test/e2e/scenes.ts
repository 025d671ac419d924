// Scenes that run on every supported Envoy: the whole suites use them on the newest one, the short form on the others.

import type { Test } from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import type { Protocol } from '../fixtures/envoy-config.js';
import { idOf } from '../fixtures/envoy-config.js';
import { createScene } from '../fixtures/scene.js';
import { createSignet } from '../fixtures/signet.js';
import { outcome } from '../fixtures/traffic.js';
import { until } from '../fixtures/until.js';
import { pairAccounts, startPair } from './pair.js';

/** Both sides of mutual TLS get their identities by SDS; each sees the other's; everybody else is refused. */
export async function bothDirections(t: Test, version: string, protocol: Protocol): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, serverPort, port, strangerPort, misledPort } = await startPair(scene, {
    version,
    protocol,
    socket: signet.socket,
    app,
  });

  t.equal(await outcome({ port, path: '/hello' }), '200 app saw GET /hello', 'the request passes');
  const seen = await until('both access logs have the request', 5_000, async () => {
    const [atServer] = await server.accessLog();
    const [atClient] = await client.accessLog();
    return atServer !== undefined && atClient !== undefined ? { atServer, atClient } : undefined;
  });
  t.match(seen.atServer, { peer: idOf('client'), local: idOf('server') }, "the server's log shows both identities");
  t.match(seen.atClient, { upstreamPeer: idOf('server'), upstreamLocal: idOf('client') }, "the client's log shows both identities");

  t.match(await outcome({ port: strangerPort }), /^failed/, 'an identity outside the allowed list is refused');
  t.equal(await server.stat(/^listener\..*\.ssl\.fail_verify_san$/), 1, 'by the SAN list of the server');
  t.match(await outcome({ port: misledPort }), /^failed/, 'a server outside the allowed list is refused');
  t.equal(await client.stat('cluster.as-client-to-elsewhere.ssl.fail_verify_san'), 1, 'by the SAN list of the client');
  t.match(await outcome({ port: serverPort, tls: {} }), /^failed/, 'a client without certificate is refused');
  t.equal(await server.stat(/^listener\..*\.ssl\.fail_verify_no_cert$/), 1, 'because it has none');

  t.equal(app.requests(), 1, 'none of the refused requests reached the application');
  await noRejections(t, [server, client]);
}

/** No Envoy refused (NACKed) any secret. */
export async function noRejections(t: Test, envoys: readonly { stat(name: RegExp): Promise<number> }[]): Promise<void> {
  for (const envoy of envoys) t.equal(await envoy.stat(/^sds\..*\.update_rejected$/), 0, 'no secret was rejected');
}
