// Scenes under load: a new connection every 50 ms between two Envoys while certificates are renewed and roots are replaced.

import { X509Certificate } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import type { Envoy } from '../fixtures/envoy.js';
import { bundleName, idOf } from '../fixtures/envoy-config.js';
import { pemOf } from '../fixtures/pki.js';
import { createScene } from '../fixtures/scene.js';
import type { SecretWatch } from '../fixtures/secret-watch.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { createSignet } from '../fixtures/signet.js';
import { get, outcome, startLoad } from '../fixtures/traffic.js';
import { pause, until } from '../fixtures/until.js';
import type { Authority } from './authority.js';
import { createAuthority, createIssuerDirectory } from './authority.js';
import { clientIdentity } from './client-identity.js';
import { pairAccounts, startPair } from './pair.js';
import { endLoad, noRejections } from './scenes.js';

const newConnectionEveryMs = 50;

/** Certificates of 20 s are replaced this many times while every request makes a new connection. */
export async function renewalUnderLoad(t: Test, version: string, renewals: number): Promise<void> {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: pairAccounts, config: { certificate: { lifetime: '20s' } } });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port } = await startPair(scene, { version, protocol: 'sotw', socket: signet.socket, app });
  const load = startLoad(scene, newConnectionEveryMs, () => get({ port }));
  const seen = await until(
    `certificates of both changed ${renewals} times on the wire`,
    300_000,
    async () => {
      const ofClient = new Set((await server.accessLog()).map((line) => line.peerSerial));
      const ofServer = new Set((await client.accessLog()).map((line) => serialOf(decodeURIComponent(line.upstreamCertificate))));
      return Math.min(ofClient.size, ofServer.size) > renewals && `client ${ofClient.size}, server ${ofServer.size}`;
    },
    1_000,
  );
  t.comment(`leaf serials seen: ${seen}`);
  await endLoad(t, load);
  await noRejections(t, [server, client]);
}

function serialOf(pem: string): string {
  return new X509Certificate(pem).serialNumber;
}

/** How the roots become B: the trust bundle file is changed by hand in three steps, or only the issuer is and the rest follows. */
export type RootChange = 'bundle-file' | 'issuer-only';

export interface RootChangeOptions {
  readonly change: RootChange;
  /** Common names of the old and the new root; equal ones are told apart by key only. */
  readonly names: readonly [string, string];
}

/** Root A → A and B → B: certificates follow the issuer at their own renewals, and no request fails meanwhile. */
export async function rootsUnderLoad(t: Test, version: string, { change, names }: RootChangeOptions): Promise<void> {
  const scene = await createScene(t);
  const [a, b] = [createAuthority(names[0]), createAuthority(names[1])];
  const issuer = createIssuerDirectory(join(scene.directory, 'issuer'), a);
  const rootsFile = join(scene.directory, 'roots.pem');
  const writeRoots = (...roots: readonly Authority[]): void => {
    writeFileSync(`${rootsFile}.new`, pemOf(...roots.map(({ root }) => root)));
    renameSync(`${rootsFile}.new`, rootsFile);
  };
  writeRoots(a);
  const sources = change === 'bundle-file' ? [{ kind: 'file', path: rootsFile }] : [{ kind: 'issuer' }];
  const signet = createSignet(scene, {
    accounts: pairAccounts,
    config: { certificate: { lifetime: '20s' }, upstreams: issuer.upstreams, trustBundle: { sources } },
  });
  await signet.start();
  const app = await startEchoApp(scene);
  const { server, client, port, serverPort } = await startPair(scene, { version, protocol: 'delta', socket: signet.socket, app });
  const old = await clientIdentity(scene, signet.socket, 'client');
  const leaves = connectSds(scene, signet.socket).watch('delta', ['client', 'server'].map(idOf));
  const load = startLoad(scene, newConnectionEveryMs, () => get({ port }));
  await pause(1_000);
  t.match(await outcome({ port: serverPort, tls: old }), /^200/, 'a certificate of A is accepted');

  await withBundleUpdate([server, client], async () => {
    if (change === 'bundle-file') writeRoots(a, b);
    else issuer.publish(b);
  });
  if (change === 'bundle-file') issuer.publish(b);
  await until('all leaves are issued by B', 120_000, () => issuedBy(b, leaves, ['client', 'server']));
  if (change === 'bundle-file') {
    await until('both Envoys show those', 120_000, async () => showsNewest({ server, client }, leaves), 200);
    await withBundleUpdate([server, client], async () => writeRoots(b));
  }
  await pause(1_000);
  await endLoad(t, load);

  const current = await clientIdentity(scene, signet.socket, 'client');
  t.match(await outcome({ port: serverPort, tls: current }), /^200/, 'a certificate of B is accepted');
  if (change === 'bundle-file') t.match(await outcome({ port: serverPort, tls: old }), /^failed/, 'a certificate of A is refused');
  await noRejections(t, [server, client]);
}

/** Does something that changes the trust bundle, and waits until the Envoys have taken the new one. */
async function withBundleUpdate(envoys: readonly Envoy[], change: () => Promise<void>): Promise<void> {
  const updates = `sds.${bundleName.replace('://', '_')}.update_success`;
  const before = await Promise.all(envoys.map((envoy) => envoy.stat(updates)));
  await change();
  await until('the Envoys have the new bundle', 60_000, async () => {
    const after = await Promise.all(envoys.map((envoy) => envoy.stat(updates)));
    return after.every((count, index) => count > (before[index] ?? 0));
  });
}

/** Whether the newest certificate of each account is signed by the key of this authority. */
function issuedBy(authority: Authority, watch: SecretWatch, accounts: readonly string[]): boolean {
  const { publicKey } = authority.intermediate.certificate;
  return accounts.every((account) => {
    const newest = watch.received.findLast((item) => item.name === idOf(account));
    return newest !== undefined && !newest.removed && new X509Certificate(newest.chain).verify(publicKey);
  });
}

/** Whether the last request was made with the newest certificates of both sides. */
async function showsNewest({ server, client }: Record<'server' | 'client', Envoy>, watch: SecretWatch): Promise<boolean> {
  const isNewest = (serial: string, account: string): boolean => {
    const newest = watch.received.findLast((item) => item.name === idOf(account))?.chain ?? '';
    return BigInt(`0x${serial}`) === BigInt(`0x${serialOf(newest)}`);
  };
  const [atServer, atClient] = [(await server.accessLog()).at(-1), (await client.accessLog()).at(-1)];
  return (
    isNewest(atServer?.peerSerial ?? '', 'client') && isNewest(serialOf(decodeURIComponent(atClient?.upstreamCertificate ?? '')), 'server')
  );
}
