// The Helm chart: it renders the objects of the plain manifests, for each profile and each way to know pods or to ask a CA, and what
// it renders is accepted by the binary. On a real API server: chart-server.test.ts.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { runToEnd, startChild } from '../fixtures/child.js';
import type { Rendering, Values } from '../fixtures/chart.js';
import {
  chartGenerator,
  comparable,
  configurationIn,
  istiodAsNode,
  keyOf,
  profiles,
  renderChart,
  renderComponents,
  renderProfile,
  runHelm,
  settingsIn,
} from '../fixtures/chart.js';
import type { KubeObject } from '../fixtures/cluster-client.js';
import { repository } from '../fixtures/envoy-examples.js';
import { createScene } from '../fixtures/scene.js';
import { binary } from '../fixtures/signet.js';
import { untilRunning } from '../fixtures/until.js';

const directory = t.testdir({});

/** With the namespaces, which the plain manifests have, and Helm only on demand. */
const whole: Values = { parts: { namespaces: true } };

t.test('schema and table of values are those of values.yaml', async (t) => {
  const { code, stderr } = await runToEnd(process.execPath, [chartGenerator, '--check']);
  t.equal(code, 0, stderr);
});

/** What is rendered, in pods of both families of addresses, is taken by the binary. */
async function checkConfigurations(t: Test, objects: readonly KubeObject[]): Promise<void> {
  for (const name of ['signet-agent', 'signet-ca'] as const) {
    if (!objects.some(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === `${name}-config`)) continue;
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, configurationIn(objects, name));
    for (const address of ['10.0.0.1', 'fd00::1']) {
      const pod = { NODE_NAME: 'node-1', POD_IP: address, HOST_IP: address };
      const set = Object.entries(settingsIn(objects, name)).map(([key, value]) => [key, value.replace(/\$\((?:POD|HOST)_IP\)/, address)]);
      const environment = { ...pod, ...(Object.fromEntries(set) as Record<string, string>) };
      const args = ['check-config', ...(name === 'signet-ca' ? ['--ca'] : []), '--config', file];
      const { code, stdout, stderr } = await runToEnd(process.execPath, [binary, ...args], { environment });
      t.equal(code, 0, `${stdout}${stderr}`);
    }
  }
}

for (const profile of profiles) {
  t.test(`profile ${profile}: linted, the objects of kustomize, and configurations that the binary accepts`, async (t) => {
    const lint = await runHelm(directory, ['lint', '--strict'], { profiles: [profile] });
    t.equal(lint.code, 0, lint.stdout);
    const objects = await renderChart(directory, { profiles: [profile], values: whole });
    t.strictSame(comparable(objects), comparable(await renderProfile(profile)));

    await checkConfigurations(t, objects);
  });
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

function containerOf(objects: readonly KubeObject[], kind: 'DaemonSet' | 'Deployment'): Container {
  const workload = objects.find((object) => object.kind === kind) as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } };
  };
  return workload.spec.template.spec.containers[0];
}

t.test('the command line of the agent starts the binary, which opens its socket and ends when it is told to', async (t) => {
  const objects = await renderChart(directory, { profiles: ['ambient'] });
  const { args } = containerOf(objects, 'DaemonSet');
  const scene = await createScene(t);
  const path = (name: string): string => join(scene.directory, name);
  writeFileSync(path('agent.yaml'), configurationIn(objects, 'signet-agent'));
  const agent = startChild({
    name: 'agent',
    command: process.execPath,
    args: [binary, ...args.map((arg) => arg.replace('/etc/signet/agent.yaml', path('agent.yaml')))],
    // What a container has at fixed places, and this machine may have taken.
    environment: {
      NODE_NAME: 'node-1',
      SIGNET_HTTP_ADDRESS: '127.0.0.1:0',
      SIGNET_LOCAL_CA_ADDRESS: '127.0.0.1:0',
      SIGNET_LOCAL_CA_ROOT_DIRECTORY: path('local-ca'),
      SIGNET_SDS_SOCKET_PATH: path('sds.sock'),
      SIGNET_ADMIN_SOCKET_PATH: path('admin.sock'),
      SIGNET_STATE_DIRECTORY: path('state'),
    },
  });
  scene.add(agent);
  await untilRunning(agent, 'the agent has its socket', () => existsSync(path('sds.sock')));
  agent.signal('SIGTERM');
  t.equal(await agent.ended, 0, agent.tail());
});

const always = ['network-policy', 'flow-control'];
const signerName = 'example.com/workload';

/** Values of the agent beside what they have to render. */
const modes: Readonly<Record<string, readonly [values: Values, components: readonly string[]]>> = {
  'sockets for pods': [{ parts: { socketMount: true } }, ['pods-as-node', 'workload-tokens', 'socket-mount']],
  'no values': [{}, ['pods-as-node', 'workload-tokens']],
  'priorities of the system by a quota': [{ parts: { priorityQuota: true } }, ['pods-as-node', 'workload-tokens', 'priority-quota']],
  'auth workload, other audiences refused': [
    { admission: { actingAsNode: 'Deny' } },
    ['pods-as-node', 'workload-tokens', 'workload-tokens-deny'],
  ],
  'auth node, pods of the Pods API': [
    { agent: { pods: 'kubelet-socket', config: { upstreams: [istiodAsNode] } } },
    ['pods-kubelet-socket'],
  ],
  'auth node, pods of the kubelet': [{ agent: { pods: 'kubelet', config: { upstreams: [istiodAsNode] } } }, ['pods-kubelet']],
  'kubernetes-csr, all pods': [
    {
      agent: { pods: 'cluster-wide', rootsConfigMap: 'signet-agent-root', config: { upstreams: [{ kind: 'kubernetes-csr', signerName }] } },
    },
    ['pods-cluster-wide', 'upstream-kubernetes-csr'],
  ],
  'pod-certificate, other signers refused': [
    {
      admission: { actingAsNode: 'Deny' },
      agent: {
        config: {
          upstreams: [{ kind: 'pod-certificate', signerName }],
          trustBundle: { sources: [{ kind: 'cluster-trust-bundle', signerName }] },
        },
      },
    },
    ['pods-as-node', 'roots-cluster-trust-bundle', 'upstream-pod-certificate', 'upstream-pod-certificate-deny'],
  ],
  'cert-manager': [
    {
      admission: { certificateApprover: true },
      agent: {
        rootsConfigMap: 'signet-agent-root',
        config: { upstreams: [{ kind: 'cert-manager', issuerRef: { name: 'workload-ca', kind: 'ClusterIssuer' } }] },
      },
    },
    ['pods-as-node', 'upstream-cert-manager'],
  ],
  'monitoring': [
    {
      parts: { monitoring: true },
      ca: { enabled: true, config: { roots: { configMaps: null, clusterTrustBundle: { name: 'signet-ca-root' } } } },
    },
    [
      ...['pods-as-node', 'workload-tokens', 'monitoring', 'ca', 'ca-issuer-secret', 'ca-roots-cluster-trust-bundle'],
      ...['ca-network-policy', 'ca-flow-control', 'ca-monitoring'],
    ],
  ],
  'a CA with files of an issuer, which answers requests': [
    {
      openshift: { enabled: true },
      ca: {
        enabled: true,
        config: {
          issuer: {
            certificate: '/var/run/secrets/signet/issuer/tls.crt',
            privateKey: '/var/run/secrets/signet/issuer/tls.key',
            roots: '/var/run/secrets/signet/issuer/ca.crt',
          },
          roots: null,
          requests: { kubernetesCsr: { signerName }, podCertificate: { signerName } },
        },
      },
    },
    [
      ...['pods-as-node', 'workload-tokens', 'openshift', 'ca', 'ca-signer-csr'],
      ...['ca-signer-pod-certificate', 'ca-network-policy', 'ca-flow-control', 'ca-openshift'],
    ],
  ],
};

for (const [name, [values, components]] of Object.entries(modes)) {
  t.test(`${name}: the objects of kustomize`, async (t) => {
    const given = { ...values, parts: { namespaces: true, ...(values['parts'] as object | undefined) } };
    const objects = await renderChart(directory, { values: given });
    t.strictSame(comparable(objects), comparable(await renderComponents(directory, [...components, ...always])));
    await checkConfigurations(t, objects);
  });
}

t.test('agent and CA are started with the settings that every shipped start has, and more memory than their heaps may take', async (t) => {
  const objects = await renderChart(directory, { profiles: ['standalone'] });
  for (const [kind, file] of [
    ['DaemonSet', 'launch.env'],
    ['Deployment', 'launch-ca.env'],
  ] as const) {
    const lines = readFileSync(join(repository, 'packaging', file), 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
    const { env, resources } = containerOf(objects, kind);
    const started = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    t.match(started, Object.fromEntries([...lines].map(([, name, value]) => [name, value])), kind);
    const heap = /--max-old-space-size=(\d+)/.exec(started['NODE_OPTIONS'] ?? '')?.[1];
    t.ok(Number.parseInt(resources.limits.memory, 10) > Number(heap) + 100, `${resources.limits.memory} for a heap of ${heap} MiB`);
  }
});

t.test('kustomize: another trust domain is given once, as the README says, to agent and CA', async (t) => {
  const readme = readFileSync(join(repository, 'packaging', 'kustomize', 'README.md'), 'utf8');
  const [, patches = ''] = /```yaml\n(patches:\n(?:.*\n)*?)```/.exec(readme) ?? [];
  const objects = await renderProfile('standalone', directory, parse(patches) as object);
  for (const kind of ['DaemonSet', 'Deployment'] as const)
    t.equal(containerOf(objects, kind).env.find(({ name }) => name === 'SIGNET_TRUST_DOMAIN')?.value, 'example.org', kind);
});

t.test('a CA that listens at another port is reached there', async (t) => {
  const values = { ca: { config: { listen: { address: '[::]:15443' } } } };
  const { ports } = containerOf(await renderChart(directory, { profiles: ['standalone'], values }), 'Deployment');
  t.match(ports, [{ name: 'grpc-ca', containerPort: 15443 }]);
});

t.test('namespaces that the configuration watches: that right', async (t) => {
  const objects = comparable(await renderChart(directory, { values: { agent: { config: { pods: { namespaces: true } } } } }));
  const wanted = comparable(await renderComponents(directory, ['namespaces']));
  for (const key of ['ClusterRole//signet-agent-namespaces', 'ClusterRoleBinding//signet-agent-namespaces'])
    t.strictSame(objects[key], wanted[key] ?? 'nothing', key);
});

t.test('roots in ConfigMaps: each may be read, and no other', async (t) => {
  const source = (namespace: string, name: string): object => ({ kind: 'configmap', namespace, name });
  const sources = [source('mesh', 'roots'), source('mesh', 'more'), source('signet-system', 'roots')];
  const objects = await renderChart(directory, { values: { agent: { config: { trustBundle: { sources } } } } });
  const roles = objects.filter(({ kind }) => kind === 'Role');
  t.match(roles.map(({ metadata, rules }) => [metadata.namespace, (rules as [{ resourceNames: unknown }])[0].resourceNames]).sort(), [
    ['mesh', ['more', 'roots']],
    ['signet-system', ['roots']],
  ]);
});

t.test("an issuer of Istio, adopted: its Secret is changed, not made, and istiod's is made", async (t) => {
  const config = {
    issuer: { secret: { namespace: 'istio-system', name: 'istio-ca-secret' } },
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts: ['istiod.istio-system.svc'] }],
  };
  const objects = await renderChart(directory, { values: { ca: { enabled: true, config } } });
  const rules = objects.filter(({ metadata }) => metadata.namespace === 'istio-system').flatMap((object) => object['rules'] ?? []);
  t.match(rules, [
    { resources: ['secrets'], resourceNames: ['istio-ca-secret'], verbs: ['get', 'list', 'watch', 'patch'] },
    { resources: ['secrets'], resourceNames: ['istiod-tls'], verbs: ['list', 'watch', 'create', 'patch'] },
  ]);
});

t.test('parts: releases of several teams are together what one is, and each object is in one of them', async (t) => {
  const all = { namespaces: true, accounts: true, agent: true, ca: true, rbac: true, admission: true };
  const parts = { ...all, flowControl: true, priorityQuota: true, networkPolicy: true, monitoring: true, socketMount: true };
  const none = Object.fromEntries(Object.keys(parts).map((part) => [part, false]));
  const render = async (which: object): Promise<readonly string[]> =>
    (await renderChart(directory, { profiles: ['standalone', 'openshift'], values: { parts: which } })).map(keyOf);
  t.same(await render(none), []);
  const separate: string[] = [];
  for (const part of Object.keys(parts)) {
    const objects = await render({ ...none, [part]: true });
    t.ok(objects.length > 0, part);
    separate.push(...objects);
  }
  t.same(separate.sort(), (await render(parts)).toSorted());
});

t.test('F134: no name depends on that of the release', async (t) => {
  const render = async (release: string): Promise<unknown> =>
    comparable(await renderChart(directory, { profiles: ['standalone'], release }));
  t.strictSame(await render('other'), await render('signet'));
});

t.test('namespaces and accounts of their own are named wherever they stand', async (t) => {
  const values = {
    agent: { namespace: 'mesh-agents', account: 'node-agent', config: { localCa: { address: ':15812' } } },
    ca: { namespace: 'mesh-ca', account: 'certificates' },
  };
  const objects = await renderChart(directory, { profiles: ['standalone', 'openshift'], values: { ...values, ...whole } });
  const left = objects.filter((object) => object.kind !== 'ConfigMap' && JSON.stringify(object).includes('signet-system'));
  t.same(left.map(keyOf), []);
  const subjects = objects.flatMap((object) => (object['subjects'] ?? []) as { readonly kind: string; readonly name: string }[]);
  t.same([...new Set(subjects.map(({ name }) => name))].sort(), ['certificates', 'node-agent']);
  t.match(parse(configurationIn(objects, 'signet-ca')), {
    nodeAgents: ['mesh-agents/node-agent'],
    issuer: { secret: { namespace: 'mesh-ca' } },
    lease: { namespace: 'mesh-ca' },
    listen: { names: ['signet-ca.mesh-ca.svc'] },
  });
  t.match(parse(configurationIn(objects, 'signet-agent')), { localCa: { names: ['signet-local-ca.mesh-agents.svc'] } });
});

t.test('an image of a mirror, by its digest', async (t) => {
  const digest = `sha256:${'0'.repeat(64)}`;
  const objects = await renderChart(directory, {
    profiles: ['standalone'],
    values: { image: { repository: 'mirror.example/signet', digest } },
  });
  const images = [...JSON.stringify(objects).matchAll(/"image":"([^"]*)"/g)].map(([, image]) => image);
  t.same(
    images,
    Array.from({ length: 2 }, () => `mirror.example/signet@${digest}`),
  );
});

/** Values beside what Helm says to them. */
const refused: Readonly<Record<string, readonly [Rendering['values'], RegExp]>> = {
  'an unknown value': [{ agents: {} }, /additional properties 'agents' not allowed/],
  'an unknown setting': [{ agent: { config: { sds: { sockets: 1 } } } }, /at '\/agent\/config\/sds'.*additional properties 'sockets'/],
  'a word out of the list': [{ agent: { pods: 'all' } }, /at '\/agent\/pods'/],
  'a trust domain beside that of the chart': [{ ca: { config: { trustDomain: 'example.org' } } }, /additional properties 'trustDomain'/],
  'requests of cert-manager that nobody compares': [
    { agent: { config: { upstreams: [{ kind: 'cert-manager', issuerRef: { name: 'workload-ca' } }] } } },
    /set admission\.certificateApprover/,
  ],
  'tokens that the policy refuses': [
    {
      admission: { certificateApprover: true },
      agent: {
        config: {
          upstreams: [
            { kind: 'istio', endpoints: ['a:1'], auth: 'workload', tls: istiodAsNode.tls },
            { kind: 'cert-manager', issuerRef: { name: 'workload-ca' } },
          ],
        },
      },
    },
    /cert-manager takes tokens that the policy of auth workload refuses/,
  ],
};

for (const [name, [values = {}, message]] of Object.entries(refused)) {
  t.test(`refused: ${name}`, async (t) => {
    const { code, stderr } = await runHelm(directory, ['template', 'signet'], { values });
    t.not(code, 0);
    t.match(stderr, message);
  });
}
