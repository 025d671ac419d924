// The local CA endpoint of the agent of the manifests, before a real istiod that trusts ztunnel and not the agent: who gets what of
// whom, and each refusal with its audit line. See suites.md.

import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import type { RawCaClient } from '../fixtures/authority.js';
import { createRawCaClient } from '../fixtures/authority.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import { istioAudience, istiodHost, startIstiod } from '../fixtures/cluster-istiod.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken, deletePod } from '../fixtures/cluster-objects.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { freePorts } from '../fixtures/free-ports.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { podsComponent } from '../fixtures/manifests.js';
import { createScene } from '../fixtures/scene.js';
import { createTestToken } from '../fixtures/tokens.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'local-ca');
const accounts = ['web', 'orders', 'late', 'ztunnel', 'stranger'] as const;
type Account = (typeof accounts)[number];
for (const account of accounts) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podFor = (account: Account, node = own): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, tokenAudiences: [istioAudience], phase: 'Running' });
const pods = {
  web: await podFor('web'),
  ztunnel: await podFor('ztunnel'),
  stranger: await podFor('stranger'),
  orders: await podFor('orders', other),
  elsewhere: await podFor('ztunnel', other),
};
const idOf = (account: Account): string => `spiffe://cluster.local/ns/${namespace}/sa/${account}`;
const tokenOf = (account: Account, pod: TestPod | undefined, audience = istioAudience): Promise<string> =>
  createToken(cluster, { namespace, account, audience, ...(pod === undefined ? {} : { pod }) });

const components: readonly ManifestComponent[] = [podsComponent, 'local-ca'];
await installRights(t, cluster, components);
const scene = await createScene(t);
const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [`${namespace}/ztunnel`] });
const [port] = await freePorts(1);
const rootDirectory = join(scene.directory, 'local-ca');
const agent: ClusterAgent = await createClusterAgent(scene, cluster, {
  node: own,
  components,
  caRoots: istiod.roots,
  config: ({ upstream }) => ({
    upstreams: [{ ...upstream, endpoints: [`${istiodHost}:${istiod.port()}`] }],
    // As long as may be: the machine may be slow with a new pod.
    localCa: { address: `127.0.0.1:${port}`, rootDirectory, delegates: [`${namespace}/ztunnel`], deadline: '60s', waitForPod: '10s' },
  }),
});
agent.setHosts({ [istiodHost]: '127.0.0.1' });
await agent.start();
await until('the endpoint listens', 60_000, async () => (await agent.status()).localCa?.address !== undefined);
const client: RawCaClient = createRawCaClient(`localhost:${port}`, join(rootDirectory, 'root-cert.pem'));
t.teardown(() => client.close());

/** The audit line of the last call, which the agent writes before it answers and which gets here on another way. */
async function lineOf(wanted: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
  return await until(`the audit line ${JSON.stringify(wanted)}`, 60_000, () => {
    const lines = agent
      .tail()
      .split('\n')
      .filter((line) => line.includes('"audit":true') && line.endsWith('}'));
    const last = JSON.parse(lines.at(-1) ?? '{}') as Readonly<Record<string, unknown>>;
    return Object.entries(wanted).every(([name, value]) => last[name] === value) && last;
  });
}

const ztunnel = await tokenOf('ztunnel', pods.ztunnel);

interface TokenReview {
  readonly status: { readonly authenticated?: boolean };
}

await t.test('ztunnel gets the identities of its node, an application its own, with its token through to istiod', async (t) => {
  const answer = await until('the pods are known and the upstream has its roots', 60_000, async () => {
    const given = await client.call({ token: ztunnel, identity: idOf('web'), clusterId: 'Kubernetes' });
    return given.code === 0 && given;
  });
  const [leaf, root] = answer.elements.map((pem) => new X509Certificate(pem));
  t.equal(leaf?.subjectAltName, `URI:${idOf('web')}`);
  t.ok(leaf !== undefined && root !== undefined && leaf.verify(root.publicKey));
  t.equal(answer.elements.at(-1), istiod.roots, 'the roots of the trust bundle are the last element');
  const line = await lineOf({ message: 'certificate handed out', identity: idOf('web'), account: `${namespace}/ztunnel` });
  t.match(line, { authMode: 'token-review', pod: pods.ztunnel.name, upstream: 'istio', door: 'local-ca' });

  const token = await tokenOf('web', pods.web);
  t.match(await client.call({ token, csrIdentity: idOf('web'), clusterId: 'Kubernetes' }), { code: 0 });
  await lineOf({ message: 'certificate handed out', identity: idOf('web'), account: `${namespace}/web` });
  t.notOk(agent.tail().includes(ztunnel) || agent.tail().includes(token), 'no token is told');
  t.match((await agent.status()).localCa?.certificates, [{ name: idOf('web'), state: 'valid' }]);
  t.equal(await agent.metric('signet_local_ca_identities', { state: 'valid' }), 1);
});

await t.test('a pod that is scheduled while the call waits', async (t) => {
  const call = client.call({ token: ztunnel, identity: idOf('late'), clusterId: 'Kubernetes' });
  await podFor('late');
  t.match(await call, { code: 0 });
});

await t.test('refusals, each with its audit line', async (t) => {
  const gone = await podFor('stranger');
  const ofGone = await tokenOf('stranger', gone);
  await deletePod(cluster, gone);
  const review = { spec: { token: ofGone, audiences: [istioAudience] } };
  await until('the API server knows that the pod is gone', 60_000, async () => {
    const { status } = await cluster.admin.post<TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', review);
    return status.authenticated !== true;
  });
  const expired = createTestToken({ account: `${namespace}/ztunnel`, expiresAt: Date.now() - 60_000 });
  const csr = createTestCsr({ uris: [idOf('stranger')] });
  const refusals: readonly [what: string, call: Parameters<RawCaClient['call']>[0], code: number, reason: string][] = [
    ['an identity of another node', { token: ztunnel, identity: idOf('orders') }, 7, 'not-on-node'],
    [
      'a token of a pod on another node',
      { token: await tokenOf('ztunnel', pods.elsewhere), identity: idOf('web') },
      7,
      'caller-not-on-node',
    ],
    [
      'a token for another audience',
      { token: await tokenOf('ztunnel', pods.ztunnel, 'other'), identity: idOf('web') },
      16,
      'token-audience',
    ],
    ['a token that is bound to no pod', { token: await tokenOf('ztunnel', undefined), identity: idOf('web') }, 16, 'token-unbound'],
    ['an expired token', { token: expired, identity: idOf('web') }, 16, 'token-expired'],
    ['a token of a pod that is gone', { token: ofGone, csrIdentity: idOf('stranger') }, 16, 'token-refused'],
    [
      'an account that is not listed',
      { token: await tokenOf('stranger', pods.stranger), identity: idOf('web') },
      7,
      'caller-no-node-agent',
    ],
    ['a request for another identity', { token: ztunnel, identity: idOf('web'), csr }, 3, 'csr-other-name'],
    ['another trust domain', { token: ztunnel, identity: idOf('web').replace('cluster.local', 'other') }, 7, 'identity-foreign'],
  ];
  for (const [what, call, code, reason] of refusals) {
    const answer = await client.call({ clusterId: 'Kubernetes', ...call });
    t.match(answer, { code, details: new RegExp(`^${reason}: `) }, what);
    await lineOf({ message: 'certificate refused', reason });
  }
});

await t.test('while istiod is away it says so, and what was handed out is shown', async (t) => {
  await istiod.stop();
  const answer = await client.call({ token: ztunnel, identity: idOf('web'), clusterId: 'Kubernetes' });
  t.match(answer, { code: 14, details: /^ca-unavailable: / });
  await lineOf({ reason: 'ca-unavailable' });
  const { localCa, ready } = await agent.status();
  t.ok(ready, 'the CA is no matter of readiness');
  t.ok(localCa?.certificates.some(({ name }) => name === idOf('web')));
  await istiod.start('same');
  await until('and is asked again', 60_000, async () => {
    return (await client.call({ token: ztunnel, identity: idOf('web'), clusterId: 'Kubernetes' })).code === 0;
  });
});
