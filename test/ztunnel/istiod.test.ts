// ztunnel straight at a real istiod: what a switch to Signet is compared with, and the proof that the client of these suites is a
// right one.

import t from 'tap';
import { sharedCluster } from '../fixtures/cluster.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { createScene } from '../fixtures/scene.js';
import { createMeshNode, createZtunnelFiles } from '../fixtures/mesh-node.js';
import { startZtunnel } from '../fixtures/start-ztunnel.js';
import { untilAvailable } from '../fixtures/ztunnel.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const mesh = await createMeshNode(cluster, 250);

await t.test('istiod serves the identities of the node of a ztunnel that it trusts, and no other', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [mesh.nodeAccounts.ztunnel] });
  const files = await createZtunnelFiles(scene, mesh, istiod.roots);
  const caAddress = `https://localhost:${istiod.port()}`;
  const ztunnel = await startZtunnel(scene, { ...files, caAddress, identities: mesh.identities });
  const tookMs = await untilAvailable(ztunnel, mesh.identities);
  t.comment(`250 identities one after the other: ${tookMs.toFixed(0)} ms, ${(tookMs / 250).toFixed(1)} ms each`);

  const other = await startZtunnel(scene, { ...files, caAddress, identities: [mesh.elsewhere.identity] });
  const refusal = await until('the refusal', 60_000, async () => {
    const state = (await other.certificates()).get(mesh.elsewhere.identity)?.state;
    return state?.startsWith('Unavailable') === true && state;
  });
  t.match(refusal, /request impersonation authentication failure/);
});
