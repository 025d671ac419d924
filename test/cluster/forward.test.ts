// Requests that others made, forwarded to a real istiod: it sees the caller and its token, and this agent not at all.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { createCallQueue } from '../../agent/ca/call-queue.js';
import type { CsrForwarder } from '../../agent/ca/forward.js';
import { createCsrForwarder } from '../../agent/ca/forward.js';
import type { Config } from '../../agent/config.js';
import { createSpiffeId } from '../../agent/identity/spiffe-id.js';
import type { KubeClient } from '../../agent/kube/client.js';
import { systemClock } from '../../agent/runtime/time.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createFileRootSource, createTrustBundle } from '../../agent/trust-bundle.js';
import type { Upstreams } from '../../agent/upstreams.js';
import { createUpstreams } from '../../agent/upstreams.js';
import type { Istiod } from '../fixtures/cluster-istiod.js';
import { istioAudience, istioClusterId, startIstiod } from '../fixtures/cluster-istiod.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { callerOf, createForwardRequest, never } from '../fixtures/forward.js';
import { issue } from '../fixtures/istio-scene.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { runUpstreams } from '../fixtures/running-upstreams.js';
import { createScene } from '../fixtures/scene.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'forward');
for (const account of ['web', 'orders', 'agent', 'ztunnel', 'stranger']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podFor = (account: string, node = own): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, tokenAudiences: [istioAudience], phase: 'Running' });
const pods = {
  web: await podFor('web'),
  agent: await podFor('agent'),
  ztunnel: await podFor('ztunnel'),
  stranger: await podFor('stranger'),
  orders: await podFor('orders', other),
};
const idOf = (account: string) => createSpiffeId('cluster.local', namespace, account);
const tokenOf = (account: keyof typeof pods, audience = istioAudience): Promise<string> =>
  createToken(cluster, { namespace, account, audience, pod: pods[account] });

interface ForwardingScene {
  readonly ca: Upstreams['ca'];
  readonly forwarder: CsrForwarder;
  readonly told: () => string;
}

/** The upstreams of an agent that istiod does not trust, and the forwarder over them. */
async function startForwarding(t: Test, istiods: readonly Istiod[], directory: string): Promise<ForwardingScene> {
  const [first] = istiods;
  if (first === undefined) throw new Error('no istiod');
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, await tokenOf('agent'));
  const log = createRecordingLogger();
  const services = { clock: systemClock, log, metrics: createTestMetrics().metrics };
  const bundle = createTrustBundle({ sources: [createFileRootSource({ path: first.rootsFile, ...services })], ...services });
  // With auth node the API server is asked nothing.
  const nobody = {} as KubeClient;
  const upstreams = createUpstreams({
    upstreams: istiods.map((istiod): Config['upstreams'][number] => ({
      kind: 'istio',
      endpoints: [{ host: 'localhost', port: istiod.port() }],
      tls: { roots: { kind: 'file', path: istiod.rootsFile } },
      auth: 'node',
      audience: istioAudience,
      clusterId: istioClusterId,
      tokenFile,
    })),
    issuer: undefined,
    bundle: bundle.bundle,
    kube: { own: nobody, asNode: nobody, anonymous: nobody, createToken: async () => Promise.reject(new Error('no token is made')) },
    node: own.name,
    createRoots: (source) => createFileRootSource({ path: source.kind === 'file' ? source.path : '', ...services }),
    index: { identities: new WatchedValue(new Map()), pods: new WatchedValue(new Map()) },
    deadlineMs: 60_000,
    ...services,
  });
  await runUpstreams(t, bundle, upstreams);
  const { ca } = upstreams;
  const queue = createCallQueue(services);
  const forwarder = createCsrForwarder({ ca, queue, auth: 'caller', deadlineMs: 60_000, ...services });
  return { ca, forwarder, told: () => inspect(log.lines, { depth: 10 }) };
}

await t.test('istiod sees the caller: what it may ask for is given, all else is refused, with its reason', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [`${namespace}/ztunnel`] });
  const { ca, forwarder, told } = await startForwarding(t, [istiod], scene.directory);
  const ztunnel = callerOf(await tokenOf('ztunnel'));
  const ask = async (account: string, caller = ztunnel) =>
    forwarder.forward(await createForwardRequest({ id: idOf(account), caller, lifetimeMs: 86_400_000 }), never);

  await t.rejects(issue(ca, { id: idOf('web') }), { name: 'SignetError', reason: 'ca-impersonation-refused' }, 'the agent itself may not');
  const request = await createForwardRequest({ id: idOf('web'), caller: ztunnel });
  const { chain, notAfter, upstream } = await forwarder.forward(request, never);
  t.same([chain[0].uriSans, upstream, notAfter > systemClock.now()], [[idOf('web').uri], 'istio', true]);
  t.ok(chain[0].publicKeySpki.equals(request.publicKeySpki));
  t.match((await ask('ztunnel')).chain[0].uriSans, [idOf('ztunnel').uri], 'its own identity, by name');
  const web = { ...callerOf(await tokenOf('web')), impersonates: false };
  t.match((await ask('web', web)).chain[0].uriSans, [idOf('web').uri], 'an istio-agent asks for its own');

  const stranger = callerOf(await tokenOf('stranger'));
  const foreign = callerOf(await tokenOf('ztunnel', 'other'));
  const refusals = [
    ['an identity of another node', 'orders', ztunnel, 'ca-impersonation-refused'],
    ['an account that is not trusted', 'web', stranger, 'ca-impersonation-refused'],
    ['another audience', 'web', foreign, 'ca-token-audience'],
    ['another cluster', 'web', { ...ztunnel, clusterId: 'elsewhere' }, 'ca-unauthenticated'],
    ['no cluster', 'web', { ...ztunnel, clusterId: undefined }, 'ca-impersonation-refused'],
    ['its own identity, whoever it says it is', 'orders', web, 'san-mismatch'],
  ] as const;
  for (const [what, account, caller, reason] of refusals) await t.rejects(ask(account, caller), { name: 'SignetError', reason }, what);
  t.notOk(told().includes(ztunnel.token) || told().includes(web.token), 'no token is logged');
});

await t.test('the first istiod is gone: the second signs, with the same token', async (t) => {
  const scene = await createScene(t);
  const trusted = { trustedNodeAccounts: [`${namespace}/ztunnel`] };
  const first = await startIstiod(scene, cluster, { ...trusted, name: 'first' });
  const second = await startIstiod(scene, cluster, { ...trusted, name: 'second' });
  const { forwarder } = await startForwarding(t, [first, second], scene.directory);
  const caller = callerOf(await tokenOf('ztunnel'));
  const ask = async () => forwarder.forward(await createForwardRequest({ id: idOf('web'), caller }), never);
  t.equal((await ask()).upstream, 'istio-1');
  await first.stop();
  t.equal((await ask()).upstream, 'istio-2');
});
