// From settings to sources: each kind is wired to the right client, and reads.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { PodSourceSettings, RootSourceSettings } from '../../agent/config.js';
import { createKubeAccess } from '../../agent/kube/access.js';
import { createIdentityIndex } from '../../agent/pods/identity-index.js';
import { reasonOf } from '../../agent/runtime/errors.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createNamespaces, createPodSources, createRootSources } from '../../agent/sources.js';
import type { ApiCall } from '../fixtures/api-server.js';
import { apiList, apiPod, createApiServer } from '../fixtures/api-server.js';
import { until } from '../fixtures/clock.js';
import { createRoot } from '../fixtures/pki.js';
import { podsApiEvent, createPodsApi } from '../fixtures/pods-api.js';
import { createServices, start } from '../fixtures/reasons.js';

const root = createRoot();

const kubelet = { address: { host: '127.0.0.1', port: 1 } };

/** API server and kubelet in one. */
function answer(call: ApiCall): void {
  if (call.path === '/pods') call.json(apiList([apiPod('kubelet')]));
  else if (call.path.endsWith('/v1')) call.json({ resources: [{ name: 'clustertrustbundles' }] });
  else if (call.query['watch'] === undefined) call.status(404, 'not found');
  else {
    const stream = call.stream();
    const metadata = { name: 'roots', uid: 'roots' };
    if (call.path.endsWith('configmaps')) stream.event('ADDED', { metadata, data: { 'root-cert.pem': root.pem.toString() } });
    else if (call.path.endsWith('bundles')) stream.event('ADDED', { metadata, spec: { trustBundle: root.pem.toString() } });
    else stream.event('ADDED', apiPod(call.headers['impersonate-user'] === undefined ? 'own' : 'as-node'));
    stream.event('BOOKMARK', { metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } } });
  }
}

async function scene(t: Test) {
  const server = await createApiServer(t, answer);
  const directory = t.testdir({ 'ca.crt': server.ca });
  const kubeconfig = join(directory, 'kubeconfig');
  const config = {
    'clusters': [{ name: 'c', cluster: { 'server': server.url.href, 'certificate-authority': join(directory, 'ca.crt') } }],
    'users': [{ name: 'u', user: { token: 'abc' } }],
    'contexts': [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const services = createServices();
  const kube = createKubeAccess({ kubeconfig, env: {}, node: 'node-a', ...services });
  return { server, directory, services: { kube, ...services } };
}

async function podsOf(
  t: Test,
  settings: (socket: string) => PodSourceSettings,
  kubelet: (directory: string) => { readonly ca?: string; readonly serverName?: string } = () => ({}),
): Promise<string[]> {
  const { server, directory, services } = await scene(t);
  const { socket } = await createPodsApi(t, (stream) => {
    stream.write(podsApiEvent('ADDED', apiPod('pods-api')));
    stream.write(podsApiEvent('INITIAL_SYNC_COMPLETE'));
  });
  const pods = {
    sources: [settings(socket)],
    kubelet: { address: { host: '127.0.0.1', port: server.port }, ...kubelet(directory) },
  };
  const [source] = createPodSources({ pods, node: 'node-a' }, services);
  if (source === undefined) throw new Error('no source');
  start(t, source);
  await until(() => source.view.value.complete, 'a complete view');
  return [source.name, ...[...source.view.value.pods.values()].map(({ name }) => name)];
}

t.test('pods', async (t) => {
  t.same(await podsOf(t, () => ({ kind: 'apiserver' })), ['apiserver', 'own']);
  t.same(await podsOf(t, () => ({ kind: 'apiserver', as: 'node' })), ['apiserver-as-node', 'as-node']);
  t.same(await podsOf(t, () => ({ kind: 'kubelet' })), ['kubelet', 'kubelet']);
  const verified = (directory: string) => ({ ca: join(directory, 'ca.crt'), serverName: 'node-a' });
  t.same(await podsOf(t, () => ({ kind: 'kubelet' }), verified), ['kubelet', 'kubelet']);
  t.same(await podsOf(t, (socket) => ({ kind: 'kubelet-pods-api', socket })), ['kubelet-pods-api', 'pods-api']);
  // There is no Pods API where a kubelet would have it.
  t.same(await podsOf(t, () => ({ kind: 'auto' })), ['auto: apiserver-as-node', 'as-node']);
});

t.test('roots', async (t) => {
  const { services } = await scene(t);
  const settings: RootSourceSettings[] = [
    { kind: 'configmap', namespace: 'signet-system', name: 'roots' },
    { kind: 'cluster-trust-bundle', name: 'roots' },
    { kind: 'cluster-trust-bundle', signerName: 'example.com/ca' },
    { kind: 'issuer' },
  ];
  const sources = createRootSources(settings, new WatchedValue([root.certificate]), services);
  for (const source of sources) start(t, source);
  await until(() => sources.every(({ roots }) => roots.value?.[0]?.fingerprint === root.certificate.fingerprint), 'all roots');
});

t.test('without a pod and without a kubeconfig there is no access, and the reason says so', async (t) => {
  const services = createServices();
  const kube = createKubeAccess({ env: {}, node: 'node-a', ...services });
  const [source] = createPodSources({ pods: { sources: [{ kind: 'apiserver' }], kubelet }, node: 'node-a' }, { kube, ...services });
  if (source === undefined) throw new Error('no source');
  start(t, source);
  await until(() => source.view.value.reason?.code === 'kube-config-invalid');
  const inPod = createKubeAccess({
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' },
    node: 'node-a',
    ...services,
  });
  const refusal = await inPod.credential.access().catch(reasonOf);
  t.equal(refusal, 'kube-token-missing');
});

t.test('R064, F033: a kubelet that refuses the token does not keep the node from its pods', async (t) => {
  const { server, services } = await scene(t);
  server.handle = (call) => (call.path === '/pods' ? call.json('Unauthorized', 401) : answer(call));
  const address = { host: '127.0.0.1', port: server.port };
  const pods = { sources: [{ kind: 'kubelet' }, { kind: 'apiserver' }] as const, kubelet: { address } };
  const sources = createPodSources({ pods, node: 'node-a' }, services);
  const index = createIdentityIndex({ sources, trustDomain: 'example.org', select: new WatchedValue({}), ...services });
  start(t, index);
  await until(() => sources[0]?.view.value.reason?.code === 'kubelet-unauthenticated');
  await until(() => index.identities.value.has('spiffe://example.org/ns/shop/sa/own'));
  t.equal(index.reason.value, undefined, 'the API server has all that the kubelet would say');
});

t.test('auto: a node that may not read its pods is no warning where the account of the agent may', async (t) => {
  const { server, services } = await scene(t);
  server.handle = (call) => (call.headers['impersonate-user'] === undefined ? answer(call) : call.status(403, 'no impersonation'));
  const [source] = createPodSources({ pods: { sources: [{ kind: 'auto' }], kubelet }, node: 'node-a' }, services);
  if (source === undefined) throw new Error('no source');
  start(t, source);
  await until(() => source.view.value.complete);
  t.match(
    services.log.lines.find(({ message }) => message === 'pods are read from a source that works'),
    { fields: { source: 'apiserver', passedOver: [/^kubelet-pods-api: /, /^apiserver-as-node: .*no impersonation/] } },
  );
  t.same(
    services.log.lines.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
});

t.test('namespaces are watched where that is wanted', async (t) => {
  const services = createServices();
  const kube = createKubeAccess({ env: {}, node: 'node-a', ...services });
  t.equal(createNamespaces({ pods: { namespaces: false } }, { kube, ...services }), undefined);
  const namespaces = createNamespaces({ pods: { namespaces: true } }, { kube, ...services });
  t.equal(namespaces?.reason.value?.code, 'namespaces-unread');
  t.equal(namespaces?.names.value, 'unread');
});
