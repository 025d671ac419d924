// ztunnel at the endpoint of the agent on its node, with a real API server and a real istiod behind it: what it gets, also when many
// come at once, and what nobody gets.

import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../agent/runtime/time.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { createPod } from '../fixtures/cluster-objects.js';
import { createTestCsr } from '../fixtures/csrs.js';
import { createFakeIstioCa } from '../fixtures/istio-ca.js';
import type { IstioCall } from '../fixtures/istio-client.js';
import { callIstio } from '../fixtures/istio-client.js';
import type { MeshAgent } from '../fixtures/mesh-agent.js';
import { startMeshAgent } from '../fixtures/mesh-agent.js';
import { createMeshNode, createZtunnelFiles } from '../fixtures/mesh-node.js';
import { createScene } from '../fixtures/scene.js';
import { startZtunnel } from '../fixtures/start-ztunnel.js';
import { until } from '../fixtures/until.js';
import { untilAvailable } from '../fixtures/ztunnel.js';
import { createZtunnelClient } from '../fixtures/ztunnel-client.js';

const cluster = await sharedCluster(t);
const mesh = await createMeshNode(cluster, 250);
const { ztunnel: ztunnelPod, agent: agentPod } = mesh.pods;
const workload = await createPod(cluster, { namespace: mesh.namespace, account: 'app-0', node: mesh.node.name, phase: 'Running' });
/** Requests that the agent made of its CA and that were answered. */
async function callsTo({ running }: MeshAgent): Promise<number> {
  const { host, port } = await until('metrics are served', 60_000, () => running.agent.http.value);
  const text = await (await fetch(`http://${host}:${port}/metrics`)).text();
  return Number(/^signet_ca_requests_total\{[^}]*result="ok"\} (\d+)$/m.exec(text)?.[1]);
}

const trusted = { trustedNodeAccounts: [mesh.nodeAccounts.ztunnel, mesh.nodeAccounts.agent] };

await t.test('all identities of the node, one after the other, and again after a restart; none of another node', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, trusted);
  const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  const start = { ...agent, tokenFile, identities: mesh.identities };
  const first = await startZtunnel(scene, start);
  const tookMs = await untilAvailable(first, mesh.identities);
  t.comment(`250 identities one after the other: ${tookMs.toFixed(0)} ms, ${(tookMs / 250).toFixed(1)} ms each`);
  const before = await first.certificates();
  const [root] = readCertificates(istiod.roots, { source: 'istiod' });
  t.same(before.get(mesh.identities[0] ?? '')?.roots, [BigInt(`0x${root?.serial}`).toString()], 'under the root of istiod');
  await first.stop();

  const second = await startZtunnel(scene, start);
  const againMs = await untilAvailable(second, mesh.identities);
  t.comment(`after a restart: ${againMs.toFixed(0)} ms`);
  const after = await second.certificates();
  t.ok(
    mesh.identities.every((identity) => after.get(identity)?.serial !== before.get(identity)?.serial),
    'each is a new one',
  );

  const away = await startZtunnel(scene, { ...start, identities: [mesh.elsewhere.identity] });
  const refusal = await until('the refusal', 60_000, async () => {
    const state = (await away.certificates()).get(mesh.elsewhere.identity)?.state;
    return state?.startsWith('Unavailable') === true && state;
  });
  t.match(refusal, /not-on-node/);
});

await t.test('issued on demand, a cold start costs the CA one call for each identity and none for SDS; else as many again', async (t) => {
  for (const issue of ['ahead', 'on-demand']) {
    const scene = await createScene(t);
    const istiod = await startIstiod(scene, cluster, trusted);
    const settings = { 'certificate.issue': issue };
    const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots, settings });
    const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
    const ztunnel = await startZtunnel(scene, { ...agent, tokenFile, identities: mesh.identities });
    const tookMs = await untilAvailable(ztunnel, mesh.identities);
    const state = issue === 'ahead' ? 'issued' : 'idle';
    const own = await until(`each is ${state}`, 60_000, async () => {
      const { identities } = await agent.running.admin.status(new AbortController().signal);
      return identities.every((identity) => identity.state === state) && identities;
    });
    t.comment(`${issue}: 250 identities after ${tookMs.toFixed(0)} ms, ${await callsTo(agent)} calls to the CA`);
    t.equal(await callsTo(agent), mesh.identities.length + (issue === 'ahead' ? own.length : 0));
  }
});

await t.test('two at once, as in a rollout of ztunnel', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, trusted);
  const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  const identities = mesh.identities.slice(0, 20);
  const both = [
    await startZtunnel(scene, { ...agent, tokenFile, identities }),
    await startZtunnel(scene, { ...agent, tokenFile, identities }),
  ];
  for (const each of both) await untilAvailable(each, identities);
  const [one, two] = await Promise.all(both.map((each) => each.certificates()));
  t.ok(
    identities.every((identity) => one?.get(identity)?.serial !== two?.get(identity)?.serial),
    'each has certificates of its own',
  );
});

await t.test('a connection that waits for its identity does not stand behind the prefetch', async (t) => {
  const scene = await createScene(t);
  const ca = await createFakeIstioCa(t, { names: ['localhost'] });
  const agent = await startMeshAgent(scene, cluster, mesh, {
    caPort: ca.port,
    caRoots: String(ca.root.pem) + String(ca.servingRoot.pem),
    // Longer than it takes: the prefetch goes on when the call that hangs ends.
    settings: { 'localCa.deadline': '60s' },
  });
  const { tokenFile } = await createZtunnelFiles(scene, mesh, '');
  // Of ztunnel's own calls, which carry its token, the first hangs: the prefetch stands still.
  const ztunnel = createZtunnelClient({ ...agent, tokenFile, clock: systemClock });
  t.teardown(() => ztunnel.close());
  const token = readFileSync(tokenFile, 'utf8');
  const held = mesh.identities[0] ?? '';
  ca.outcome = ({ headers, impersonatedIdentity }) =>
    headers['authorization'] === `Bearer ${token}` && impersonatedIdentity === held ? 'hang' : undefined;
  ztunnel.prefetch(mesh.identities);
  await until('the prefetch stands still', 60_000, () => ztunnel.state(held) === 'Initializing');
  const last = mesh.identities.at(-1) ?? '';
  await ztunnel.request(last);
  t.equal(ztunnel.state(last), 'Available');
  t.equal(ztunnel.state(mesh.identities[1] ?? ''), undefined, 'the prefetch has not come to it yet');
});

/** A token that the API server's own key has signed, with other claims than the given one. */
function forgeToken(token: string, claims: Readonly<Record<string, unknown>>): string {
  const [head = '', body = ''] = token.split('.');
  const all = { ...(JSON.parse(Buffer.from(body, 'base64url').toString()) as object), ...claims };
  const signed = `${head}.${Buffer.from(JSON.stringify(all)).toString('base64url')}`;
  const key = createPrivateKey(readFileSync(join(cluster.pkiDirectory, 'sa.key')));
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

await t.test('what is refused, with a status, a reason and an audit line', async (t) => {
  const scene = await createScene(t);
  const istiod = await startIstiod(scene, cluster, trusted);
  const agent = await startMeshAgent(scene, cluster, mesh, { caPort: istiod.port(), caRoots: istiod.roots });
  const good = await mesh.createToken(ztunnelPod);
  const [identity = '', another = ''] = mesh.identities;
  const call = (more: Partial<IstioCall>): IstioCall => ({
    port: Number(new URL(agent.caAddress).port),
    rootsFile: agent.caRootFile,
    token: good,
    csr: createTestCsr({ uris: [more.impersonate ?? identity] }),
    impersonate: identity,
    ...more,
  });
  t.equal((await callIstio(call({}))).length, 2);

  const refusals: Readonly<Record<string, { readonly call: Partial<IstioCall>; readonly code: number; readonly reason: string }>> = {
    'an identity of another node': { call: { impersonate: mesh.elsewhere.identity }, code: 7, reason: 'not-on-node' },
    'the token of a pod on another node': {
      call: { token: await mesh.createToken(mesh.elsewhere.pod) },
      code: 7,
      reason: 'caller-not-on-node',
    },
    'another audience': { call: { token: await mesh.createToken(ztunnelPod, 'other-ca') }, code: 16, reason: 'token-audience' },
    'an account that is not listed': { call: { token: await mesh.createToken(agentPod) }, code: 7, reason: 'caller-no-node-agent' },
    'a request for another SPIFFE ID': { call: { csr: createTestCsr({ uris: [another] }) }, code: 3, reason: 'csr-other-name' },
    'an expired token': { call: { token: forgeToken(good, { exp: 1_700_000_000 }) }, code: 16, reason: 'token-expired' },
  };
  for (const [what, refusal] of Object.entries(refusals)) {
    const lines = agent.audit().length;
    const error = await callIstio(call(refusal.call)).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    t.match(error, { code: refusal.code, details: new RegExp(`^${refusal.reason}: `) }, what);
    const [line] = await until('its audit line', 60_000, () => agent.audit().length > lines && agent.audit().slice(lines));
    t.match(line, { message: 'certificate refused', reason: refusal.reason }, `${what}: audit line`);
    t.notMatch(agent.running.logs.join(''), /eyJ/, 'no token in the log');
  }

  const { impersonate: _nobody, ...own } = call({ token: await mesh.createToken(workload) });
  t.equal((await callIstio(own)).length, 2, 'a workload may ask for its own identity');
});
