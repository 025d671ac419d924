// The self-check of the agent against a real API server and istiods, with the rights of the shipped manifests: nothing is said
// where nothing is missing, and each right, token, root and address that is taken away is named in one line. See suites.md.

import { once } from 'node:events';
import { connect } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createReachCheck } from '../../agent/ca/reach.js';
import type { Config, PodSourceSettings, RootSourceSettings, Upstream } from '../../agent/config.js';
import { accessWith } from '../../agent/kube/access.js';
import type { KubeAccess } from '../../agent/kube/access.js';
import { createInClusterCredential } from '../../agent/kube/credentials.js';
import { createKubeconfigCredential } from '../../agent/kube/kubeconfig.js';
import { systemClock } from '../../agent/runtime/time.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createCertificateMethod } from '../../agent/istio-wire.js';
import { createKubeSelfChecks } from '../../agent/kube-needs.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { readCertificates } from '../../agent/x509/pem.js';
import type { Cluster } from '../fixtures/cluster.js';
import { sharedCluster, startControlPlane } from '../fixtures/cluster.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { createProjectedVolume, writeKubeconfig } from '../fixtures/cluster-credentials.js';
import type { Istiod } from '../fixtures/cluster-istiod.js';
import { startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import { apiServerAudience, collectionPath, createNode, createToken } from '../fixtures/cluster-objects.js';
import type { TestNode, TestPod } from '../fixtures/cluster-objects.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { kubernetes, needs } from '../fixtures/cluster-version.js';
import type { ManifestComponent, Manifests } from '../fixtures/manifests.js';
import { agentAccount, applyManifests, caAudience, createAgentPod, readManifests, removeRights } from '../fixtures/manifests.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { createRoot, dayMs } from '../fixtures/pki.js';
import { createFakePodSource } from '../fixtures/pods.js';
import { createScene } from '../fixtures/scene.js';
import type { SelfCheckScene } from '../fixtures/self-check.js';
import { runSelfCheck } from '../fixtures/self-check.js';
import { createTestToken } from '../fixtures/tokens.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const services = () => ({ clock: systemClock, log: createRecordingLogger(), metrics: createTestMetrics().metrics });
const user = `system:serviceaccount:${agentAccount.namespace}:${agentAccount.account}`;

interface Installed {
  readonly manifests: Manifests;
  readonly node: TestNode;
  readonly pod: TestPod;
  /** Replaces the token for the API server. */
  publish(token: string, ca?: string): void;
  readonly kube: KubeAccess;
  /** Access that has read nothing yet. */
  connect(): KubeAccess;
}

/** An agent in a pod, with the rights of these components until the test ends. */
async function install(t: Test, components: readonly ManifestComponent[], on: Cluster = cluster): Promise<Installed> {
  const manifests = readManifests(components);
  await applyManifests(on, manifests);
  // One of its own ends with its test.
  if (on === cluster) t.teardown(() => removeRights(on, manifests));
  const node = await createNode(on);
  const { pod, apiToken } = await createAgentPod(on, node.name);
  const volume = createProjectedVolume(join(t.testdir({}), 'account'), { 'token': apiToken, 'ca.crt': on.roots });
  const files = { tokenFile: join(volume.directory, 'token'), caFile: join(volume.directory, 'ca.crt') };
  const connect = (): KubeAccess =>
    accessWith(createInClusterCredential({ server: new URL(on.url), ...files, ...services() }), { node: node.name, ...services() });
  const publish = (token: string, ca = on.roots): void => volume.publish({ 'token': token, 'ca.crt': ca });
  return { manifests, node, pod, kube: connect(), connect, publish };
}

interface Needs {
  readonly pods?: PodSourceSettings;
  readonly roots?: RootSourceSettings;
  readonly auth?: 'node' | 'workload';
  readonly node?: string;
  readonly tokensAs?: 'node' | 'own';
  readonly namespaces?: boolean;
}

function checkOf(t: Test, { kube, node }: Pick<Installed, 'kube' | 'node'>, needs: Needs): SelfCheckScene {
  const { pods = { kind: 'file', path: '/pods.yaml' }, roots = { kind: 'file', path: '/roots.pem' }, auth = 'node' } = needs;
  const upstream: Upstream = {
    kind: 'istio',
    endpoints: [],
    tls: { roots: { kind: 'file', path: '/roots.pem' } },
    auth,
    audience: caAudience,
  };
  const config = {
    node: needs.node ?? node.name,
    pods: { sources: [pods], kubelet: { address: { host: '127.0.0.1', port: 1 } }, namespaces: needs.namespaces ?? false, lingerMs: 0 },
    trustBundle: { sources: [roots] },
    upstreams: [upstream],
  } satisfies Pick<Config, 'node' | 'pods' | 'trustBundle' | 'upstreams'>;
  const podSources = [createFakePodSource()];
  return runSelfCheck(t, createKubeSelfChecks({ config, kube, podSources, tokensAs: needs.tokensAs ?? 'node', clock: systemClock }));
}

/** Nothing is said, once the rights are known to the authorizer. */
async function findsNothing(t: Test, scene: SelfCheckScene): Promise<void> {
  await until('nothing is missing', 60_000, async () => (await scene.look(), Object.keys(scene.faults()).length === 0), 200);
  t.same(await scene.look(), [], 'nothing is said');
}

interface Expected {
  readonly check: string;
  readonly reason: string;
  readonly detail: RegExp;
}

/** One line, and one more when it is gone. */
async function findsOne(t: Test, scene: SelfCheckScene, expected: Expected, mend: () => unknown): Promise<void> {
  const { check, reason } = expected;
  const lines = await until(`a line about ${check}`, 60_000, async () => {
    const found = await scene.look();
    return found.length > 0 && found;
  });
  t.match(lines, [{ level: 'warn', message: 'self-check found a fault', fields: expected }], `${check}: ${reason}`);
  t.equal(lines.length, 1, 'one line');
  t.match(lines[0]?.fields, { sentence: /\.$/, action: /\.$/ });
  t.comment(lines[0]?.fields['detail']);
  t.same(await scene.look(), [], 'once');
  await mend();
  const gone = await until('it is gone', 60_000, async () => {
    const found = await scene.look();
    return found.length > 0 && found;
  });
  t.match(gone, [{ level: 'info', message: 'self-check: a fault is gone', fields: { check, reason } }]);
  t.equal(gone.length, 1);
}

interface Role extends KubeObject {
  readonly rules: readonly { readonly verbs: readonly string[] }[];
}

/** Takes a verb out of a role of the manifests; gives the way back. */
async function withoutVerb({ manifests: { objects } }: Installed, name: string, verb: string): Promise<() => Promise<unknown>> {
  const role = objects.find(({ kind = '', metadata }) => /^(?:Cluster)?Role$/.test(kind) && metadata.name === name) as Role | undefined;
  if (role === undefined) throw new Error(`no role ${name}`);
  const path = `${collectionPath(role)}/${name}`;
  await cluster.admin.patch(path, {
    rules: role.rules.map((rule) => ({ ...rule, verbs: [...rule.verbs.filter((each) => each !== verb), 'none'] })),
  });
  return () => cluster.admin.patch(path, { rules: role.rules });
}

await t.test(
  'pods and tokens as the node: nothing is said when all is granted, and each right that is missing is named',
  needs('impersonation'),
  async (t) => {
    const installed = await install(t, ['pods-as-node', 'workload-tokens']);
    const scene = checkOf(t, installed, { pods: { kind: 'apiserver', as: 'node' }, auth: 'workload' });
    await findsNothing(t, scene);
    const denied = 'node-impersonation-denied';
    const as = (verb: string): string => `impersonate-on:associated-node:${verb}`;
    for (const [role, verb, check, reason] of [
      ['signet-agent-as-node', 'impersonate:associated-node', 'acting as the node', denied],
      ['signet-agent-as-node-pods', as('list'), 'pods as the node', denied],
      ['signet-agent-as-node-pods', as('watch'), 'pods as the node', denied],
      ['signet-agent-as-node-tokens', as('create'), 'tokens for istio-ca', denied],
      ['signet-ca-audience', 'request-serviceaccounts-token-audience', 'tokens for istio-ca', 'token-audience-denied'],
    ] as const) {
      const mend = await withoutVerb(installed, role, verb);
      await findsOne(
        t,
        scene,
        { check, reason, detail: new RegExp(`lacks \\{apiGroups: .*, verbs: \\['${verb}'\\]\\} in a ClusterRole$`) },
        mend,
      );
    }
  },
);

await t.test('rights of the account itself', async (t) => {
  const wide = await install(t, ['pods-cluster-wide']);
  const scene = checkOf(t, wide, { pods: { kind: 'apiserver' } });
  await findsNothing(t, scene);
  const detail = (rule: string, role = 'a ClusterRole') => new RegExp(`^${user} lacks \\{${rule}\\} in ${role}$`);
  const noWatch = await withoutVerb(wide, 'signet-agent-pods', 'watch');
  const pods = "apiGroups: \\[''\\], resources: \\[pods\\], verbs: \\['watch'\\]";
  await findsOne(t, scene, { check: 'pods', reason: 'kube-denied', detail: detail(pods) }, noWatch);

  const kubelet = await install(t, ['pods-kubelet']);
  const ofKubelet = checkOf(t, kubelet, { pods: { kind: 'kubelet' } });
  await findsNothing(t, ofKubelet);
  const noGet = await withoutVerb(kubelet, 'signet-agent-kubelet-pods', 'get');
  await findsOne(t, ofKubelet, { check: 'pods of the kubelet', reason: 'kube-denied', detail: /resources: \[nodes\/pods\].*'get'/ }, noGet);

  const roots = await install(t, ['roots-configmap', 'roots-cluster-trust-bundle', 'namespaces']);
  const configMap = { kind: 'configmap', namespace: agentAccount.namespace, name: 'istio-ca-root-cert' } as const;
  const ofRoots = checkOf(t, roots, { roots: configMap, namespaces: true });
  await findsNothing(t, ofRoots);
  const noList = await withoutVerb(roots, 'signet-agent-roots', 'list');
  const rule = "apiGroups: \\[''\\], resources: \\[configmaps\\], resourceNames: \\[istio-ca-root-cert\\], verbs: \\['list'\\]";
  const expected = { reason: 'kube-denied', detail: detail(rule, 'a Role in signet-system') };
  await findsOne(t, ofRoots, { check: 'configmap signet-system/istio-ca-root-cert', ...expected }, noList);
  const noNamespaces = await withoutVerb(roots, 'signet-agent-namespaces', 'list');
  await findsOne(t, ofRoots, { check: 'namespaces', reason: 'kube-denied', detail: /\[namespaces\], verbs: \['list'\]/ }, noNamespaces);
  await findsNothing(t, checkOf(t, roots, { roots: { kind: 'cluster-trust-bundle', signerName: 'signet.test/ca' } }));
});

await t.test('the token for the API server, its root, and the node', needs('impersonation'), async (t) => {
  const installed = await install(t, ['pods-as-node']);
  const { publish, connect, pod, node } = installed;
  const token = (more: { audience?: string; pod?: TestPod } = { pod }): Promise<string> =>
    createToken(cluster, { ...agentAccount, audience: apiServerAudience, ...more });
  const good = await token();
  const check = 'api server';
  for (const [expected, wrong, roots] of [
    [{ check, reason: 'kube-unauthenticated', detail: /the token is for istio-ca, until 20/ }, await token({ audience: 'istio-ca', pod })],
    [{ check, reason: 'kube-token-expired', detail: /tokenFile/ }, createTestToken({ expiresAt: systemClock.now() - 1_000 })],
    [{ check, reason: 'kube-tls', detail: /unable|certificate/ }, good, createRoot().pem.toString()],
    [{ check: 'acting as the node', reason: 'node-mismatch', detail: /bound to no pod/ }, await token({})],
  ] as const) {
    publish(wrong, roots);
    const scene = checkOf(t, { ...installed, kube: connect() }, { pods: { kind: 'apiserver', as: 'node' } });
    await findsOne(t, scene, expected, () => publish(good));
  }
  publish(good);

  const elsewhere = checkOf(t, { ...installed, kube: connect() }, { pods: { kind: 'apiserver', as: 'node' }, node: 'node-elsewhere' });
  t.match(await elsewhere.look(), [{ fields: { check, reason: 'node-mismatch', detail: new RegExp(`is of ${node.name}$`) } }]);
});

await t.test('with the kubeconfig of a kubelet', async (t) => {
  const node = await createNode(cluster);
  const path = writeKubeconfig(join(t.testdir({}), 'kubeconfig'), cluster, node.credential);
  const kube = accessWith(createKubeconfigCredential({ path, ...services() }), { node: node.name, ...services() });
  const wanted: Needs = { pods: { kind: 'apiserver' }, auth: 'workload', tokensAs: 'own' };
  await findsNothing(t, checkOf(t, { kube, node }, wanted));
  const elsewhere = checkOf(t, { kube, node }, { ...wanted, node: 'node-elsewhere' });
  await elsewhere.look();
  t.same(elsewhere.faults(), { 'api server': 'node-mismatch', 'pods': 'kube-denied' });
});

await t.test('an API server that lets nobody act as a node says so, with its version; one that is gone is named', async (t) => {
  const apiServerFlags = kubernetes.impersonation ? ['--feature-gates=ConstrainedImpersonation=false'] : [];
  const old = await startControlPlane(await createScene(t), { apiServerFlags });
  const installed = await install(t, ['pods-as-node', 'workload-tokens'], old);
  const scene = checkOf(t, installed, { pods: { kind: 'apiserver', as: 'node' }, auth: 'workload' });
  await until(
    'it is found',
    60_000,
    async () => (await scene.look(), scene.faults()['acting as the node'] === 'node-impersonation-missing'),
  );
  t.same(scene.faults(), { 'acting as the node': 'node-impersonation-missing' });
  t.match(scene.log.lines.at(-1)?.fields['detail'], /has the rights to act as node-.*, in v1\.\d+\.\d+/);
  await old.stopApiServer();
  t.match(await scene.look(), [{ fields: { check: 'api server', reason: 'kube-unavailable', detail: /ECONNREFUSED/ } }], 'one line');
});

await t.test('a CA: reached, of an unknown root, under another name, gone', async (t) => {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  const istiod = await startIstiod(scene, cluster, { caDirectory });
  const rootsOf = (pem: string): readonly Certificate[] => readCertificates(pem, { source: 'roots' });
  const tlsRoots = new WatchedValue<readonly Certificate[] | undefined>(rootsOf(istiod.roots));
  const endpoint = { host: 'localhost', port: istiod.port() };
  const check = `istio localhost:${endpoint.port}`;
  const checks = runSelfCheck(t, [createReachCheck({ name: 'istio', endpoint, tlsRoots, clock: systemClock })]);
  t.same(await checks.look(), [], 'nothing is said');
  t.equal((await answerHeaders(istiod)).date, undefined, 'istiod says no time that could be compared');

  const now = systemClock.now();
  tlsRoots.set([createRoot({ notBefore: now - dayMs, notAfter: now + dayMs }).certificate]);
  const mend = (): void => tlsRoots.set(rootsOf(istiod.roots));
  await findsOne(t, checks, { check, reason: 'ca-root-unknown', detail: /verify the certificate of the ca/ }, mend);
  await istiod.stop();
  await findsOne(t, checks, { check, reason: 'ca-unavailable', detail: /ECONNREFUSED/ }, () => istiod.start());
  const other = runSelfCheck(t, [
    createReachCheck({ name: 'istio', endpoint, serverName: 'ca.example.org', tlsRoots, clock: systemClock }),
  ]);
  t.match(await other.look(), [{ fields: { reason: 'ca-name-mismatch', action: /serverName/ } }]);
});

/** Headers of what the CA service answers to a call without a token. */
async function answerHeaders(istiod: Istiod): Promise<IncomingHttpHeaders> {
  const session = connect(`https://localhost:${istiod.port()}`, { ca: istiod.roots });
  const { path } = createCertificateMethod;
  const call = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', 'te': 'trailers' });
  call.end(Buffer.alloc(5));
  const [headers] = (await once(call, 'response')) as [IncomingHttpHeaders];
  t.comment(headers);
  session.destroy();
  return headers;
}
