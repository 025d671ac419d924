// What a ztunnel holds that takes its certificates from the SDS socket, while the server renews, gets another root, is killed, is not
// there yet, and loses a pod. Only real.ts runs this, with the ztunnel of ZTUNNEL_SDS_BIN.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../agent/runtime/time.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import type { TestCertificate } from '../fixtures/pki.js';
import { createRoot, dayMs, hourMs, pemOf } from '../fixtures/pki.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';
import type { Ztunnel, ZtunnelCertificate } from '../fixtures/ztunnel.js';
import { untilAvailable } from '../fixtures/ztunnel.js';
import { startZtunnelProcess } from '../fixtures/ztunnel-binary.js';

const accountsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `app-${index}`);
const idOf = (account: string): string => `spiffe://example.org/ns/shop/sa/${account}`;

const three = accountsOf(3);
const identities = three.map(idOf);
/** Half of it is over after 13.5 s. */
const short = { certificate: { lifetime: '30s' } };

/** Waits until all that ztunnel holds of these identities is so. */
async function untilEach(
  ztunnel: Ztunnel,
  what: string,
  isSo: (held: ZtunnelCertificate, identity: string) => boolean,
  of: readonly string[] = identities,
): Promise<void> {
  await until(what, 240_000, async () => {
    const held = await ztunnel.certificates();
    return of.every((identity) => {
      const certificate = held.get(identity);
      return certificate !== undefined && isSo(certificate, identity);
    });
  });
}

/** Waits until each identity has another certificate than it held; gives what is held then, and whether each had one all the time. */
async function untilRenewed(ztunnel: Ztunnel, before: ReadonlyMap<string, ZtunnelCertificate>) {
  let throughout = true;
  await untilEach(ztunnel, 'each is renewed', ({ state, serial }, identity) => {
    if (state !== 'Available') throughout = false;
    return state === 'Available' && serial !== before.get(identity)?.serial;
  });
  return { held: await ztunnel.certificates(), throughout };
}

const startZtunnel = (scene: Scene, signet: Signet, accounts: readonly string[]): Promise<Ztunnel> =>
  startZtunnelProcess(scene, {
    binary: process.env['ZTUNNEL_SDS_BIN'] ?? '',
    identities: accounts.map(idOf),
    environment: { CA_ADDRESS: `unix:${signet.socket}` },
  });

async function start(t: Parameters<typeof createScene>[0], config: JsonObject = {}) {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: three, config });
  await signet.start();
  const ztunnel = await startZtunnel(scene, signet, three);
  await untilAvailable(ztunnel, identities);
  return { scene, signet, ztunnel, held: await ztunnel.certificates() };
}

for (const count of [3, 250]) {
  await t.test(`${count} identities, and the same certificates again after a restart of ztunnel`, async (t) => {
    const scene = await createScene(t);
    const accounts = accountsOf(count);
    const signet = createSignet(scene, { accounts });
    await signet.start();
    const first = await startZtunnel(scene, signet, accounts);
    const tookMs = await untilAvailable(first, accounts.map(idOf));
    t.comment(`${count} identities: ${tookMs.toFixed(0)} ms`);
    const before = await first.certificates();
    await first.stop();
    const second = await startZtunnel(scene, signet, accounts);
    t.comment(`after a restart: ${(await untilAvailable(second, accounts.map(idOf))).toFixed(0)} ms`);
    const after = await second.certificates();
    t.same(
      accounts.map((account) => after.get(idOf(account))?.serial),
      accounts.map((account) => before.get(idOf(account))?.serial),
    );
  });
}

await t.test('a rotation: each certificate is replaced, twice, and there is one all the time', async (t) => {
  const { ztunnel, held } = await start(t, short);
  const once = await untilRenewed(ztunnel, held);
  const twice = await untilRenewed(ztunnel, once.held);
  t.ok(once.throughout && twice.throughout);
});

await t.test('a new root reaches each identity', async (t) => {
  const scene = await createScene(t);
  const validity = { notBefore: systemClock.now() - hourMs, notAfter: systemClock.now() + dayMs };
  const next = createRoot({ subject: 'next', ...validity });
  const rootsFile = join(scene.directory, 'roots.pem');
  const writeRoots = (...roots: readonly TestCertificate[]): void => {
    writeFileSync(`${rootsFile}.new`, pemOf(...roots));
    renameSync(`${rootsFile}.new`, rootsFile);
  };
  writeRoots(createRoot({ subject: 'of others', ...validity }));
  const sources = [{ kind: 'issuer' }, { kind: 'file', path: rootsFile }];
  const signet = createSignet(scene, { accounts: three, config: { ...short, trustBundle: { sources } } });
  await signet.start();
  const ztunnel = await startZtunnel(scene, signet, three);
  await untilEach(ztunnel, 'each has two roots', ({ roots }) => roots.length === 2);
  writeRoots(next);
  const serial = BigInt(`0x${next.certificate.serial}`).toString();
  await untilEach(ztunnel, 'each has the new root', ({ state, roots }) => state === 'Available' && roots.includes(serial));
  t.pass('there');
});

await t.test('a server that is killed is not missed, and renews when it is there again', async (t) => {
  const { signet, ztunnel, held } = await start(t, short);
  await signet.kill();
  const kept = await ztunnel.certificates();
  t.ok(identities.every((identity) => kept.get(identity)?.state === 'Available'));
  await signet.start();
  t.ok((await untilRenewed(ztunnel, held)).throughout);
});

await t.test('a server that is not there when ztunnel starts is asked again', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: three });
  const ztunnel = await startZtunnel(scene, signet, three);
  await untilEach(ztunnel, 'none is there', ({ state }) => state !== 'Available');
  await signet.start();
  await untilAvailable(ztunnel, identities);
  t.pass('served');
});

await t.test('an identity that leaves the node ends with its certificate, and comes back with its pod', async (t) => {
  const { signet, ztunnel, held } = await start(t, short);
  const [gone = '', ...others] = three;
  signet.setAccounts(others);
  await untilEach(ztunnel, 'it ends', ({ state }) => state.startsWith('Unavailable'), [idOf(gone)]);
  const now = await ztunnel.certificates();
  t.ok(others.every((account) => now.get(idOf(account))?.state === 'Available'));
  signet.setAccounts(three);
  await untilAvailable(ztunnel, identities);
  t.not((await ztunnel.certificates()).get(idOf(gone))?.serial, held.get(idOf(gone))?.serial);
});
