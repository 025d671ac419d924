// The upstreams that are objects of the API server, with exactly the rights that are shipped: the agent as its DaemonSet runs it,
// a signer in place of the cluster's, and certificates that `signet fetch` gets. See suites.md.

import type { Test } from 'tap';
import t from 'tap';
import { createKubernetesCsr } from '../../agent/ca/kubernetes-csr.js';
import { createSpiffeId } from '../../agent/identity/spiffe-id.js';
import { createKubeClient } from '../../agent/kube/client.js';
import { systemClock } from '../../agent/runtime/time.js';
import { createCsr, generateKey, parseCsr } from '../../agent/x509/csr.js';
import { readCertificates } from '../../agent/x509/pem.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createObjects, createPod, deletePod } from '../fixtures/cluster-objects.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { agentAccount, applyCertificateRequests } from '../fixtures/manifests.js';
import { trustBundlesPath } from '../fixtures/pod-certificates.js';
import type { RequestResource, RequestSigner } from '../fixtures/request-signer.js';
import { csrIn, startRequestSigner } from '../fixtures/request-signer.js';
import { createFixedCredential, never } from '../fixtures/kube.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'objects');
for (const account of ['web', 'orders']) await createAccount(cluster, namespace, account);
const idOf = (account: string): string => `spiffe://cluster.local/ns/${namespace}/sa/${account}`;

interface Spec {
  readonly request: string;
  readonly username: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly serviceAccountName: string;
  readonly stubPKCS10Request?: string;
}
const specOf = (request: KubeObject): Spec => request['spec'] as Spec;
const askedFor = (request: KubeObject): string => parseCsr(csrIn(specOf(request).request)).extensions.subjectAltName?.uris[0] ?? '';

interface Mode {
  readonly components: readonly ManifestComponent[];
  readonly resource: RequestResource;
  readonly signer: string;
  readonly uriOf: (request: KubeObject) => string;
  /** Whether the roots come from a ClusterTrustBundle of the signer, not from the mounted ConfigMap. */
  readonly bundle: boolean;
}

const modes = {
  'kubernetes-csr': {
    components: ['pods-cluster-wide', 'upstream-kubernetes-csr'],
    resource: 'certificatesigningrequests',
    signer: 'example.com/workload',
    uriOf: askedFor,
    bundle: false,
  },
  'pod-certificate': {
    components: ['pods-as-node', 'roots-cluster-trust-bundle', 'upstream-pod-certificate'],
    resource: 'podcertificaterequests',
    signer: 'example.com/workload',
    uriOf: (request) => `spiffe://cluster.local/ns/${request.metadata.namespace ?? ''}/sa/${specOf(request).serviceAccountName}`,
    bundle: true,
  },
  'cert-manager': {
    components: ['pods-as-node', 'upstream-cert-manager'],
    resource: 'certificaterequests',
    signer: 'workload-ca',
    uriOf: askedFor,
    bundle: false,
  },
} satisfies Record<string, Mode>;

interface Place {
  readonly node: string;
  readonly signer: RequestSigner;
  readonly agent: ClusterAgent;
  /** Fetches the certificate of an account; gives its URIs and whether the signer signed it. */
  fetch(account: string): Promise<{ readonly uris: readonly string[]; readonly isOfSigner: boolean }>;
  /** The detail of the reason why an account has no certificate, once it is this one. */
  reason(account: string, code: string): Promise<string>;
  pod(account: string): Promise<TestPod>;
}

/** An agent on a node with a pod of the account web, in this mode, with the rights and the configuration that are shipped. */
async function install(t: Test, mode: Mode, decide: RequestSigner['decide']): Promise<Place> {
  const { components, resource, signer: name, uriOf } = mode;
  const scene = await createScene(t);
  const node = await createNode(cluster);
  const pod = (account: string): Promise<TestPod> =>
    createPod(cluster, { namespace, account, node: node.name, phase: 'Running', spec: { automountServiceAccountToken: true } });
  await pod('web');
  const signer = startRequestSigner(scene, cluster, { resource, uriOf, signer: name });
  signer.decide = decide;
  if (mode.bundle) await publishRoots(t, signer, name);
  await installRights(t, cluster, components);
  const agent = await createClusterAgent(scene, cluster, {
    node,
    components,
    caRoots: signer.roots,
    // The agent's own pod has an identity too.
    config: ({ upstream }) => ({
      upstreams: [upstream],
      identities: { select: { namespaces: [namespace] } },
      certificate: { deadline: '2s' },
    }),
  });
  await agent.start();
  const [root] = readCertificates(signer.roots, { source: 'roots' });
  return {
    node: node.name,
    signer,
    agent,
    pod,
    async fetch(account) {
      const { stdout, stderr, code } = await agent.command('fetch', '--socket', agent.socket, '--pem', '--timeout', '60', idOf(account));
      if (code !== 0) throw new Error(`fetch: ${code} ${stderr}`);
      const [leaf] = readCertificates(stdout, { source: 'fetch' });
      return { uris: leaf?.uriSans ?? [], isOfSigner: root !== undefined && leaf?.isSignedBy(root) === true };
    },
    reason: (account, code) =>
      until(`${account} has the reason ${code}`, 60_000, async () => {
        const found = (await agent.identity(idOf(account)))?.reason;
        return found?.code === code && found.detail;
      }),
  };
}

async function publishRoots(t: Test, { roots }: RequestSigner, signerName: string): Promise<void> {
  const name = `${signerName.replace('/', ':')}:root`;
  await createObjects(cluster, [{ kind: 'ClusterTrustBundle', metadata: { name }, spec: { signerName, trustBundle: roots } }]);
  t.teardown(() => cluster.admin.delete(`${trustBundlesPath}/${name}`));
}

async function nothingLeft(t: Test, signer: RequestSigner): Promise<void> {
  await until('nothing is left', 60_000, async () => (await signer.list()).length === 0);
  t.pass('nothing is left');
}

await t.test('kubernetes-csr: as the own account; the approver finds the node beside it', async (t) => {
  const seen: Spec[] = [];
  const place = await install(t, modes['kubernetes-csr'], (request) => {
    seen.push(specOf(request));
    return askedFor(request) === idOf('orders') ? { denied: 'not on this node' } : 'sign';
  });
  t.same(await place.fetch('web'), { uris: [idOf('web')], isOfSigner: true });
  t.match(seen[0], {
    username: `system:serviceaccount:${agentAccount.namespace}:${agentAccount.account}`,
    extra: { 'authentication.kubernetes.io/node-name': [place.node] },
    usages: ['digital signature', 'client auth', 'server auth'],
    expirationSeconds: 86_400,
  });
  await nothingLeft(t, place.signer);

  await place.pod('orders');
  t.match(await place.reason('orders', 'request-denied'), /not on this node/);
  await nothingLeft(t, place.signer);
});

await t.test('kubernetes-csr: never as a node', async (t) => {
  const kubelet = await createNode(cluster);
  const tls = { ca: cluster.roots, cert: kubelet.credential.certificate, key: kubelet.credential.privateKey };
  const credential = createFixedCredential({ server: new URL(cluster.url), tls });
  const client = createKubeClient({ credential, clock: systemClock, metrics: createTestMetrics().metrics });
  t.teardown(() => client.close());
  const kind = createKubernetesCsr({ client, signerName: 'example.com/workload', clock: systemClock });
  const key = await generateKey('ec-p256');
  const id = createSpiffeId('cluster.local', namespace, 'web');
  const request = { id, csr: await createCsr(key, id, 'none'), key, lifetimeMs: 3_600_000 };
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  await t.rejects(kind.create(request, path, { name: 'never', labels: {}, annotations: {} }, never), {
    name: 'SignetError',
    reason: 'request-as-node',
    fields: { user: `system:node:${kubelet.name}` },
  });
});

await t.test('F038 kubernetes-csr: one request however often its answer is awaited in vain; R098 what is never signed', async (t) => {
  let decision: 'ignore' | 'approve' | 'sign' = 'ignore';
  const seen = new Set<string>();
  const place = await install(t, modes['kubernetes-csr'], ({ metadata }) => {
    seen.add(metadata.uid ?? '');
    return decision;
  });
  await place.reason('web', 'request-unanswered');
  const [request] = await place.signer.list();
  const planned = new Set<string | undefined>();
  await until('more attempts', 60_000, async () => {
    for (const { state, nextAttempt } of (await place.agent.status()).identities) if (state === 'unavailable') planned.add(nextAttempt);
    return planned.size >= 3;
  });
  decision = 'sign';
  t.same(await place.fetch('web'), { uris: [idOf('web')], isOfSigner: true });
  t.same([...seen], [request?.metadata.uid], 'one object');
  t.equal(place.signer.signed.length, 1, 'signed once');

  decision = 'approve';
  await place.pod('orders');
  await place.reason('orders', 'request-unsigned');
  t.equal((await place.signer.list()).length, 1, 'it stays for the next attempt');
  t.equal(await place.agent.stop(), 0);
  await nothingLeft(t, place.signer);
});

await t.test(
  'kubernetes-csr: what a killed agent leaves is gone after its next start; a request that is deleted is made anew',
  async (t) => {
    let decision: 'ignore' | 'sign' = 'ignore';
    const place = await install(t, modes['kubernetes-csr'], () => decision);
    const [left] = await until('a request', 60_000, async () => {
      const all = await place.signer.list();
      return all.length > 0 && all;
    });
    await place.agent.kill();
    await place.agent.start();
    await until(
      'the former request is gone',
      60_000,
      async () => !(await place.signer.list()).some(({ metadata }) => metadata.uid === left?.metadata.uid),
    );
    const [fresh] = await until('a new request', 60_000, async () => {
      const all = await place.signer.list();
      return all.length > 0 && all;
    });
    await cluster.admin.delete(`/apis/certificates.k8s.io/v1/certificatesigningrequests/${fresh?.metadata.name ?? ''}`);
    const again = await until('it is made anew', 60_000, async () =>
      (await place.signer.list()).find(({ metadata }) => metadata.uid !== fresh?.metadata.uid),
    );
    t.equal(again.metadata.name, fresh?.metadata.name, 'R101 with the same key');
    decision = 'sign';
    t.match(await place.fetch('web'), { uris: [idOf('web')] });
    await nothingLeft(t, place.signer);
  },
);

await t.test('pod-certificate: as the node, for the pods of that node', needs('impersonation'), async (t) => {
  const place = await install(t, modes['pod-certificate'], (request) =>
    specOf(request).serviceAccountName === 'orders' ? { failed: 'out of serial numbers' } : 'sign',
  );
  t.same(await place.fetch('web'), { uris: [idOf('web')], isOfSigner: true });
  const [request] = await place.signer.list();
  t.match(specOf(request as KubeObject), { nodeName: place.node, podName: /^web-/, maxExpirationSeconds: 86_400 });
  if (kubernetes.podCertificates === 'v1') {
    const { stubPKCS10Request = '' } = specOf(request as KubeObject);
    const csr = parseCsr(Buffer.from(stubPKCS10Request, 'base64'));
    t.equal(csr.extensions.subjectAltName, undefined, 'which names nobody');
  }

  const pod = await place.pod('orders');
  t.match(await place.reason('orders', 'request-failed'), /out of serial numbers/);
  await deletePod(cluster, pod);
});

await t.test('cert-manager: as the workload', needs('impersonation'), async (t) => {
  await applyCertificateRequests(cluster);
  const seen: string[] = [];
  const place = await install(t, modes['cert-manager'], (request) => {
    seen.push(specOf(request).username);
    return askedFor(request) === idOf('orders') ? { denied: 'no such identity' } : 'sign';
  });
  t.same(await place.fetch('web'), { uris: [idOf('web')], isOfSigner: true });
  t.same(seen, [`system:serviceaccount:${namespace}:web`], 'which is written beside the request');
  await nothingLeft(t, place.signer);
  await place.pod('orders');
  t.match(await place.reason('orders', 'request-denied'), /no such identity/);
  await nothingLeft(t, place.signer);
});
