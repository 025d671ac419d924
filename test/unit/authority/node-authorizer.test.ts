// The decision as a table, and against a model: what a node can get is what lives and is selected there, no more and no less.

import fc from 'fast-check';
import t from 'tap';
import { isLive } from '../../../agent/authority/cluster-pod.js';
import type { ClusterPod } from '../../../agent/authority/cluster-pod.js';
import { explainNode } from '../../../agent/authority/explain.js';
import type { Caller, Decision } from '../../../agent/authority/node-authorizer.js';
import { decide } from '../../../agent/authority/node-authorizer.js';
import { PodSet } from '../../../agent/authority/pod-index.js';
import { agentPod, caIdOf, caPolicy, callerOf, clusterPod, randomCluster } from '../../fixtures/cluster-pods.js';

const web = clusterPod('shop/web');
const asked = (pods: readonly ClusterPod[], identity: string | undefined, caller: Caller = callerOf(agentPod)): Decision =>
  decide({ policy: caPolicy, pods: new PodSet(pods) }, { caller, identity });
const reasonOf = (decision: Decision): string => (decision.granted ? decision.rule : decision.reason);

t.test('an agent may speak for the pods of its node', (t) => {
  t.match(asked([agentPod, web], caIdOf('shop/web')), {
    granted: true,
    rule: 'node',
    id: { uri: caIdOf('shop/web') },
    callerPod: agentPod,
    through: web,
  });
  const table: readonly (readonly [string, readonly ClusterPod[], string, string])[] = [
    ['pending counts', [clusterPod('shop/web', { phase: 'Pending' })], 'shop/web', 'node'],
    ['unknown counts', [clusterPod('shop/web', { phase: 'Unknown' })], 'shop/web', 'node'],
    ['one that lives beside one that does not', [clusterPod('shop/web', { name: 'old', phase: 'Failed' }), web], 'shop/web', 'node'],
    ['R037 succeeded only', [clusterPod('shop/web', { phase: 'Succeeded' })], 'shop/web', 'identity-finished'],
    ['failed only', [clusterPod('shop/web', { phase: 'Failed' })], 'shop/web', 'identity-finished'],
    ['mirror only', [clusterPod('shop/web', { mirror: true })], 'shop/web', 'identity-finished'],
    ['R038 on another node', [clusterPod('shop/web', { node: 'node-b' })], 'shop/web', 'identity-not-on-node'],
    ['no pod', [], 'shop/web', 'identity-not-on-node'],
    ['same account name of another namespace', [clusterPod('bank/web')], 'shop/web', 'identity-not-on-node'],
    ['denied namespace', [clusterPod('kube-system/dns')], 'kube-system/dns', 'identity-denied'],
    ['denied pattern', [clusterPod('shop/vault-a')], 'shop/vault-a', 'identity-denied'],
    ['its own', [], 'signet-system/signet-agent', 'own'],
  ];
  for (const [name, pods, account, expected] of table) t.equal(reasonOf(asked([agentPod, ...pods], caIdOf(account))), expected, name);
  t.end();
});

t.test('a pod may have its own identity, asked for or not', (t) => {
  t.equal(reasonOf(asked([web], undefined, callerOf(web))), 'own');
  t.equal(reasonOf(asked([web], caIdOf('shop/web'), callerOf(web))), 'own');
  const vault = clusterPod('shop/vault-a');
  t.equal(reasonOf(asked([vault], undefined, callerOf(vault))), 'own', 'the deny list is about node agents');
  t.equal(reasonOf(asked([web, vault], caIdOf('shop/vault-a'), callerOf(web))), 'caller-no-node-agent');
  t.end();
});

t.test('the pod of the caller must be what its token says', (t) => {
  const pods = [web];
  const table: readonly (readonly [string, readonly ClusterPod[], Partial<Caller>, string])[] = [
    ['gone', [], {}, 'caller-pod-gone'],
    ['R039 made again under its name', [{ ...agentPod, uid: 'other' }], {}, 'caller-pod-replaced'],
    ['unbound', [agentPod], { pod: undefined }, 'token-unbound'],
    ['bound to nothing', [agentPod], { pod: { name: agentPod.name, uid: '' } }, 'token-unbound'],
    ['another account', [{ ...agentPod, serviceAccount: 'other' }], {}, 'caller-pod-differs'],
    ['another node', [{ ...agentPod, node: 'node-b' }], {}, 'caller-pod-differs'],
    ['ended', [{ ...agentPod, phase: 'Failed' }], {}, 'caller-pod-finished'],
    ['mirror', [{ ...agentPod, mirror: true }], {}, 'caller-pod-finished'],
    ['token without a node', [agentPod], { node: undefined }, 'node'],
  ];
  for (const [name, own, more, expected] of table) {
    t.equal(reasonOf(asked([...own, ...pods], caIdOf('shop/web'), callerOf(agentPod, more))), expected, name);
  }
  t.end();
});

t.test('only an identity of our trust domain, in exactly its form', (t) => {
  const refused = (identity: string): string => reasonOf(asked([agentPod, web], identity));
  t.equal(refused('spiffe://example.com/ns/shop/sa/web'), 'identity-foreign');
  for (let byte = 0; byte < 256; byte += 1) {
    const text = String.fromCharCode(byte);
    for (const identity of [
      `spiffe://example.org/ns/shop/sa/w${text}b`,
      `spiffe://example.org/ns/sh${text}p/sa/web`,
      `spiffe://ex${text}mple.org/ns/shop/sa/web`,
    ]) {
      const reason = refused(identity);
      t.equal(reason === 'node', identity === caIdOf('shop/web'), `byte ${byte}: ${reason}`);
      if (!/[a-z0-9._-]/.test(text)) t.equal(reason, 'identity-invalid', `byte ${byte}`);
    }
  }
  t.end();
});

/** What lives on the node and is selected there, written down a second time. */
function modelOf(pods: readonly ClusterPod[], node: string): readonly string[] {
  const hasAgent = pods.some(
    (pod) => pod.node === node && isLive(pod) && pod.serviceAccount === 'signet-agent' && pod.namespace === 'signet-system',
  );
  const isSelected = ({ namespace, serviceAccount }: ClusterPod): boolean =>
    namespace !== 'kube-system' && !(namespace === 'shop' && serviceAccount.startsWith('vault-'));
  const live = pods.filter((pod) => pod.node === node && isLive(pod) && isSelected(pod));
  return hasAgent ? [...new Set(live.map(({ namespace, serviceAccount }) => caIdOf(`${namespace}/${serviceAccount}`)))].sort() : [];
}

t.test('for random clusters an agent gets the live, selected accounts of its node, and explain says the same', (t) => {
  const everything = [
    'signet-system/signet-agent',
    'shop/web',
    'shop/cart',
    'shop/vault-a',
    'kube-system/dns',
    'bank/web',
    'shop/none',
  ].map(caIdOf);
  fc.assert(
    fc.property(randomCluster, fc.constantFrom('node-a', 'node-b', 'node-c'), (pods, node) => {
      const set = new PodSet(pods);
      const agents = pods.filter((pod) => pod.node === node && pod.serviceAccount === 'signet-agent');
      const got = everything.filter((identity) =>
        agents.some((agent) => decide({ policy: caPolicy, pods: set }, { caller: callerOf(agent), identity }).granted),
      );
      t.strictSame([...got].sort(), modelOf(pods, node));
      const { obtainable, refused } = explainNode(caPolicy, set, node);
      const byAgent = obtainable.filter(({ by }) => by.serviceAccount === 'signet-agent' && by.namespace === 'signet-system');
      t.strictSame(byAgent.map(({ identity }) => identity).sort(), modelOf(pods, node));
      // The others only with their own tokens, on this node, while they live.
      for (const { rule, by, through, identity } of obtainable) {
        t.ok(
          isLive(through) &&
            through.node === node &&
            by.node === node &&
            caIdOf(`${through.namespace}/${through.serviceAccount}`) === identity,
        );
        if (!byAgent.some((each) => each.identity === identity)) t.equal(rule, 'own');
      }
      const accounts = new Set(pods.map(({ namespace, serviceAccount }) => caIdOf(`${namespace}/${serviceAccount}`)));
      t.equal(obtainable.length + refused.length, accounts.size);
    }),
    { numRuns: 300 },
  );
  t.end();
});
