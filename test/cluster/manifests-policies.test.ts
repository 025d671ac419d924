// The admission policies of the manifests: what an agent that acts as its node is refused or recorded for, that kubelets go on as before,
// who may ask the signer besides, and which ConfigMaps the CA writes. See suites.md.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { runToEnd } from '../fixtures/child.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { KubeAnswer, KubeClient, KubeObject } from '../fixtures/cluster-client.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import type { TestNode, TestPod } from '../fixtures/cluster-objects.js';
import {
  apiServerAudience,
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
  requestToken,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { needs } from '../fixtures/cluster-version.js';
import { repository } from '../fixtures/envoy-examples.js';
import { helmBinaries } from '../fixtures/helm-binaries.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { applyManifests, caAudience, createAgentPod, readCaComponents, readManifests, removeRights } from '../fixtures/manifests.js';
import { requestPodCertificate } from '../fixtures/pod-certificates.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'policies');
for (const account of ['web', 'requester']) await createAccount(cluster, namespace, account);
const waitMs = 60_000;
const signerName = 'example.com/workload';

interface Place {
  readonly node: TestNode;
  /** The agent of the node, as that node. */
  readonly asNode: KubeClient;
}

async function install(t: Test, components: readonly ManifestComponent[]): Promise<Place> {
  const manifests = readManifests(components);
  await applyManifests(cluster, manifests);
  t.teardown(() => removeRights(cluster, manifests));
  const node = await createNode(cluster);
  const { apiToken } = await createAgentPod(cluster, node.name);
  return { node, asNode: cluster.client({ token: apiToken }, { 'impersonate-user': `system:node:${node.name}` }) };
}

const failureAnnotation = 'validation.policy.admission.k8s.io/validation_failure';

/** Names of the policies that recorded what was answered, by the audit log of the API server. */
async function recordedBy({ headers }: Pick<KubeAnswer, 'headers'>): Promise<readonly string[]> {
  const id = headers['audit-id'];
  const event = await until('its audit event', waitMs, () =>
    cluster.audit().find(({ auditID, stage }) => auditID === id && stage === 'ResponseComplete'),
  );
  const failures = JSON.parse(event.annotations?.[failureAnnotation] ?? '[]') as readonly { readonly policy: string }[];
  return failures.map(({ policy }) => policy);
}

/** A pod that mounts its token for the API server and one for `vault`. */
const mounting = (node: TestNode): Promise<TestPod> =>
  createPod(cluster, {
    namespace,
    account: 'web',
    node: node.name,
    tokenAudiences: ['vault'],
    spec: { automountServiceAccountToken: true },
  });

/** Without an audience: for the API server. */
function askForToken(client: KubeClient, pod: TestPod, audience?: string): ReturnType<typeof requestToken> {
  return requestToken(client, { namespace, account: 'web', pod, ...(audience === undefined ? {} : { audience }) });
}

await t.test('signet-node-token, Audit: tokens of other audiences are given, and recorded', needs('impersonation'), async (t) => {
  const { node, asNode } = await install(t, ['pods-as-node', 'workload-tokens']);
  const pod = await mounting(node);
  const ask = (client: KubeClient, audience?: string) => askForToken(client, pod, audience);
  await until('the policy is known', waitMs, async () => (await recordedBy(await ask(asNode, 'vault'))).length > 0);
  for (const audience of ['vault', undefined]) {
    const given = await ask(asNode, audience);
    t.equal(given.status, 201, given.message);
    t.same(await recordedBy(given), ['signet-node-token'], `${audience ?? 'one for the API server'} is recorded`);
  }
  for (const given of [await ask(asNode, caAudience), await ask(node.client, 'vault')]) {
    t.equal(given.status, 201, given.message);
    t.same(await recordedBy(given), [], 'what the CA takes is not, and nothing of a kubelet');
  }
});

await t.test('signet-node-token, Deny: no tokens of other audiences, and kubelets go on', needs('impersonation'), async (t) => {
  const { node, asNode } = await install(t, ['pods-as-node', 'workload-tokens', 'workload-tokens-deny']);
  const pod = await mounting(node);
  const ask = (client: KubeClient, audience?: string) => askForToken(client, pod, audience);
  await until('the policy is known', waitMs, async () => (await ask(asNode, 'vault')).status === 422);
  for (const audience of ['vault', undefined])
    t.match(await ask(asNode, audience), { status: 422, message: /audience istio-ca only/ }, audience ?? 'one for the API server');
  t.equal((await ask(asNode, caAudience)).status, 201, 'for the CA');

  const kubelet = await startKubelet(await createScene(t), cluster, node);
  const later = await mounting(node);
  const token = join(kubelet.volumeDirectory(later.uid, 'tokens'), 'token-0');
  await until('the kubelet has written its token', waitMs, () => existsSync(token));
  const [, claims = ''] = readFileSync(token, 'utf8').split('.');
  t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), { aud: ['vault'] }, 'a kubelet still gets tokens for others');

  // The check that docs/install.md has before Deny.
  const page = readFileSync(join(repository, 'docs', 'install.md'), 'utf8');
  const [, path = '', output = ''] = /kubectl --kubeconfig (\S+) auth whoami -o (jsonpath='[^']*')/.exec(page) ?? [];
  t.equal(path, '/etc/kubernetes/kubelet.conf');
  const { kubectl } = await helmBinaries();
  const args = ['--kubeconfig', kubelet.kubeconfig, 'auth', 'whoami', '-o', output.replaceAll("'", '')];
  const { stdout, stderr } = await runToEnd(kubectl, args);
  t.match(stdout, /"authentication.kubernetes.io\/credential-id":\["X509SHA256=[0-9a-f]+"\]/, stderr);
});

/** A pod that mounts a certificate of another signer than ours. */
function mountingCertificate(node: TestNode): Promise<TestPod> {
  const podCertificate = { signerName: 'example.com/other', keyType: 'ECDSAP256', credentialBundlePath: 'bundle.pem' };
  const spec = {
    containers: [{ name: 'app', image: 'none', volumeMounts: [{ name: 'identity', mountPath: '/identity' }] }],
    volumes: [{ name: 'identity', projected: { sources: [{ podCertificate }] } }],
  };
  return createPod(cluster, { namespace, account: 'web', node: node.name, spec });
}

const askForPod = (client: KubeClient, pod: TestPod, node: TestNode, signer: string): Promise<KubeAnswer> =>
  requestPodCertificate(cluster, client, { pod, node, signerName: signer });

const podCertificate: readonly ManifestComponent[] = ['pods-as-node', 'roots-cluster-trust-bundle', 'upstream-pod-certificate'];

await t.test('signet-node-pod-certificate, Audit: other signers are asked, and that is recorded', needs('impersonation'), async (t) => {
  const { node, asNode } = await install(t, podCertificate);
  const pod = await mountingCertificate(node);
  const ask = (client: KubeClient, signer: string) => askForPod(client, pod, node, signer);
  await until('the policy is known', waitMs, async () => {
    const answer = await ask(asNode, 'example.com/other');
    return answer.status === 201 && (await recordedBy(answer)).includes('signet-node-pod-certificate');
  });
  for (const given of [await ask(asNode, signerName), await ask(node.client, 'example.com/other')]) {
    t.equal(given.status, 201, given.message);
    t.same(await recordedBy(given), [], 'our signer is not, and nothing of a kubelet');
  }
});

await t.test('signet-node-pod-certificate, Deny: no other signer is asked, and kubelets go on', needs('impersonation'), async (t) => {
  const { node, asNode } = await install(t, [...podCertificate, 'upstream-pod-certificate-deny']);
  const pod = await mountingCertificate(node);
  const ask = (client: KubeClient, signer: string) => askForPod(client, pod, node, signer);
  await until('the policy is known', waitMs, async () => (await ask(asNode, 'example.com/other')).status === 422);
  t.match(await ask(asNode, 'example.com/other'), { message: /no other signer than example.com\/workload/ });
  t.equal((await ask(asNode, signerName)).status, 201, 'ours');
  t.equal((await ask(node.client, 'example.com/other')).status, 201, 'a kubelet asks for what its pods mount');
});

/** Whoever has the right besides, which RBAC cannot tie to a signer. */
async function createRequester(t: Test): Promise<KubeClient> {
  const subject = { kind: 'ServiceAccount', namespace, name: 'requester' };
  await grant(t, subject, { apiGroups: ['certificates.k8s.io'], resources: ['podcertificaterequests'], verbs: ['create'] });
  return cluster.client({ token: await createToken(cluster, { namespace, account: 'requester', audience: apiServerAudience }) });
}

async function grant(t: Test, subject: object, rule: object): Promise<void> {
  const name = uniqueName('granted');
  const objects: readonly KubeObject[] = [
    { kind: 'ClusterRole', metadata: { name }, rules: [rule] },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject],
    },
  ];
  await createObjects(cluster, objects);
  t.teardown(() => removeRights(cluster, { objects, patches: [] }));
}

for (const [policy, apply] of [
  ['signet-pod-certificates', () => readManifests(podCertificate)],
  ['signet-ca-pod-certificates', () => readCaComponents(['ca', 'ca-signer-pod-certificate'])],
] as const) {
  await t.test(`${policy}: nobody but nodes asks the signer, whoever has the right`, needs('podCertificates'), async (t) => {
    const requester = await createRequester(t);
    const node = await createNode(cluster);
    const pod = await mountingCertificate(node);
    await until('the right is known', waitMs, async () => (await askForPod(requester, pod, node, signerName)).status === 201);
    t.pass('without the policy it is asked for any pod');
    const manifests = apply();
    await applyManifests(cluster, manifests);
    t.teardown(() => removeRights(cluster, manifests));
    for (const client of [requester, cluster.admin])
      await until('it is refused', waitMs, async () => (await askForPod(client, pod, node, signerName)).status === 422);
    t.match(await askForPod(requester, pod, node, signerName), { status: 422, message: /only nodes may ask this signer/ });
    t.equal((await askForPod(requester, pod, node, 'example.com/other')).status, 201, 'another signer is none of our business');
  });
}

await t.test('signet-ca-configmaps: the CA writes no other ConfigMap, whatever it is granted', async (t) => {
  const manifests = readCaComponents(['ca', 'ca-roots-configmap', 'ca-configmap-policy']);
  const home: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'signet-system' } };
  await applyManifests(cluster, { ...manifests, objects: [home, ...manifests.objects] });
  t.teardown(() => removeRights(cluster, manifests));
  const account = { namespace: 'signet-system', name: 'signet-ca' };
  await grant(t, { kind: 'ServiceAccount', ...account }, { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] });
  const token = await createToken(cluster, { namespace: account.namespace, account: account.name, audience: apiServerAudience });
  const ca = cluster.client({ token });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const create = (client: KubeClient, name: string) => client.send({ method: 'POST', path, body: { metadata: { name } } });
  await until('right and policy are known', waitMs, async () => (await create(ca, uniqueName('other'))).status === 422);
  const message = /the CA writes no other ConfigMap than signet-ca-root/;
  t.match(await create(ca, uniqueName('other')), { status: 422, message });
  t.equal((await create(ca, 'signet-ca-root')).status, 201, 'its own');
  const foreign = uniqueName('foreign');
  t.equal((await create(cluster.admin, foreign)).status, 201, 'others may');
  for (const method of ['PATCH', 'DELETE'] as const) {
    const answer = await ca.send({ method, path: `${path}/${foreign}`, ...(method === 'PATCH' ? { body: { data: { key: 'x' } } } : {}) });
    t.match(answer, { status: 422, message }, `${method} of another`);
  }
  t.equal((await ca.send({ method: 'PATCH', path: `${path}/signet-ca-root`, body: { data: { key: 'x' } } })).status, 200);
});
