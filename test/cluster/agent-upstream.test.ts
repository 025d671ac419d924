// The agent of the manifests under an istiod that changes: another address, another root, another CA. See suites.md.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { parseSpiffeId } from '../../agent/identity/spiffe-id.js';
import { createCsr, csrToPem, generateKey } from '../../agent/x509/csr.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent, installRights } from '../fixtures/cluster-agent.js';
import type { IstiodOptions, Istiod } from '../fixtures/cluster-istiod.js';
import { istioAudience, istiodHost, startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import {
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
  uniqueName,
} from '../fixtures/cluster-objects.js';
import { needs } from '../fixtures/cluster-version.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import { callIstio } from '../fixtures/istio-client.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { agentAccount, podsComponent } from '../fixtures/manifests.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import { createTmpfsDirectory, whyNoTmpfs } from '../fixtures/tmpfs.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'agent');
await createAccount(cluster, namespace, 'web');
const web = `spiffe://cluster.local/ns/${namespace}/sa/web`;

const trusted = { trustedNodeAccounts: [`${agentAccount.namespace}/${agentAccount.account}`] };

/** Waits until the identity has a certificate with another serial number than before and nothing is wrong with it. */
async function renewed(agent: ClusterAgent, before: string | undefined): Promise<number> {
  const elapsed = stopwatch();
  await until('a new certificate', 60_000, async () => {
    const identity = await agent.identity(web);
    return identity?.state === 'issued' && identity.serial !== before;
  });
  return elapsed();
}

/** Asks for a renewal and waits until it has failed for this reason. */
async function fails(agent: ClusterAgent, code: string): Promise<void> {
  await agent.renew(web);
  await until(`the renewal fails with ${code}`, 60_000, async () => (await agent.identity(web))?.reason?.code === code);
}

interface Installed {
  readonly components?: readonly ManifestComponent[];
  readonly config: (upstream: JsonObject) => JsonObject;
  readonly caRoots: string;
}

/** An agent on a node of its own, where a pod of `web` runs, with its first certificate. */
async function install(t: Test, { components = [podsComponent], config, caRoots }: Installed): Promise<ClusterAgent> {
  await installRights(t, cluster, components);
  const node = await createNode(cluster);
  await createPod(cluster, { namespace, account: 'web', node: node.name });
  const options = { node, components, caRoots, config: ({ upstream }: { readonly upstream: JsonObject }) => config(upstream) };
  const agent = await createClusterAgent(await createScene(t), cluster, options);
  agent.setHosts({ [istiodHost]: '127.0.0.1' });
  await agent.start();
  await renewed(agent, undefined);
  return agent;
}

const at = (istiod: Istiod): { readonly endpoints: readonly string[] } => ({ endpoints: [`${istiodHost}:${istiod.port()}`] });

/** An istiod with a CA below `cacerts`, which `writeIstioCa` replaces. */
async function startWithCa(t: Test, options: IstiodOptions = {}): Promise<{ readonly istiod: Istiod; readonly caDirectory: string }> {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  return { istiod: await startIstiod(scene, cluster, { ...trusted, caDirectory, ...options }), caDirectory };
}

/** A ConfigMap that the agent may read, as a source of roots, and the way to rewrite it. */
async function createRootsConfigMap(pem: string) {
  const name = uniqueName('ca-root');
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'list', 'watch'] }];
  await createObjects(cluster, [
    { kind: 'ConfigMap', metadata: { namespace, name }, data: { 'root-cert.pem': pem } },
    { kind: 'Role', metadata: { namespace, name }, rules },
    {
      kind: 'RoleBinding',
      metadata: { namespace, name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace: agentAccount.namespace, name: agentAccount.account }],
    },
  ]);
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  return {
    source: { kind: 'configmap', namespace, name },
    write: (next: string) => cluster.admin.patch(path, { data: { 'root-cert.pem': next } }),
  };
}

const rootOf = (caDirectory: string): string => readFileSync(join(caDirectory, 'root-cert.pem'), 'utf8');

await t.test('istiod restarted, moved to another address, installed anew under another root: healed without a restart', async (t) => {
  const { istiod, caDirectory } = await startWithCa(t);
  const agent = await install(t, { caRoots: istiod.roots, config: (upstream) => ({ upstreams: [{ ...upstream, ...at(istiod) }] }) });
  const pid = agent.pid();
  const heals = async (what: string, code: string, heal: () => unknown): Promise<void> => {
    const before = (await agent.identity(web))?.serial;
    await fails(agent, code);
    await heal();
    t.comment(`${what}: healed after ${Math.round(await renewed(agent, before))} ms`);
  };

  await istiod.stop();
  await heals('restarted', 'ca-unavailable', () => istiod.start());
  await istiod.stop();
  await istiod.start('same', '127.0.0.2');
  await heals('moved', 'ca-unavailable', () => agent.setHosts({ [istiodHost]: '127.0.0.2' }));
  writeIstioCa(caDirectory);
  await istiod.stop();
  await istiod.start('same', '127.0.0.2');
  await heals('another root', 'ca-root-unknown', () => agent.setCaRoots(rootOf(caDirectory)));
  t.equal(agent.pid(), pid, 'all by one process');
});

await t.test('roots from a ConfigMap that is rewritten: healed without a restart', async (t) => {
  const { istiod, caDirectory } = await startWithCa(t);
  const { source, write } = await createRootsConfigMap(istiod.roots);
  const agent = await install(t, {
    caRoots: '',
    config: (upstream) => ({
      upstreams: [{ ...upstream, ...at(istiod), tls: { roots: source } }],
      trustBundle: { sources: [source] },
    }),
  });
  writeIstioCa(caDirectory);
  await istiod.stop();
  await istiod.start();
  const before = (await agent.identity(web))?.serial;
  await fails(agent, 'ca-root-unknown');
  await write(rootOf(caDirectory));
  t.comment(`healed after ${Math.round(await renewed(agent, before))} ms`);
  t.match(await agent.status(), { ready: true, bundle: { roots: 1 } });
});

/** An SDS client that listens, with what it has of `web`. */
async function listen(t: Test, { socket }: ClusterAgent) {
  const { received, first } = connectSds(await createScene(t), socket).watch('delta', [web, 'ROOTCA']);
  await Promise.all([first(web), first('ROOTCA')]);
  const certificates = () => received.filter(({ name }) => name === web);
  return {
    certificates,
    /** Waits for a certificate that this root verifies. */
    async under(rootPem: string): Promise<number> {
      const elapsed = stopwatch();
      await until('a certificate under the root', 60_000, () => isUnder(certificates().at(-1)?.chain, rootPem));
      return elapsed();
    },
  };
}

/** Whether the chain, leaf first and without its root, ends in this one. */
function isUnder(chain: string | undefined, rootPem: string): boolean {
  const last = readCertificates(chain ?? '', { source: 'the secret' }).at(-1);
  return last !== undefined && readCertificates(rootPem, { source: 'the root' }).some((root) => last.isSignedBy(root));
}

/** An istiod that is installed anew under another root. */
async function replaceRoot({ istiod, caDirectory }: { readonly istiod: Istiod; readonly caDirectory: string }): Promise<string> {
  writeIstioCa(caDirectory);
  await istiod.stop();
  await istiod.start();
  return rootOf(caDirectory);
}

for (const kind of ['file', 'configmap'] as const) {
  await t.test(`the root is replaced, source ${kind}: a client has the next certificate within seconds`, async (t) => {
    const ca = await startWithCa(t);
    const { source, write } = await createRootsConfigMap(ca.istiod.roots);
    const agent = await install(t, {
      caRoots: ca.istiod.roots,
      config: (upstream) => ({
        upstreams: [{ ...upstream, ...at(ca.istiod), ...(kind === 'file' ? {} : { tls: { roots: source } }) }],
        ...(kind === 'file' ? {} : { trustBundle: { sources: [source] } }),
      }),
    });
    const { certificates, under } = await listen(t, agent);
    const next = await replaceRoot(ca);
    t.match(await agent.identity(web), { state: 'issued' }, 'nobody knows the next root yet');
    if (kind === 'file') agent.setCaRoots(next);
    else await write(next);
    t.comment(`${kind}: the next certificate after ${Math.round(await under(next))} ms`);
    t.equal(certificates().length, 2, 'and no other');
    t.match(agent.tail(), /"reason":"root-withdrawn"/);
    await until('all of the node have theirs', 60_000, async () => (await agent.metric('signet_identities_unverified')) === 0);
  });
}

await t.test('the root is withdrawn and the CA keeps it: served on, said, not asked in a loop, and over when it is back', async (t) => {
  const ca = await startWithCa(t);
  const { source, write } = await createRootsConfigMap(ca.istiod.roots);
  const agent = await install(t, {
    caRoots: ca.istiod.roots,
    config: (upstream) => ({ upstreams: [{ ...upstream, ...at(ca.istiod) }], trustBundle: { sources: [source] } }),
  });
  const { certificates } = await listen(t, agent);
  const before = await agent.identity(web);
  const other = await startWithCa(t, { name: 'other' });
  await write(other.istiod.roots);
  await until('the renewal fails', 60_000, async () => (await agent.identity(web))?.reason?.code === 'trust-anchor-unknown');
  t.match(await agent.identity(web), { state: 'retained', serial: before?.serial, unverified: { code: 'root-withdrawn' } });
  t.match(await agent.command('status'), { stdout: /trust-anchor-unknown: .* root-withdrawn: .*sha-256/ });
  const { identities } = await agent.status();
  t.equal(await agent.metric('signet_identities_unverified'), identities.length, 'each of the node');
  await write(ca.istiod.roots);
  await until('the warning is over', 60_000, async () => (await agent.identity(web))?.state === 'issued');
  await until('for all', 60_000, async () => (await agent.metric('signet_identities_unverified')) === 0);
  t.ok(certificates().length <= 2, 'the former certificate, or one more if the root came back to an attempt');
});

await t.test(
  'the root is replaced while the agent is down: its certificates of before are renewed',
  { skip: whyNoTmpfs() ?? false },
  async (t) => {
    const ca = await startWithCa(t);
    const directory = join(createTmpfsDirectory(await createScene(t)), 'state');
    const agent = await install(t, {
      caRoots: ca.istiod.roots,
      config: (upstream) => ({ upstreams: [{ ...upstream, ...at(ca.istiod) }], state: { directory } }),
    });
    const former = ca.istiod.roots;
    await until('it is sealed', 60_000, () => existsSync(join(directory, 'sealed-state')));
    await agent.stop();
    const next = await replaceRoot(ca);
    agent.setCaRoots(next);
    await agent.start();
    const { certificates, under } = await listen(t, agent);
    t.comment(`the next certificate ${Math.round(await under(next))} ms after the client came`);
    t.ok(certificates().length <= 2 && certificates().every(({ chain }) => isUnder(chain, former) || isUnder(chain, next)));
    t.match(agent.tail(), /what was sealed before is served again/);
    t.match(agent.tail(), /"reason":"root-withdrawn"/);
  },
);

await t.test('a second upstream with a root of its own, also beside the known one: refused, counted, the bundle as before', async (t) => {
  const scene = await createScene(t);
  const first = await startIstiod(scene, cluster, { ...trusted, name: 'first' });
  const { istiod: second, caDirectory } = await startWithCa(t, { name: 'second' });
  const secondRoots = join(scene.directory, 'second.pem');
  writeFileSync(secondRoots, second.roots);
  const agent = await install(t, {
    caRoots: first.roots,
    config: (upstream) => ({
      upstreams: [
        { ...upstream, ...at(first) },
        { ...upstream, ...at(second), tls: { roots: { kind: 'file', path: secondRoots } } },
      ],
    }),
  });
  const { received } = connectSds(scene, agent.socket).watch('sotw', ['ROOTCA']);
  await until('the bundle', 60_000, () => received.length > 0);
  const [{ bundle }, before] = [await agent.status(), await agent.identity(web)];
  const refused = async (): Promise<number> =>
    (await agent.metric('signet_ca_answers_refused_total', { upstream: 'istio-2', reason: 'trust-anchor-unknown' })) ?? 0;
  const refusesMore = async (what: string): Promise<void> => {
    const counted = await refused();
    await agent.renew(web);
    await until(what, 60_000, async () => (await refused()) > counted);
    const identity = await until(`${what}: the renewal has failed`, 60_000, async () => {
      const found = await agent.identity(web);
      return found?.state === 'retained' && found;
    });
    t.equal(identity.serial, before?.serial, what);
  };

  await first.stop();
  await refusesMore('its root as the last element');
  writeFileSync(join(caDirectory, 'root-cert.pem'), first.roots, { flag: 'a' });
  await second.stop();
  await second.start();
  const token = await createToken(cluster, { ...agentAccount, audience: istioAudience, pod: agent.pod });
  const csr = csrToPem(await createCsr(await generateKey('ec-p256'), parseSpiffeId(web), 'none'));
  const answer = await callIstio({ port: second.port(), rootsFile: secondRoots, token, csr, impersonate: web });
  t.equal(readCertificates(answer.at(-1) ?? '', { source: 'istiod' }).length, 2, 'it answers with both');
  await refusesMore('its root and the known one as the last element');
  t.same((await agent.status()).bundle, bundle);
  t.equal(received.length, 1, 'nobody was sent other roots');
  await first.start();
  await renewed(agent, before?.serial);
});

await t.test(
  'auth workload: nothing is trusted but the API server, which gives no token for a pod of another node',
  needs('impersonation'),
  async (t) => {
    const istiod = await startIstiod(await createScene(t), cluster);
    await createAccount(cluster, namespace, 'far');
    const elsewhere = await createNode(cluster);
    const far = await createPod(cluster, { namespace, account: 'far', node: elsewhere.name });
    const manifest = join((await createScene(t)).directory, 'pods.json');
    const { name, uid } = far;
    // What the agent would have to believe to ask for it.
    writeFileSync(
      manifest,
      JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid }, spec: { serviceAccountName: 'far' } }),
    );
    const agent = await install(t, {
      components: ['pods-as-node', 'workload-tokens'],
      caRoots: istiod.roots,
      config: (upstream) => ({
        upstreams: [{ ...upstream, ...at(istiod) }],
        pods: { sources: [{ kind: 'auto' }, { kind: 'file', path: manifest }] },
      }),
    });
    const own = `spiffe://cluster.local/ns/${agentAccount.namespace}/sa/${agentAccount.account}`;
    await until('its own identity too', 60_000, async () => (await agent.identity(own))?.state === 'issued');
    const reason = await until(
      'a reason',
      60_000,
      async () => (await agent.identity(`spiffe://cluster.local/ns/${namespace}/sa/far`))?.reason,
    );
    t.match(reason, { code: 'token-pod-denied', detail: /no relationship found between node/ });
    t.match(await agent.identity(web), { state: 'issued' });
  },
);
