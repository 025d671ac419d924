// `signet ca` with its issuer in the cluster: the real binary with the configuration and the rights of packaging/kustomize, from a
// first start without a Secret to a rotation that is asked for on the command line.

import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { caAudience, createRawCaClient, readAuditLines } from '../fixtures/authority.js';
import type { Child, Finished } from '../fixtures/child.js';
import { runToEnd, startChild } from '../fixtures/child.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { apiServerAudience, createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { kubernetes } from '../fixtures/cluster-version.js';
import { freePorts } from '../fixtures/free-ports.js';
import { agentAccount, applyManifests, caComponents, readCaComponents, removeRights } from '../fixtures/manifests.js';
import { createScene } from '../fixtures/scene.js';
import { binary } from '../fixtures/signet.js';
import { pause, stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const scene = await createScene(t);
const system = { namespace: 'signet-system', account: 'signet-ca' };
const secretPath = '/api/v1/namespaces/signet-system/secrets/signet-ca-issuer';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca';
const file = (name: string): string => join(scene.directory, name);

/** Lifetimes that let a rotation pass while we wait. */
const brisk = { SIGNET_CERTIFICATE_LIFETIME: '10s', SIGNET_CERTIFICATE_MAX_LIFETIME: '10s', SIGNET_ROTATION_LAG: '2s' };

interface Deployment {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly volumes: readonly { readonly name: string }[];
  readonly containers: readonly {
    readonly volumeMounts: readonly { readonly name: string }[];
    readonly env: readonly { readonly name: string; readonly value?: string }[];
  }[];
}

/** Applies what is shipped; gives the template of its pods as the API server has it. */
async function install(t: Test): Promise<PodSpec> {
  await cluster.admin.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: system.namespace } } });
  for (const path of [secretPath, leasePath]) await cluster.admin.send({ method: 'DELETE', path });
  const manifests = readCaComponents(['ca', ...caComponents.filter((name) => name !== 'ca-istio')]);
  await applyManifests(cluster, manifests);
  t.teardown(() => removeRights(cluster, manifests));
  const deployment = await cluster.admin.get<Deployment>('/apis/apps/v1/namespaces/signet-system/deployments/signet-ca');
  return deployment.spec.template.spec;
}

const template = await install(t);
const configMap = await cluster.admin.get<{ data: { 'ca.yaml': string } }>('/api/v1/namespaces/signet-system/configmaps/signet-ca');
writeFileSync(file('ca.yaml'), configMap.data['ca.yaml']);

const node = await createNode(cluster);
const own = await createPod(cluster, { ...system, node: node.name, phase: 'Running' });
const apiToken = await createToken(cluster, { ...system, audience: apiServerAudience, pod: own, seconds: 7_200 });
const kubeconfig = writeKubeconfig(file('kubeconfig'), cluster, { token: apiToken });

await createAccount(cluster, agentAccount.namespace, agentAccount.account);
const agent = await createPod(cluster, { ...agentAccount, node: node.name, phase: 'Running' });
const token = await createToken(cluster, { ...agentAccount, audience: caAudience, pod: agent });
const namespace = await createNamespace(cluster, 'shop');
await createAccount(cluster, namespace, 'web');
await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running' });
const identity = `spiffe://cluster.local/ns/${namespace}/sa/web`;
const rootsPath = `/api/v1/namespaces/${namespace}/configmaps/signet-ca-root`;

interface Replica {
  readonly port: number;
  readonly auditFile: string;
  readonly child: Child;
  readonly http: (path: string) => Promise<number>;
}

async function startReplica(name: string, environment: Readonly<Record<string, string>> = {}): Promise<Replica> {
  const [port, httpPort] = await freePorts(2);
  const auditFile = file(`${name}.log`);
  const shipped = template.containers[0]?.env.flatMap((each) => (each.value === undefined ? [] : [[each.name, each.value] as const])) ?? [];
  const child = startChild({
    name,
    command: process.execPath,
    args: [binary, 'ca', '--config', file('ca.yaml')],
    environment: {
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries(shipped),
      ...brisk,
      SIGNET_KUBECONFIG: kubeconfig,
      SIGNET_LISTEN_ADDRESS: `127.0.0.1:${port}`,
      SIGNET_HTTP_ADDRESS: `127.0.0.1:${httpPort}`,
      SIGNET_AUDIT_FILE: auditFile,
      ...environment,
    },
  });
  scene.add({ name, tail: child.tail, stop: () => child.stop() });
  return { port, auditFile, child, http: async (path) => (await fetch(`http://127.0.0.1:${httpPort}${path}`)).status };
}

const isReady = (replica: Replica): Promise<boolean> =>
  until(`${replica.child.name} is ready`, 60_000, async () => (await replica.http('/readyz')) === 200, 100);

/** PEM of the roots that the namespace has. */
async function publishedRoots(): Promise<readonly string[]> {
  const { data } = await cluster.admin.get<{ data: { 'root-cert.pem': string } }>(rootsPath);
  return data['root-cert.pem'].split(/(?<=-----END CERTIFICATE-----\n)/);
}

/** One call by who knows the published roots: why it failed, if it did. */
async function call({ port }: Replica): Promise<string | undefined> {
  const roots = await publishedRoots();
  const rootsFile = file(`roots-${port}.pem`);
  writeFileSync(rootsFile, roots.join(''));
  const client = createRawCaClient(`localhost:${port}`, rootsFile);
  try {
    const { code, details, elements } = await client.call({ token, identity, seconds: 10 });
    if (code !== 0) return `${code} ${details}`;
    const leaf = new X509Certificate(elements[0] ?? '');
    const isKnown = roots.some((root) => leaf.verify(new X509Certificate(root).publicKey));
    return isKnown && leaf.subjectAltName === `URI:${identity}` ? undefined : 'a leaf that the roots do not verify';
  } finally {
    client.close();
  }
}

function command(...args: readonly string[]): Promise<Finished> {
  const environment = { PATH: process.env['PATH'] ?? '', SIGNET_KUBECONFIG: kubeconfig };
  return runToEnd(process.execPath, [binary, 'ca', ...args, '--config', file('ca.yaml')], { environment });
}

t.notOk(
  [...template.volumes, ...(template.containers[0]?.volumeMounts ?? [])].some(({ name }) => name === 'issuer'),
  'the pod waits for no Secret',
);

const replicas = await Promise.all([startReplica('one'), startReplica('two')]);

await t.test('replicas that start without a Secret agree on an issuer, publish its root and sign', async (t) => {
  for (const replica of replicas) await isReady(replica);
  const roots = await until('the roots', 20_000, publishedRoots);
  t.equal(roots.length, 1);
  for (const replica of replicas) t.equal(await call(replica), undefined);
  const bundlePath = `/apis/certificates.k8s.io/${kubernetes.trustBundles}/clustertrustbundles/signet-ca-root`;
  const bundle = await until('the bundle', 10_000, () => cluster.admin.get<{ spec: { trustBundle: string } }>(bundlePath));
  t.equal(bundle.spec.trustBundle, roots[0]);
});

await t.test('a rotation by command: both roots, the next issuer, its root alone; no call fails', async (t) => {
  const [before = ''] = await publishedRoots();
  const asked = await command('rotate');
  t.equal(asked.code, 0, asked.stderr);
  t.match(asked.stdout, /A rotation begins/);
  const elapsed = stopwatch();
  const seen = new Set<string>();
  const faults: string[] = [];
  let calls = 0;
  await until('the former root is gone', 120_000, async () => {
    const roots = await publishedRoots();
    seen.add(roots.length === 1 ? (roots[0] === before ? 'old' : 'new') : roots[0] === before ? 'old, new' : 'new, old');
    for (const replica of replicas) {
      calls += 1;
      faults.push(...[await call(replica)].filter((fault) => fault !== undefined));
    }
    await pause(100);
    return roots.length === 1 && roots[0] !== before;
  });
  t.comment(`${calls} calls while it was rotated in ${Math.round(elapsed())} ms`);
  t.same(faults, []);
  t.same(
    [...seen].filter((state) => state !== 'old'),
    ['old, new', 'new, old', 'new'],
  );
});

await t.test('a step by force: whom it breaks is told first, and nothing is done before that is wanted', async (t) => {
  const [replica] = replicas;
  const [before] = await publishedRoots();
  t.equal(await call(replica), undefined);
  const audit = ['--audit', replica.auditFile];
  const told = await command('rotate', '--force', 'switch', ...audit);
  t.equal(told.code, 0, told.stderr);
  t.match(told.stdout, `breaks 1 identities:\n  ${identity}\n`);
  t.match(told.stdout, 'Nothing was done');
  await pause(1_000);
  t.same(await publishedRoots(), [before]);
  const done = await command('rotate', '--force', 'switch', ...audit, '--yes', '--json');
  t.match(JSON.parse(done.stdout), { asked: true, force: 'switch', unreadLines: 0, before: { former: [], requested: false } });
  await until('the next issuer signs', 20_000, async () => (await publishedRoots())[0] !== before);
  await until('calls pass', 20_000, async () => (await call(replica)) === undefined);
  const { code, stderr } = await command('rotate', '--force', 'retire');
  t.equal(code, 2);
  t.match(stderr, '--force and --audit go together');
  t.ok(readAuditLines(replica.auditFile).every(({ decision }) => decision === 'grant'));
});

await t.test('a start while the API server is away: alive, not ready, and ended by SIGTERM', async (t) => {
  const [closed] = await freePorts(1);
  const away = writeKubeconfig(file('away'), { ...cluster, url: `https://127.0.0.1:${closed}` }, { token: apiToken });
  const replica = await startReplica('three', { SIGNET_KUBECONFIG: away });
  await until('alive', 20_000, async () => (await replica.http('/livez')) === 200, 100);
  t.equal(await replica.http('/readyz'), 503);
  t.equal(await replica.child.stop(), 0);
});

await t.test('at the end', async (t) => {
  for (const { child } of replicas) t.equal(await child.stop(), 0, child.name);
});
