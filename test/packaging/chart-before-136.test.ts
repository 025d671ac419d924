// The values that docs/install.md has for Kubernetes before 1.36, on a real API server with real CAs: with what the chart renders of them,
// the agent hands out a certificate on its socket. On every version, since newer ones take them too.

import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { parse } from 'yaml';
import { readCertificates } from '../../agent/x509/pem.js';
import type { Profile, Values } from '../fixtures/chart.js';
import { renderChart, runHelm } from '../fixtures/chart.js';
import { runToEnd } from '../fixtures/child.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { istiodHost, startIstiod } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createObjects, createPod } from '../fixtures/cluster-objects.js';
import { kubernetes } from '../fixtures/cluster-version.js';
import { applyManifests, removeRights } from '../fixtures/manifests.js';
import { blocksOf } from '../fixtures/page-blocks.js';
import type { Workload, WorkloadOptions } from '../fixtures/rendered-workload.js';
import { startWorkload } from '../fixtures/rendered-workload.js';
import { createScene } from '../fixtures/scene.js';
import { askedByTests, binary } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'apps');
await createAccount(cluster, namespace, 'web');
const identity = `spiffe://cluster.local/ns/${namespace}/sa/web`;
const waitMs = 60_000;

/** Of agent and CA, with the ports that they have in a pod; no other run has them. */
const [agentAddress, caAddress] = ['2', '3'].map((last) => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${last}`) as [string, string];
const caHost = 'signet-ca.signet-system.svc';
const hosts = { [istiodHost]: '127.0.0.1', [caHost]: caAddress };

const kubeRoot = { metadata: { namespace: 'signet-system', name: 'kube-root-ca.crt' }, data: { 'ca.crt': cluster.roots } };
await createObjects(cluster, [
  { kind: 'Namespace', metadata: { name: 'signet-system' } },
  { kind: 'ConfigMap', ...kubeRoot },
]);

/** Values that put both where nobody else listens, and let this test ask as a process of the node. */
const here: Values = {
  agent: {
    config: {
      peers: askedByTests,
      localCa: { address: `${agentAddress}:15812`, names: [agentAddress] },
    },
  },
  ca: { config: { listen: { address: `${caAddress}:15012`, names: [caHost, caAddress] } } },
};

/** Installs the profile with the values, and gets a certificate from an agent of it. `roots`: the ConfigMap with those of the CA. */
async function certificateFrom(t: Test, profile: Profile, values: Values, roots: string): Promise<void> {
  const scene = await createScene(t);
  const objects = await renderChart(scene.directory, { profiles: [profile], values: [values, here] });
  await applyManifests(cluster, { objects, patches: [] });
  t.teardown(() => removeRights(cluster, { objects, patches: [] }));
  const start = async (kind: WorkloadOptions['kind'], address: string): Promise<Workload> =>
    await startWorkload(scene, cluster, { objects, kind, node: await createNode(cluster), address, hosts });
  if (objects.some(({ kind }) => kind === 'Deployment')) await start('Deployment', caAddress);
  const path = `/api/v1/namespaces/signet-system/configmaps/${roots}`;
  await until('the roots are published', waitMs, async () => (await cluster.admin.send({ method: 'GET', path })).status === 200);

  const agent = await start('DaemonSet', agentAddress);
  const { body: made } = await cluster.admin.send({ method: 'GET', path: agent.pod.path });
  const node = (made['spec'] as { readonly nodeName: string }).nodeName;
  await createPod(cluster, { namespace, account: 'web', node, phase: 'Running' });
  const socket = agent.onNode('/run/signet/sds/sds.sock');
  await until('its socket is there', waitMs, () => !agent.child.running() || existsSync(socket));
  const args = ['fetch', '--socket', socket, '--pem', '--timeout', '60', identity];
  const { code, stdout, stderr } = await runToEnd(process.execPath, [binary, ...args]);
  t.equal(code, 0, stderr);
  t.same(readCertificates(stdout, { source: 'fetch' })[0]?.uriSans, [identity]);
}

const pageValues = (port: number): Values => {
  const [block = ''] = blocksOf('install.md', 'Kubernetes before 1.36', 'yaml');
  return parse(block.replace(`${istiodHost}:15012`, `${istiodHost}:${port}`)) as Values;
};

// First, since Helm takes over nothing that the others install.
t.test('Helm says so where they are needed and not given', async (t) => {
  const directory = t.testdir({});
  const kubeconfig = writeKubeconfig(join(directory, 'kubeconfig'), cluster, { token: cluster.adminToken });
  const says = async (values: Values): Promise<boolean> => {
    const install = ['install', 'signet', '--dry-run=server', '--kubeconfig', kubeconfig];
    const { code, stdout, stderr } = await runHelm(directory, install, { profiles: ['ambient'], values });
    t.equal(code, 0, stderr);
    return stdout.includes('lets no agent act as its node: set agent.pods=cluster-wide');
  };
  t.equal(await says({}), !kubernetes.impersonation);
  t.equal(await says(pageValues(15_012)), false);
});

t.test('ambient, which asks istiod', async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster, { trustedNodeAccounts: ['signet-system/signet-agent'] });
  await certificateFrom(t, 'ambient', pageValues(istiod.port()), 'istio-ca-root-cert');
});

t.test('standalone, which asks signet ca', (t) => certificateFrom(t, 'standalone', { agent: { pods: 'cluster-wide' } }, 'signet-ca-root'));
