// Istio's own client, as istio-agent uses it, with `signet ca` as its CA: what it gets, what it is told, and what it tries again.

import type { Test } from 'tap';
import t from 'tap';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { systemClock } from '../../agent/runtime/time.js';
import { caAudience, caTrustDomain, startTestAuthority } from '../fixtures/authority.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { startControlPlane } from '../fixtures/cluster.js';
import type { IstioAgentSecret, IstioAgentCall } from '../fixtures/istio-agent.js';
import { askAsIstioAgent } from '../fixtures/istio-agent.js';
import { opensslVerify } from '../fixtures/openssl.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const scene = await createScene(t);
// Of its own: it is stopped.
const cluster = await startControlPlane(scene);
const namespace = await createNamespace(cluster, 'istio-agents');
for (const account of ['ztunnel', 'web', 'orders']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podOn = (node: string, account: string): Promise<TestPod> => createPod(cluster, { namespace, account, node, phase: 'Running' });
const pods = {
  ztunnel: await podOn(own.name, 'ztunnel'),
  web: await podOn(own.name, 'web'),
  orders: await podOn(other.name, 'orders'),
};
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const tokenOf = (account: keyof typeof pods, audience = caAudience): Promise<string> =>
  createToken(cluster, { namespace, account, audience, pod: pods[account] });

const ca = await startTestAuthority(scene, cluster, { nodeAgents: [`${namespace}/ztunnel`] });
const roots = readFileSync(ca.rootsFile, 'utf8');
const ask = (call: Pick<IstioAgentCall, 'token' | 'identity'> & Partial<IstioAgentCall>): Promise<IstioAgentSecret> =>
  askAsIstioAgent(scene.directory, { port: ca.authority.address.port, caRoots: roots, ...call });
/** The reason of each audit line that a call left, which fails with that text. */
async function refusals(t: Test, call: Parameters<typeof ask>[0], text: RegExp): Promise<readonly string[]> {
  const before = ca.audit().length;
  await t.rejects(ask(call), { message: text });
  const lines = ca.audit().slice(before);
  return lines.map(({ decision, reason }) => `${decision} ${reason}`);
}

for (const keyType of ['rsa-2048', 'ec-p256'] as const) {
  for (const impersonate of [false, true]) {
    const who = impersonate ? 'as a node agent' : 'with the token of the workload';
    await t.test(`a certificate for a key of type ${keyType}, ${who}`, async (t) => {
      const token = await tokenOf(impersonate ? 'ztunnel' : 'web');
      const before = ca.audit().length;
      const secret = await ask({ token, identity: idOf('web'), impersonate, keyType });
      t.match(ca.audit().slice(before), [{ decision: 'grant', reason: impersonate ? 'node' : 'own' }]);
      t.equal(secret.roots, roots, 'its roots are those of the CA, and the last of the chain');
      t.ok(secret.chain.endsWith(roots));
      const leaf = new X509Certificate(secret.chain);
      t.equal(leaf.subjectAltName, `URI:${idOf('web')}`);
      t.ok(leaf.checkPrivateKey(createPrivateKey(secret.key)));
      t.same(opensslVerify(secret.chain, roots, systemClock.now()), { ok: true, output: '' });
    });
  }
}

await t.test('a refusal comes as its status, and once', async (t) => {
  const cases: readonly (readonly [what: string, call: Parameters<typeof ask>[0], status: RegExp, decision: string])[] = [
    [
      'an identity of another node',
      { token: await tokenOf('ztunnel'), identity: idOf('orders'), impersonate: true },
      /code = Unauthenticated desc = request impersonation authentication failure/,
      'refuse identity-not-on-node',
    ],
    [
      'a token for somebody else',
      { token: await tokenOf('web', 'other'), identity: idOf('web') },
      /code = Unauthenticated desc = request authenticate failure/,
      'refuse token-audience',
    ],
    [
      'a request that names another identity than the token',
      { token: await tokenOf('web'), identity: idOf('orders') },
      /code = InvalidArgument/,
      'refuse csr-other-name',
    ],
  ];
  for (const [what, call, status, decision] of cases) t.same(await refusals(t, call, status), [decision], what);
});

await t.test('an API server that is away is tried again, as often as Istio does, and then it is over', async (t) => {
  // Not reviewed before.
  const call = { token: await tokenOf('web'), identity: idOf('web') };
  await cluster.stopApiServer();
  t.same(await refusals(t, call, /code = Unavailable/), Array<string>(5).fill('refuse kube-unavailable'));
  await cluster.startApiServer();
  t.ok(await until('a certificate', 120_000, () => ask(call)));
});
