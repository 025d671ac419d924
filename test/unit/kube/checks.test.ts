// What is found out at an API server that a test scripts; against a real one: test/cluster/self-check.test.ts.

import t from 'tap';
import { formatRules } from '../../../agent/kube/reviews.js';
import type { KubeNeed } from '../../../agent/kube/checks.js';
import { agentUser, createSelfScene } from '../../fixtures/kube-self.js';
import { never } from '../../fixtures/kube.js';
import { createTestToken } from '../../fixtures/tokens.js';

const podsAsNode: KubeNeed = { name: 'pods', kind: 'pods-as-node' };
const tokens: KubeNeed = { name: 'tokens', kind: { audience: 'ca', as: 'node' } };
const listPods: KubeNeed = {
  name: 'pods',
  kind: { rights: [{ verb: 'list', group: '', resource: 'pods', fieldSelector: { 'spec.nodeName': 'node-a' } }] },
};

t.test('all is granted: nothing is found, and no connection stays', async (t) => {
  const { checks, server } = await createSelfScene(t, [podsAsNode, tokens]);
  t.same(checks.names, ['api server', 'clock', 'acting as the node', 'pods', 'tokens']);
  const found = await checks.look(never);
  t.same([...found].sort(), checks.names.map((name) => [name, undefined]).sort());
  t.notOk(
    server.calls.some(({ path }) => path.endsWith('selfsubjectaccessreviews')),
    'rights are reviewed to explain a refusal only',
  );
  const token = server.calls.find(({ path }) => path.endsWith('/token'));
  t.match(token, {
    path: '/api/v1/namespaces/signet-system/serviceaccounts/signet-agent/token',
    headers: { 'impersonate-user': 'system:node:node-a' },
    body: { spec: { audiences: ['ca'], boundObjectRef: { name: 'agent-1', uid: 'u1' } } },
  });
});

t.test('refused as the node: each right that is missing, and nothing of the words of the refusal', async (t) => {
  const { checks, world } = await createSelfScene(t, [podsAsNode, tokens]);
  world.refusesNode = true;
  world.denied = new Set(['impersonate-on:associated-node:watch pods', 'impersonate-on:associated-node:create serviceaccounts/token']);
  const found = await checks.look(never);
  t.same(found.get('pods'), {
    code: 'node-impersonation-denied',
    detail: `${agentUser} lacks {apiGroups: [''], resources: [pods], verbs: ['impersonate-on:associated-node:watch']} in a ClusterRole`,
  });
  t.match(found.get('tokens'), { code: 'node-impersonation-denied', detail: /resources: \[serviceaccounts\/token\]/ });
  t.equal(found.get('acting as the node'), undefined);

  world.denied = new Set(['impersonate:associated-node nodes']);
  const others = await checks.look(never);
  t.match(others.get('acting as the node'), {
    code: 'node-impersonation-denied',
    detail: /resources: \[nodes\], verbs: \['impersonate:associated-node'\]/,
  });
  t.equal(others.get('pods') ?? others.get('tokens'), undefined, 'one fault');

  world.denied = new Set();
  t.match((await checks.look(never)).get('acting as the node'), { code: 'node-impersonation-missing', detail: /in v1\.35\.4$/ });
  world.extra = {};
  t.match((await checks.look(never)).get('acting as the node'), { code: 'node-mismatch', detail: /bound to no pod/ });
  world.extra = { 'node-name': 'node-b' };
  const elsewhere = await checks.look(never);
  t.match(elsewhere.get('api server'), { code: 'node-mismatch', detail: /is of node-b$/ });
  t.notOk(elsewhere.has('acting as the node'), 'told once');
});

t.test('R107 tokens: the audience, a policy, a pod that is not known yet, and no pod at all', async (t) => {
  const { checks, world } = await createSelfScene(t, [tokens]);
  const refuse = (status: number, message: string): void => {
    world.before = (call) => (call.path.endsWith('/token') ? (call.status(status, message), true) : false);
  };
  refuse(403, 'system:node:node-a is not authorized to request tokens for audience "ca"');
  t.same((await checks.look(never)).get('tokens'), {
    code: 'token-audience-denied',
    detail:
      "the group system:nodes lacks {apiGroups: [''], resources: [ca], verbs: ['request-serviceaccounts-token-audience']} in a ClusterRole",
  });
  refuse(422, 'an agent that acts as its node gets tokens for the audience istio-ca only');
  t.match((await checks.look(never)).get('tokens'), { code: 'kube-denied', detail: /istio-ca only/ });
  refuse(404, 'pods "agent-1" not found');
  t.match((await checks.look(never)).get('tokens'), { code: 'token-pod-denied' });
  refuse(503, 'etcd is away');
  t.match((await checks.look(never)).get('api server'), { code: 'kube-unavailable' });

  world.before = () => false;
  world.extra = {};
  world.denied = new Set(['impersonate-on:associated-node:create serviceaccounts/token']);
  t.match((await checks.look(never)).get('tokens'), { code: 'node-impersonation-denied' });
});

t.test('tokens with the credential of the node itself, or of somebody who may make them', async (t) => {
  const own: KubeNeed = { name: 'tokens', kind: { audience: 'ca', as: 'own' } };
  const { checks, world } = await createSelfScene(t, [own]);
  t.notOk(checks.names.includes('acting as the node'));
  t.ok((await checks.look(never)).has('tokens'));
  world.denied = new Set(['create serviceaccounts/token']);
  t.match((await checks.look(never)).get('tokens'), { code: 'kube-denied' });
  world.user = 'system:node:node-a';
  t.notOk((await checks.look(never)).has('tokens'), 'its authorizer decides by the pod');
});

t.test('rights of our own, with the selector for authorizers that look at it', async (t) => {
  const { checks, world, server } = await createSelfScene(t, [listPods]);
  t.equal((await checks.look(never)).get('pods'), undefined);
  t.match(server.calls.at(-1)?.body, {
    spec: { resourceAttributes: { fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['node-a'] }] } } },
  });
  world.denied = new Set(['list pods']);
  t.match((await checks.look(never)).get('pods'), { code: 'kube-denied', detail: /verbs: \['list'\]/ });
});

t.test('who does not let us in: the reason, and what the token says of itself', async (t) => {
  const jwt = createTestToken({ audiences: ['istio-ca'], expiresAt: Date.UTC(2026, 0, 1, 1) });
  const { checks, world } = await createSelfScene(t, [listPods], `Bearer ${jwt}`);
  world.before = (call) => (call.status(401, 'Unauthorized'), true);
  const found = await checks.look(never);
  t.match(found.get('api server'), { code: 'kube-unauthenticated', detail: /the token is for istio-ca, until 2026-01-01T01:00:00\.000Z$/ });
  t.notMatch(JSON.stringify([...found]), jwt.slice(0, 12), 'and nothing of the token');
  t.same([...found.keys()], ['api server'], 'what it would have let us do cannot be told');
  world.before = (call) => (call.status(403, 'no reviews here'), true);
  await t.rejects(checks.look(never), { name: 'SignetError', kind: 'denied' }, 'an API server that lets nobody review says nothing');
});

t.test('the clock: the least difference that fits the answer', async (t) => {
  const { checks, world } = await createSelfScene(t, [listPods]);
  const look = async (aheadMs: number): Promise<string | undefined> => {
    world.aheadMs = aheadMs;
    return (await checks.look(never)).get('clock')?.detail;
  };
  t.equal(await look(0), undefined);
  t.equal(await look(29_000), undefined);
  t.equal(await look(-30_000), undefined, 'a date has whole seconds');
  t.equal(await look(40_000), 'the clock of this node is 30 s or more behind that of the API server');
  t.equal(await look(-41_000), 'the clock of this node is 30 s or more ahead of that of the API server');
  t.equal(await look(55_000), await look(40_000), 'one that drifts is told once');
  t.equal(await look(65_000), 'the clock of this node is 60 s or more behind that of the API server', 'until it is twice as much');
  t.equal(await look(3_600_000), 'the clock of this node is 1920 s or more behind that of the API server');
  world.before = (call) =>
    call.path.endsWith('selfsubjectreviews')
      ? (call.json({ status: { userInfo: { username: 'me' } } }, 200, { date: 'soon' }), true)
      : false;
  t.equal(await look(90_000), undefined, 'a date that cannot be read');
});

t.test('what something else serves is not looked at, and an API server that only it would need is not missed', async (t) => {
  let served = false;
  const { checks, world, server } = await createSelfScene(t, [{ ...podsAsNode, isServed: () => served }]);
  world.refusesNode = true;
  world.denied = new Set(['impersonate:associated-node nodes']);
  t.match((await checks.look(never)).get('acting as the node'), { code: 'node-impersonation-denied' });
  served = true;
  const calls = server.calls.length;
  t.same(
    [...(await checks.look(never)).values()].filter((fault) => fault !== undefined),
    [],
  );
  t.equal(server.calls.length, calls + 1, 'who we are, and the time');
  world.before = (call) => (call.drop(), true);
  t.same(
    [...(await checks.look(never)).values()].filter((fault) => fault !== undefined),
    [],
  );
});

t.test('rules as they stand in a role', (t) => {
  const pods = { group: '', resource: 'pods' };
  t.equal(
    formatRules([
      { verb: 'list', ...pods },
      { verb: 'watch', ...pods },
      { verb: 'get', group: 'a.b', resource: 'c', name: 'd' },
    ]),
    "{apiGroups: [''], resources: [pods], verbs: ['list', 'watch']} and {apiGroups: ['a.b'], resources: [c], resourceNames: [d], verbs: ['get']}",
  );
  t.end();
});
