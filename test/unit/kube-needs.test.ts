// From the settings to what the self-check looks at.

import t from 'tap';
import type { Config, PodSourceSettings, RootSourceSettings, Upstream } from '../../agent/config.js';
import { accessWith } from '../../agent/kube/access.js';
import { createKubeSelfChecks } from '../../agent/kube-needs.js';
import { createFakePodSource, createPod } from '../fixtures/pods.js';
import { createSelfScene } from '../fixtures/kube-self.js';
import { createFixedCredential, never } from '../fixtures/kube.js';
import { createServices } from '../fixtures/reasons.js';

const file = { kind: 'file', path: '/roots.pem' } as const;
const istio = (more: Partial<Extract<Upstream, { kind: 'istio' }>> = {}): Upstream => ({
  kind: 'istio',
  endpoints: [],
  tls: { roots: file },
  auth: 'node',
  audience: 'ca',
  ...more,
});

function configOf(
  pods: readonly PodSourceSettings[],
  roots: readonly RootSourceSettings[] = [file],
  upstreams: readonly Upstream[] = [istio()],
) {
  return {
    node: 'node-a',
    pods: { sources: pods, namespaces: false as boolean, kubelet: { address: { host: '127.0.0.1', port: 1 } }, lingerMs: 0 },
    trustBundle: { sources: roots },
    upstreams,
  } satisfies Pick<Config, 'node' | 'pods' | 'trustBundle' | 'upstreams'>;
}

t.test('what each setting needs', (t) => {
  const services = createServices();
  const kube = accessWith(createFixedCredential({ server: new URL('https://127.0.0.1:1'), tls: {} }), { node: 'node-a', ...services });
  const names = (config: ReturnType<typeof configOf>): readonly string[] =>
    createKubeSelfChecks({ config, kube, podSources: [], tokensAs: 'node', clock: services.clock }).flatMap((checks) => checks.names);
  t.same(names(configOf([file, { kind: 'kubelet-pods-api' }], [file, { kind: 'issuer' }])), [], 'nothing of an API server');
  const always = ['api server', 'clock'];
  t.same(names(configOf([{ kind: 'apiserver' }])), [...always, 'pods']);
  t.same(names(configOf([{ kind: 'apiserver', as: 'node' }])), [...always, 'acting as the node', 'pods as the node']);
  t.same(names(configOf([{ kind: 'auto' }])), [...always, 'acting as the node', 'pods as the node']);
  t.same(names(configOf([{ kind: 'kubelet' }])), [...always, 'pods of the kubelet']);
  const { pods, ...others } = configOf([file]);
  t.same(names({ ...others, pods: { ...pods, namespaces: true } }), [...always, 'namespaces']);
  const configMap = { kind: 'configmap', namespace: 'a', name: 'b' } as const;
  const bundle = { kind: 'cluster-trust-bundle', signerName: 'x.y/z' } as const;
  t.same(
    names(
      configOf([file], [configMap, bundle], [istio({ tls: { roots: configMap }, roots: { kind: 'cluster-trust-bundle', name: 'n' } })]),
    ),
    [...always, 'configmap a/b', 'clustertrustbundle x.y/z', 'clustertrustbundle n'],
  );
  t.same(names(configOf([file], [file], [istio({ auth: 'workload' }), istio({ auth: 'workload' })])), [
    ...always,
    'acting as the node',
    'tokens for ca',
  ]);
  t.same(
    names(
      configOf(
        [file],
        [file],
        [
          { kind: 'kubernetes-csr', signerName: 'x.y/z' },
          { kind: 'cert-manager', issuerRef: { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' } },
          { kind: 'pod-certificate', signerName: 'x.y/z', roots: bundle },
          { kind: 'built-in' },
        ],
      ),
    ),
    [...always, 'clustertrustbundle x.y/z', 'certificatesigningrequests', 'certificaterequests'],
  );
  t.end();
});

t.test('auto: what is missing is told when no source works', async (t) => {
  const { access, world, clock } = await createSelfScene(t, []);
  world.refusesNode = true;
  world.denied = new Set(['impersonate:associated-node nodes']);
  const source = createFakePodSource('auto');
  const [checks] = createKubeSelfChecks({
    config: configOf([{ kind: 'auto' }]),
    kube: access,
    podSources: [source],
    tokensAs: 'node',
    clock,
  });
  const look = async (): Promise<string | undefined> => (await checks?.look(never))?.get('acting as the node')?.code;
  t.equal(await look(), undefined, 'it is still trying');
  source.fail({ code: 'kube-denied', detail: 'all of them' });
  t.equal(await look(), 'node-impersonation-denied');
  source.set([createPod('cart')]);
  t.equal(await look(), undefined);
});
