// The Helm chart on a real API server: it takes every object of every profile, field by field, without keeping any. What the rights in
// them open, test/cluster/manifests.test.ts tries with the plain manifests, which are the same objects (chart.test.ts).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { keyOf, profiles, renderChart } from '../fixtures/chart.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { collectionPath, createAccount, createNamespace } from '../fixtures/cluster-objects.js';
import { needs } from '../fixtures/cluster-version.js';
import { repository } from '../fixtures/envoy-examples.js';
import { applyManifests, removeRights } from '../fixtures/manifests.js';
import { until } from '../fixtures/until.js';

const directory = t.testdir({});
const cluster = await sharedCluster(t);

/** Nothing is kept; what the API server would say to the object. */
async function tryObject(object: KubeObject): Promise<string> {
  const { status, message } = await cluster.admin.send({
    method: 'PATCH',
    path: `${collectionPath(object)}/${object.metadata.name}?dryRun=All&fieldManager=test&force=true&fieldValidation=Strict`,
    body: object,
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  return status < 300 ? 'taken' : `${status} ${message}`;
}

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const definitions = ['pod-monitors', 'security-context-constraints'].map(
  (name) => parse(readFileSync(join(repository, 'test', 'fixtures', 'crds', `${name}.yaml`), 'utf8')) as KubeObject,
);
await applyManifests(cluster, { objects: [namespace('signet-system'), ...definitions], patches: [] });
for (const path of ['/apis/monitoring.coreos.com/v1/podmonitors', '/apis/security.openshift.io/v1/securitycontextconstraints'])
  await until(`${path} is served`, 60_000, async () => (await cluster.admin.send({ method: 'GET', path })).status === 200);

const parts = { namespaces: true, monitoring: true, priorityQuota: true };

for (const profile of profiles) {
  t.test(`profile ${profile}: the API server takes every object`, async (t) => {
    const objects = await renderChart(directory, { profiles: [profile], values: { parts } });
    for (const object of objects) t.equal(await tryObject(object), 'taken', keyOf(object));
  });
}

t.test('the ways to ask a CA, and the requests that the CA answers', async (t) => {
  const signerName = 'example.com/workload';
  const upstreams = [
    { kind: 'kubernetes-csr', signerName },
    { kind: 'pod-certificate', signerName },
    { kind: 'cert-manager', issuerRef: { name: 'workload-ca', kind: 'ClusterIssuer' } },
  ];
  const requests = { kubernetesCsr: { signerName, approveOnly: ['example.com/other'] }, podCertificate: { signerName } };
  const config = { requests, roots: { clusterTrustBundle: { name: 'signet-ca-root' } } };
  for (const upstream of upstreams) {
    const values = { agent: { config: { upstreams: [upstream] } }, ca: { config }, admission: { certificateApprover: true }, parts };
    const objects = await renderChart(directory, { profiles: ['standalone', 'openshift'], values });
    for (const object of objects) t.equal(await tryObject(object), 'taken', `${upstream.kind}: ${keyOf(object)}`);
  }
});

interface MadeContainer {
  readonly volumeMounts: readonly { readonly name: string }[];
}

interface PodSpec {
  readonly volumes: readonly { readonly name: string }[];
  readonly containers: readonly MadeContainer[];
  readonly initContainers?: readonly MadeContainer[];
}

t.test('socket-mount: a pod with the label has the directory of the socket in each container', needs('mutatingPolicies'), async (t) => {
  const rendered = await renderChart(directory, { values: { parts: { socketMount: true } } });
  const policy = { objects: rendered.filter(({ kind }) => kind?.startsWith('Mutating')), patches: [] };
  await applyManifests(cluster, policy);
  t.teardown(() => removeRights(cluster, policy));
  const namespace = await createNamespace(cluster, 'socket');
  await createAccount(cluster, namespace, 'default');
  const make = async (labels: Readonly<Record<string, string>>, more: object = {}): Promise<PodSpec> => {
    const containers = ['one', 'two'].map((name) => ({ name, image: 'none', volumeMounts: [{ name: 'own', mountPath: '/own' }] }));
    const spec = { containers, volumes: [{ name: 'own', emptyDir: {} }], automountServiceAccountToken: false, ...more };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'trial', labels }, spec };
    const { body: made } = await cluster.admin.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body });
    return made['spec'] as PodSpec;
  };
  const named = (list: readonly { readonly name: string }[]): unknown => list.find(({ name }) => name === 'signet-socket');
  const label = { 'signet-agent/socket': 'mount' };
  const { volumes, containers } = await until('the policy is known', 60_000, async () => {
    const spec = await make(label);
    return named(spec.volumes) === undefined ? undefined : spec;
  });
  t.match([volumes.length, named(volumes)], [2, { hostPath: { path: '/run/signet/sds', type: 'Directory' } }]);
  for (const { volumeMounts } of containers)
    t.match([volumeMounts.length, named(volumeMounts)], [2, { mountPath: '/run/signet/sds', readOnly: true }]);
  const initContainers = [{ name: 'sidecar', image: 'none', restartPolicy: 'Always' }];
  const [sidecar] = (await make(label, { initContainers })).initContainers ?? [];
  t.match(named(sidecar?.volumeMounts ?? []), { mountPath: '/run/signet/sds', readOnly: true }, 'a native sidecar too');
  t.equal(named((await make({})).volumes), undefined, 'no other pod');
});

t.test('a field that the API does not know is refused, so the others are known', async (t) => {
  const daemonSet = (await renderChart(directory)).find(({ kind }) => kind === 'DaemonSet');
  t.match(await tryObject({ ...daemonSet, spec: { ...(daemonSet?.['spec'] as object), surge: 1 } } as KubeObject), /surge/);
});
