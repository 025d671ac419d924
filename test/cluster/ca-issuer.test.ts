// The issuer of the CA on a real API server: replicas that start at once, adoption from istiod, roots in every namespace, and a
// rotation that is killed between its steps. The CA acts with the rights of packaging/kustomize, and no others.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import type { ClusterIssuer, ClusterIssuerOptions } from '../../agent/authority/cluster-issuer.js';
import { openClusterIssuer } from '../../agent/authority/cluster-issuer.js';
import { requestRotation } from '../../agent/authority/rotator.js';
import type { KubeClient } from '../../agent/kube/client.js';
import { createKubeClient } from '../../agent/kube/client.js';
import type { PatchOperation } from '../../agent/kube/objects.js';
import { patchObject } from '../../agent/kube/objects.js';
import { systemClock } from '../../agent/runtime/time.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { formatCertificates, readCertificates } from '../../agent/x509/pem.js';
import type { CaReplicaLine, CaReplicaSettings } from '../fixtures/ca-replica.js';
import type { Child } from '../fixtures/child.js';
import { startChild } from '../fixtures/child.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import {
  apiServerAudience,
  createAccount,
  createNamespace,
  createNode,
  createPod,
  createToken,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { kubernetes } from '../fixtures/cluster-version.js';
import { createFixedCredential } from '../fixtures/kube.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { applyManifests, caComponents, readCaComponents, removeRights } from '../fixtures/manifests.js';
import { createTestAuthorityMetrics } from '../fixtures/metrics.js';
import { createScene } from '../fixtures/scene.js';
import { pause, stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const never = new AbortController().signal;
const account = { namespace: 'signet-system', account: 'signet-ca' };

/** The rights that are shipped, given to their account. */
async function install(): Promise<string> {
  for (const name of [account.namespace, 'istio-system'])
    await cluster.admin.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  await createAccount(cluster, account.namespace, account.account);
  // Their patches are of a Deployment that is not here.
  const manifests = { objects: readCaComponents(caComponents).objects, patches: [] };
  await applyManifests(cluster, manifests);
  // Policies among them would refuse requests of other suites.
  t.teardown(() => removeRights(cluster, manifests));
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { ...account, node: node.name, phase: 'Running' });
  return await createToken(cluster, { ...account, audience: apiServerAudience, pod, seconds: 3_600 });
}

const token = await install();
const { metrics } = createTestAuthorityMetrics();

interface Replica extends ClusterIssuer {
  stop(): Promise<void>;
}

function clientOf(bearer: string): KubeClient {
  return createKubeClient({
    credential: createFixedCredential({ server: new URL(cluster.url), tls: { ca: cluster.roots }, authorization: `Bearer ${bearer}` }),
    clock: systemClock,
    metrics,
  });
}

async function startReplica(t: Test, holder: string, more: Partial<ClusterIssuerOptions> = {}): Promise<Replica> {
  const client = clientOf(token);
  const log = createRecordingLogger();
  const options: ClusterIssuerOptions = {
    client,
    namespace: account.namespace,
    name: 'signet-ca-issuer',
    trustDomain: 'example.org',
    leafLifetimeMs: 3_600_000,
    holder,
    lease: { namespace: account.namespace, name: 'signet-ca' },
    configMaps: ['signet-ca-root'],
    selects: (namespace) => namespace.startsWith('shop'),
    servingSecrets: [],
    clock: systemClock,
    log,
    metrics,
    ...more,
  };
  const issuer = await openClusterIssuer(options, never);
  const controller = new AbortController();
  const running = issuer.run(controller.signal);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    controller.abort();
    stopped ??= running.then(() => client.close());
    return stopped;
  };
  t.teardown(async () => {
    await stop();
    if (!t.passing()) for (const line of log.lines) process.stderr.write(`${JSON.stringify(line)}\n`);
  });
  return { ...issuer, stop };
}

const secretPath = '/api/v1/namespaces/signet-system/secrets/signet-ca-issuer';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca';
const bundles = `/apis/certificates.k8s.io/${kubernetes.trustBundles}/clustertrustbundles`;
const configMapPath = (namespace: string, name = 'signet-ca-root'): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`;

/** Decoded, by name. */
async function readSecret(path: string): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await cluster.admin.get<{ data?: Readonly<Record<string, string>> }>(path);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]));
}

async function rootsIn(path: string): Promise<string | undefined> {
  const { status, body } = await cluster.admin.send<{ data?: Readonly<Record<string, string>> }>({ method: 'GET', path });
  return status === 200 ? body.data?.['root-cert.pem'] : undefined;
}

await t.test('two replicas that start at once agree on one issuer', async (t) => {
  const [a, b] = await Promise.all([startReplica(t, 'a'), startReplica(t, 'b')]);
  t.equal(a.issuer.value.certificate.fingerprint, b.issuer.value.certificate.fingerprint);
  const { 'tls.crt': certificate } = await readSecret(secretPath);
  t.equal(certificate, formatCertificates([a.issuer.value.certificate]));
});

await t.test('the roots are in each namespace and in a ClusterTrustBundle, and stay as they are', async (t) => {
  const { roots, degradations } = await startReplica(t, 'a', {
    configMaps: ['signet-ca-root', 'istio-ca-root-cert'],
    clusterTrustBundle: { name: 'signet-ca-root' },
  });
  const expected = formatCertificates(roots.value);
  const settle = (what: string, path: string): Promise<boolean> => until(what, 60_000, async () => (await rootsIn(path)) === expected, 5);
  const namespace = await createNamespace(cluster, 'shop');
  const elapsed = stopwatch();
  await settle('roots in a new namespace', configMapPath(namespace));
  t.comment(`a new namespace has them after ${Math.round(elapsed())} ms`);
  await settle('under the name that Istio knows', configMapPath(namespace, 'istio-ca-root-cert'));
  const bundle = await until('the bundle', 60_000, () => cluster.admin.get(`${bundles}/signet-ca-root`));
  t.match(bundle, { spec: { trustBundle: expected } });

  await pause(1_000);
  await cluster.admin.patch(configMapPath(namespace), { data: { 'root-cert.pem': 'theirs', 'other': 'kept' } });
  await settle('an edit is undone', configMapPath(namespace));
  t.match(await cluster.admin.get(configMapPath(namespace)), { data: { other: 'kept' } });
  await pause(2_000);
  await cluster.admin.delete(configMapPath(namespace));
  await settle('a removal is undone', configMapPath(namespace));
  t.same([...degradations.values()].map(({ value }) => value).filter(Boolean), []);
});

await t.test('the rights are for those objects only', async (t) => {
  const client = cluster.client({ token });
  const namespace = await createNamespace(cluster, 'rights');
  const statusOf = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<number> =>
    (await client.send({ method, path, body, headers: body === undefined ? {} : { 'content-type': 'application/json' } })).status;
  const apply = async (path: string, object: unknown): Promise<number> => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    return (await client.send({ method: 'PATCH', path: `${path}?fieldManager=test`, body: object, headers })).status;
  };
  const secret = (name: string): unknown => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque' });
  const map = (name: string): unknown => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const refused: readonly (readonly [string, Promise<number>])[] = [
    ['read secrets', statusOf('GET', '/api/v1/namespaces/signet-system/secrets')],
    ['read another secret', statusOf('GET', '/api/v1/namespaces/signet-system/secrets/other')],
    ['delete its secret', statusOf('DELETE', secretPath)],
    ['post a secret, which may be a token of any account', statusOf('POST', '/api/v1/namespaces/signet-system/secrets', secret('other'))],
    ['apply another secret', apply('/api/v1/namespaces/signet-system/secrets/other', secret('other'))],
    ['apply its secret elsewhere', apply(`/api/v1/namespaces/${namespace}/secrets/signet-ca-issuer`, secret('signet-ca-issuer'))],
    ['read ConfigMaps', statusOf('GET', `/api/v1/namespaces/${namespace}/configmaps`)],
    ['apply another ConfigMap', apply(configMapPath(namespace, 'other'), map('other'))],
    ['post a ConfigMap', statusOf('POST', `/api/v1/namespaces/${namespace}/configmaps`, map('other'))],
    ['read another Lease', statusOf('GET', '/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/other')],
    [
      'apply another bundle',
      apply(`${bundles}/other`, {
        apiVersion: `certificates.k8s.io/${kubernetes.trustBundles}`,
        kind: 'ClusterTrustBundle',
        metadata: { name: 'other' },
        spec: { trustBundle: 'x' },
      }),
    ],
    ['read pods', statusOf('GET', '/api/v1/pods')],
  ];
  for (const [what, status] of refused) t.equal(await status, 403, `may not ${what}`);
});

await t.test('a patch of a version that is no more is a conflict, also where an operation does not fit what is there now', async (t) => {
  const client = clientOf(cluster.adminToken);
  t.teardown(() => client.close());
  const name = uniqueName('patched');
  const secrets = `/api/v1/namespaces/${account.namespace}/secrets`;
  const { metadata } = await cluster.admin.post<KubeObject>(secrets, { metadata: { name }, data: { old: 'eA==', kept: 'eA==' } });
  const patch = (version: string | undefined, operation: PatchOperation): Promise<unknown> =>
    patchObject(client, { path: `${secrets}/${name}`, version: version ?? '', operations: [operation] }, never);
  const move: PatchOperation = { op: 'move', from: '/data/old', path: '/data/new' };
  const moved = (await patch(metadata.resourceVersion, move)) as KubeObject;
  for (const operation of [move, { op: 'remove', path: '/data/old' }, { op: 'remove', path: '/data/kept' }] as const)
    await t.rejects(patch(metadata.resourceVersion, operation), { name: 'SignetError', kind: 'conflict' }, JSON.stringify(operation));
  await t.rejects(patch(moved.metadata.resourceVersion, move), { name: 'SignetError', kind: 'invalid' }, 'of the version that is there');
});

await t.test("istiod's own issuer is adopted, and istiod gets it back", async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster);
  await istiod.stop();
  const namespace = await createNamespace(cluster, 'shop');
  const hosts = ['istiod.istio-system.svc'];
  const { issuer, roots, stop, degradations } = await startReplica(t, 'a', {
    namespace: 'istio-system',
    name: 'istio-ca-secret',
    configMaps: ['istio-ca-root-cert', 'signet-ca-root'],
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts }],
  });
  t.equal(
    formatCertificates(roots.value),
    formatCertificates(readCertificates(istiod.roots, { source: 'istiod' })),
    'the root is the same',
  );
  await until(
    'roots',
    60_000,
    async () => (await rootsIn(configMapPath(namespace, 'istio-ca-root-cert'))) === formatCertificates(roots.value),
  );
  const serving = await until('a serving certificate', 60_000, () => readSecret('/api/v1/namespaces/istio-system/secrets/istiod-tls'));
  const [leaf] = readCertificates(serving['tls.crt'] ?? '', { source: 'istiod-tls' });
  t.ok(leaf?.isSignedBy(issuer.value.certificate));
  t.same([...degradations.values()].map(({ value }) => value).filter(Boolean), []);

  const scene = await createScene(t);
  const file = (name: string): string => join(scene.directory, name);
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) writeFileSync(file(name), serving[name] ?? '');
  const xdsOnly = await startIstiod(scene, cluster, {
    name: 'xds-only',
    flags: [`--tlsCertFile=${file('tls.crt')}`, `--tlsKeyFile=${file('tls.key')}`, `--caCertFile=${file('ca.crt')}`],
    environment: { ENABLE_CA_SERVER: 'false' },
  });
  const served = await handshake(xdsOnly.port(), formatCertificates(roots.value), hosts[0] ?? '');
  t.equal(served, leaf?.fingerprint, 'an istiod without a CA serves with it');
  await xdsOnly.stop();

  await stop();
  await istiod.start();
  const { 'ca-cert.pem': after = '' } = await readSecret('/api/v1/namespaces/istio-system/secrets/istio-ca-secret');
  t.equal(after, istiod.roots, 'istiod goes on with it');
});

/** The fingerprint of the certificate that a server shows, verified by roots and name. */
async function handshake(port: number, roots: string, servername: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca: roots, servername, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase();
  } finally {
    socket.destroy();
  }
}

/** A process of test/fixtures/ca-replica.ts. */
function startProcess(t: Test, settings: Omit<CaReplicaSettings, 'url' | 'roots' | 'token'>, onLine: (line: CaReplicaLine) => void): Child {
  let rest = '';
  const child = startChild({
    name: settings.holder,
    command: process.execPath,
    args: [
      join(import.meta.dirname, '../fixtures/ca-replica.js'),
      JSON.stringify({ ...settings, url: cluster.url, roots: cluster.roots, token } satisfies CaReplicaSettings),
    ],
    onOutput(chunk) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(JSON.parse(line) as CaReplicaLine);
    },
  });
  t.teardown(async () => {
    await child.stop('SIGKILL');
    if (!t.passing()) process.stderr.write(`--- ${child.name}\n${child.tail().slice(-3_000)}\n`);
  });
  return child;
}

await t.test('a rotation whose leader is killed after each step breaks nothing', async (t) => {
  const namespace = await createNamespace(cluster, 'shop');
  const leafLifetimeMs = 6_000;
  // What earlier tests noted would make this rotation wait for hours.
  for (const path of [secretPath, leasePath]) await cluster.admin.delete(path);
  const leaves: Certificate[] = [];
  /** What clients trust who learned it with a certificate, and when each of them learns anew: at half of its life. */
  const clients: { roots: readonly Certificate[]; until: number }[] = [];
  const faults: string[] = [];
  const knows = (roots: readonly Certificate[], leaf: Certificate): boolean => roots.some((root) => leaf.isSignedBy(root));
  const onLine = ({ leaf: pem, roots: rootsPem }: CaReplicaLine): void => {
    const now = systemClock.now();
    const [leaf] = readCertificates(pem, { source: 'leaf' });
    const roots = readCertificates(rootsPem, { source: 'roots' });
    if (leaf === undefined) return;
    for (const client of clients.filter(({ until: end }) => end > now))
      if (!knows(client.roots, leaf)) faults.push('a client does not know the issuer');
    leaves.push(leaf);
    clients.push({ roots, until: now + leafLifetimeMs / 2 });
    if (clients.length > 100) clients.splice(0, 50);
  };
  let started = 0;
  const replicas = new Map<string, Child>();
  const add = (): void => {
    started += 1;
    const holder = `replica-${started}`;
    replicas.set(holder, startProcess(t, { holder, selects: namespace, leafLifetimeMs, lagMs: 10_000 }, onLine));
  };
  const killLeader = async (): Promise<void> => {
    const lease = await cluster.admin.get<{ spec: { holderIdentity: string } }>(leasePath);
    const leader = replicas.get(lease.spec.holderIdentity);
    if (leader === undefined) return;
    replicas.delete(lease.spec.holderIdentity);
    await leader.stop('SIGKILL');
    add();
  };
  const look = async (): Promise<{ step: string; root: string; roots: Certificate[] }> => {
    const secret = await readSecret(secretPath);
    const state = JSON.parse(secret['signet.json'] ?? '{}') as {
      next?: { publishedAt?: string };
      former?: unknown[];
      requested?: boolean;
      noted?: string;
    };
    const { next, former = [], requested = false, noted } = state;
    const step = requested
      ? 'requested'
      : next !== undefined
        ? next.publishedAt === undefined
          ? 'prepared'
          : 'confirmed'
        : noted !== secret['ca.crt']
          ? 'switched'
          : former.length > 0
            ? 'noted'
            : 'steady';
    const roots = readCertificates((await rootsIn(configMapPath(namespace))) ?? '', { source: 'targets' });
    const now = systemClock.now();
    const living = leaves.filter(({ notAfter }) => notAfter > now);
    if (living.some((leaf) => !knows(roots, leaf))) faults.push(`a target does not know the issuer of a leaf (${step})`);
    return { step, root: secret['tls.crt'] ?? '', roots };
  };

  add();
  add();
  await until(
    'both sign, and the roots are there',
    60_000,
    async () => leaves.length > 10 && (await rootsIn(configMapPath(namespace))) !== undefined,
  );
  const before = (await look()).root;
  await requestRotation(
    { client: clientOf(token), namespace: account.namespace, name: 'signet-ca-issuer', clock: systemClock },
    { begin: true },
    never,
  );
  const seen: string[] = [];
  const elapsed = stopwatch();
  await until('the rotation ends', 300_000, async () => {
    const { step, root, roots } = await look();
    if (seen.at(-1) !== step) {
      seen.push(step);
      await killLeader();
    }
    return step === 'steady' && root !== before && roots.length === 1;
  });
  t.comment(`${seen.join(', ')} in ${Math.round(elapsed())} ms, ${leaves.length} leaves, ${started - 2} replicas killed`);
  t.same(faults, []);
  t.ok(started > 4, 'leaders were killed');
  t.equal(new Set(leaves.map(({ authorityKeyId }) => authorityKeyId)).size, 2, 'two issuers in all: none was lost, none came beside');
  const after = (await look()).root;
  await until('all sign with the new one', 60_000, () =>
    leaves.slice(-10).every((leaf) => leaf.isSignedBy(readCertificates(after, { source: '' })[0] as Certificate)),
  );
});
