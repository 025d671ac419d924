// The plain manifests: the API server takes them, and each mode gives the agent what it needs and nothing else. See suites.md.

import type { Test } from 'tap';
import t from 'tap';
import { sharedCluster } from '../fixtures/cluster.js';
import type { KubeClient } from '../fixtures/cluster-client.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import type { TestNode, TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, requestToken } from '../fixtures/cluster-objects.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import {
  applyManifests,
  caAudience,
  createAgentPod,
  manifestComponents,
  readDefaultManifests,
  readManifests,
  removeRights,
} from '../fixtures/manifests.js';
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
  const credential = { token: apiToken };
  return {
    own,
    other,
    pods: { own: await pod(own), other: await pod(other) },
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

/** What no mode may ever open, to the agent itself and to the agent as its node. */
async function neverAllowed(t: Test, { agent, asNode, own, other }: Place): Promise<void> {
  const paths = [
    '/api/v1/secrets',
    `/api/v1/namespaces/${namespace}/secrets`,
    '/api/v1/configmaps',
    `/api/v1/nodes/${own.name}/proxy/pods`,
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  ];
  for (const [name, client] of Object.entries({ agent, asNode }))
    for (const path of paths) t.equal(await statusOf(client, path), 403, `${name}: not ${path}`);
  t.equal(await statusOf(asNode, podsOf(other)), 403, 'not the pods of another node as its own node');

  const request = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n').toString('base64');
  const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['client auth'] };
  for (const client of [agent, asNode]) {
    const body = { metadata: { name: 'kubelet' }, spec };
    const answer = await client.send({ method: 'POST', path: '/apis/certificates.k8s.io/v1/certificatesigningrequests', body });
    // Where nobody may act as the node, that is what is refused.
    const create = /cannot .*create.* resource "certificatesigningrequests"/;
    const message = client === agent || kubernetes.impersonation ? create : /cannot impersonate resource "users"/;
    t.match(answer, { status: 403, message }, 'no certificate of a kubelet');
  }
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
  await neverAllowed(t, place);
});

await t.test('workload-tokens: tokens of the accounts on the node, for the CA only', needs('impersonation'), async (t) => {
  const place = await install(t, ['pods-as-node', 'workload-tokens']);
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
  await until('the policy is known', 30_000, async () => (await ask(asNode, mounting, 'vault')).status === 422, 200);
  t.match(await ask(asNode, mounting, 'vault'), { message: /audience istio-ca only/ }, 'not for an audience that the pod mounts');
  t.equal((await ask(own.client, mounting, 'vault')).status, 201, 'which the kubelet still gets');
  t.equal((await ask(asNode, mounting, caAudience)).status, 201, 'for the CA it is given');
  await neverAllowed(t, place);
});

await t.test('pods-cluster-wide: all pods, and nothing else', async (t) => {
  const place = await install(t, ['pods-cluster-wide']);
  await allowed(t, 'all pods', place.agent, '/api/v1/pods');
  t.equal(await statusOf(place.agent, place.pods.own.path), 403, 'listed, not read one by one');
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
  const bundles = `/apis/certificates.k8s.io/${kubernetes.trustBundles}/clustertrustbundles`;
  await allowed(t, 'the bundles', place.agent, bundles);
  const body = { metadata: { name: 'mine' }, spec: { trustBundle: '' } };
  t.equal((await place.agent.send({ method: 'POST', path: bundles, body })).status, 403, 'read, not written');
  await neverAllowed(t, place);
});
