// `signet ca` with its issuer in the cluster: the real binary with the configuration and the rights of packaging/kustomize, from a
// first start without a Secret to a rotation that is asked for on the command line.

import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createRawCaClient, readAuditLines } from '../fixtures/authority.js';
import type { CaReplica } from '../fixtures/ca-installation.js';
import { installCa, untilReady } from '../fixtures/ca-installation.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { kubernetes } from '../fixtures/cluster-version.js';
import { freePorts } from '../fixtures/free-ports.js';
import { createScene } from '../fixtures/scene.js';
import { pause, stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const scene = await createScene(t);
const file = (name: string): string => join(scene.directory, name);
const { template, caller, startReplica, command } = await installCa(t, scene, cluster);
const { token, identity } = caller;
const rootsPath = `/api/v1/namespaces/${caller.namespace}/configmaps/signet-ca-root`;

/** Lifetimes that let a rotation pass while we wait. */
const environment = { SIGNET_CERTIFICATE_LIFETIME: '10s', SIGNET_CERTIFICATE_MAX_LIFETIME: '10s', SIGNET_ROTATION_LAG: '10s' };

/** PEM of the roots that the namespace has. */
async function publishedRoots(): Promise<readonly string[]> {
  const { data } = await cluster.admin.get<{ data: { 'root-cert.pem': string } }>(rootsPath);
  return data['root-cert.pem'].split(/(?<=-----END CERTIFICATE-----\n)/);
}

/** One call by who knows the published roots: why it failed, if it did. */
async function call({ port }: CaReplica, seconds = 10): Promise<string | undefined> {
  const roots = await publishedRoots();
  const rootsFile = file(`roots-${port}.pem`);
  writeFileSync(rootsFile, roots.join(''));
  const client = createRawCaClient(`localhost:${port}`, rootsFile);
  try {
    const { code, details, elements } = await client.call({ token, identity, seconds });
    if (code !== 0) return `${code} ${details}`;
    const leaf = new X509Certificate(elements[0] ?? '');
    const isKnown = roots.some((root) => leaf.verify(new X509Certificate(root).publicKey));
    return isKnown && leaf.subjectAltName === `URI:${identity}` ? undefined : 'a leaf that the roots do not verify';
  } finally {
    client.close();
  }
}

t.notOk(
  [...template.volumes, ...(template.containers[0]?.volumeMounts ?? [])].some(({ name }) => name === 'issuer'),
  'the pod waits for no Secret',
);

const replicas = await Promise.all([startReplica('one', { environment }), startReplica('two', { environment })]);

await t.test('replicas that start without a Secret agree on an issuer, publish its root and sign', async (t) => {
  for (const replica of replicas) await untilReady(replica);
  const roots = await until('the roots', 60_000, publishedRoots);
  t.equal(roots.length, 1);
  for (const replica of replicas) t.equal(await call(replica), undefined);
  const bundlePath = `/apis/certificates.k8s.io/${kubernetes.trustBundles}/clustertrustbundles/signet-ca-root`;
  const bundle = await until('the bundle', 60_000, () => cluster.admin.get<{ spec: { trustBundle: string } }>(bundlePath));
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
  await until('the former root is gone', 300_000, async () => {
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
  // What it signs outlives the command, on however busy a machine.
  const replica = await startReplica('three');
  await untilReady(replica);
  const [before] = await publishedRoots();
  t.equal(await call(replica, 3_600), undefined);
  const audit = ['--audit', replica.auditFile];
  const told = await command('rotate', '--force', 'switch', ...audit);
  t.equal(told.code, 0, told.stderr);
  t.match(told.stdout, `breaks 1 identities:\n  ${identity}\n`);
  t.match(told.stdout, 'Nothing was done');
  await pause(1_000);
  t.same(await publishedRoots(), [before]);
  const done = await command('rotate', '--force', 'switch', ...audit, '--yes', '--json');
  t.match(JSON.parse(done.stdout), { asked: true, force: 'switch', unreadLines: 0, before: { former: [], requested: false } });
  await until('the next issuer signs', 60_000, async () => (await publishedRoots())[0] !== before);
  await until('calls pass', 60_000, async () => (await call(replica)) === undefined);
  const { code, stderr } = await command('rotate', '--force', 'retire');
  t.equal(code, 2);
  t.match(stderr, '--force and --audit go together');
  t.ok(readAuditLines(replica.auditFile).every(({ decision }) => decision === 'grant'));
});

await t.test('a start while the API server is away: alive, not ready, and ended by SIGTERM', async (t) => {
  const [closed] = await freePorts(1);
  const replica = await startReplica('four', { environment, api: { ...cluster, url: `https://127.0.0.1:${closed}` } });
  await until('alive', 60_000, async () => (await replica.http('/livez')).status === 200, 100);
  t.equal((await replica.http('/readyz')).status, 503);
  t.equal(await replica.child().stop(), 0);
});

await t.test('at the end', async (t) => {
  for (const { name, child } of replicas) t.equal(await child().stop(), 0, name);
});
