// The pod sources, tokens and root sources of the agent against a real API server and a real kubelet. See suites.md.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createKubeAccess } from '../../agent/kube/access.js';
import { createKubeClient } from '../../agent/kube/client.js';
import type { KubeClient } from '../../agent/kube/client.js';
import type { Credential } from '../../agent/kube/credentials.js';
import { createInClusterCredential } from '../../agent/kube/credentials.js';
import { createKubeconfigCredential } from '../../agent/kube/kubeconfig.js';
import { createKubeletCredential } from '../../agent/kube/kubelet-credential.js';
import { createTokenRequester } from '../../agent/kube/token-request.js';
import { createAmbientNamespaces } from '../../agent/pods/ambient-namespaces.js';
import { createApiServerSource } from '../../agent/pods/apiserver-source.js';
import { createKubeletPodsApiSource } from '../../agent/pods/kubelet-pods-api-source.js';
import { createKubeletSource } from '../../agent/pods/kubelet-source.js';
import type { PodSource } from '../../agent/pods/pod.js';
import { reasonOf } from '../../agent/runtime/errors.js';
import { systemClock } from '../../agent/runtime/time.js';
import { createPodSources } from '../../agent/sources.js';
import type { RootSource } from '../../agent/trust-bundle.js';
import { createClusterTrustBundleSource, createConfigMapRootSource } from '../../agent/trust-bundle/cluster-sources.js';
import { sharedCluster, startControlPlane } from '../fixtures/cluster.js';
import type { Cluster } from '../fixtures/cluster.js';
import { createProjectedVolume, writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import {
  apiServerAudience,
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
  deletePod,
  setPhase,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import type { TestNode } from '../fixtures/cluster-objects.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { createRoot } from '../fixtures/pki.js';
import { start } from '../fixtures/reasons.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const services = () => ({ clock: systemClock, log: createRecordingLogger(), metrics: createTestMetrics().metrics });
const never = new AbortController().signal;

function clientOf(t: Test, credential: Credential, more: { as?: string; target?: 'kubelet' } = {}): KubeClient {
  const client = createKubeClient({ credential, ...more, ...services() });
  t.teardown(() => client.close());
  return client;
}

/** The agent with the kubeconfig of the node's kubelet. */
function asKubelet(t: Test, cluster: Cluster, node: TestNode): Credential {
  return createKubeconfigCredential({ path: writeKubeconfig(join(t.testdir({}), 'kubeconfig'), cluster, node.credential), ...services() });
}

function names({ view }: PodSource): string {
  return [...view.value.pods.values()]
    .map(({ name, phase }) => `${name} ${phase}`)
    .sort()
    .join();
}

async function has(source: PodSource, ...pods: string[]): Promise<void> {
  const wanted = [...pods].sort().join();
  await until(
    `${source.name} has ${wanted}`,
    60_000,
    () => source.view.value.complete && source.view.value.reason === undefined && names(source) === wanted,
  );
}

const cluster = await sharedCluster(t);

const asAdmin: Credential = {
  access: async () => ({ server: new URL(cluster.url), tls: { ca: cluster.roots }, authorization: `Bearer ${cluster.adminToken}` }),
  accessAfter: async () => undefined,
};

await t.test('pods from the API server with the credential of the node, by a watch with initial events', async (t) => {
  const namespace = await createNamespace(cluster, 'pods');
  await createAccount(cluster, namespace, 'web');
  const [node, other] = [await createNode(cluster), await createNode(cluster)];
  const first = await createPod(cluster, { namespace, account: 'web', node: node.name, labels: { app: 'web' } });
  await createPod(cluster, { namespace, account: 'web', node: other.name });
  const shared = services();
  const source = createApiServerSource({ client: clientOf(t, asKubelet(t, cluster, node)), node: node.name, ...shared });
  start(t, source);
  await has(source, `${first.name} Pending`);
  t.match(source.view.value.pods.get(first.uid), { namespace, serviceAccount: 'web', labels: { app: 'web' }, mirror: false });
  await setPhase(cluster, first, 'Running');
  await has(source, `${first.name} Running`);
  const second = await createPod(cluster, { namespace, account: 'web', node: node.name });
  await has(source, `${first.name} Running`, `${second.name} Pending`);
  await deletePod(cluster, first);
  await has(source, `${second.name} Pending`);
  const byWatch = ({ lines }: typeof shared.log): boolean =>
    lines.some(({ message, fields }) => message === 'read all objects' && fields['way'] === 'watch');
  // On a busy machine the initial events may come too late for one source, which lists then.
  await until('the pods are read by a watch', 120_000, async () => {
    if (byWatch(shared.log) || !kubernetes.watchList) return true;
    const again = services();
    const other = createApiServerSource({ client: clientOf(t, asKubelet(t, cluster, node)), node: node.name, ...again });
    start(t, other);
    await has(other, `${second.name} Pending`);
    return byWatch(again.log);
  });
});

await t.test('pods as another node are refused, with the words of the API server', async (t) => {
  const [node, other] = [await createNode(cluster), await createNode(cluster)];
  const source = createApiServerSource({ client: clientOf(t, asKubelet(t, cluster, node)), node: other.name, ...services() });
  start(t, source);
  await until('it is refused', 60_000, () => source.view.value.reason?.code === 'kube-denied');
  t.match(source.view.value.reason?.detail, /can only list\/watch pods with spec.nodeName field selector/);
});

await t.test('as the node by impersonation, with the account of a pod', needs('impersonation'), async (t) => {
  const namespace = await createNamespace(cluster, 'agent');
  await createAccount(cluster, namespace, 'agent');
  await createAccount(cluster, namespace, 'web');
  const node = await createNode(cluster);
  const agent = await createPod(cluster, { namespace, account: 'agent', node: node.name });
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, tokenAudiences: ['signet-ca'] });
  const token = await createToken(cluster, { namespace, account: 'agent', audience: apiServerAudience, pod: agent });
  const volume = createProjectedVolume(join(t.testdir({}), 'account'), { 'token': token, 'ca.crt': cluster.roots });
  const credential = createInClusterCredential({
    server: new URL(cluster.url),
    tokenFile: join(volume.directory, 'token'),
    caFile: join(volume.directory, 'ca.crt'),
    ...services(),
  });
  const client = clientOf(t, credential, { as: `system:node:${node.name}` });
  const source = createApiServerSource({ client, node: node.name, ...services() });
  start(t, source);
  await until('it is refused', 60_000, () => source.view.value.reason?.code === 'kube-denied');
  t.match(source.view.value.reason?.detail, /impersonate-on:associated-node/);

  const role = (name: string, rules: readonly object[]): object[] => [
    { kind: 'ClusterRole', metadata: { name }, rules },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'agent' }],
    },
  ];
  await createObjects(cluster, [
    ...role(uniqueName('as-node'), [
      { apiGroups: ['authentication.k8s.io'], resources: ['nodes'], verbs: ['impersonate:associated-node'] },
    ]),
    ...role(uniqueName('as-node-pods'), [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'].map((verb) => `impersonate-on:associated-node:${verb}`) },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['impersonate-on:associated-node:create'] },
    ]),
  ] as Parameters<typeof createObjects>[1]);
  await has(source, `${agent.name} Pending`, `${pod.name} Pending`);

  const createTokenFor = createTokenRequester(client);
  const issued = await createTokenFor({ namespace, serviceAccount: 'web', pod, audience: 'signet-ca', lifetimeSeconds: 600 }, never);
  t.ok(issued.expiresAt > systemClock.now() + 500_000);
  const foreign = await createTokenFor({ namespace, serviceAccount: 'web', pod, audience: 'other-ca', lifetimeSeconds: 600 }, never).catch(
    reasonOf,
  );
  t.equal(foreign, 'token-audience-denied');
  const elsewhere = await createNode(cluster);
  await createAccount(cluster, namespace, 'far');
  const far = await createPod(cluster, { namespace, account: 'far', node: elsewhere.name, tokenAudiences: ['signet-ca'] });
  const refused = async (serviceAccount: string): Promise<unknown> =>
    await createTokenFor({ namespace, serviceAccount, pod: far, audience: 'signet-ca', lifetimeSeconds: 600 }, never).catch(reasonOf);
  t.equal(await refused('far'), 'token-pod-denied', 'no pod of this account is here');
  t.equal(await refused('web'), 'token-pod-denied', 'this pod of it is not');
});

await t.test('auto, with the kubeconfig of the kubelet: no socket, no impersonation, so the API server as what it is', async (t) => {
  const namespace = await createNamespace(cluster, 'auto');
  await createAccount(cluster, namespace, 'web');
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name });
  const kubeconfig = writeKubeconfig(join(t.testdir({}), 'kubeconfig'), cluster, node.credential);
  const shared = services();
  const kube = createKubeAccess({ kubeconfig, env: {}, node: node.name, ...shared });
  const kubelet = { address: { host: '127.0.0.1', port: 1 } };
  const [source] = createPodSources({ pods: { sources: [{ kind: 'auto' }], kubelet }, node: node.name }, { kube, ...shared });
  if (source === undefined) throw new Error('no source');
  start(t, source);
  await has(source, `${pod.name} Pending`);
  t.equal(source.name, 'auto: apiserver');
  const said = shared.log.lines.find(({ message }) => message === 'pods are read from a source that works');
  t.match(said?.fields['passedOver'], [/^kubelet-pods-api: pods-api-unavailable/, /^apiserver-as-node: kube-denied .*impersonat/]);
});

await t.test('pods from a kubelet, by its HTTPS API', async (t) => {
  const namespace = await createNamespace(cluster, 'kubelet');
  for (const account of ['web', 'reader', 'nobody']) await createAccount(cluster, namespace, account);
  const node = await createNode(cluster);
  const kubelet = await startKubelet(await createScene(t), cluster, node);
  const first = await createPod(cluster, { namespace, account: 'web', node: node.name });
  const name = uniqueName('kubelet-pods');
  await createObjects(cluster, [
    { kind: 'ClusterRole', metadata: { name }, rules: [{ apiGroups: [''], resources: ['nodes/pods'], verbs: ['get'] }] },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'reader' }],
    },
  ] as Parameters<typeof createObjects>[1]);
  const source = async (account: string, more: { roots?: string; serverName?: string; pin?: string } = {}): Promise<PodSource> => {
    const token = await createToken(cluster, { namespace, account, audience: apiServerAudience });
    const { roots = cluster.roots, serverName, pin } = more;
    const fixed: Credential = {
      access: async () => ({ server: new URL(cluster.url), tls: { ca: roots }, authorization: `Bearer ${token}` }),
      accessAfter: async () => undefined,
    };
    const credential = createKubeletCredential({ credential: fixed, server: new URL(kubelet.url), serverName, pin });
    const created = createKubeletSource({ client: clientOf(t, credential, { target: 'kubelet' }), ...services() });
    start(t, created);
    return created;
  };
  const refused = async (each: PodSource, code: string): Promise<void> =>
    void (await until(code, 60_000, () => each.view.value.reason?.code === code));
  const reader = await source('reader');
  await has(reader, `${first.name} Running`);
  await has(await source('reader', { serverName: node.name }), `${first.name} Running`);
  await refused(await source('nobody'), 'kubelet-denied');
  await refused(await source('reader', { roots: createRoot().pem.toString() }), 'kubelet-tls');
  await refused(await source('reader', { pin: '0'.repeat(64) }), 'kubelet-tls');

  const second = await createPod(cluster, { namespace, account: 'web', node: node.name });
  await has(reader, `${first.name} Running`, `${second.name} Running`);
});

await t.test('pods from a kubelet, by its Pods API', needs('podsApi'), async (t) => {
  const namespace = await createNamespace(cluster, 'pods-api');
  await createAccount(cluster, namespace, 'web');
  const node = await createNode(cluster);
  const kubelet = await startKubelet(await createScene(t), cluster, node);
  const first = await createPod(cluster, { namespace, account: 'web', node: node.name });
  const podsApi = createKubeletPodsApiSource({ socket: kubelet.podsApiSocket, ...services() });
  start(t, podsApi);
  await has(podsApi, `${first.name} Running`);
  const second = await createPod(cluster, { namespace, account: 'web', node: node.name });
  await has(podsApi, `${first.name} Running`, `${second.name} Running`);
  t.match(podsApi.view.value.pods.get(second.uid), { namespace, serviceAccount: 'web', name: second.name });
  await deletePod(cluster, second, 1);
  await has(podsApi, `${first.name} Running`);
  await kubelet.stop();
  await until('the kubelet is missed', 60_000, () => podsApi.view.value.reason?.code === 'pods-api-unavailable');
  t.equal(podsApi.view.value.pods.size, 1, 'its view is frozen');
});

await t.test('namespaces of the ambient mesh, as their label comes and goes', async (t) => {
  const [plain, joined] = [await createNamespace(cluster, 'plain'), await createNamespace(cluster, 'joined')];
  const client = clientOf(t, asAdmin);
  const label = async (namespace: string, mode: string | null): Promise<void> => {
    const body = { metadata: { labels: { 'istio.io/dataplane-mode': mode } } };
    const path = `/api/v1/namespaces/${namespace}`;
    await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body }, never);
  };
  await label(joined, 'ambient');
  const namespaces = createAmbientNamespaces({ client, ...services() });
  start(t, namespaces);
  const are = async (...wanted: string[]): Promise<void> => {
    await until(`ambient: ${wanted}`, 60_000, () => {
      const { value } = namespaces.names;
      return value !== 'unread' && [plain, joined].filter((name) => value.has(name)).join() === wanted.join();
    });
  };
  await are(joined);
  await label(plain, 'ambient');
  await are(plain, joined);
  await label(joined, 'none');
  await label(plain, null);
  await are();
  t.equal(namespaces.reason.value, undefined);
});

await t.test('roots from a ConfigMap and from a ClusterTrustBundle', async (t) => {
  const namespace = await createNamespace(cluster, 'roots');
  const node = await createNode(cluster);
  const [one, two] = [createRoot(), createRoot()];
  const client = clientOf(t, asAdmin);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await client.request(
    { method: 'POST', path, body: { metadata: { name: 'signet-ca-root' }, data: { 'root-cert.pem': one.pem.toString() } } },
    never,
  );
  const signer = `signet.test/${uniqueName('ca')}`;
  const bundles = `/apis/certificates.k8s.io/${kubernetes.trustBundles}/clustertrustbundles`;
  await client.request(
    {
      method: 'POST',
      path: bundles,
      body: { metadata: { name: `${signer.replace('/', ':')}:root` }, spec: { signerName: signer, trustBundle: two.pem.toString() } },
    },
    never,
  );

  const fromConfigMap = createConfigMapRootSource({ client, namespace, name: 'signet-ca-root', key: 'root-cert.pem', ...services() });
  // A node may read ClusterTrustBundles.
  const fromBundle = createClusterTrustBundleSource({
    client: clientOf(t, asKubelet(t, cluster, node)),
    select: { signerName: signer },
    ...services(),
  });
  for (const source of [fromConfigMap, fromBundle]) start(t, source);
  const shows = async (source: RootSource, root: typeof one): Promise<void> =>
    void (await until(
      'the root',
      60_000,
      () => source.roots.value?.[0]?.fingerprint === root.certificate.fingerprint && source.reason.value === undefined,
    ));
  await shows(fromConfigMap, one);
  await shows(fromBundle, two);
  const body = { data: { 'root-cert.pem': two.pem.toString() } };
  await client.request({ method: 'PATCH', path: `${path}/signet-ca-root`, contentType: 'application/merge-patch+json', body }, never);
  await shows(fromConfigMap, two);
});

await t.test('an API server that is killed and comes back: the view is frozen, then complete again', async (t) => {
  const scene = await createScene(t);
  mkdirSync(scene.directory, { recursive: true });
  const own = await startControlPlane(scene);
  const namespace = await createNamespace(own, 'restart');
  await createAccount(own, namespace, 'web');
  const node = await createNode(own);
  const first = await createPod(own, { namespace, account: 'web', node: node.name });
  const source = createApiServerSource({ client: clientOf(t, asKubelet(t, own, node)), node: node.name, ...services() });
  start(t, source);
  await has(source, `${first.name} Pending`);
  await own.stopApiServer();
  await until('it is missed', 60_000, () => source.view.value.reason?.code === 'kube-unavailable');
  t.equal(source.view.value.pods.size, 1);
  await own.startApiServer();
  const second = await createPod(own, { namespace, account: 'web', node: node.name });
  await has(source, `${first.name} Pending`, `${second.name} Pending`);
});
