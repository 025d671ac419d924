// Roots from a ConfigMap and from ClusterTrustBundles, watched on a real HTTPS server.

import t from 'tap';
import type { Test } from 'tap';
import { createClusterTrustBundleSource, createConfigMapRootSource } from '../../../agent/trust-bundle/cluster-sources.js';
import type { RootSource } from '../../../agent/trust-bundle.js';
import type { ApiCall, ApiStream } from '../../fixtures/api-server.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import type { KubeScene } from '../../fixtures/kube.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { createIntermediate, createRoot, pemOf } from '../../fixtures/pki.js';
import { start } from '../../fixtures/reasons.js';

const one = createRoot();
const two = createRoot();

const bookmark = { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } };

async function scene(
  t: Test,
  create: (kube: KubeScene) => RootSource,
  objects: readonly object[],
  discovery: (call: ApiCall) => void = (call) => call.status(404, ''),
) {
  const streams: ApiStream[] = [];
  const kube = await createKubeScene(t, (call) => {
    if (call.query['watch'] === undefined) {
      discovery(call);
      return;
    }
    const stream = call.stream();
    streams.push(stream);
    for (const object of objects) stream.event('ADDED', object);
    stream.event('BOOKMARK', bookmark);
  });
  const source = create(kube);
  start(t, source);
  const has = async (...roots: (typeof one)[]): Promise<void> => {
    const wanted = roots
      .map(({ certificate }) => certificate.fingerprint)
      .sort()
      .join();
    await until(
      () =>
        (source.roots.value ?? [])
          .map(({ fingerprint }) => fingerprint)
          .sort()
          .join() === wanted && source.reason.value === undefined,
      'the roots',
    );
  };
  return { ...kube, source, streams, has };
}

const configMap = (data: object): object => ({ metadata: { name: 'signet-ca-root', uid: 'u' }, data });
const fromConfigMap = (kube: KubeScene): RootSource =>
  createConfigMapRootSource({ namespace: 'signet-system', name: 'signet-ca-root', key: 'root-cert.pem', ...kube });

t.test('a ConfigMap, and its changes', async (t) => {
  const { source, streams, server, has } = await scene(t, fromConfigMap, [configMap({ 'root-cert.pem': one.pem.toString() })]);
  await has(one);
  t.match(server.calls[0], {
    path: '/api/v1/namespaces/signet-system/configmaps',
    query: { fieldSelector: 'metadata.name=signet-ca-root' },
  });
  streams[0]?.event('MODIFIED', configMap({ 'root-cert.pem': pemOf(one, two).toString() }));
  await has(one, two);

  for (const [event, object, code] of [
    ['MODIFIED', configMap({}), 'bundle-missing'],
    ['MODIFIED', configMap({ 'root-cert.pem': createIntermediate(one).pem.toString() }), 'bundle-invalid'],
    ['MODIFIED', configMap({ 'root-cert.pem': '' }), 'bundle-invalid'],
    ['DELETED', configMap({}), 'bundle-missing'],
  ] as const) {
    streams[0]?.event('MODIFIED', configMap({ 'root-cert.pem': pemOf(one, two).toString() }));
    await has(one, two);
    streams[0]?.event(event, object);
    await until(() => source.reason.value?.code === code, code);
    t.equal(source.roots.value?.length, 2, 'the last good roots stay');
  }
});

t.test('a server that is lost is the reason while it is; the roots stay', async (t) => {
  const { source, streams, clock, has } = await scene(t, fromConfigMap, [configMap({ 'root-cert.pem': one.pem.toString() })]);
  await has(one);
  streams[0]?.cut();
  await until(() => source.reason.value?.code === 'kube-unavailable' && clock.alarms === 1);
  t.equal(source.roots.value?.length, 1);
  await clock.advance(2_000);
  await has(one);
});

t.test('an object that is not there', async (t) => {
  const { source } = await scene(t, fromConfigMap, []);
  await until(() => source.reason.value?.detail === 'configmap signet-system/signet-ca-root: there is no such object or key');
  t.equal(source.roots.value, undefined);
});

const bundle = (name: string, root: typeof one): object => ({
  metadata: { name, uid: name },
  spec: { signerName: 'signet.test/workload', trustBundle: root.pem.toString() },
});
const served =
  (...versions: string[]) =>
  (call: ApiCall): void => {
    const version = call.path.split('/').at(-1) ?? '';
    if (versions.includes(version)) call.json({ resources: [{ name: 'certificatesigningrequests' }, { name: 'clustertrustbundles' }] });
    else if (version === 'v1') call.json({ resources: [{ name: 'certificatesigningrequests' }] });
    else call.status(404, 'not found');
  };

t.test('all ClusterTrustBundles of a signer, v1', async (t) => {
  const create = (kube: KubeScene): RootSource =>
    createClusterTrustBundleSource({ select: { signerName: 'signet.test/workload' }, ...kube });
  const { server, streams, has } = await scene(t, create, [bundle('a', one), bundle('b', two)], served('v1', 'v1beta1'));
  await has(one, two);
  t.match(server.calls.at(-1), {
    path: '/apis/certificates.k8s.io/v1/clustertrustbundles',
    query: { fieldSelector: 'spec.signerName=signet.test/workload' },
  });
  streams[0]?.event('DELETED', bundle('a', one));
  await has(two);
});

t.test('one by name, v1beta1', async (t) => {
  const create = (kube: KubeScene): RootSource => createClusterTrustBundleSource({ select: { name: 'a' }, ...kube });
  const { server, has } = await scene(t, create, [bundle('a', one)], served('v1beta1'));
  await has(one);
  t.match(server.calls.at(-1), {
    path: '/apis/certificates.k8s.io/v1beta1/clustertrustbundles',
    query: { fieldSelector: 'metadata.name=a' },
  });
});

t.test('a server that has none is asked again', async (t) => {
  const create = (kube: KubeScene): RootSource => createClusterTrustBundleSource({ select: { name: 'a' }, ...kube });
  const { server, clock, source, has } = await scene(t, create, [bundle('a', one)], served());
  await until(() => source.reason.value?.code === 'bundle-unserved' && clock.alarms === 1);
  const answers = served('v1');
  const before = server.handle;
  server.handle = (call) => (call.query['watch'] === undefined ? answers(call) : before(call));
  await clock.advance(2_000);
  await has(one);
});

t.test('a version that is served no more: the next one is looked for', async (t) => {
  const create = (kube: KubeScene): RootSource => createClusterTrustBundleSource({ select: { name: 'a' }, ...kube });
  const { server, clock, streams, has, source } = await scene(t, create, [bundle('a', one)], served('v1beta1'));
  await has(one);
  const before = server.handle;
  const answers = served('v1');
  server.handle = (call) => {
    if (call.path.includes('/v1beta1/')) call.status(404, 'the server could not find the requested resource');
    else if (call.query['watch'] === undefined) answers(call);
    else before(call);
  };
  for (const stream of streams.splice(0)) stream.end();
  await advanceUntil(clock, 500, () => streams.length > 0 && source.reason.value === undefined);
  t.match(server.calls.at(-1), { path: '/apis/certificates.k8s.io/v1/clustertrustbundles' });
});
