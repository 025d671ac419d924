// The plain manifests, read: what no rule in them may grant. What they do grant is tried by test/cluster/manifests.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../agent/config.js';
import { agentAccount, manifestComponents, readDefaultManifests, readManifests } from '../fixtures/manifests.js';

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
    for (const resource of ['secrets', 'nodes/proxy', 'certificatesigningrequests', 'podcertificaterequests'])
      t.notOk(resources.includes(resource), `not ${resource}`);
    for (const verb of ['impersonate', 'impersonate:arbitrary-node', 'escalate', 'bind']) t.notOk(verbs.includes(verb), `not ${verb}`);
  }
  t.end();
});

t.test('rights go to the account of the agent, and the audience of the CA to the nodes', (t) => {
  for (const { metadata, subjects } of ofKind('ClusterRoleBinding')) {
    const expected =
      metadata.name === 'signet-ca-audience'
        ? [{ kind: 'Group', name: 'system:nodes' }]
        : [{ kind: 'ServiceAccount', name: agentAccount.account, namespace: agentAccount.namespace }];
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

t.test('each configuration is accepted, under the variables of the DaemonSet', (t) => {
  const file = join(t.testdir({}), 'agent.yaml');
  const env = { NODE_NAME: 'node-1', SIGNET_HTTP_ADDRESS: '10.0.0.1:9470', SIGNET_PODS_KUBELET_ADDRESS: '10.0.0.2:10250' };
  const authOf = (configMap: unknown): unknown => {
    writeFileSync(file, (configMap as { readonly data: { readonly 'agent.yaml': string } }).data['agent.yaml']);
    const { config, warnings } = loadConfig({ defaults: 'agent', env, file });
    t.same(warnings, []);
    return config.upstreams.map((upstream) => upstream.kind === 'istio' && upstream.auth);
  };
  t.same(ofKind('ConfigMap').map(authOf), [['node'], ['workload']], 'of the base, and of workload-tokens, which replaces it');
  t.end();
});
