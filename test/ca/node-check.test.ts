// `signet ca` against a real API server: the identities of a node's pods and no others, and an audit line for each answer.

import t from 'tap';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exposure } from '../../agent/authority/explain.js';
import { createCaCommand } from '../../agent/commands/ca.js';
import { caAudience, caTrustDomain, createRawCaClient, startTestAuthority } from '../fixtures/authority.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod, createToken, setPhase } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { createScene } from '../fixtures/scene.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'nodes');
for (const account of ['agent', 'web', 'orders', 'job', 'stranger']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podFor = (account: string, node = own): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, phase: 'Running' });
const agent = await podFor('agent');
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const tokenOf = (account: string, pod: TestPod, audience = caAudience): Promise<string> =>
  createToken(cluster, { namespace, account, audience, pod });

await t.test('identities of the node, and each other refused with its reason', async (t) => {
  await podFor('web');
  await podFor('orders', other);
  const job = await podFor('job');
  await setPhase(cluster, job, 'Succeeded');
  const ca = await startTestAuthority(await createScene(t), cluster, { nodeAgents: [`${namespace}/agent`] });
  const client = createRawCaClient(`localhost:${ca.authority.address.port}`, ca.rootsFile);
  t.teardown(() => client.close());
  const token = await tokenOf('agent', agent);

  const granted = await client.call({ token, identity: idOf('web') });
  t.equal(granted.code, 0, granted.details);
  t.equal(granted.elements.length, 2, 'leaf and roots');
  const leaf = new X509Certificate(granted.elements[0] ?? '');
  t.equal(leaf.subjectAltName, `URI:${idOf('web')}`);
  t.ok(leaf.verify(new X509Certificate(readFileSync(ca.rootsFile)).publicKey));
  t.match(ca.audit().at(-1), {
    decision: 'grant',
    reason: 'node',
    identity: idOf('web'),
    caller: { serviceAccount: 'agent', pod: { uid: agent.uid } },
  });

  for (const [account, reason] of [
    ['orders', 'identity-not-on-node'],
    ['job', 'identity-finished'],
    ['nobody', 'identity-not-on-node'],
  ] as const) {
    const refused = await client.call({ token, identity: idOf(account) });
    t.match(refused, { code: 16, details: 'request impersonation authentication failure' });
    t.match(ca.audit().at(-1), { decision: 'refuse', reason, identity: idOf(account) });
  }
});

/** Standard output of a command of `signet ca`. */
async function run(args: readonly string[]): Promise<string> {
  const out: string[] = [];
  const command = createCaCommand({ out: (text) => out.push(text), err: () => {}, signal: new AbortController().signal });
  await command
    .enablePositionalOptions()
    .exitOverride()
    .parseAsync([...args], { from: 'user' });
  return out.join('');
}

await t.test('explain says of the live cluster what the server does, and the audit log stands up to the rules', async (t) => {
  const ca = await startTestAuthority(await createScene(t), cluster, { nodeAgents: [`${namespace}/agent`] });
  const client = createRawCaClient(`localhost:${ca.authority.address.port}`, ca.rootsFile);
  t.teardown(() => client.close());
  const token = await tokenOf('agent', agent);
  const text = await run(['explain', '--config', ca.configFile, '--node', own.name, '--json']);
  const { obtainable, refused } = JSON.parse(text) as Exposure;
  t.ok(obtainable.length >= 2 && refused.length >= 2);
  for (const { identity } of obtainable) t.equal((await client.call({ token, identity })).code, 0, identity);
  for (const { identity, reason } of refused) {
    t.equal((await client.call({ token, identity })).code, 16, identity);
    t.equal(ca.audit().at(-1)?.reason, reason);
  }
  const lines = obtainable.length + refused.length;
  t.equal(
    await run(['audit', 'verify', '--config', ca.configFile, join(ca.directory, 'audit.log')]),
    `${lines} lines, 0 of them with a fault\n`,
  );
});
