// ztunnel at the endpoint of the agent while the CA behind it hangs, is away for longer than half of a lifetime, or gets another root.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCertificates } from '../../agent/x509/pem.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import { createFakeIstioCa } from '../fixtures/istio-ca.js';
import type { MeshAgent } from '../fixtures/mesh-agent.js';
import { startMeshAgent } from '../fixtures/mesh-agent.js';
import { createMeshNode, createZtunnelFiles } from '../fixtures/mesh-node.js';
import { createScene } from '../fixtures/scene.js';
import { startZtunnel } from '../fixtures/start-ztunnel.js';
import { until } from '../fixtures/until.js';
import type { Ztunnel, ZtunnelCertificate } from '../fixtures/ztunnel.js';
import { untilAvailable } from '../fixtures/ztunnel.js';

const cluster = await sharedCluster(t);
const mesh = await createMeshNode(cluster, 5);
const trusted = { trustedNodeAccounts: [mesh.nodeAccounts.ztunnel, mesh.nodeAccounts.agent] };

/** istiod lets a certificate begin 2 min ago, so half of this lifetime is over 15 s after it was made. */
const seconds = 150;

/** The identities that were asked for in vain, from the given audit line on. */
const refusedSince = (agent: MeshAgent, line: number): ReadonlySet<unknown> =>
  new Set(
    agent
      .audit()
      .slice(line)
      .filter(({ message }) => message === 'certificate refused')
      .map(({ identity }) => identity),
  );

/** Waits until all that ztunnel holds is so. */
async function untilEach(ztunnel: Ztunnel, what: string, isSo: (held: ZtunnelCertificate, identity: string) => boolean): Promise<void> {
  await until(what, 180_000, async () => {
    const held = await ztunnel.certificates();
    return mesh.identities.every((identity) => {
      const certificate = held.get(identity);
      return certificate !== undefined && isSo(certificate, identity);
    });
  });
}

await t.test('a CA that hangs: every call is answered in time, and all is well when it answers again', async (t) => {
  const scene = await createScene(t);
  const ca = await createFakeIstioCa(t, { names: ['localhost'] });
  ca.outcome = () => 'hang';
  const agent = await startMeshAgent(scene, cluster, mesh, {
    caPort: ca.port,
    caRoots: String(ca.servingRoot.pem) + String(ca.root.pem),
    settings: { 'localCa.deadline': '3s' },
  });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  const ztunnel = await startZtunnel(scene, { ...agent, tokenFile, identities: mesh.identities });
  await untilEach(ztunnel, 'every identity has an answer', ({ state }) => state.startsWith('Unavailable'));
  ca.outcome = () => undefined;
  await untilAvailable(ztunnel, mesh.identities);
  t.pass('served');
});

await t.test('a CA that is away for longer than half of a lifetime: what is held stays, and is renewed when it is back', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, trusted);
  const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  const ztunnel = await startZtunnel(scene, { ...agent, tokenFile, seconds, identities: mesh.identities });
  await untilAvailable(ztunnel, mesh.identities);
  await istiod.stop();
  const held = await ztunnel.certificates();
  const line = agent.audit().length;
  await until('each identity was asked for again in vain', 180_000, () => refusedSince(agent, line).size === mesh.identities.length);
  await untilEach(
    ztunnel,
    'what is held stays',
    ({ state, serial }, identity) => state === 'Available' && serial === held.get(identity)?.serial,
  );
  await istiod.start();
  await untilEach(
    ztunnel,
    'each is renewed',
    ({ state, serial }, identity) => state === 'Available' && serial !== held.get(identity)?.serial,
  );
  t.pass('renewed');
});

await t.test('another root: ztunnel has it with the next certificate of each identity', async (t) => {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  const istiod = await startIstiod(scene, cluster, { ...trusted, caDirectory });
  const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  const ztunnel = await startZtunnel(scene, { ...agent, tokenFile, seconds, identities: mesh.identities });
  await untilAvailable(ztunnel, mesh.identities);
  const serialOf = (pem: string): string => BigInt(`0x${readCertificates(pem, { source: 'roots' })[0]?.serial}`).toString();

  await istiod.stop();
  writeIstioCa(caDirectory);
  const next = readFileSync(join(caDirectory, 'root-cert.pem'), 'utf8');
  agent.setRoots(istiod.roots + next);
  await istiod.start();
  const both = [serialOf(istiod.roots), serialOf(next)].sort();
  await untilEach(ztunnel, 'each has both roots', ({ state, roots }) => state === 'Available' && [...roots].sort().join() === both.join());
  t.pass('with both roots');
});
