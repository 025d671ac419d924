// Scenes that run on every supported Envoy: the whole suites use them on the newest one, the short form on the others.

import { X509Certificate } from 'node:crypto';
import type { Test } from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import type { Protocol } from '../fixtures/envoy-config.js';
import { bundleName, idOf } from '../fixtures/envoy-config.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { createSignet } from '../fixtures/signet.js';
import type { Load } from '../fixtures/traffic.js';
import { outcome } from '../fixtures/traffic.js';
import { pause, until } from '../fixtures/until.js';
import { clientIdentity } from './client-identity.js';
import { pairAccounts, startPair } from './pair.js';

export interface BothDirectionsOptions {
  readonly version: string;
  readonly protocol: Protocol;
  /** Name of the secret with the roots. Default: the trust domain. */
  readonly bundle?: string;
  /** Default: dev. */
  readonly mode?: 'dev' | 'agent';
}

/** Both sides of mutual TLS get their identities by SDS; each sees the other's; everybody else is refused. */
export async function bothDirections(t: Test, options: BothDirectionsOptions): Promise<void> {
  const { version, protocol, bundle = bundleName, mode = 'dev' } = options;
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts, mode });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, serverPort, port, strangerPort, misledPort } = await startPair(scene, {
    version,
    protocol,
    socket: signet.socket,
    app,
    bundle,
  });

  t.equal(await outcome({ port, path: '/hello' }), '200 app saw GET /hello', 'the request passes');
  const seen = await until('both access logs have the request', 60_000, async () => {
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

/** Certificate types of Envoy 1.36 and later (BoringSSL, default signature algorithms). */
export const keyTypes = ['ec-p256', 'ec-p384', 'rsa-2048'] as const;

/** A key type is taken by both sides without a rejection, and is what was asked for. */
export async function servesKeyType(t: Test, version: string, keyType: (typeof keyTypes)[number]): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts, config: { certificate: { keyType } } });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port } = await startPair(scene, { version, protocol: 'sotw', socket: signet.socket, app });
  t.equal(await outcome({ port }), '200 app saw GET /', 'the request passes');
  const { certificate = '' } = await clientIdentity(scene, signet.socket, 'client');
  const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(certificate).publicKey;
  const details = { 'ec-p256': 'prime256v1', 'ec-p384': 'secp384r1', 'rsa-2048': 2048 }[keyType];
  t.equal(asymmetricKeyDetails?.namedCurve ?? asymmetricKeyDetails?.modulusLength, details, `with a key of type ${asymmetricKeyType}`);
  await noRejections(t, [server, client]);
}

/** Delta says that an identity in use is gone: Envoy takes it without a NACK and keeps the last certificate. */
export async function removalKeepsTraffic(t: Test, version: string): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port } = await startPair(scene, { version, protocol: 'delta', socket: signet.socket, app });
  const watch = connectSds(scene, signet.socket).watch('delta', [idOf('server')]);
  await watch.first(idOf('server'));
  const attempts = await server.stat(/^sds\..*\.update_success$/);
  signet.setAccounts(pairAccounts.filter((account) => account !== 'server'));
  t.ok((await watch.first(idOf('server'), 1)).removed, 'the removal is sent');
  await pause(200);
  t.equal(await outcome({ port }), '200 app saw GET /', 'requests still pass');
  await noRejections(t, [server, client]);
  signet.setAccounts(pairAccounts);
  await until('the identity that came back reaches Envoy', 60_000, async () => (await server.stat(/^sds\..*\.update_success$/)) > attempts);
  t.equal(await outcome({ port }), '200 app saw GET /', 'and pass when the identity is back');
}

/** Ends the load and tells of every request that failed. */
export async function endLoad(t: Test, load: Load): Promise<void> {
  const { sent, failures, slowestMs } = await load.stop();
  t.comment(`${sent} requests, each on a new connection; slowest ${slowestMs} ms`);
  t.same(failures, [], `none of ${sent} requests failed`);
}
