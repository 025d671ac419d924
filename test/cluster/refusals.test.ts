// A whole agent against a real istiod that does not let it have a certificate: one reason, one line for each thing that it
// concerns, and what to change. See suites.md.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { reasons } from '../../agent/runtime/reasons.js';
import type { ReasonCode } from '../../agent/runtime/reasons.js';
import { startTestAgent } from '../fixtures/agent.js';
import { istioAudience, istioClusterId, startIstiod } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { createRoot, dayMs } from '../fixtures/pki.js';
import { createScene } from '../fixtures/scene.js';
import { createTestToken } from '../fixtures/tokens.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'refused');
for (const account of ['web', 'agent', 'stranger']) await createAccount(cluster, namespace, account);
const node = await createNode(cluster);
const podOf = (account: string) => createPod(cluster, { namespace, account, node: node.name, phase: 'Running' });
const [agent, stranger] = [await podOf('agent'), await podOf('stranger')];
await podOf('web');
const id = `spiffe://cluster.local/ns/${namespace}/sa/web`;

const scene = await createScene(t);
const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [`${namespace}/agent`] });
const tokenOf = (account: string, pod: typeof agent, audience = istioAudience) =>
  createToken(cluster, { namespace, account, audience, pod });
const otherRoot = (): string => createRoot({ notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs }).pem.toString();

interface Fault {
  readonly reason: ReasonCode;
  readonly token?: string;
  readonly tlsRoots?: string;
  readonly clusterId?: string;
  /** Of the line about the identity. */
  readonly detail: RegExp;
  /** What to change is named by these words. */
  readonly action: RegExp;
}

const good = await tokenOf('agent', agent);
const faults: Readonly<Record<string, Fault>> = {
  'another audience': {
    reason: 'ca-token-audience',
    token: await tokenOf('agent', agent, 'other-ca'),
    detail: /audience istio-ca, tokenAudiences other-ca/,
    action: /audience of the projected token/,
  },
  'an expired token': {
    reason: 'ca-token-expired',
    token: createTestToken({ expiresAt: Date.now() - 1_000 }),
    detail: /expiredAt 20/,
    action: /kubelet renews it/,
  },
  'an unknown cluster': { reason: 'ca-unauthenticated', clusterId: 'elsewhere', detail: /clusterId elsewhere/, action: /clusterId/ },
  'an unknown root': {
    reason: 'ca-root-unknown',
    tlsRoots: otherRoot(),
    detail: /verify the certificate of the ca, ca localhost/,
    action: /tls\.roots/,
  },
  'an account that may not ask for others': {
    reason: 'ca-impersonation-refused',
    token: await tokenOf('stranger', stranger),
    detail: new RegExp(`ca localhost:${istiod.port()}, id ${id}, account ${namespace}/stranger`),
    action: /CA_TRUSTED_NODE_ACCOUNTS/,
  },
};

for (const [name, { reason, token = good, tlsRoots = istiod.roots, clusterId = istioClusterId, detail, action }] of Object.entries(
  faults,
)) {
  await t.test(`${name}: ${reason}`, async (t) => {
    const directory = t.testdir({ 'token': token, 'tls.pem': tlsRoots, 'bundle.pem': istiod.roots });
    const at = (file: string): string => join(directory, file);
    const upstream = {
      kind: 'istio',
      endpoints: [`localhost:${istiod.port()}`],
      tls: { roots: { kind: 'file', path: at('tls.pem') } },
      tokenFile: at('token'),
      clusterId,
    };
    const running = await startTestAgent({
      pods: `apiVersion: v1\nkind: Pod\nmetadata: {namespace: ${namespace}, name: web}\nspec: {serviceAccountName: web}\n`,
      flags: { 'trust-domain': 'cluster.local' },
      settings: {
        'upstreams': [upstream],
        'certificate.deadline': '60s',
        'trustBundle.sources': [{ kind: 'file', path: at('bundle.pem') }],
      },
    });
    t.teardown(() => running.stop());
    const statusOf = async () => (await running.admin.status(new AbortController().signal)).identities.find((each) => each.name === id);
    const refused = await until('it is refused', 60_000, async () => {
      const status = await statusOf();
      return status?.state === 'unavailable' && status.reason;
    });
    t.match(refused, { code: reason, detail, action });
    const lines = running.logs
      .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
      .filter((line) => line['level'] === 'warn');
    t.same([...new Set(lines.map((line) => line['reason']))], [reason], 'one reason');
    const messages = lines.map((line) => line['message']);
    t.same(messages, [...new Set(messages)], 'one line for each thing that it concerns');
    const [line] = lines.filter(({ message }) => message === 'certificate unavailable');
    t.match(line, { id, detail, action: reasons[reason].action });
    for (const [file, text] of Object.entries({ 'token': good, 'tls.pem': istiod.roots })) writeFileSync(at(file), text);
    if (clusterId === istioClusterId) t.ok(await until('it is mended', 60_000, async () => (await statusOf())?.state === 'issued', 200));
  });
}
