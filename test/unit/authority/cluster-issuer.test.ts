import t from 'tap';
import type { ClusterIssuerOptions } from '../../../agent/authority/cluster-issuer.js';
import { openClusterIssuer } from '../../../agent/authority/cluster-issuer.js';
import { rotationPhases } from '../../../agent/authority/rotation-status.js';
import { requestRotation } from '../../../agent/authority/rotator.js';
import { aborted } from '../../../agent/runtime/time.js';
import { formatCertificates } from '../../../agent/x509/pem.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { createIssuerScene, tlsData } from '../../fixtures/issuer-scene.js';
import { never } from '../../fixtures/kube.js';
import { createTestAuthorityMetrics } from '../../fixtures/metrics.js';
import { createRoot, dayMs } from '../../fixtures/pki.js';

t.test('any replica signs, one of them writes', async (t) => {
  const { options, store, clock, start } = await createIssuerScene(t);
  store.put('/api/v1/namespaces/shop', { metadata: { name: 'shop' } });
  const { metrics } = createTestAuthorityMetrics();
  const more = (holder: string): ClusterIssuerOptions => ({
    ...options,
    holder,
    metrics,
    configMaps: ['signet-ca-root'],
    selects: () => true,
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts: ['istiod.istio-system.svc'] }],
  });
  const a = await openClusterIssuer(more('a'), never);
  const b = await openClusterIssuer(more('b'), never);
  t.equal(a.issuer.value.certificate.fingerprint, b.issuer.value.certificate.fingerprint);
  const alone: string[] = [];
  const work = (name: string) => async (signal: AbortSignal) => {
    alone.push(`${name} begins`);
    await aborted(signal);
    alone.push(`${name} ends`);
  };
  const stop = start({ run: (signal) => a.run(signal, work('a')) });
  const holder = (): unknown =>
    (store.get('/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca')?.['spec'] as { holderIdentity?: unknown })
      ?.holderIdentity;
  await until(() => holder() === 'a');
  start({ run: (signal) => b.run(signal, work('b')) });
  const configMap = '/api/v1/namespaces/shop/configmaps/signet-ca-root';
  await until(() => store.get(configMap)?.data?.['root-cert.pem'] === formatCertificates(b.roots.value));
  await until(() => store.get('/api/v1/namespaces/istio-system/secrets/istiod-tls') !== undefined);
  t.same([...a.degradations.keys()], ['roots', 'rotation', 'serving secrets']);
  t.same(alone, ['a begins'], 'and so is what else one is enough for');
  await stop();
  await advanceUntil(clock, 200, () => holder() === 'b', 'the other one takes over');
  store.delete(configMap);
  await advanceUntil(clock, 200, () => store.get(configMap) !== undefined, 'and does the work');
  t.same(alone, ['a begins', 'a ends', 'b begins']);
});

t.test('metrics say where the rotation stands, and who holds the Lease', async (t) => {
  const { options, store, clock, start, put, text } = await createIssuerScene(t);
  store.put('/api/v1/namespaces/shop', { metadata: { name: 'shop' } });
  const issuer = createRoot({ notBefore: clock.now() - dayMs, notAfter: clock.now() + 1_000 * dayMs });
  put(tlsData(issuer));
  const { metrics, read } = createTestAuthorityMetrics();
  const lagMs = 60_000;
  const cluster = await openClusterIssuer(
    { ...options, metrics, lagMs, holder: 'a', configMaps: ['signet-ca-root'], selects: () => true, servingSecrets: [] },
    never,
  );
  const phase = async (): Promise<string | undefined> => {
    const values = await Promise.all(rotationPhases.map((each) => read('signet_ca_rotation_phase', { phase: each })));
    t.equal(values.filter((value) => value === 1).length, 1);
    return rotationPhases[values.indexOf(1)];
  };
  const current = { role: 'current', key_id: issuer.certificate.subjectKeyId ?? '' };
  t.equal(await phase(), 'steady');
  t.equal(await read('signet_ca_lease_held'), 0);
  t.equal(await read('signet_ca_issuer_info', current), 1);
  t.equal(await read('signet_ca_published_roots'), 1);
  t.equal(await read('signet_ca_next_issuer_expiry_timestamp_seconds'), 0);
  t.ok(((await read('signet_ca_rotation_next_timestamp_seconds')) ?? 0) * 1_000 > clock.now() + 700 * dayMs, 'when it begins by itself');

  await requestRotation(options, { begin: true }, never);
  const stop = start(cluster);
  const publishedAt = (): string | undefined =>
    (JSON.parse(text('signet.json') ?? '{}') as { next?: { publishedAt?: string } }).next?.publishedAt;
  const switchAt = (): number => Date.parse(publishedAt() ?? '') + 0.6 * dayMs + lagMs;
  await until(async () => {
    await clock.advance(100);
    return (await phase()) === 'waiting' && (await read('signet_ca_rotation_next_timestamp_seconds')) === switchAt() / 1_000;
  }, 'the wait for the switch');
  t.equal(await read('signet_ca_lease_held'), 1);
  t.equal(await read('signet_ca_published_roots'), 2);
  t.ok(((await read('signet_ca_next_issuer_expiry_timestamp_seconds')) ?? 0) * 1_000 > clock.now());
  await stop();
  t.equal(await read('signet_ca_lease_held'), 0);
});
