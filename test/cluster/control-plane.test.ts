// The control plane itself: it is what the other suites take it for. See suites.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sharedCluster } from '../fixtures/cluster.js';
import {
  apiServerAudience,
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
  deletePod,
  requestToken,
  setPhase,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import { kubernetes, kubernetesVersion } from '../fixtures/cluster-version.js';
import { createScene } from '../fixtures/scene.js';
import { accepts } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';

interface PodList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

interface PodObject {
  readonly status: { readonly phase: string };
}

const ofNode = (node: string): string => `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`;

const cluster = await sharedCluster(t);

await t.test(`the control plane is Kubernetes ${kubernetesVersion}`, async (t) => {
  t.comment(`ready after ${cluster.startedInMs} ms`);
  const [major, minor] = kubernetesVersion.split('.');
  const itself = { gitVersion: `v${kubernetesVersion}`, major, minor };
  t.match(
    await cluster.admin.get('/version'),
    kubernetes.emulates === undefined ? itself : { emulationMajor: major, emulationMinor: minor },
  );
});

await t.test('a node lists its own pods and nobody else’s', async (t) => {
  const namespace = await createNamespace(cluster, 'list');
  await createAccount(cluster, namespace, 'web');
  const [own, other] = [await createNode(cluster), await createNode(cluster)];
  const pod = await createPod(cluster, { namespace, account: 'web', node: own.name, phase: 'Running' });
  await createPod(cluster, { namespace, account: 'web', node: other.name });
  const { items } = await own.client.get<PodList>(ofNode(own.name));
  t.same(
    items.map(({ metadata }) => metadata.name),
    [pod.name],
  );
  for (const path of ['/api/v1/pods', ofNode(other.name)]) {
    const { status, message } = await own.client.send({ method: 'GET', path });
    t.equal(status, 403, `not ${path}`);
    t.match(message, 'can only list/watch pods with spec.nodeName field selector');
  }
});

await t.test('a node gets tokens for its own pods and the audiences they mount', async (t) => {
  const namespace = await createNamespace(cluster, 'token');
  for (const account of ['web', 'orders']) await createAccount(cluster, namespace, account);
  const [own, other] = [await createNode(cluster), await createNode(cluster)];
  // In this order: once the API server knows the first pod of the node as the node's, it knows the other one.
  const orders = await createPod(cluster, { namespace, account: 'orders', node: other.name, tokenAudiences: ['signet-ca'] });
  const web = await createPod(cluster, { namespace, account: 'web', node: own.name, tokenAudiences: ['signet-ca'] });
  const ask = (account: string, pod: typeof web, audience = 'signet-ca'): ReturnType<typeof requestToken> =>
    requestToken(own.client, { namespace, account, audience, pod });

  const granted = await until('a token for the own pod', 60_000, async () => {
    const answer = await ask('web', web);
    return answer.status === 201 && answer;
  });
  const review = await cluster.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: granted.body.status.token, audiences: ['signet-ca'] },
  });
  t.match(review, { status: { authenticated: true, user: { extra: { 'authentication.kubernetes.io/node-name': [own.name] } } } });

  t.match(await ask('orders', orders), { status: 403, message: /no relationship found between node/ }, 'not for a pod of another node');
  t.match(await ask('web', orders), { status: 403, message: /bound to a pod scheduled on a different node/ }, 'not bound to one either');
  t.match(await ask('web', web, 'other-ca'), { status: 403, message: /is not authorized to request tokens/ }, 'not for another audience');
});

await t.test('a deleted pod takes its tokens with it', async (t) => {
  const namespace = await createNamespace(cluster, 'gone');
  await createAccount(cluster, namespace, 'web');
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running' });
  await setPhase(cluster, pod, 'Succeeded');
  const token = await createToken(cluster, { namespace, account: 'web', audience: apiServerAudience, pod });
  const as = cluster.client({ token });
  t.equal((await as.send({ method: 'GET', path: '/api' })).status, 200, 'valid before');
  await deletePod(cluster, pod);
  await until('the token is refused', 60_000, async () => (await as.send({ method: 'GET', path: '/api' })).status === 401, 200);
  t.equal((await node.client.get<PodList>(ofNode(node.name))).items.length, 0);
});

await t.test('a kubelet runs pods, mounts their tokens and answers whom the API server allows', async (t) => {
  const scene = await createScene(t);
  const namespace = await createNamespace(cluster, 'kubelet');
  for (const account of ['web', 'reader']) await createAccount(cluster, namespace, account);
  const node = await createNode(cluster);
  const kubelet = await startKubelet(scene, cluster, node);
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, tokenAudiences: ['signet-ca'] });
  await until('the pod runs', 60_000, async () => (await cluster.admin.get<PodObject>(pod.path)).status.phase === 'Running');
  const token = readFileSync(join(kubelet.volumeDirectory(pod.uid, 'tokens'), 'token-0'), 'utf8');
  t.match(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(), '"aud":["signet-ca"]', 'its token is on disk');
  t.equal(await accepts(kubelet.podsApiSocket), kubernetes.podsApi, 'the Pods API listens where there is one');

  const reader = { namespace, account: 'reader', audience: apiServerAudience };
  const refused = await kubelet.client({ token: await createToken(cluster, reader) }).send({ method: 'GET', path: '/pods' });
  t.match(refused, { status: 403, message: /resource=nodes, subresource\(s\)=\[pods proxy\]/ }, 'not without a right');
  const role = uniqueName('node-pods');
  await createObjects(cluster, [
    { kind: 'ClusterRole', metadata: { name: role }, rules: [{ apiGroups: [''], resources: ['nodes/pods'], verbs: ['get'] }] },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'reader' }],
    },
  ]);
  // The kubelet keeps a refusal for 30 s for each token.
  const list = await until('the right is known', 60_000, async () => {
    const answer = await kubelet.client({ token: await createToken(cluster, reader) }).send<PodList>({ method: 'GET', path: '/pods' });
    return answer.status === 200 && answer.body;
  });
  t.same(
    list.items.map(({ metadata }) => metadata.name),
    [pod.name],
  );
});
