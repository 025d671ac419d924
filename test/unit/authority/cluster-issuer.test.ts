import t from 'tap';
import type { ClusterIssuerOptions } from '../../../agent/authority/cluster-issuer.js';
import { openClusterIssuer } from '../../../agent/authority/cluster-issuer.js';
import { formatCertificates } from '../../../agent/x509/pem.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { createIssuerScene } from '../../fixtures/issuer-scene.js';
import { never } from '../../fixtures/kube.js';

t.test('any replica signs, one of them writes', async (t) => {
  const { options, store, clock, start } = await createIssuerScene(t);
  store.put('/api/v1/namespaces/shop', { metadata: { name: 'shop' } });
  const more = (holder: string): ClusterIssuerOptions => ({
    ...options,
    holder,
    configMaps: ['signet-ca-root'],
    selects: () => true,
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts: ['istiod.istio-system.svc'] }],
  });
  const a = await openClusterIssuer(more('a'), never);
  const b = await openClusterIssuer(more('b'), never);
  t.equal(a.issuer.value.certificate.fingerprint, b.issuer.value.certificate.fingerprint);
  const stop = start(a);
  const holder = (): unknown =>
    (store.get('/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca')?.['spec'] as { holderIdentity?: unknown })
      ?.holderIdentity;
  await until(() => holder() === 'a');
  start(b);
  const configMap = '/api/v1/namespaces/shop/configmaps/signet-ca-root';
  await until(() => store.get(configMap)?.data?.['root-cert.pem'] === formatCertificates(b.roots.value));
  await until(() => store.get('/api/v1/namespaces/istio-system/secrets/istiod-tls') !== undefined);
  t.same([...a.degradations.keys()], ['roots', 'rotation', 'serving secrets']);
  await stop();
  await advanceUntil(clock, 200, () => holder() === 'b', 'the other one takes over');
  store.delete(configMap);
  await advanceUntil(clock, 200, () => store.get(configMap) !== undefined, 'and does the work');
});
