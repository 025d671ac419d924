// The rights of the chart on a real API server, with real CAs. Enough: with what a profile renders, rights, command line, configuration and
// volumes, the agent hands out a certificate on its socket. And no more than that: without any one of them somebody names the one
// that is missing. The API server streams no lists, as those before Kubernetes 1.34, so that lists are asked for too.

import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { parse } from 'yaml';
import { readCertificates } from '../../agent/x509/pem.js';
import { createRawCaClient } from '../fixtures/authority.js';
import type { Profile, Values } from '../fixtures/chart.js';
import { configurationIn, renderChart } from '../fixtures/chart.js';
import { runToEnd } from '../fixtures/child.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { istioAudience, istiodHost, startIstiod } from '../fixtures/cluster-istiod.js';
import {
  collectionPath,
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
} from '../fixtures/cluster-objects.js';
import { applyManifests } from '../fixtures/manifests.js';
import { describePermission, isNamedIn, permissionsIn, untilKnown, without } from '../fixtures/permissions.js';
import type { Workload, WorkloadOptions } from '../fixtures/rendered-workload.js';
import { startWorkload } from '../fixtures/rendered-workload.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { binary } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';

const shared = await createScene(t);
const { directory } = shared;
const cluster = await startControlPlane(shared, { apiServerFlags: ['--feature-gates=WatchList=false'] });
const istiod = await startIstiod(shared, cluster);
const namespace = await createNamespace(cluster, 'apps');
await createAccount(cluster, namespace, 'web');
const identity = `spiffe://cluster.local/ns/${namespace}/sa/web`;
const waitMs = 60_000;

/** Of agent and CA, with the ports that they have in a pod; no other run has them. */
const [agentAddress, caAddress] = ['2', '3'].map((last) => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${last}`) as [string, string];
const caHost = 'signet-ca.signet-system.svc';
const hosts = { [istiodHost]: '127.0.0.1', [caHost]: caAddress };

const signerName = 'example.com/workload';
const bundle = { name: 'example.com:workload:root', signerName };

type Case = readonly [profiles: readonly Profile[], values?: Values];

/** Profiles and values over them, by what they are for. */
const cases: Readonly<Record<string, Case>> = {
  'profile ambient': [['ambient']],
  'profile envoy': [['envoy']],
  'profile openshift': [['openshift']],
  'profile standalone': [['standalone']],
  'the local CA endpoint before signet ca': [['ambient', 'standalone']],
  'roots in a ConfigMap, and labels of namespaces': [
    ['ambient'],
    {
      agent: {
        config: {
          pods: { namespaces: true },
          trustBundle: { sources: [{ kind: 'configmap', namespace: 'signet-system', name: 'istio-ca-root-cert' }] },
        },
      },
    },
  ],
  'CertificateSigningRequests, all pods': [
    ['standalone'],
    {
      agent: { pods: 'cluster-wide', config: { upstreams: [{ kind: 'kubernetes-csr', signerName }] } },
      ca: { config: { requests: { kubernetesCsr: { signerName } } } },
    },
  ],
  'PodCertificateRequests, roots in ClusterTrustBundles': [
    ['standalone'],
    {
      agent: {
        config: {
          upstreams: [{ kind: 'pod-certificate', signerName }],
          trustBundle: { sources: [{ kind: 'cluster-trust-bundle', signerName }] },
        },
      },
      ca: { config: { requests: { podCertificate: { signerName } }, roots: { clusterTrustBundle: bundle } } },
    },
  ],
};

/** What is at other places here than in a cluster; and the test asks as a process of the node. */
async function valuesHere(profiles: readonly Profile[], values: Values): Promise<Values> {
  const {
    upstreams,
    peers = [],
    localCa,
  } = parse(configurationIn(await renderChart(directory, { profiles, values }), 'signet-agent')) as {
    readonly upstreams: readonly { readonly endpoints?: readonly string[] }[];
    readonly peers?: readonly object[];
    readonly localCa?: { readonly address?: string };
  };
  const here = (endpoint: string): string => endpoint.replace(/^istiod.*$/, `${istiodHost}:${istiod.port()}`);
  const tests = [...new Set([0, process.getuid?.() ?? 0])].map((uid) => ({ host: { uid }, grant: 'node' }));
  const config = {
    upstreams: upstreams.map((upstream) => (upstream.endpoints ? { ...upstream, endpoints: upstream.endpoints.map(here) } : upstream)),
    peers: [...tests, ...peers],
    ...(localCa?.address === undefined ? {} : { localCa: { address: `${agentAddress}:15812`, names: [agentAddress] } }),
  };
  return { agent: { config }, ca: { config: { listen: { address: `${caAddress}:15012`, names: [caHost, caAddress] } } } };
}

/** With an account of its own for the agent: the API server remembers for ten seconds whom it let act as its node. */
async function render([profiles, values = {}]: Case, account = 'signet-agent'): Promise<readonly KubeObject[]> {
  const here = [values, await valuesHere(profiles, values), { parts: { namespaces: true }, agent: { account } }];
  return (await renderChart(directory, { profiles, values: here })).filter(({ kind }) => kind !== 'SecurityContextConstraints');
}

const roots: KubeObject = { kind: 'ConfigMap', metadata: { namespace: 'signet-system', name: 'signet-ca-root' } };

/** What the CA makes once. */
const madeByCa: readonly KubeObject[] = [
  { kind: 'Secret', metadata: { namespace: 'signet-system', name: 'signet-ca-issuer' } },
  { kind: 'Lease', metadata: { namespace: 'signet-system', name: 'signet-ca' } },
  { kind: 'ClusterTrustBundle', metadata: { name: bundle.name } },
  roots,
];

const pathOf = (object: KubeObject): string => `${collectionPath(object)}/${object.metadata.name}`;

/** Agent and CA of rendered objects, each in a new pod. */
interface Place {
  readonly scene: Scene;
  readonly objects: readonly KubeObject[];
  /** What has been started. */
  readonly workloads: Workload[];
}

async function start({ scene, objects, workloads }: Place, options: Pick<WorkloadOptions, 'kind' | 'node'>): Promise<Workload> {
  const address = options.kind === 'DaemonSet' ? agentAddress : caAddress;
  const workload = await startWorkload(scene, cluster, { objects, address, hosts, ...options });
  workloads.push(workload);
  return workload;
}

/** Throws when the process ends before. */
async function untilTrue({ child }: Workload, what: string, probe: () => boolean | Promise<boolean>): Promise<void> {
  await until(what, waitMs, async () => !child.running() || (await probe()));
  if (!child.running()) throw new Error(`${child.name} has ended`);
}

/** As on its first start; gives a file of its roots. */
async function startCa(place: Place): Promise<string> {
  for (const object of madeByCa) await cluster.admin.send({ method: 'DELETE', path: pathOf(object) });
  const ca = await start(place, { kind: 'Deployment', node: await createNode(cluster) });
  await untilTrue(ca, 'the CA is ready', async () => (await fetch(`http://${caAddress}:9471/readyz`)).ok);
  const file = join(place.scene.directory, 'ca-roots.pem');
  await untilTrue(ca, 'its roots are there', async () => {
    const { status, body } = await cluster.admin.send<{ readonly data: Readonly<Record<string, string>> }>({
      method: 'GET',
      path: pathOf(roots),
    });
    if (status === 200) writeFileSync(file, body.data['root-cert.pem'] ?? '');
    return status === 200;
  });
  return file;
}

/** From a new node with a pod to its certificate, in every way that the configuration opens. `hasCa`: whether `signet ca` is started. */
async function useAll(place: Place, { hasCa }: { readonly hasCa: boolean }): Promise<void> {
  const { objects } = place;
  const caRoots = hasCa ? await startCa(place) : undefined;
  const node = await createNode(cluster);
  const pod = await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running', tokenAudiences: [istioAudience] });
  const agent = await start(place, { kind: 'DaemonSet', node });
  const socket = agent.onNode('/run/signet/sds/sds.sock');
  await untilTrue(agent, 'its socket is there', () => existsSync(socket));
  const args = ['fetch', '--socket', socket, '--pem', '--timeout', '60', identity];
  const { code, stdout, stderr } = await runToEnd(process.execPath, [binary, ...args]);
  if (code !== 0) throw new Error(stderr);
  const found = readCertificates(stdout, { source: 'fetch' })[0]?.uriSans.join();
  if (found !== identity) throw new Error(`the certificate is for ${found}`);

  const token = await createToken(cluster, { namespace, account: 'web', audience: istioAudience, pod });
  if (caRoots !== undefined) await ask(`${caAddress}:15012`, caRoots, token);
  if (configurationIn(objects, 'signet-agent').includes(`${agentAddress}:15812`)) {
    const root = agent.onNode('/run/signet/local-ca/root-cert.pem');
    await untilTrue(agent, 'the local CA endpoint has its root', () => existsSync(root));
    await ask(`${agentAddress}:15812`, root, token);
  }
}

async function ask(target: string, rootsFile: string, token: string): Promise<void> {
  const client = createRawCaClient(target, rootsFile);
  const { code, details } = await client.call({ token, csrIdentity: identity, clusterId: 'Kubernetes' });
  client.close();
  if (code !== 0) throw new Error(`${target}: ${code} ${details}`);
}

async function stopAll({ workloads }: Place): Promise<void> {
  for (const { child } of workloads.toReversed()) await child.stop('SIGKILL');
}

async function createPlace(t: Test, objects: readonly KubeObject[]): Promise<Place> {
  await applyManifests(cluster, { objects, patches: [] });
  return { scene: await createScene(t), objects, workloads: [] };
}

const kubeRoot = {
  kind: 'ConfigMap',
  metadata: { namespace: 'signet-system', name: 'kube-root-ca.crt' },
  data: { 'ca.crt': cluster.roots },
};
await createObjects(cluster, [{ kind: 'Namespace', metadata: { name: 'signet-system' } }, kubeRoot]);

/** What is beside the profiles is tried for what they do not have. */
const tried = new Set<string>();

for (const [name, given] of Object.entries(cases)) {
  t.test(name, async (t) => {
    const objects = await render(given);
    const hasCa = objects.some(({ kind }) => kind === 'Deployment');
    const permissions = permissionsIn(objects);
    await t.test('its rights are enough', async (t) => {
      const place = await createPlace(t, objects);
      await untilKnown(cluster, permissions);
      await t.resolves(useAll(place, { hasCa }), 'a certificate in every way');
      await stopAll(place);
    });
    for (const [index, each] of permissions.entries()) {
      // OpenShift alone asks for it, when it admits a pod.
      if (each.rule.apiGroups.includes('security.openshift.io')) continue;
      const described = describePermission(each);
      if (tried.has(described) && !name.startsWith('profile ')) continue;
      tried.add(described);
      await t.test(`without ${described}`, (t) => tryWithout(t, given, index));
    }
  });
}

async function tryWithout(t: Test, given: Case, index: number): Promise<void> {
  const objects = await render(given, `signet-agent-${index}`);
  const granted = permissionsIn(objects);
  const missing = granted[index];
  if (missing === undefined) throw new Error('other rules than with another account');
  const place = await createPlace(t, without(objects, missing));
  await untilKnown(cluster, granted, missing);
  // An agent looks for its request again only when the signer has let it wait.
  const waits = describePermission(missing).endsWith(':list podcertificaterequests');
  const hasCa = !waits && objects.some(({ kind }) => kind === 'Deployment');
  const used = useAll(place, { hasCa }).then(
    () => 'all worked',
    (error: unknown) => String(error),
  );
  const isNamed = (): boolean => place.workloads.some((workload) => isNamedIn(workload.written(), missing));
  const named = await until('it is named', waitMs, isNamed).catch(() => false);
  await stopAll(place);
  t.ok(named, named ? 'it is named' : `it is not named: ${await used}`);
  await used;
}
