// A mesh changes its CA from istiod to `signet ca` and back, as docs/ca-istio.md says: nobody sees another root, and each
// certificate verifies for all others.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { createKubeClient } from '../../agent/kube/client.js';
import { createReflector } from '../../agent/kube/reflector.js';
import { systemClock } from '../../agent/runtime/time.js';
import { countClusters } from '../fixtures/ads.js';
import type { CaInstallation } from '../fixtures/ca-installation.js';
import { installCa, untilReady } from '../fixtures/ca-installation.js';
import type { IstiodOptions } from '../fixtures/cluster-istiod.js';
import { istioAudience, istiodHost, startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createObjects, createPod, createToken } from '../fixtures/cluster-objects.js';
import type { Cluster } from '../fixtures/cluster.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { IstioAgentSecret } from '../fixtures/istio-agent.js';
import { askAsIstioAgent } from '../fixtures/istio-agent.js';
import { createFixedCredential } from '../fixtures/kube.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { issuerComponents } from '../fixtures/manifests.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { opensslVerify } from '../fixtures/openssl.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const rootsKey = 'root-cert.pem';
const servingPath = '/api/v1/namespaces/istio-system/secrets/istiod-tls';

interface Server {
  readonly what: 'istiod' | 'signet ca';
  readonly port: number;
}

interface Mesh {
  /** PEM that proxies of the namespace mount as their roots. Default: that of the pod. */
  roots(namespace?: string): Promise<string>;
  /** Every content that those of the pod have from now on, as a watch brings it. */
  followRoots(t: Test): ReadonlySet<string>;
  /** A certificate for the pod, which joins those before: each of them verifies by the roots that came with each other. */
  certify(t: Test, ca: Server): Promise<void>;
  /** How many clusters the pod's proxy gets from this istiod. */
  clusters(port: number): Promise<number>;
}

async function createMesh(scene: Scene, cluster: Cluster): Promise<Mesh> {
  const namespace = await createNamespace(cluster, 'mesh');
  await createAccount(cluster, namespace, 'web');
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running' });
  const identity = `spiffe://cluster.local/ns/${namespace}/sa/web`;
  const token = await createToken(cluster, { namespace, account: 'web', audience: istioAudience, pod, seconds: 7_200 });
  const secrets: IstioAgentSecret[] = [];
  const roots = (of = namespace): Promise<string> =>
    until(`the roots of ${of}`, 60_000, async () => {
      const path = `/api/v1/namespaces/${of}/configmaps/istio-ca-root-cert`;
      return (await readData(cluster, path))?.[rootsKey];
    });
  return {
    roots,
    followRoots: (t) => followRoots(t, cluster, namespace),
    async certify(t, { what, port }) {
      const caName = what === 'istiod' ? istiodHost : 'signet-ca.signet-system.svc';
      const secret = await askAsIstioAgent(scene.directory, { port, caName, caRoots: await roots(), token, identity });
      secrets.push(secret);
      const now = systemClock.now();
      const results = secrets.flatMap(({ chain, roots: known }) => [
        opensslVerify(chain, secret.roots, now),
        opensslVerify(secret.chain, known, now),
      ]);
      const faults = results.map(({ output }) => output).join('');
      t.ok(
        results.every(({ ok }) => ok),
        `a certificate of ${what} and the ${secrets.length - 1} before verify each other${faults}`,
      );
    },
    clusters: async (port) => countClusters({ port, roots: await roots(), token, pod }),
  };
}

/** Of a ConfigMap; undefined while it is not there. */
async function readData({ admin }: Cluster, path: string): Promise<Readonly<Record<string, string>> | undefined> {
  const { status, body } = await admin.send<{ data?: Readonly<Record<string, string>> }>({ method: 'GET', path });
  return status === 200 ? body.data : undefined;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The Secret that istiod mounts; undefined while it is not there. */
async function readServing(cluster: Cluster): Promise<Readonly<Record<string, string>> | undefined> {
  const data = await readData(cluster, servingPath);
  return data && Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]));
}

/** Fingerprint of the certificate that a server shows. */
async function servedBy(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

function followRoots(t: Test, cluster: Cluster, namespace: string): ReadonlySet<string> {
  const { metrics } = createTestMetrics();
  const shared = { clock: systemClock, log: createRecordingLogger(), metrics };
  const authorization = `Bearer ${cluster.adminToken}`;
  const credential = createFixedCredential({ server: new URL(cluster.url), tls: { ca: cluster.roots }, authorization });
  const client = createKubeClient({ credential, ...shared });
  const seen = new Set<string>();
  const reflector = createReflector({
    client,
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    query: { fieldSelector: 'metadata.name=istio-ca-root-cert' },
    resource: 'configmaps',
    project: ({ data }) => seen.add((data as Readonly<Record<string, string>>)[rootsKey] ?? ''),
    unread: { code: 'bundle-missing', detail: 'not read yet' },
    ...shared,
  });
  const end = new AbortController();
  const running = reflector.run(end.signal);
  t.teardown(async () => {
    end.abort();
    await running;
    client.close();
  });
  return seen;
}

const adopted = '{namespace: istio-system, name: istio-ca-secret}';

/** What is shipped, with this Secret as `issuer.secret`. */
async function install(t: Test, scene: Scene, cluster: Cluster, secret: string): Promise<CaInstallation> {
  const installation = await installCa(t, scene, cluster, [...issuerComponents, 'ca-istio']);
  const configFile = join(scene.directory, 'ca.yaml');
  const shipped = readFileSync(configFile, 'utf8');
  t.ok(shipped.includes(adopted));
  writeFileSync(configFile, shipped.replace(adopted, secret));
  return installation;
}

/** `issuer`: the Secret that `signet ca` adopts. */
async function switchThereAndBack(t: Test, scene: Scene, issuer: string, options: IstiodOptions): Promise<void> {
  // Of its own: the roots of every namespace are written.
  const cluster = await startControlPlane(scene);
  if (options.caDirectory !== undefined) await createCacerts(cluster, options.caDirectory);
  const mesh = await createMesh(scene, cluster);
  const seen = mesh.followRoots(t);
  const distributes = async (t: Test, who: Server['what']): Promise<void> => {
    t.equal(await mesh.roots(await createNamespace(cluster, 'late')), await mesh.roots(), `a new namespace has the root, from ${who}`);
  };
  const start = (name: string, more: IstiodOptions = {}): ReturnType<typeof startIstiod> =>
    startIstiod(scene, cluster, { ...options, ...more, name });

  const istiod = await start('istiod');
  await t.test('istiod is the CA', async (t) => {
    await mesh.certify(t, { what: 'istiod', port: istiod.port() });
    t.ok(await mesh.clusters(istiod.port()), 'a proxy gets its clusters');
    await distributes(t, 'istiod');
  });

  const { startReplica } = await install(t, scene, cluster, `{namespace: istio-system, name: ${issuer}}`);
  const replica = await startReplica('signet-ca');
  const ours: Server = { what: 'signet ca', port: replica.port };
  const tls = await until('the serving certificate of istiod', 120_000, () => readServing(cluster));
  await t.test('signet ca beside it signs with the same issuer', async (t) => {
    await untilReady(replica);
    await mesh.certify(t, ours);
    await mesh.certify(t, { what: 'istiod', port: istiod.port() });
  });

  await t.test('istiod, restarted without a CA, serves with the certificate of signet ca', async (t) => {
    await istiod.stop();
    const xdsOnly = await start('istiod-without-ca', { tls, environment: { ENABLE_CA_SERVER: 'false' } });
    t.ok(await mesh.clusters(xdsOnly.port()), 'a proxy gets its clusters');
    await t.rejects(mesh.certify(t, { what: 'istiod', port: xdsOnly.port() }), { message: /Unimplemented/ });
    await mesh.certify(t, ours);
    await distributes(t, 'signet ca');
    await xdsOnly.stop();
  });

  await t.test('istiod is the CA again, at last without signet ca', async (t) => {
    const beside = await start('istiod-beside', { tls });
    await mesh.certify(t, { what: 'istiod', port: beside.port() });
    t.equal(await servedBy(beside.port()), new X509Certificate(tls['tls.crt'] ?? '').fingerprint256, 'it serves with what it finds');
    t.equal(await replica.child().stop(), 0);
    await cluster.admin.delete(servingPath);
    await beside.stop();
    await istiod.start();
    await mesh.certify(t, { what: 'istiod', port: istiod.port() });
    t.ok(await mesh.clusters(istiod.port()), 'a proxy gets its clusters');
    await distributes(t, 'istiod');
  });

  t.same([...seen], [istiod.roots], 'no proxy saw another root at any time');
}

/** The Secret of a CA that is plugged into istiod. */
async function createCacerts(cluster: Cluster, directory: string): Promise<void> {
  const names = ['ca-cert.pem', 'ca-key.pem', 'cert-chain.pem', rootsKey];
  const data = Object.fromEntries(names.map((name) => [name, base64(readFileSync(join(directory, name), 'utf8'))]));
  await createObjects(cluster, [
    { kind: 'Namespace', metadata: { name: 'istio-system' } },
    { kind: 'Secret', metadata: { namespace: 'istio-system', name: 'cacerts' }, data },
  ]);
}

await t.test('the issuer is the one that istiod made for itself', async (t) => {
  await switchThereAndBack(t, await createScene(t), 'istio-ca-secret', {});
});

await t.test('the issuer is one that was plugged into istiod', async (t) => {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  await switchThereAndBack(t, scene, 'cacerts', { caDirectory });
});

await t.test('an issuer is rotated while istiod has no CA, and taken back', async (t) => {
  const scene = await createScene(t);
  const cluster = await startControlPlane(scene);
  const mesh = await createMesh(scene, cluster);
  const istiod = await startIstiod(scene, cluster);
  const before = await mesh.roots();
  await istiod.stop();
  const { startReplica, command } = await install(t, scene, cluster, adopted);
  // Lifetimes that let a rotation pass while we wait.
  const environment = { SIGNET_CERTIFICATE_LIFETIME: '20s', SIGNET_CERTIFICATE_MAX_LIFETIME: '20s', SIGNET_ROTATION_LAG: '2s' };
  const replica = await startReplica('signet-ca', { environment });
  await untilReady(replica);
  const tls = await until('the serving certificate of istiod', 60_000, () => readServing(cluster));
  const xdsOnly = await startIstiod(scene, cluster, { name: 'istiod-without-ca', tls, environment: { ENABLE_CA_SERVER: 'false' } });
  const asked = await command('rotate');
  t.equal(asked.code, 0, asked.stderr);
  const mountServing = async (): Promise<void> => {
    const renewed = await readServing(cluster);
    if (renewed !== undefined) xdsOnly.setTls(renewed);
  };
  const isGone = async (): Promise<boolean> => {
    await mountServing();
    return !(await mesh.roots()).includes(before);
  };
  await until('the former root is gone', 240_000, isGone, 500);
  const after = await mesh.roots();
  await until('a proxy gets its clusters', 60_000, () => mountServing().then(() => mesh.clusters(xdsOnly.port())), 500);
  await xdsOnly.stop();
  t.equal(await replica.child().stop(), 0);
  await cluster.admin.delete(servingPath);
  await istiod.start();
  await mesh.certify(t, { what: 'istiod', port: istiod.port() });
  t.equal(await mesh.roots(), after, 'with the new root');
});

await t.test('a new mesh, whose istiod never had a CA', async (t) => {
  const scene = await createScene(t);
  const cluster = await startControlPlane(scene);
  await createObjects(cluster, [{ kind: 'Namespace', metadata: { name: 'istio-system' } }]);
  const mesh = await createMesh(scene, cluster);
  const { startReplica } = await install(t, scene, cluster, '{namespace: signet-system, name: signet-ca-issuer}');
  const replica = await startReplica('signet-ca');
  await untilReady(replica);
  const tls = await until('the serving certificate of istiod', 120_000, () => readServing(cluster));
  const istiod = await startIstiod(scene, cluster, { tls, environment: { ENABLE_CA_SERVER: 'false' } });
  await mesh.certify(t, { what: 'signet ca', port: replica.port });
  t.ok(await mesh.clusters(istiod.port()), 'a proxy gets its clusters');
});
