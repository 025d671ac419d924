// Our own agent with `signet ca` as its CA, end to end: from a pod that the API server has accepted to the secret on the SDS socket.

import t from 'tap';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestAgent } from '../fixtures/agent.js';
import type { TestAuthority } from '../fixtures/authority.js';
import { caAudience, caTrustDomain, createRawCaClient, csrFor, startTestAuthority } from '../fixtures/authority.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import type { TestNode, TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken, deletePod } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'agents');
for (const account of ['agent', 'web', 'orders']) await createAccount(cluster, namespace, account);
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const nodeAgents = { nodeAgents: [`${namespace}/agent`] };

async function podOn(node: TestNode, account: string, name?: string): Promise<TestPod> {
  const more = name === undefined ? {} : { name };
  return await createPod(cluster, { namespace, account, node: node.name, tokenAudiences: [caAudience], phase: 'Running', ...more });
}

const tokenFor = (pod: TestPod): Promise<string> => createToken(cluster, { namespace, account: 'agent', audience: caAudience, pod });

async function startAgentOn(scene: Scene, node: TestNode, ca: TestAuthority, auth: 'node' | 'workload') {
  const { directory } = scene;
  const own = await podOn(node, 'agent');
  const [tokenFile, rootsFile] = [join(directory, 'token'), join(directory, 'roots.pem')];
  writeFileSync(tokenFile, await tokenFor(own));
  copyFileSync(ca.rootsFile, rootsFile);
  const roots = { kind: 'file', path: rootsFile };
  const agent = await startTestAgent({
    pods: '',
    flags: {
      'node': node.name,
      'trust-domain': caTrustDomain,
      'kubeconfig': writeKubeconfig(join(directory, 'node.kubeconfig'), cluster, node.credential),
    },
    settings: {
      'pods.sources': [{ kind: 'apiserver' }],
      'upstreams': [
        {
          kind: 'istio',
          endpoints: [`localhost:${ca.authority.address.port}`],
          tls: { roots },
          auth,
          audience: caAudience,
          ...(auth === 'node' ? { tokenFile } : {}),
        },
      ],
      'trustBundle.sources': [roots],
    },
  });
  scene.add({ name: `agent with auth ${auth}`, tail: () => agent.logs.slice(-40).join(''), stop: () => agent.stop() });
  const isIssued = async (account: string): Promise<boolean> => {
    const { identities } = await agent.admin.status(new AbortController().signal);
    return identities.some(({ name, state }) => name === idOf(account) && state === 'issued');
  };
  return { agent, own, tokenFile, isIssued };
}

for (const auth of ['node', 'workload'] as const) {
  await t.test(`an agent with auth ${auth}: a certificate for each pod of its node, checked by the node again`, async (t) => {
    const scene = await createScene(t);
    const ca = await startTestAuthority(scene, cluster, nodeAgents);
    const node = await createNode(cluster);
    const { isIssued } = await startAgentOn(scene, node, ca, auth);
    const elapsed = stopwatch();
    await podOn(node, 'web');
    await until('the certificate of web', 60_000, () => isIssued('web'));
    t.comment(`pod to certificate in ${Math.round(elapsed())} ms, polled`);
    const grants = ca.audit().filter(({ identity }) => identity === idOf('web'));
    t.match(grants, [
      {
        decision: 'grant',
        reason: auth === 'node' ? 'node' : 'own',
        callerPod: { node: node.name },
        through: { serviceAccount: 'web', node: node.name },
      },
    ]);
    t.equal(grants.length, 1);
  });
}

await t.test('R039 the pod of the agent is made again under its name: refused until the agent has the new token', async (t) => {
  const scene = await createScene(t);
  const ca = await startTestAuthority(scene, cluster, nodeAgents);
  const node = await createNode(cluster);
  const { own, tokenFile, isIssued } = await startAgentOn(scene, node, ca, 'node');
  await until('a certificate', 60_000, () => isIssued('agent'));
  await deletePod(cluster, own);
  const successor = await podOn(node, 'agent', own.name);
  t.not(successor.uid, own.uid);
  const client = createRawCaClient(`localhost:${ca.authority.address.port}`, ca.rootsFile);
  t.teardown(() => client.close());
  const call = { token: readFileSync(tokenFile, 'utf8'), identity: idOf('agent') };
  await until('the ca knows', 60_000, async () => (await client.call(call)).code === 16);
  await podOn(node, 'web');
  const ofWeb = () => ca.audit().filter(({ identity }) => identity === idOf('web'));
  const refused = await until('the refusal', 60_000, () => ofWeb().find(({ decision }) => decision === 'refuse'));
  t.ok(['token-refused', 'caller-pod-replaced'].includes(refused.reason), refused.reason);
  t.notOk(await isIssued('web'));
  writeFileSync(tokenFile, await tokenFor(successor));
  await until('the certificate of web', 60_000, () => isIssued('web'));
  t.match(ofWeb().at(-1), { decision: 'grant', callerPod: { uid: successor.uid } });
});

await t.test('a new pod is authorised in milliseconds after the API server has accepted it', async (t) => {
  const scene = await createScene(t);
  const ca = await startTestAuthority(scene, cluster, nodeAgents);
  const node = await createNode(cluster);
  const own = await podOn(node, 'agent');
  const token = await createToken(cluster, { namespace, account: 'agent', audience: caAudience, pod: own });
  const client = createRawCaClient(`localhost:${ca.authority.address.port}`, ca.rootsFile);
  t.teardown(() => client.close());
  await client.call({ token, identity: idOf('agent') });
  const times: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const csr = await csrFor(idOf('web'));
    const pod = await createPod(cluster, { namespace, account: 'web', node: node.name });
    const elapsed = stopwatch();
    const answer = await client.call({ token, identity: idOf('web'), csr });
    times.push(elapsed());
    t.equal(answer.code, 0, answer.details);
    t.equal(new X509Certificate(answer.elements[0] ?? '').subjectAltName, `URI:${idOf('web')}`);
    await deletePod(cluster, pod);
  }
  times.sort((a, b) => a - b);
  t.comment(`call right after the pod was accepted: p50 ${times[25]?.toFixed(1)} ms, p99 ${times[49]?.toFixed(1)} ms`);
});
