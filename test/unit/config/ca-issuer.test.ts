// The settings of the issuer of signet ca and of its roots: what they give, and what is told of those that do not go together.

import t from 'tap';
import type { Test } from 'tap';
import type { CaConfig } from '../../../agent/config.js';
import { ConfigError, formatFault, loadCaConfig } from '../../../agent/config.js';

const secret = 'issuer: {secret: {namespace: signet-system, name: signet-ca-issuer}}\n';

function load(t: Test, text: string): CaConfig | readonly string[] {
  const directory = t.testdir({ 'ca.yaml': `trustDomain: example.org\n${text}` });
  try {
    return loadCaConfig({ file: `${directory}/ca.yaml`, env: {} }).config;
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(formatFault);
    throw error;
  }
}

t.test('an issuer in a Secret, and all that goes with it', (t) => {
  const config = load(
    t,
    `${secret}
rotation: {lag: 10m}
roots: {configMaps: [signet-ca-root], excludeNamespaces: [kube-system], clusterTrustBundle: {name: 'example.org:ca:root', signerName: example.org/ca}}
servingSecrets: [{namespace: istio-system, name: istiod-tls, hosts: [istiod.istio-system.svc]}]
`,
  );
  t.match(config, {
    issuer: { secret: { namespace: 'signet-system', name: 'signet-ca-issuer' } },
    lease: { namespace: 'signet-system', name: 'signet-ca', durationMs: 15_000 },
    rotation: { lagMs: 600_000 },
    roots: {
      configMaps: ['signet-ca-root'],
      excludeNamespaces: ['kube-system'],
      clusterTrustBundle: { name: 'example.org:ca:root', signerName: 'example.org/ca' },
    },
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts: ['istiod.istio-system.svc'] }],
  });
  t.strictSame((load(t, 'issuer: {certificate: /c, privateKey: /k}\n') as CaConfig).issuer, { certificate: '/c', privateKey: '/k' });
  t.end();
});

t.test('what does not go together is one line each', (t) => {
  const takes = 'needs issuer.secret: an issuer of files, or one of this replica alone, is not rotated in the cluster';
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['issuer: {secret: {namespace: a, name: b}, roots: /r}', ['issuer (line 2) must have either secret or files']],
    ['issuer: {certificate: /c}', ['issuer.privateKey (line 2) is required without secret']],
    ['issuer: {secret: {namespace: a}}', ['issuer.secret.name (line 2) is required']],
    ['roots: {configMaps: [a]}', [`roots.configMaps ${takes}`]],
    ['roots: {clusterTrustBundle: {name: a}}', [`roots.clusterTrustBundle.name ${takes}`]],
    ['servingSecrets: [{namespace: a, name: b, hosts: [c]}]', [`servingSecrets ${takes}`]],
    [`${secret}servingSecrets: [{namespace: a, name: b, hosts: []}]`, [/must have at least one entry/ as unknown as string]],
    [
      `${secret}servingSecrets: [{namespace: signet-system, name: signet-ca-issuer, hosts: [a]}]`,
      ['servingSecrets must not name a Secret twice, nor that of the issuer'],
    ],
    [`${secret}roots: {namespaces: [shop]}`, ['roots.namespaces has no effect without roots.configMaps']],
    [`${secret}roots: {excludeNamespaces: [shop]}`, ['roots.excludeNamespaces has no effect without roots.configMaps']],
    [`${secret}roots: {clusterTrustBundle: {signerName: a.b/c}}`, ['roots.clusterTrustBundle.signerName has no effect without a name']],
    [`${secret}roots: {clusterTrustBundle: {name: 'a:b'}}`, ['roots.clusterTrustBundle.name must have no colon without a signerName']],
    ['certificate: {maxLifetime: 1h}', ['certificate.lifetime must be between minLifetime and maxLifetime']],
    ['certificate: {lifetime: 1h, minLifetime: 2h}', ['certificate.lifetime must be between minLifetime and maxLifetime']],
    [
      'clusters: [{id: b, aliases: [c], kubeconfig: /b}, {id: d, aliases: [c], kubeconfig: /d}]',
      ['clusters must have ids and aliases that mean one cluster: c stands twice'],
    ],
    ['clusters: [{id: Kubernetes, kubeconfig: /b}]', ['clusters must have ids and aliases that mean one cluster: Kubernetes stands twice']],
    [
      `${secret}roots: {clusterTrustBundle: {name: root, signerName: a.b/c}}`,
      ['roots.clusterTrustBundle.name must begin with a.b:c: as its signerName says'],
    ],
  ];
  for (const [text, faults] of cases) t.match(load(t, text), faults, text);
  t.end();
});
