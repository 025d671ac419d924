// The agent of the manifests with `signet ca` of the manifests, whose issuer is rotated by command while an SDS client listens: the
// next root comes through the ConfigMap signet-ca-root before anybody needs it, the former one goes when nobody does, and no call
// fails.

import t from 'tap';
import { systemClock } from '../../agent/runtime/time.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { createCaAgent } from '../fixtures/ca-agent.js';
import { installCa, untilReady } from '../fixtures/ca-installation.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { until } from '../fixtures/until.js';

const scene = await createScene(t);
// Of its own: the CA writes to every namespace.
const cluster = await startControlPlane(scene);
/** Lifetimes that let a rotation pass while we wait. */
const environment = { SIGNET_CERTIFICATE_LIFETIME: '30s', SIGNET_CERTIFICATE_MAX_LIFETIME: '30s', SIGNET_ROTATION_LAG: '10s' };

await t.test('a rotation by command under a running agent', async (t) => {
  const { startReplica, command } = await installCa(t, scene, cluster);
  const replica = await startReplica('signet-ca', { environment });
  await untilReady(replica);

  const { agent, web } = await createCaAgent(t, scene, cluster, replica, { certificate: { lifetime: '30s' } });
  await agent.start();
  const { received, first } = connectSds(scene, agent.socket).watch('delta', [web, 'ROOTCA']);
  await first(web);
  const [before] = certificatesOf((await first('ROOTCA')).roots);

  const asked = await command('rotate');
  t.equal(asked.code, 0, asked.stderr);
  const bundles = () => received.filter(({ name }) => name === 'ROOTCA').map(({ at, roots: pem }) => ({ at, roots: certificatesOf(pem) }));
  const isKnown = ({ fingerprint }: Certificate): boolean => fingerprint === before?.fingerprint;
  await until('the former root is gone', 300_000, () => !bundles().at(-1)?.roots.some(isKnown));
  await until('one more certificate', 60_000, () => received.at(-1)?.name === web);

  t.same(
    bundles().map(({ roots: each }) => each.map((root) => (isKnown(root) ? 'former' : 'next')).sort()),
    [['former'], ['former', 'next'], ['next']],
    'the roots that the client has',
  );
  const wallClock = systemClock.now() - systemClock.monotonic();
  const leaves = received
    .filter(({ name }) => name === web)
    .map(({ at, chain }) => ({ at, leaf: certificatesOf(chain)[0] }))
    .flatMap(({ at, leaf }) => (leaf === undefined ? [] : [{ at, end: leaf.notAfter - wallClock, leaf }]));
  t.equal(new Set(leaves.map(({ leaf }) => leaf.authorityKeyId)).size, 2, `${leaves.length} certificates of two issuers`);
  const late = leaves.filter(({ at }, index) => at > (leaves[index - 1]?.end ?? Infinity));
  t.equal(late.length, 0, 'each before the one before it ended');
  for (const [index, { at, roots: each }] of bundles().entries()) {
    const next = bundles()[index + 1]?.at ?? Infinity;
    const used = leaves.filter((leaf) => leaf.at < next && leaf.end > at);
    t.ok(used.length > 0 && used.every(({ leaf }) => each.some((root) => leaf.isSignedBy(root))), 'and known to whoever has those roots');
  }
  await until('each request has brought a certificate', 60_000, async () => {
    const asks = await agent.metric('signet_svid_request_seconds_count');
    return asks !== undefined && asks === (await agent.metric('signet_svid_requests_total', { result: 'ok' }));
  });
  t.equal(await agent.stop(), 0);
  t.equal(await replica.child().stop(), 0);
});

function certificatesOf(pem: string): readonly Certificate[] {
  return readCertificates(pem, { source: 'the secret' });
}
