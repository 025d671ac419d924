// The plain manifests: the API server takes them, and each mode gives the agent what it needs and nothing else. See suites.md.

import type { Test } from 'tap';
import t from 'tap';
import { sharedCluster } from '../fixtures/cluster.js';
import type { KubeClient, KubeObject } from '../fixtures/cluster-client.js';
import { createStubCsr, csrToPem, generateKey } from '../../agent/x509/csr.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import type { TestNode, TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, requestToken, uniqueName } from '../fixtures/cluster-objects.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import {
  applyCertificateRequests,
  applyManifests,
  caAudience,
  createAgentPod,
  manifestComponents,
  readDefaultManifests,
  readManifests,
  removeRights,
} from '../fixtures/manifests.js';
import { podCertificatesPath, requestPodCertificate, signersAreChecked, trustBundlesPath } from '../fixtures/pod-certificates.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'apps');
await createAccount(cluster, namespace, 'web');

interface Place {
  readonly own: TestNode;
  readonly other: TestNode;
  /** A pod of the account web on each. */
  readonly pods: { readonly own: TestPod; readonly other: TestPod };
  /** The agent that runs on `own`: itself, and as that node. */
  readonly agent: KubeClient;
  readonly asNode: KubeClient;
  readonly apiToken: string;
}

/** Two nodes, and an agent on one of them with the rights of these components until the test ends. */
async function install(t: Test, components: readonly ManifestComponent[]): Promise<Place> {
  const manifests = readManifests(components);
  await applyManifests(cluster, manifests);
  t.teardown(() => removeRights(cluster, manifests));
  const [own, other] = [await createNode(cluster), await createNode(cluster)];
  const pod = (node: TestNode): Promise<TestPod> => createPod(cluster, { namespace, account: 'web', node: node.name });
  const { apiToken } = await createAgentPod(cluster, own.name);
  // In this order: once the API server knows the pod of the own node as the node's, it knows the other one.
  const [onOther, onOwn] = [await pod(other), await pod(own)];
  const credential = { token: apiToken };
  return {
    own,
    other,
    pods: { own: onOwn, other: onOther },
    agent: cluster.client(credential),
    asNode: cluster.client(credential, { 'impersonate-user': `system:node:${own.name}` }),
    apiToken,
  };
}

const podsOf = (node: TestNode): string => `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${node.name}`)}`;

async function statusOf(client: KubeClient, path: string): Promise<number> {
  return (await client.send({ method: 'GET', path })).status;
}

/** Rights are known to the authorizer a moment after they were granted. */
async function allowed(t: Test, what: string, client: KubeClient, path: string): Promise<void> {
  await until(what, 60_000, async () => (await statusOf(client, path)) === 200, 100);
  t.pass(what);
}

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Asks for a certificate by CertificateSigningRequest. */
async function requestByCsr(client: KubeClient, signerName: string, name = uniqueName('csr')) {
  const key = await generateKey('ec-p256');
  const request = Buffer.from(csrToPem(await createStubCsr(key))).toString('base64');
  return await client.send({
    method: 'POST',
    path: csrs,
    body: { metadata: { name }, spec: { request, signerName, usages: ['client auth'] } },
  });
}

const kubeletSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** What no mode may ever open, to the agent itself and to the agent as its node. */
async function neverAllowed(t: Test, { agent, asNode, own, other }: Place): Promise<void> {
  const paths = [
    '/api/v1/secrets',
    `/api/v1/namespaces/${namespace}/secrets`,
    '/api/v1/configmaps',
    `/api/v1/nodes/${own.name}/proxy/pods`,
  ];
  for (const [name, client] of Object.entries({ agent, asNode }))
    for (const path of paths) t.equal(await statusOf(client, path), 403, `${name}: not ${path}`);
  t.equal(await statusOf(asNode, podsOf(other)), 403, 'not the pods of another node as its own node');

  // Where nobody may act as the node, that is what is refused.
  const message = kubernetes.impersonation
    ? /cannot .*create.* resource "certificatesigningrequests"/
    : /cannot impersonate resource "users"/;
  t.match(await requestByCsr(asNode, kubeletSigner), { status: 403, message }, 'no certificate of a kubelet as its node');
  // As itself: by the lack of a right, or by the admission policy that comes with it.
  const { status } = await requestByCsr(agent, kubeletSigner);
  t.ok(status === 403 || status === 422, `no certificate of a kubelet: ${status}`);
  const { status: made } = await agent.send({
    method: 'POST',
    path: podCertificatesPath(namespace),
    body: {},
  });
  t.equal(made, 403, 'no pod certificate as itself, which nobody would check');
  const impersonate = { 'impersonate-user': `system:node:${other.name}` };
  t.equal((await agent.send({ method: 'GET', path: podsOf(other), headers: impersonate })).status, 403, 'nothing as another node');
}

await t.test('the API server takes every object, the default and all components together', async (t) => {
  for (const manifests of [readDefaultManifests(), readManifests(manifestComponents)]) {
    await applyManifests(cluster, manifests);
    await removeRights(cluster, manifests);
  }
  const daemonSet = await cluster.admin.get('/apis/apps/v1/namespaces/signet-system/daemonsets/signet-agent');
  const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name).sort();
  const { spec } = (daemonSet as unknown as DaemonSet).spec.template;
  t.match(
    spec.volumes.find(({ name }) => name === 'ca-root'),
    { configMap: { name: 'signet-agent-root' } },
  );
  t.same(names(spec.volumes), ['api-token', 'ca-root', 'config', 'pods-api', 'run'], 'patched once each; no token of its own for the CA');
  t.same(names(spec.containers[0]?.volumeMounts ?? []), names(spec.volumes), 'all of them mounted');
});

interface DaemonSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly volumes: readonly { readonly name: string }[];
        readonly containers: readonly { readonly volumeMounts: readonly { readonly name: string }[] }[];
      };
    };
  };
}

await t.test('the base alone has no right at all, and neither has the Pods API socket', async (t) => {
  const place = await install(t, ['pods-kubelet-socket']);
  for (const client of [place.agent, place.asNode])
    for (const path of ['/api/v1/pods', podsOf(place.own)]) t.equal(await statusOf(client, path), 403, `not ${path}`);
  await noRequests(t, place);
  await neverAllowed(t, place);
});

await t.test('pods-as-node: the pods of the own node, as that node', needs('impersonation'), async (t) => {
  const place = await install(t, ['pods-as-node']);
  const { agent, asNode, own, pods } = place;
  await allowed(t, 'the pods of the own node', asNode, podsOf(own));
  t.equal(await statusOf(asNode, '/api/v1/pods'), 403, 'not all pods as the node');
  t.equal(await statusOf(agent, podsOf(own)), 403, 'not as itself');
  const token = await requestToken(asNode, { namespace, account: 'web', audience: caAudience, pod: pods.own });
  t.equal(token.status, 403, 'no token of a workload');
  await noRequests(t, place);
  await neverAllowed(t, place);
});

await t.test('upstream-signet-ca: a token for signet ca, its roots, and no right', async (t) => {
  const place = await install(t, ['upstream-signet-ca']);
  const daemonSet = await cluster.admin.get('/apis/apps/v1/namespaces/signet-system/daemonsets/signet-agent');
  const { volumes } = (daemonSet as unknown as DaemonSet).spec.template.spec;
  const volume = (name: string): unknown => volumes.find((each) => each.name === name);
  t.match(volume('ca-token'), { projected: { sources: [{ serviceAccountToken: { audience: 'signet-ca' } }] } });
  t.match(volume('ca-root'), { configMap: { name: 'signet-ca-root' } });
  await noRequests(t, place);
  await neverAllowed(t, place);
});

await t.test('workload-tokens: tokens of the accounts on the node, for the CA only', needs('impersonation'), async (t) => {
  const place = await install(t, ['pods-as-node', 'workload-tokens', 'workload-tokens-deny']);
  const { agent, asNode, own, pods } = place;
  const ask = (client: KubeClient, pod: TestPod, audience: string): ReturnType<typeof requestToken> =>
    requestToken(client, { namespace, account: 'web', audience, pod });
  await until('the right is known', 60_000, async () => (await ask(asNode, pods.own, caAudience)).status === 201, 100);
  t.match(
    await ask(asNode, pods.other, caAudience),
    { status: 403, message: /scheduled on a different node/ },
    'not for a pod of another node',
  );
  t.equal((await ask(agent, pods.own, caAudience)).status, 403, 'not as itself');

  const mounting = await createPod(cluster, { namespace, account: 'web', node: own.name, tokenAudiences: ['vault'] });
  await until('the policy is known', 60_000, async () => (await ask(asNode, mounting, 'vault')).status === 422, 200);
  t.match(await ask(asNode, mounting, 'vault'), { message: /audience istio-ca only/ }, 'not for an audience that the pod mounts');
  t.equal((await ask(own.client, mounting, 'vault')).status, 201, 'which the kubelet still gets');
  t.equal((await ask(asNode, mounting, caAudience)).status, 201, 'for the CA it is given');
  await noRequests(t, place);
  await neverAllowed(t, place);
});

/** Without a component that says otherwise: no request objects at all. */
async function noRequests(t: Test, { agent, asNode, own }: Place): Promise<void> {
  for (const client of [agent, asNode]) {
    for (const path of [csrs, podCertificatesPath()]) t.equal(await statusOf(client, path), 403, `not ${path}`);
    t.equal((await requestByCsr(client, 'example.com/workload')).status, 403, 'no request');
  }
  const selected = `${podCertificatesPath()}?fieldSelector=${encodeURIComponent(`spec.nodeName=${own.name}`)}`;
  t.equal(await statusOf(asNode, selected), 403, 'no pod certificates');
}

await t.test('upstream-kubernetes-csr: requests to one signer, and to delete those of the own node', async (t) => {
  const place = await install(t, ['upstream-kubernetes-csr']);
  const { agent, other } = place;
  await until('the right is known', 60_000, async () => (await statusOf(agent, csrs)) === 200, 100);
  await until('the policy is known', 60_000, async () => (await requestByCsr(agent, 'example.com/other')).status === 422, 200);
  t.match(await requestByCsr(agent, kubeletSigner), { status: 422, message: /no other signer than example.com\/workload/ });
  const name = uniqueName('csr');
  t.match(await requestByCsr(agent, 'example.com/workload', name), {
    status: 201,
    body: { spec: { extra: { 'authentication.kubernetes.io/node-name': [place.own.name] } } },
  });
  for (const subresource of ['approval', 'status']) {
    const body = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x' }] } };
    t.equal((await agent.send({ method: 'PATCH', path: `${csrs}/${name}/${subresource}`, body })).status, 403, `not its ${subresource}`);
  }
  const elsewhere = cluster.client({ token: (await createAgentPod(cluster, other.name)).apiToken });
  const remove = (client: KubeClient, which: string) => client.send({ method: 'DELETE', path: `${csrs}/${which}` });
  t.match(await remove(elsewhere, name), { status: 422, message: /only what was made on its own node/ }, 'not from another node');
  const foreign = uniqueName('csr');
  t.equal((await requestByCsr(cluster.admin, 'example.com/workload', foreign)).status, 201);
  t.match(await remove(agent, foreign), { status: 422, message: /only what was made on its own node/ }, "not somebody else's");
  t.equal((await remove(agent, name)).status, 200, 'its own');
  await cluster.admin.delete(`${csrs}/${foreign}`);
  await neverAllowed(t, place);
});

await t.test('upstream-pod-certificate: requests as the node, for its own pods, to one signer', needs('impersonation'), async (t) => {
  const place = await install(t, ['pods-as-node', 'upstream-pod-certificate']);
  const { agent, asNode, own, other, pods } = place;
  const ask = (client: KubeClient, pod: TestPod, node: TestNode, signerName = 'example.com/workload') =>
    requestPodCertificate(cluster, client, { pod, node, signerName });
  await until('the right is known', 60_000, async () => (await ask(asNode, pods.own, own)).status === 201, 100);
  t.match(await ask(asNode, pods.other, other), { status: 403, message: /not the requesting node/ }, 'not in the name of another node');
  t.match(await ask(asNode, pods.other, own), { status: 403, message: /not running on node/ }, 'not for a pod of another node');
  const elsewhere = await ask(asNode, pods.own, own, 'example.com/other');
  if (signersAreChecked) t.match(elsewhere, { status: 403, message: /does not mount/ }, 'not to another signer');
  else t.equal(elsewhere.status, 201, 'to any signer, but for the policy');
  t.equal((await ask(agent, pods.own, own)).status, 403, 'not as itself');
  await until('the policy is known', 60_000, async () => (await ask(cluster.admin, pods.own, own)).status === 422, 200);
  t.match(await ask(cluster.admin, pods.own, own), { message: /only nodes may ask this signer/ }, 'nor does anybody else');

  const selected = (node: TestNode): string => `${podCertificatesPath()}?fieldSelector=${encodeURIComponent(`spec.nodeName=${node.name}`)}`;
  const [made] = (await asNode.get<{ readonly items: readonly KubeObject[] }>(selected(own))).items;
  t.equal(await statusOf(asNode, selected(other)), 403, 'not those of another node');
  const path = `${podCertificatesPath(namespace)}/${made?.metadata.name ?? ''}`;
  for (const client of [asNode, own.client]) {
    t.equal((await client.send({ method: 'DELETE', path })).status, 403, 'a node may not remove them, nor may its kubelet');
  }
  t.equal(await statusOf(asNode, `/api/v1/namespaces/${namespace}/serviceaccounts/web`), 200);
  t.equal(await statusOf(asNode, `/api/v1/nodes/${own.name}`), 200);
  t.equal(await statusOf(asNode, `/api/v1/nodes/${other.name}`), 403, 'not another node');
  const token = await requestToken(asNode, { namespace, account: 'web', audience: caAudience, pod: pods.own });
  t.equal(token.status, 403, 'no token of a workload');
  await neverAllowed(t, place);
});

await t.test('upstream-cert-manager: tokens of the workloads, which alone make requests', needs('impersonation'), async (t) => {
  const place = await install(t, ['pods-as-node', 'upstream-cert-manager']);
  const { agent, asNode, own, other } = place;
  await applyCertificateRequests(cluster);
  const mounting = await createPod(cluster, { namespace, account: 'web', node: own.name, spec: { automountServiceAccountToken: true } });
  const token = await until('the right is known', 60_000, async () => {
    const { status, body } = await requestToken(asNode, { namespace, account: 'web', pod: mounting });
    return status === 201 && body.status.token;
  });
  t.match(
    await requestToken(asNode, { namespace, account: 'web', pod: place.pods.own }),
    { status: 403, message: /not authorized to request tokens for/ },
    'not for a pod that mounts none',
  );
  const all = '/apis/cert-manager.io/v1/certificaterequests';
  const collection = `/apis/cert-manager.io/v1/namespaces/${namespace}/certificaterequests`;
  await until('the right is known', 60_000, async () => (await statusOf(agent, all)) === 200, 100);
  const make = (client: KubeClient, name: string, node: TestNode) => {
    const body = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: { name, labels: { 'signet-agent/node': node.name } },
      spec: { request: 'eA==', issuerRef: { name: 'workload-ca' } },
    };
    return client.send({ method: 'POST', path: collection, body });
  };
  const [mine, foreign] = [uniqueName('cr'), uniqueName('cr')];
  const workload = cluster.client({ token });
  t.match(await make(workload, mine, own), { status: 201, message: '' }, 'the workload');
  t.equal((await make(workload, foreign, other)).status, 201);
  t.equal(await statusOf(workload, collection), 403, 'a workload reads none');
  const remove = (client: KubeClient, which: string) => client.send({ method: 'DELETE', path: `${collection}/${which}` });
  await until('the policy is known', 60_000, async () => (await make(agent, uniqueName('cr'), own)).status === 422, 200);
  t.equal((await remove(agent, foreign)).status, 422, 'not what was made on another node');
  t.match(await make(agent, uniqueName('cr'), own), { status: 422, message: /with the tokens of workloads only/ }, 'not the agent');
  t.equal((await make(asNode, uniqueName('cr'), own)).status, 403, 'nor as its node');
  t.equal((await remove(workload, mine)).status, 403, 'a workload removes none');
  t.equal((await remove(agent, mine)).status, 200, 'the agent what was made on its node');
  await neverAllowed(t, place);
});

await t.test('pods-cluster-wide: all pods, and nothing else', async (t) => {
  const place = await install(t, ['pods-cluster-wide']);
  await allowed(t, 'all pods', place.agent, '/api/v1/pods');
  t.equal(await statusOf(place.agent, place.pods.own.path), 403, 'listed, not read one by one');
  await noRequests(t, place);
  await neverAllowed(t, place);
});

await t.test('namespaces: their list, and nothing else', async (t) => {
  const place = await install(t, ['namespaces']);
  await allowed(t, 'the namespaces', place.agent, '/api/v1/namespaces?labelSelector=istio.io%2Fdataplane-mode%3Dambient');
  t.equal(await statusOf(place.agent, `/api/v1/namespaces/${namespace}`), 403, 'listed, not read one by one');
  t.equal(await statusOf(place.agent, '/api/v1/pods'), 403, 'no pods');
  await neverAllowed(t, place);
});

await t.test('pods-kubelet: the pods of the kubelet, and nothing else of it', async (t) => {
  const place = await install(t, ['pods-kubelet']);
  const kubelet = await startKubelet(await createScene(t), cluster, place.own);
  const client = kubelet.client({ token: place.apiToken });
  await allowed(t, 'its pods', client, '/pods');
  for (const path of ['/configz', '/metrics', '/logs/', '/exec/a/b/c']) t.equal(await statusOf(client, path), 403, `not ${path}`);
  t.equal(await statusOf(place.agent, '/api/v1/pods'), 403, 'no pods of the API server');
  await noRequests(t, place);
  await neverAllowed(t, place);
});

await t.test('roots-configmap: the one ConfigMap', async (t) => {
  const place = await install(t, ['roots-configmap']);
  const one = (name: string, inNamespace = 'signet-system'): string =>
    `/api/v1/namespaces/${inNamespace}/configmaps?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  await allowed(t, 'the roots', place.agent, one('istio-ca-root-cert'));
  for (const path of [one('kube-root-ca.crt'), one('istio-ca-root-cert', namespace), '/api/v1/namespaces/signet-system/configmaps'])
    t.equal(await statusOf(place.agent, path), 403, `not ${path}`);
  await neverAllowed(t, place);
});

await t.test('roots-cluster-trust-bundle: bundles, which are public', async (t) => {
  const place = await install(t, ['roots-cluster-trust-bundle']);
  await allowed(t, 'the bundles', place.agent, trustBundlesPath);
  const body = { metadata: { name: 'mine' }, spec: { trustBundle: '' } };
  t.equal((await place.agent.send({ method: 'POST', path: trustBundlesPath, body })).status, 403, 'read, not written');
  await neverAllowed(t, place);
});
