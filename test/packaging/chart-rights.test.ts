// The rights of the chart on a real API server, with real CAs. Enough: with what a mode renders, rights, command line, configuration and
// volumes, the agent hands out a certificate on its socket. And no more than that: without any one of them the API server or the kubelet
// refuses something that agent or CA needs, and says so. The API server streams no lists, as those before Kubernetes 1.34, so that lists
// are asked for too.

import { dirname } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { Profile, Values } from '../fixtures/chart.js';
import { istiodAsNode, renderChart } from '../fixtures/chart.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import { createNamespace, createNode, createObjects } from '../fixtures/cluster-objects.js';
import { applyCertificateRequests, applyManifests, removeRights } from '../fixtures/manifests.js';
import type { Permission } from '../fixtures/permissions.js';
import { describePermission, followRefusals, isRefusedIn, permissionsIn, untilKnown, without } from '../fixtures/permissions.js';
import type { Beside, World } from '../fixtures/rights-place.js';
import { createRightsPlace, narrowed } from '../fixtures/rights-place.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const scene = await createScene(t);
const cluster = await startControlPlane(scene, { apiServerFlags: ['--feature-gates=WatchList=false'] });
const node = await createNode(cluster);
const kubelet = await startKubelet(scene, cluster, node);

/** Profiles and values over them, and what has to be there beside what they render. */
interface Mode {
  readonly profiles?: readonly Profile[];
  readonly values?: Values;
  readonly beside?: Beside;
}

const signerName = 'example.com/workload';
const otherSigner = 'example.com/other';

/** By what they are for; each right of a profile is taken away, and each of another mode that no mode before has. */
const modes: Readonly<Record<string, Mode>> = {
  'profile ambient': { profiles: ['ambient'] },
  'profile envoy': { profiles: ['envoy'] },
  'profile openshift': { profiles: ['openshift'] },
  'profile standalone': { profiles: ['standalone'] },
  'the local CA endpoint before signet ca': { profiles: ['ambient', 'standalone'] },
  'roots in a ConfigMap, and labels of namespaces': {
    profiles: ['ambient'],
    values: {
      agent: {
        config: {
          pods: { namespaces: true },
          trustBundle: { sources: [{ kind: 'configmap', namespace: 'signet-system', name: 'istio-ca-root-cert' }] },
        },
      },
    },
  },
  'all pods, auth node': { values: { agent: { pods: 'cluster-wide', config: { upstreams: [istiodAsNode] } } } },
  'pods of the port of the kubelet, auth node': {
    values: {
      agent: { pods: 'kubelet', config: { pods: { kubelet: { address: `127.0.0.1:${kubelet.port}` } }, upstreams: [istiodAsNode] } },
    },
    beside: { node },
  },
  'pods of the socket of the kubelet, auth node': {
    values: { agent: { pods: 'kubelet-socket', config: { upstreams: [istiodAsNode] } } },
    beside: { node, onNode: { '/var/lib/kubelet/pods-api': dirname(kubelet.podsApiSocket) } },
  },
  'CertificateSigningRequests': {
    profiles: ['standalone'],
    values: {
      agent: { config: { upstreams: [{ kind: 'kubernetes-csr', signerName }] } },
      ca: { config: { requests: { kubernetesCsr: { signerName } } } },
    },
  },
  'CertificateSigningRequests that another signs': {
    profiles: ['standalone'],
    values: {
      agent: { rootsConfigMap: 'signet-outside-root', config: { upstreams: [{ kind: 'kubernetes-csr', signerName: otherSigner }] } },
      ca: { config: { requests: { kubernetesCsr: { signerName, approveOnly: [otherSigner] } } } },
    },
    beside: { signer: { resource: 'certificatesigningrequests', name: otherSigner, waits: true } },
  },
  'PodCertificateRequests, roots in ClusterTrustBundles': {
    profiles: ['standalone'],
    values: {
      agent: {
        config: {
          upstreams: [{ kind: 'pod-certificate', signerName }],
          trustBundle: { sources: [{ kind: 'cluster-trust-bundle', signerName }] },
        },
      },
      ca: {
        config: {
          requests: { podCertificate: { signerName } },
          roots: { clusterTrustBundle: { name: 'example.com:workload:root', signerName } },
        },
      },
    },
  },
  'CertificateRequests of cert-manager': {
    values: {
      admission: { certificateApprover: true },
      agent: {
        rootsConfigMap: 'signet-outside-root',
        config: { upstreams: [{ kind: 'cert-manager', issuerRef: { name: 'signet-outside', kind: 'ClusterIssuer' } }] },
      },
    },
    beside: { signer: { resource: 'certificaterequests', name: 'signet-outside' }, pod: { automountServiceAccountToken: true } },
  },
  'an issuer of Istio, and a certificate for istiod': {
    profiles: ['standalone'],
    values: {
      ca: {
        config: {
          issuer: { secret: { namespace: 'istio-system', name: 'signet-adopted' } },
          servingSecrets: [{ namespace: 'istio-system', name: 'signet-istiod-tls', hosts: ['istiod.istio-system.svc'] }],
        },
      },
    },
    beside: { adopted: 'signet-adopted' },
  },
};

// Those of the places in which a mode is tried as a whole.
const trustedNodeAccounts = Object.keys(modes).map((_, index) => `signet-system/signet-agent-${index}`);
const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts });
const world: World = { cluster, istiod, namespace: await createNamespace(cluster, 'apps') };
const kubeRoot = {
  kind: 'ConfigMap',
  metadata: { namespace: 'signet-system', name: 'kube-root-ca.crt' },
  data: { 'ca.crt': cluster.roots },
};
await createObjects(cluster, [{ kind: 'Namespace', metadata: { name: 'signet-system' } }, kubeRoot]);
await applyCertificateRequests(cluster);

// OpenShift's kinds are not there. That an account may use its constraints OpenShift asks when it admits a pod, and nobody else.
const isOfOpenShift = ({ rule }: Permission): boolean => rule.apiGroups.includes('security.openshift.io');
const render = async ({ profiles = [], values = {} }: Mode): Promise<readonly KubeObject[]> =>
  (await renderChart(scene.directory, { profiles, values })).filter(({ kind }) => kind !== 'SecurityContextConstraints');

/** What a place without the rest of the objects needs of them. */
const isOfPlace = ({ kind = '' }: KubeObject): boolean => /^ServiceAccount$|^ConfigMap$|Role/.test(kind);

interface Trial {
  readonly mode: Mode;
  readonly rendered: readonly KubeObject[];
  /** Among the permissions that are rendered. */
  readonly index: number;
}

const trials = new Map<string, Trial>();
const tried = new Set<string>();

for (const [number, [name, mode]] of Object.entries(modes).entries()) {
  await t.test(`${name}: its rights are enough`, async (t) => {
    const rendered = await render(mode);
    const own = permissionsIn(rendered);
    for (const [index, each] of own.entries()) {
      const described = describePermission(each);
      if (isOfOpenShift(each) || (tried.has(described) && !name.startsWith('profile '))) continue;
      tried.add(described);
      trials.set(`${name}: without ${described}`, { mode, rendered, index });
    }
    const place = createRightsPlace(await createScene(t), world, rendered, mode.beside ?? {}, number);
    const manifests = { objects: place.objects, patches: [] };
    await applyManifests(cluster, manifests);
    await untilKnown(cluster, permissionsIn(place.objects));
    await t.resolves(place.use(), 'a certificate in every way');
    await place.stop();
    // What groups have no mode after it has.
    await removeRights(cluster, manifests);
  });
}

const refusedTo = followRefusals(cluster);

await t.test('each right is needed', { jobs: 4 }, async (t) => {
  const pending = [...trials].map(([name, trial], index) =>
    t.test(name, { buffered: true }, (t) => tryWithout(t, trial, trustedNodeAccounts.length + index)),
  );
  await Promise.all(pending);
});

async function tryWithout(t: Test, { mode, rendered, index }: Trial, number: number): Promise<void> {
  const place = createRightsPlace(await createScene(t), world, rendered, mode.beside ?? {}, number);
  const objects = place.objects.filter(isOfPlace).map((object) => narrowed(object, world, number));
  const missing = permissionsIn(objects)[index];
  if (missing === undefined) throw new Error('other rules than before');
  const granted = without(objects, missing);
  await applyManifests(cluster, { objects: granted, patches: [] });
  await untilKnown(cluster, permissionsIn(granted));
  // An agent looks for its request again only when the signer has let it wait.
  const hasCa = !describePermission(missing).endsWith(':list podcertificaterequests');
  const used = place.use({ hasCa }).then(
    () => 'all worked',
    (error: unknown) => String(error),
  );
  const isRefused = (): boolean => [refusedTo(`-${number}`), place.written()].some((text) => isRefusedIn(text, missing));
  const refused = await until('it is refused', 120_000, isRefused, 100).catch(() => false);
  await place.stop();
  t.ok(refused, refused ? 'what needs it is refused' : `nothing is refused: ${await used}`);
  await used;
}
