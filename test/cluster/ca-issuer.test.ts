// The issuer of the CA on a real API server: replicas that start at once, adoption from istiod, roots in every namespace, and a
// rotation that is killed between its steps. The CA acts with the rights of packaging/kustomize, and no others.

import t from 'tap';
import type { Test } from 'tap';
import type { ClusterIssuer, ClusterIssuerOptions } from '../../agent/authority/cluster-issuer.js';
import { openClusterIssuer } from '../../agent/authority/cluster-issuer.js';
import { createKubeClient } from '../../agent/kube/client.js';
import { systemClock } from '../../agent/runtime/time.js';
import { formatCertificates } from '../../agent/x509/pem.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { apiServerAudience, createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { createFixedCredential } from '../fixtures/kube.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { applyManifests, caComponents, readCaComponents } from '../fixtures/manifests.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const never = new AbortController().signal;
const account = { namespace: 'signet-system', account: 'signet-ca' };

/** The rights that are shipped, given to their account. */
async function install(): Promise<string> {
  for (const name of [account.namespace, 'istio-system'])
    await cluster.admin.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  await createAccount(cluster, account.namespace, account.account);
  await applyManifests(cluster, readCaComponents(caComponents));
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { ...account, node: node.name, phase: 'Running' });
  return await createToken(cluster, { ...account, audience: apiServerAudience, pod, seconds: 3_600 });
}

const token = await install();
const { metrics } = createTestMetrics();

interface Replica extends ClusterIssuer {
  stop(): Promise<void>;
}

function clientOf(bearer: string) {
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

await t.test('two replicas that start at once agree on one issuer', async (t) => {
  const [a, b] = await Promise.all([startReplica(t, 'a'), startReplica(t, 'b')]);
  t.equal(a.issuer.value.certificate.fingerprint, b.issuer.value.certificate.fingerprint);
  const namespace = await createNamespace(cluster, 'shop');
  const path = `/api/v1/namespaces/${namespace}/configmaps/signet-ca-root`;
  const data = await until('roots', 10_000, async () => (await cluster.admin.get<{ data: Record<string, string> }>(path)).data);
  t.same(data, { 'root-cert.pem': formatCertificates(a.roots.value) });
  t.same([...a.degradations.values(), ...b.degradations.values()].map(({ value }) => value).filter(Boolean), []);
});
