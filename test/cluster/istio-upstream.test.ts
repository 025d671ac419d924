// The upstream `istio` against real istiods: both ways to ask, each refusal with its reason, and what changes under it.

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { IstioUpstream } from '../../agent/config.js';
import { createSpiffeId } from '../../agent/identity/spiffe-id.js';
import { createKubeconfigCredential } from '../../agent/kube/kubeconfig.js';
import { createKubeClient } from '../../agent/kube/client.js';
import { createTokenRequester } from '../../agent/kube/token-request.js';
import type { Pod } from '../../agent/pods/pod.js';
import { reasonOf } from '../../agent/runtime/errors.js';
import { systemClock } from '../../agent/runtime/time.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createFileRootSource, createTrustBundle } from '../../agent/trust-bundle.js';
import type { Upstreams } from '../../agent/upstreams.js';
import { createUpstreams } from '../../agent/upstreams.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import type { Istiod } from '../fixtures/cluster-istiod.js';
import { istioAudience, istioClusterId, startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { issue } from '../fixtures/istio-scene.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { createPod as podOf } from '../fixtures/pods.js';
import { runUpstreams } from '../fixtures/running-upstreams.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'upstream');
for (const account of ['web', 'orders', 'agent', 'stranger']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podFor = (account: string, node = own): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, tokenAudiences: [istioAudience], phase: 'Running' });
const pods = {
  web: await podFor('web'),
  agent: await podFor('agent'),
  stranger: await podFor('stranger'),
  orders: await podFor('orders', other),
};
const idOf = (account: string) => createSpiffeId('cluster.local', namespace, account);

interface UpstreamScene {
  readonly directory: string;
  readonly ca: Upstreams['ca'];
  readonly tokenFile: string;
  readonly tlsRoots: string;
  readonly bundleFile: string;
}

/** Upstreams with files of their own in the directory of the scene, running. */
async function startUpstreams(t: Test, istiods: readonly Istiod[], more: Partial<IstioUpstream> = {}): Promise<UpstreamScene> {
  const { directory } = await createScene(t);
  const [first] = istiods;
  if (first === undefined) throw new Error('no istiod');
  const [tokenFile, tlsRoots, bundleFile] = ['token', 'tls.pem', 'bundle.pem'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(tokenFile, await createToken(cluster, { namespace, account: 'agent', audience: istioAudience, pod: pods.agent }));
  copyFileSync(first.rootsFile, tlsRoots);
  copyFileSync(first.rootsFile, bundleFile);
  const services = { clock: systemClock, log: createRecordingLogger(), metrics: createTestMetrics().metrics };
  const bundle = createTrustBundle({ sources: [createFileRootSource({ path: bundleFile, ...services })], ...services });
  const node = writeKubeconfig(join(directory, 'kubeconfig'), cluster, own.credential);
  const credential = createKubeconfigCredential({ path: node, ...services });
  // Loads its library, which takes seconds on a busy machine and is not to count against the deadline of a call.
  await credential.access();
  const kube = createKubeClient({ credential, ...services });
  const podsHere = [pods.web, pods.orders].map((pod): Pod => podOf(pod.account, { uid: pod.uid, name: pod.name, namespace }));
  const upstreams = createUpstreams({
    upstreams: istiods.map((istiod) => ({
      kind: 'istio',
      endpoints: [{ host: 'localhost', port: istiod.port() }],
      tls: { roots: { kind: 'file', path: istiod === first ? tlsRoots : istiod.rootsFile } },
      auth: 'node',
      audience: istioAudience,
      clusterId: istioClusterId,
      tokenFile,
      ...more,
    })),
    issuer: undefined,
    bundle: bundle.bundle,
    kube: { own: kube, asNode: kube, anonymous: kube, createToken: createTokenRequester(kube) },
    node: own.name,
    createRoots: (source) => createFileRootSource({ path: source.kind === 'file' ? source.path : '', ...services }),
    index: {
      identities: new WatchedValue(
        new Map(podsHere.map((pod) => [idOf(pod.serviceAccount).uri, { id: idOf(pod.serviceAccount), pods: [pod.uid], since: 0 }])),
      ),
      pods: new WatchedValue(new Map(podsHere.map((pod) => [pod.uid, pod]))),
    },
    deadlineMs: 60_000,
    ...services,
  });
  // Teardowns run from the last to the first: it is closed when nothing uses it any more.
  t.teardown(() => kube.close());
  await runUpstreams(t, bundle, upstreams);
  return { directory, ca: upstreams.ca, tokenFile, tlsRoots, bundleFile };
}

const trusted = { trustedNodeAccounts: [`${namespace}/agent`] };

await t.test('auth node: identities of the node of the agent, and each refusal with its reason', async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster, { ...trusted, environment: { MAX_WORKLOAD_CERT_TTL: '2h' } });
  const { ca, tokenFile } = await startUpstreams(t, [istiod]);
  t.equal((await issue(ca, { id: idOf('web') })).id.uri, idOf('web').uri);

  await t.rejects(
    issue(ca, { id: idOf('orders') }),
    { name: 'SignetError', kind: 'unauthenticated', reason: 'ca-impersonation-refused' },
    'on another node',
  );
  await t.rejects(issue(ca, { id: idOf('web'), lifetimeMs: 3 * 3_600_000 }), { name: 'SignetError', reason: 'ca-lifetime-refused' });
  const clamped = await issue(ca, { id: idOf('web'), lifetimeMs: 3 * 3_600_000 });
  t.ok(clamped.notAfter - clamped.receivedAt <= 2 * 3_600_000, 'and then asked for less');

  const elsewhere = await startUpstreams(t, [istiod], { clusterId: 'elsewhere' });
  await t.rejects(issue(elsewhere.ca, { id: idOf('web') }), {
    name: 'SignetError',
    reason: 'ca-unauthenticated',
    fields: { clusterId: 'elsewhere' },
  });

  writeFileSync(tokenFile, await createToken(cluster, { namespace, account: 'stranger', audience: istioAudience, pod: pods.stranger }));
  const refusal = await until('the token of another account is in use', 60_000, () =>
    issue(ca, { id: idOf('web') }).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  t.match(refusal, { reason: 'ca-impersonation-refused', fields: { account: `${namespace}/stranger` } }, 'an account that is not trusted');
});

await t.test('auth workload: the CA trusts no node, and the API server gives no token for a pod of another one', async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster);
  const { ca } = await startUpstreams(t, [istiod], { auth: 'workload' });
  t.equal((await issue(ca, { id: idOf('web') })).id.uri, idOf('web').uri);
  await t.rejects(issue(ca, { id: idOf('orders') }), { name: 'SignetError', kind: 'denied', reason: 'token-pod-denied' });
  const foreign = await startUpstreams(t, [istiod], { auth: 'workload', audience: 'other-ca' });
  await t.rejects(issue(foreign.ca, { id: idOf('web') }), { name: 'SignetError', kind: 'denied', reason: 'token-audience-denied' });
});

await t.test('istiod restarted, then installed again under another root: healed by the roots alone', async (t) => {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  const istiod = await startIstiod(scene, cluster, { ...trusted, caDirectory });
  const { ca, tlsRoots, bundleFile } = await startUpstreams(t, [istiod]);
  const heals = async (what: string): Promise<number> => {
    const elapsed = stopwatch();
    await until(what, 60_000, async () => (await issue(ca, { id: idOf('web') })).id.uri, 200);
    return elapsed();
  };
  await issue(ca, { id: idOf('web') });
  await istiod.stop();
  await t.rejects(issue(ca, { id: idOf('web') }), { name: 'SignetError', kind: 'unavailable', reason: 'ca-unavailable' });
  await istiod.start();
  t.comment(`healed after ${Math.round(await heals('a restart'))} ms`);

  writeIstioCa(caDirectory);
  await istiod.stop();
  await istiod.start();
  // The first call may still meet the connection of before.
  await until('the new root is refused', 60_000, () =>
    issue(ca, { id: idOf('web') }).then(
      () => undefined,
      (error: unknown) => reasonOf(error) === 'ca-root-unknown',
    ),
  );
  for (const file of [tlsRoots, bundleFile]) copyFileSync(join(caDirectory, 'root-cert.pem'), file);
  t.comment(`healed after ${Math.round(await heals('new roots'))} ms`);
});

await t.test('a second istiod with a root of its own signs only what the bundle knows', async (t) => {
  const scene = await createScene(t);
  const first = await startIstiod(scene, cluster, { ...trusted, name: 'first' });
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  const second = await startIstiod(scene, cluster, { ...trusted, name: 'second', caDirectory });
  const { ca, bundleFile } = await startUpstreams(t, [first, second]);
  await first.stop();
  await t.rejects(issue(ca, { id: idOf('web') }), {
    name: 'SignetError',
    fields: { others: [/^istio-2: no known certificate has the name of the issuer/] },
  });
  writeFileSync(bundleFile, `${first.roots}${second.roots}`);
  await until('the second is trusted', 60_000, async () => (await issue(ca, { id: idOf('web') })).id.uri);
  await first.start();
  const chain = await until(
    'the first is back',
    60_000,
    async () => {
      const svid = await issue(ca, { id: idOf('web') });
      return svid.chain.length === 1 && svid.chain;
    },
    500,
  );
  t.equal(chain.length, 1, 'the first signs with its root');
});
