// `signet ca` while the API server is away: nothing is refused for that, nothing is lost when it is back; by setting, tokens are told
// apart by its keys meanwhile, and the audit log says so.

import t from 'tap';
import { caAudience, caTrustDomain, createRawCaClient, startTestAuthority } from '../fixtures/authority.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const scene = await createScene(t);
const cluster = await startControlPlane(scene);
const namespace = await createNamespace(cluster, 'away');
for (const account of ['agent', 'web']) await createAccount(cluster, namespace, account);
const [node, other] = [await createNode(cluster), await createNode(cluster)];
const agent = await createPod(cluster, { namespace, account: 'agent', node: node.name, phase: 'Running' });
await createPod(cluster, { namespace, account: 'web', node: node.name, phase: 'Running' });
await createAccount(cluster, namespace, 'orders');
await createPod(cluster, { namespace, account: 'orders', node: other.name, phase: 'Running' });
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const tokenFor = (audience: string): Promise<string> => createToken(cluster, { namespace, account: 'agent', audience, pod: agent });

const nodeAgents = [`${namespace}/agent`];
const strict = await startTestAuthority(scene, cluster, { nodeAgents });
const lenient = await startTestAuthority(scene, cluster, { nodeAgents, settings: { whenApiServerAway: 'jwks' } });
const clientOf = (ca: typeof strict) => {
  const client = createRawCaClient(`localhost:${ca.authority.address.port}`, ca.rootsFile);
  t.teardown(() => client.close());
  return client;
};
const [strictClient, lenientClient] = [clientOf(strict), clientOf(lenient)];
// Never seen by either before the API server is gone, but for the first.
const [seen, token, foreign] = [await tokenFor(caAudience), await tokenFor(caAudience), await tokenFor('other')];

await t.test('the API server is killed', async (t) => {
  t.equal((await strictClient.call({ token: seen, identity: idOf('web') })).code, 0);
  // The keys are read beside the pods.
  await until('the first grant', 60_000, async () =>
    (await lenientClient.call({ token: seen, identity: idOf('web') })).code === 0 ? true : undefined,
  );
  await cluster.stopApiServer();
  t.match(await strictClient.call({ token, identity: idOf('web') }), { code: 14, elements: [] });
  t.match(strict.audit().at(-1), { decision: 'refuse', reason: 'kube-unavailable' });

  t.equal((await lenientClient.call({ token, identity: idOf('web') })).code, 0);
  t.match(lenient.audit().at(-1), { decision: 'grant', authMode: 'jwks', caller: { pod: { uid: agent.uid }, node: { name: node.name } } });
  t.equal((await lenientClient.call({ token: foreign, identity: idOf('web') })).code, 16);
  t.match(lenient.audit().at(-1), { reason: 'token-audience' });
  const forged = token.replace(/[^.]+$/, (signature) => [...signature].reverse().join(''));
  t.equal((await lenientClient.call({ token: forged, identity: idOf('web') })).code, 16);
  t.match(lenient.audit().at(-1), { reason: 'token-refused' });
  // Whether it is there now cannot be told.
  t.not((await lenientClient.call({ token, identity: idOf('orders') })).code, 0);
});

await t.test('and comes back', async (t) => {
  await cluster.startApiServer();
  const elapsed = stopwatch();
  await until('a grant again', 60_000, async () =>
    (await strictClient.call({ token, identity: idOf('web') })).code === 0 ? true : undefined,
  );
  t.comment(`granted again after ${Math.round(elapsed())} ms`);
  t.equal((await lenientClient.call({ token, identity: idOf('web') })).code, 0);
  t.match(lenient.audit().at(-1), { authMode: 'token-review' });
});
