// The signers of request objects, with a real API server and the rights of their manifests: our own agent gets its certificates by
// both kinds, a real kubelet those of its volumes, and what others try is denied, each with an audit reason of its own.

import type { Test } from 'tap';
import t from 'tap';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../agent/authority/audit.js';
import { createKubeClient } from '../../agent/kube/client.js';
import { systemClock } from '../../agent/runtime/time.js';
import { createClusterTrustBundleSource } from '../../agent/trust-bundle/cluster-sources.js';
import { readCertificates } from '../../agent/x509/pem.js';
import type { TestAuthority } from '../fixtures/authority.js';
import { caTrustDomain, csrFor, startTestAuthority } from '../fixtures/authority.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import type { KubeClient, KubeObject } from '../fixtures/cluster-client.js';
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
  deletePod,
  setPhase,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import { sharedCluster, startControlPlane } from '../fixtures/cluster.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { createFixedCredential } from '../fixtures/kube.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { agentAccount, applyManifests, readCaComponents, removeRights } from '../fixtures/manifests.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { podCertificatesPath, requestPodCertificate, trustBundlesPath } from '../fixtures/pod-certificates.js';
import { start } from '../fixtures/reasons.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const { podCertificates } = kubernetes;
const namespace = await createNamespace(cluster, 'requests');
for (const account of ['web', 'orders', 'agent', 'stranger']) await createAccount(cluster, namespace, account);
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const signerName = 'example.com/workload';
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

const podOn = (node: TestNode, account: string): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, phase: 'Running' });

function startSigner(scene: Scene, nodeAgents: readonly string[]): Promise<TestAuthority> {
  const requests = { kubernetesCsr: { signerName } };
  return startTestAuthority(scene, cluster, { nodeAgents, components: ['ca-signer-csr'], settings: { requests } });
}

/** With its roots where pods and agents look for those of the signer. */
async function startPodSigner(t: Test, scene: Scene): Promise<TestAuthority> {
  const ca = await startTestAuthority(scene, cluster, {
    nodeAgents: [],
    components: ['ca-signer-pod-certificate'],
    settings: { requests: { podCertificate: { signerName } } },
  });
  const trustBundle = readFileSync(ca.rootsFile, 'utf8');
  await createObjects(cluster, [{ kind: 'ClusterTrustBundle', metadata: { name: bundleName }, spec: { signerName, trustBundle } }]);
  t.teardown(() => cluster.admin.delete(`${trustBundlesPath}/${bundleName}`));
  return ca;
}

const bundleName = 'example.com:workload:root';

/** What a pod has that the kubelet asks for a certificate. */
const certificateVolume = {
  containers: [{ name: 'app', image: 'none', volumeMounts: [{ name: 'identity', mountPath: '/identity' }] }],
  volumes: [
    {
      name: 'identity',
      projected: {
        sources: [
          { podCertificate: { signerName, keyType: 'ECDSAP256', credentialBundlePath: 'bundle.pem', maxExpirationSeconds: 3_600 } },
          { clusterTrustBundle: { name: bundleName, path: 'roots.pem' } },
        ],
      },
    },
  ],
};

await t.test('an agent with kubernetes-csr: from a pod to the certificate on its SDS socket', async (t) => {
  const scene = await createScene(t);
  const ca = await startSigner(scene, [`${agentAccount.namespace}/${agentAccount.account}`]);
  const node = await createNode(cluster);
  const components = ['pods-cluster-wide', 'upstream-kubernetes-csr'] as const;
  await installRights(t, cluster, components);
  const agent = await createClusterAgent(scene, cluster, {
    node,
    components,
    caRoots: readFileSync(ca.rootsFile, 'utf8'),
    config: ({ upstream }) => ({ upstreams: [upstream], identities: { select: { namespaces: [namespace] } } }),
  });
  await agent.start();
  await podOn(node, 'web');
  const { stdout, stderr, code } = await agent.command('fetch', '--socket', agent.socket, '--pem', '--timeout', '60', idOf('web'));
  t.equal(code, 0, stderr);
  const [leaf] = readCertificates(stdout, { source: 'fetch' });
  const [root] = readCertificates(readFileSync(ca.rootsFile), { source: 'roots' });
  t.same(leaf?.uriSans, [idOf('web')]);
  t.ok(root !== undefined && leaf?.isSignedBy(root));
  const lines = ca.audit();
  t.match(lines, [
    {
      authMode: 'request-object',
      caller: { namespace: agentAccount.namespace, serviceAccount: agentAccount.account, node: { name: node.name } },
      identity: idOf('web'),
      decision: 'grant',
      reason: 'node',
      through: { serviceAccount: 'web', node: node.name },
      issued: { serial: /^[0-9a-f]{32}$/ },
    },
  ]);
  t.equal(lines.length, 1, 'one request, one decision');
});

interface Conditions {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly message: string }[]; readonly certificate?: string };
}

const requestOf = (spec: object): object => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: uniqueName('request') },
  spec: { signerName, usages: ['digital signature', 'client auth', 'server auth'], ...spec },
});

/** Makes a request as this client, and waits for what becomes of it. */
async function ask(client: KubeClient, spec: object): Promise<KubeObject & Conditions> {
  const body = requestOf(spec);
  // The right to make it is known a moment after it was given.
  const { metadata } = await until('a request', 60_000, async () => {
    const made = await client.send({ method: 'POST', path: csrs, body });
    return made.status === 201 && made.body;
  });
  return await until('an answer', 60_000, async () => {
    const object = await cluster.admin.get<KubeObject & Conditions>(`${csrs}/${metadata.name ?? ''}`);
    const { conditions = [], certificate } = object.status;
    return (certificate !== undefined || conditions.some(({ type }) => type !== 'Approved')) && object;
  });
}

await t.test('attacks: each is denied with its own reason, and told nothing of it', async (t) => {
  const scene = await createScene(t);
  const ca = await startSigner(scene, [`${namespace}/agent`]);
  const [node, other] = [await createNode(cluster), await createNode(cluster)];
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const clientOf = async (pod: TestPod | undefined, account: string): Promise<KubeClient> =>
    cluster.client({
      token: await createToken(cluster, { namespace, account, audience: apiServerAudience, ...(pod === undefined ? {} : { pod }) }),
    });
  await allowRequests(t);
  const agent = await clientOf(await podOn(node, 'agent'), 'agent');
  await podOn(node, 'web');
  await podOn(other, 'orders');
  const web = base64(await csrFor(idOf('web')));
  const reasonOf = async (client: KubeClient, spec: object): Promise<AuditRecord['reason'] | undefined> => {
    const object = await ask(client, spec);
    t.match(object.status.conditions, [{ type: 'Denied', message: /^refused; the audit log/ }]);
    t.equal(object.status.certificate, undefined);
    return ca.audit().find(({ requestId, decision }) => requestId === object.metadata.uid && decision === 'refuse')?.reason;
  };
  const stranger = await clientOf(await podOn(node, 'stranger'), 'stranger');
  t.equal(await reasonOf(stranger, { request: web }), 'caller-no-node-agent', 'an account that is not listed');
  t.equal(await reasonOf(node.client, { request: web }), 'caller-no-account', 'a node');
  t.equal(await reasonOf(await clientOf(undefined, 'agent'), { request: web }), 'token-unbound', 'a token without a pod');
  t.equal(await reasonOf(agent, { request: base64(await csrFor(idOf('orders'))) }), 'identity-not-on-node', 'a pod of another node');
  t.equal(
    await reasonOf(agent, { request: base64(createTestCsr({ uris: [idOf('web'), idOf('orders')] })) }),
    'csr-extra-name',
    'two names',
  );
  t.equal(await reasonOf(agent, { request: web, usages: ['digital signature', 'cert sign'] }), 'csr-usages', 'a CA');

  const good = await ask(agent, { request: web, expirationSeconds: 600 });
  t.match(
    good.status,
    { conditions: [{ type: 'Approved' }], certificate: /^[A-Za-z0-9+/=]+$/ },
    'the agent itself gets what is on its node',
  );
});

/** Lets the accounts of the namespace make requests. */
async function allowRequests(t: Test): Promise<void> {
  await allow(t, `system:serviceaccounts:${namespace}`, { resources: ['certificatesigningrequests'], verbs: ['create'] });
}

/** Gives a group a right on certificates.k8s.io until the test ends. */
async function allow(t: Test, group: string, rule: object): Promise<void> {
  const name = uniqueName('requests');
  await createObjects(cluster, [
    { kind: 'ClusterRole', metadata: { name }, rules: [{ apiGroups: ['certificates.k8s.io'], ...rule }] },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: group }],
    },
  ]);
  t.teardown(async () => {
    for (const resource of ['clusterrolebindings', 'clusterroles'])
      await cluster.admin.delete(`/apis/rbac.authorization.k8s.io/v1/${resource}/${name}`);
  });
}

await t.test('for another signer: what waits at the start is approved after the same check, and left to be signed', async (t) => {
  const scene = await createScene(t);
  const foreign = 'example.org/other';
  await allowRequests(t);
  await allow(t, 'system:serviceaccounts', { resources: ['signers'], resourceNames: [foreign], verbs: ['approve'] });
  const node = await createNode(cluster);
  await podOn(node, 'web');
  const make = async (pod: TestPod, identity: string): Promise<string> => {
    const token = await createToken(cluster, { namespace, account: 'agent', audience: apiServerAudience, pod });
    const agent = cluster.client({ token });
    const request = Buffer.from(await csrFor(identity)).toString('base64');
    const body = requestOf({ signerName: foreign, request, expirationSeconds: 3_600 });
    // The right to make it is known a moment after it was given.
    return await until('a request', 60_000, async () => {
      const { status, body: made } = await agent.send({ method: 'POST', path: csrs, body });
      return status === 201 && `${csrs}/${made.metadata.name ?? ''}`;
    });
  };
  const [pod, former] = [await podOn(node, 'agent'), await podOn(node, 'agent')];
  const [good, bad, late] = [await make(pod, idOf('web')), await make(pod, idOf('nowhere')), await make(former, idOf('web'))];
  await deletePod(cluster, former);
  const ca = await startTestAuthority(scene, cluster, {
    nodeAgents: [`${namespace}/agent`],
    components: ['ca-signer-csr'],
    settings: { requests: { kubernetesCsr: { approveOnly: [foreign] } } },
  });
  const answerOf = (path: string) =>
    until('an answer', 60_000, async () => {
      const { status } = await cluster.admin.get<KubeObject & Conditions>(path);
      return status.conditions !== undefined && status;
    });
  t.match(await answerOf(good), { conditions: [{ type: 'Approved' }], certificate: undefined });
  t.match(await answerOf(bad), { conditions: [{ type: 'Denied' }] });
  t.match(await answerOf(late), { conditions: [{ type: 'Denied' }] });
  const reasonOf = (path: string): unknown => ca.audit().find(({ peer }) => peer === path)?.reason;
  t.same(
    [good, bad, late].map(reasonOf),
    ['node', 'identity-not-on-node', 'caller-pod-gone'],
    'a pod that has gone meanwhile asks no more',
  );
});

await t.test(
  'an agent with pod-certificate: as the node, from a pod to the certificate on its SDS socket',
  needs('impersonation'),
  async (t) => {
    const scene = await createScene(t);
    const ca = await startPodSigner(t, scene);
    const node = await createNode(cluster);
    const components = ['pods-as-node', 'roots-cluster-trust-bundle', 'upstream-pod-certificate'] as const;
    await installRights(t, cluster, components);
    const agent = await createClusterAgent(scene, cluster, {
      node,
      components,
      caRoots: readFileSync(ca.rootsFile, 'utf8'),
      config: ({ upstream }) => ({ upstreams: [upstream], identities: { select: { namespaces: [namespace] } } }),
    });
    await agent.start();
    const pod = await podOn(node, 'web');
    const { stdout, stderr, code } = await agent.command('fetch', '--socket', agent.socket, '--pem', '--timeout', '60', idOf('web'));
    t.equal(code, 0, stderr);
    const [leaf] = readCertificates(stdout, { source: 'fetch' });
    t.same(leaf?.uriSans, [idOf('web')]);
    const lines = ca.audit();
    t.match(lines, [
      {
        authMode: 'request-object',
        caller: { namespace, serviceAccount: 'web', pod: { uid: pod.uid }, node: { name: node.name } },
        identity: idOf('web'),
        decision: 'grant',
        reason: 'own',
      },
    ]);
    t.equal(lines.length, 1, 'one request, one decision');
  },
);

await t.test('a podCertificate volume of a real kubelet', needs('podCertificates'), async (t) => {
  const scene = await createScene(t);
  const ca = await startPodSigner(t, scene);
  const node = await createNode(cluster);
  const kubelet = await startKubelet(scene, cluster, node);
  const pod = await createPod(cluster, { namespace, account: 'orders', node: node.name, spec: certificateVolume });
  const bundle = join(kubelet.volumeDirectory(pod.uid, 'identity'), 'bundle.pem');
  await until('the volume has its certificate', 60_000, async () => existsSync(bundle));
  // The key stands before the chain.
  const [, chain = ''] = readFileSync(bundle, 'utf8').split(/(?=-----BEGIN CERTIFICATE-----)/);
  const [leaf] = readCertificates(chain, { source: bundle });
  const [root] = readCertificates(readFileSync(ca.rootsFile), { source: 'roots' });
  t.same(leaf?.uriSans, [idOf('orders')]);
  t.ok(root !== undefined && leaf?.isSignedBy(root));
  t.equal((leaf?.notAfter ?? 0) - (leaf?.notBefore ?? 0), 3_600_000, 'as long as the volume asks for');
  await until('the pod runs', 60_000, async () => {
    const { status } = await cluster.admin.get<{ readonly status: { readonly phase: string } }>(pod.path);
    return status.phase === 'Running';
  });
  t.match(ca.audit(), [{ decision: 'grant', reason: 'own', identity: idOf('orders'), through: { uid: pod.uid } }]);
  t.ok(
    ca.logs.some((line) => line.includes('besides nodes these may create') && line.includes('Group system:masters')),
    'who else may ask is told at the start',
  );
});

await t.test(
  'requests of a node for pods that may not have a certificate, and of others than nodes',
  needs('podCertificates'),
  async (t) => {
    const scene = await createScene(t);
    const ca = await startPodSigner(t, scene);
    const policy = readCaComponents(['ca-signer-pod-certificate']).objects.filter(({ kind }) => kind?.startsWith('Validating') === true);
    await applyManifests(cluster, { objects: policy, patches: [] });
    t.teardown(() => removeRights(cluster, { objects: policy, patches: [] }));
    const node = await createNode(cluster);
    const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running', spec: certificateVolume });
    const answerTo = async (more: object) => {
      // What the API server refuses for a moment, since it has not seen the pod yet, is asked again.
      const { metadata } = await until('a request', 60_000, async () => {
        const { status, body } = await requestPodCertificate(cluster, node.client, { pod, node, signerName, more });
        return status === 201 && body;
      });
      const { status } = await until('an answer', 60_000, async () => {
        const object = await cluster.admin.get<KubeObject & Conditions>(`${podCertificatesPath(namespace)}/${metadata.name ?? ''}`);
        return (object.status.conditions ?? []).length > 0 && object;
      });
      return { ...status.conditions?.[0], audit: ca.audit().find(({ requestId }) => requestId === metadata.uid)?.reason };
    };
    const denied = { type: 'Denied', reason: 'Refused', message: /^refused; the audit log/ };
    const annotated = { unverifiedUserAnnotations: { 'example.com/name': 'orders' } };
    t.match(await answerTo(annotated), { ...denied, reason: 'InvalidUnverifiedUserAnnotations', audit: 'request-annotations' });
    if (podCertificates === 'v1') {
      const named = Buffer.from(createTestCsr({ uris: [idOf('orders')] }).replaceAll(/-----[^-]+-----/g, ''), 'base64').toString('base64');
      t.match(await answerTo({ stubPKCS10Request: named }), { ...denied, audit: 'csr-extra-name' }, 'a name in the stub');
    }
    await setPhase(cluster, pod, 'Succeeded');
    const ended = await until('the index has it', 60_000, async () => {
      const answer = await answerTo({});
      return answer.type === 'Denied' && answer;
    });
    t.match(ended, { ...denied, audit: 'caller-pod-finished' });

    // The policy is in effect a moment after it was made.
    await until('only nodes may ask', 60_000, async () => {
      const { status, message } = await requestPodCertificate(cluster, cluster.admin, { pod, node, signerName });
      return status === 422 && message.includes('only nodes may ask this signer');
    });
  },
);

const asShipped = { skip: podCertificates === 'v1' && 'Kubernetes has all of it switched on since 1.37' };

await t.test('what an API server has switched off is named, by CA and agent, with what to change', asShipped, async (t) => {
  const scene = await createScene(t);
  const server = await startControlPlane(scene, { asShipped: true });
  const requests = { podCertificate: { signerName } };
  const ca = await startTestAuthority(scene, server, { nodeAgents: [], components: ['ca-signer-pod-certificate'], settings: { requests } });
  const line = await until('the CA names it', 60_000, () => ca.logs.find((each) => each.includes('request-unserved')));
  t.match(JSON.parse(line), { detail: 'podcertificaterequests', action: /switch on PodCertificateRequest/ });

  const authorization = `Bearer ${server.adminToken}`;
  const credential = createFixedCredential({ server: new URL(server.url), tls: { ca: server.roots }, authorization });
  const shared = { clock: systemClock, log: createRecordingLogger(), metrics: createTestMetrics().metrics };
  const client = createKubeClient({ credential, ...shared });
  t.teardown(() => client.close());
  const source = createClusterTrustBundleSource({ client, select: { signerName }, ...shared });
  start(t, source);
  await until('the agent names it', 60_000, () => source.reason.value?.code === 'bundle-unserved');
});
