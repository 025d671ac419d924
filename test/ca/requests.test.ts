// The signers of request objects, with a real API server and the rights of their manifests: our own agent gets its certificates
// by CertificateSigningRequests, and what others try is denied, each with an audit reason of its own.

import type { Test } from 'tap';
import t from 'tap';
import { readFileSync } from 'node:fs';
import type { AuditRecord } from '../../agent/authority/audit.js';
import { readCertificates } from '../../agent/x509/pem.js';
import type { TestAuthority } from '../fixtures/authority.js';
import { caTrustDomain, csrFor, startTestAuthority } from '../fixtures/authority.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import type { KubeClient, KubeObject } from '../fixtures/cluster-client.js';
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
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { agentAccount } from '../fixtures/manifests.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
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

/** Makes a request as this client, and waits for what becomes of it. */
async function ask(client: KubeClient, spec: object): Promise<KubeObject & Conditions> {
  const { metadata } = await client.post(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: uniqueName('attack') },
    spec: { signerName, usages: ['digital signature', 'client auth', 'server auth'], ...spec },
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
  const agentPod = await podOn(node, 'agent');
  const agent = await clientOf(agentPod, 'agent');
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

  // The API server takes the token of a deleted pod for some seconds more.
  await deletePod(cluster, agentPod);
  const late = await ask(agent, { request: base64(await csrFor(idOf('web'))) });
  t.match(late.status.conditions, [{ type: 'Denied' }]);
  t.equal(ca.audit().at(-1)?.reason, 'caller-pod-gone', 'a deleted pod');
});

/** Lets the accounts of the namespace make requests. */
async function allowRequests(t: Test): Promise<void> {
  const name = uniqueName('requesters');
  await createObjects(cluster, [
    {
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] }],
    },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: `system:serviceaccounts:${namespace}` }],
    },
  ]);
  t.teardown(async () => {
    for (const resource of ['clusterrolebindings', 'clusterroles'])
      await cluster.admin.delete(`/apis/rbac.authorization.k8s.io/v1/${resource}/${name}`);
  });
}
