// The plain manifests, read: what no rule in them may grant. What they do grant is tried by test/cluster/manifests.test.ts.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { loadCaConfig, loadConfig } from '../../agent/config.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import {
  agentAccount,
  caComponents,
  manifestComponents,
  readCaComponents,
  readDefaultManifests,
  readManifests,
} from '../fixtures/manifests.js';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const { objects, patches } = readManifests(manifestComponents);
const ofKind = (kind: string): typeof objects => objects.filter((object) => object.kind === kind);

t.test('no rule is wider than its purpose', (t) => {
  const rules = ofKind('ClusterRole').flatMap(({ rules: list }) => list as readonly Rule[]);
  t.ok(rules.length > 0);
  for (const { apiGroups, resources, verbs } of rules) {
    const all = [...apiGroups, ...resources, ...verbs];
    t.notOk(
      all.some((word) => word.includes('*')),
      `no wildcard in ${all.join(' ')}`,
    );
    for (const resource of ['secrets', 'nodes/proxy']) t.notOk(resources.includes(resource), `not ${resource}`);
    const makes = (resource: string, verb: string): boolean => resources.includes(resource) && verbs.includes(verb);
    for (const verb of ['impersonate-on:associated-node:create', 'approve', 'sign', 'update', 'patch'])
      t.notOk(makes('certificatesigningrequests', verb), `never a kubelet's certificate: not ${verb}`);
    t.notOk(makes('podcertificaterequests', 'create'), 'pod certificates as the node only, which is checked');
    for (const verb of ['impersonate', 'impersonate:arbitrary-node', 'escalate', 'bind']) t.notOk(verbs.includes(verb), `not ${verb}`);
  }
  t.end();
});

/** Bindings to somebody other than the agent. */
const groups: Readonly<Record<string, string>> = {
  'signet-ca-audience': 'system:nodes',
  'signet-pod-certificate-signer': 'system:nodes',
  'signet-workload-certificate-requests': 'system:serviceaccounts',
};

t.test('rights go to the account of the agent, whom it may ask to the nodes, and requests of their own to the workloads', (t) => {
  for (const { metadata, subjects } of ofKind('ClusterRoleBinding')) {
    const group = groups[metadata.name ?? ''];
    const expected =
      group === undefined
        ? [{ kind: 'ServiceAccount', name: agentAccount.account, namespace: agentAccount.namespace }]
        : [{ kind: 'Group', name: group }];
    t.match(subjects, expected, metadata.name ?? '');
  }
  t.end();
});

t.test('the default is the base with components', (t) => {
  const known = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  for (const { kind, metadata } of readDefaultManifests().objects) t.ok(known.has(`${kind}/${metadata.name}`), `${kind} ${metadata.name}`);
  for (const { kind, metadata } of patches) t.ok(known.has(`${kind}/${metadata.name}`), `a patch of ${kind} ${metadata.name}`);
  t.end();
});

// kustomize puts a hash behind the names of the ConfigMaps that it makes, also where a rule has that name for something else.
t.test('no rule names what a ConfigMap of kustomize is called', (t) => {
  const directory = join('packaging', 'kustomize');
  const read = (name: string): readonly unknown[] =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(name))
      .flatMap((path) => parseAllDocuments(readFileSync(join(directory, path), 'utf8')).map((document) => document.toJS() as unknown));
  const kustomizations = read('kustomization.yaml') as readonly { readonly configMapGenerator?: readonly { readonly name: string }[] }[];
  const made = new Set(kustomizations.flatMap(({ configMapGenerator = [] }) => configMapGenerator.map(({ name }) => name)));
  const roles = read('rbac.yaml') as readonly { readonly rules?: readonly { readonly resourceNames?: readonly string[] }[] }[];
  const named = roles.flatMap(({ rules = [] }) => rules.flatMap(({ resourceNames = [] }) => resourceNames));
  t.same([...made].sort(), ['signet-agent-config', 'signet-ca-config']);
  t.ok(named.includes('signet-ca'));
  for (const name of named) t.notOk(made.has(name), name);
  t.end();
});

t.test('an agent whose CA is another keeps its roots where signet ca writes none', (t) => {
  const written = readCaComponents(caComponents)
    .objects.filter(({ kind }) => kind === 'ConfigMap')
    .flatMap((object) => {
      const { 'ca.yaml': text } = object['data'] as Readonly<Record<string, string>>;
      return (parse(text ?? '') as { readonly roots?: { readonly configMaps: readonly string[] } }).roots?.configMaps ?? [];
    });
  const mounted = (components: readonly ManifestComponent[]): string | undefined =>
    readManifests(components)
      .patches.flatMap(volumesOf)
      .findLast(({ name }) => name === 'ca-root')?.configMap?.name;
  t.ok(written.includes('signet-ca-root'));
  t.equal(mounted(['upstream-signet-ca']), 'signet-ca-root');
  t.equal(mounted(['upstream-kubernetes-csr', 'roots-signet-ca']), 'signet-ca-root');
  for (const component of ['upstream-kubernetes-csr', 'upstream-cert-manager'] as const) {
    t.equal(mounted([component]), 'signet-agent-root');
    t.notOk(written.includes('signet-agent-root'));
  }
  t.end();
});

t.test('each configuration is accepted, under the variables of the DaemonSet', (t) => {
  const file = join(t.testdir({}), 'agent.yaml');
  const env = { NODE_NAME: 'node-1', SIGNET_HTTP_ADDRESS: '10.0.0.1:9470', SIGNET_PODS_KUBELET_ADDRESS: '10.0.0.2:10250' };
  const authOf = (configMap: unknown): unknown => {
    writeFileSync(file, (configMap as { readonly data: { readonly 'agent.yaml': string } }).data['agent.yaml']);
    const { config, warnings } = loadConfig({ defaults: 'agent', env, file });
    t.same(warnings, []);
    return config.upstreams.map((upstream) => (upstream.kind === 'istio' ? upstream.auth : upstream.kind));
  };
  t.same(
    ofKind('ConfigMap').map(authOf),
    [['node'], ['node'], ['workload'], ['kubernetes-csr'], ['pod-certificate'], ['cert-manager']],
    'of the base, and of the components that replace it',
  );
  t.end();
});

t.test('certificates on demand, by the name of the setting', (t) => {
  const [agent] = readManifests(['issue-on-demand']).patches.map(containerOf);
  const env = Object.fromEntries((agent?.env ?? []).map(({ name, value }) => [name, value]));
  const { config } = loadConfig({ defaults: 'agent', env: { NODE_NAME: 'node-1', ...env }, file: 'packaging/kustomize/base/agent.yaml' });
  t.equal(config.certificate.issue, 'on-demand');
  t.end();
});

t.test('the local CA: a Service to the agent of the own node, on the port that it listens on', (t) => {
  const { objects: parts, patches: changes } = readManifests(['local-ca']);
  const [service] = parts.filter(({ kind }) => kind === 'Service');
  t.match(service, { spec: { internalTrafficPolicy: 'Local', ipFamilyPolicy: 'PreferDualStack', selector: { app: 'signet-agent' } } });
  const [endpoint] = changes.map(containerOf).filter(({ ports = [] }) => ports.length > 0);
  t.match(endpoint, { ports: [{ name: 'grpc-local-ca', containerPort: 15_812 }] });
  const env = Object.fromEntries((endpoint?.env ?? []).map(({ name, value }) => [name, value]));
  const { config } = loadConfig({ defaults: 'agent', env: { NODE_NAME: 'node-1', ...env }, file: 'packaging/kustomize/base/agent.yaml' });
  t.match(config.localCa, { address: { host: '', port: 15_812 }, rootDirectory: '/run/signet/local-ca' });
  const { metadata } = service ?? { metadata: {} };
  t.ok(config.localCa.names.includes(`${metadata.name}.${metadata.namespace}.svc`));
  t.end();
});

t.test('no pod of ours is in the ambient mesh', (t) => {
  const workloads = [...readManifests([]).objects, ...readCaComponents(['ca']).objects].filter((object) => 'template' in specOf(object));
  t.equal(workloads.length, 2);
  for (const each of workloads) t.match(specOf(each), { template: { metadata: { labels: { 'istio.io/dataplane-mode': 'none' } } } });
  t.end();
});

const specOf = (object: { readonly [key: string]: unknown }): object => (object['spec'] ?? {}) as object;

t.test('the CA: what it may do, and its configuration under the variables of the Deployment', (t) => {
  const directory = 'packaging/kustomize/components/ca';
  const [role, binding] = parseAllDocuments(readFileSync(join(directory, 'rbac.yaml'), 'utf8')).map(
    (document) => document.toJS() as unknown,
  );
  t.strictSame((role as { readonly rules: unknown }).rules, [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  ]);
  t.match(binding, { subjects: [{ kind: 'ServiceAccount', name: 'signet-ca', namespace: 'signet-system' }] });
  const { config, warnings } = loadCaConfig({ env: { SIGNET_HTTP_ADDRESS: '10.0.0.1:9471' }, file: join(directory, 'ca.yaml') });
  t.same(warnings, []);
  t.match(config, { trustDomain: 'cluster.local', nodeAgents: ['signet-system/signet-agent'], http: { address: { port: 9471 } } });
  t.ok(config.listen.names.includes('signet-ca.signet-system.svc'), 'the name of its Service');
  t.match(loadCaConfig({ env: {}, file: 'docs/examples/ca.yaml' }).warnings, []);
  t.end();
});

t.test('the CA with its issuer in a Secret: each configuration is accepted, and nothing is mounted that nobody makes', (t) => {
  const file = join(t.testdir({}), 'ca.yaml');
  const { objects: parts, patches: changes } = readCaComponents(['ca', ...caComponents]);
  const values = changes.flatMap((patch) => containerOf(patch).env ?? []);
  const env = Object.fromEntries(values.map(({ name, value }) => [name, value]));
  const configOf = (configMap: unknown, variables = {}) => {
    writeFileSync(file, (configMap as { readonly data: { readonly 'ca.yaml': string } }).data['ca.yaml']);
    const { config, warnings } = loadCaConfig({ env: variables, file });
    t.same(warnings, []);
    return config;
  };
  const [files, ...secrets] = parts.filter(({ kind }) => kind === 'ConfigMap');
  t.match(configOf(files).issuer, { certificate: /issuer/ });
  t.match(
    secrets.map((each) => configOf(each, env)),
    [
      { issuer: { secret: { namespace: 'signet-system', name: 'signet-ca-issuer' } }, roots: { configMaps: [] } },
      { issuer: { secret: {} }, roots: { configMaps: ['signet-ca-root'], clusterTrustBundle: { name: 'signet-ca-root' } } },
      { issuer: { secret: { name: 'istio-ca-secret' } }, servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls' }] },
    ],
  );
  const [deployment] = parts.filter(({ kind }) => kind === 'Deployment');
  const isOfIssuer = ({ mountPath }: { readonly mountPath: string }): boolean => mountPath === '/var/run/secrets/signet/issuer';
  t.equal(deployment && containerOf(deployment).volumeMounts?.filter(isOfIssuer).length, 1);
  t.match(changes.flatMap((patch) => containerOf(patch).volumeMounts ?? []).filter(isOfIssuer), [{ $patch: 'delete' }]);
  t.end();
});

interface Container {
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
}

function volumesOf(workload: unknown): readonly Volume[] {
  const { spec } = workload as { readonly spec: { readonly template: { readonly spec: { readonly volumes?: readonly Volume[] } } } };
  return spec.template.spec.volumes ?? [];
}

function containerOf(workload: unknown): Container {
  const { spec } = workload as { readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } } };
  return spec.template.spec.containers[0] ?? {};
}

const rbac = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;

t.test('what the CA writes is tied to its name, but for the creation of a Lease', (t) => {
  const { objects: rights } = readCaComponents(caComponents);
  const rules = rights.flatMap((object) => (object['rules'] ?? []) as readonly (Rule & { readonly resourceNames?: readonly string[] })[]);
  t.ok(rules.length > caComponents.length);
  for (const { resources, verbs, resourceNames } of rules) {
    const read = ['namespaces', 'certificatesigningrequests', 'podcertificaterequests', ...rbac];
    const isRead = verbs.every((verb) => ['get', 'list', 'watch'].includes(verb)) && resources.every((each) => read.includes(each));
    // Which of them, the right on the signer says.
    const isAnswer =
      verbs.join() === 'patch' && resources.every((each) => /^(certificatesigning|podcertificate)requests\/(approval|status)$/.test(each));
    const isLease = resources.includes('leases') && verbs.join() === 'create';
    t.ok(isRead || isLease || isAnswer || (resourceNames ?? []).length > 0, `${verbs.join()} ${resources.join()}`);
    t.notOk([...resources, ...verbs, ...(resourceNames ?? [])].some((word) => word.includes('*')));
  }
  for (const { metadata, subjects } of rights.filter(({ kind }) => kind?.endsWith('RoleBinding') === true))
    t.match(subjects, [{ kind: 'ServiceAccount', name: 'signet-ca', namespace: 'signet-system' }], metadata.name ?? '');
  t.end();
});
