import t from 'tap';
import type { Pod } from '../../../agent/pods/pod.js';
import type { PeerRule, Subject } from '../../../agent/sds/peer-rules.js';
import { matchRules } from '../../../agent/sds/peer-rules.js';

const pod = (fields: Partial<Pod>): Subject => ({
  kind: 'pod',
  pod: {
    uid: 'u',
    namespace: 'web',
    name: 'p',
    serviceAccount: 'front',
    phase: 'Running',
    labels: {},
    hostNetwork: false,
    mirror: false,
    ...fields,
  },
});
const host = (uid: number, unit?: string): Subject => ({ kind: 'host', uid, unit });

const rules: readonly PeerRule[] = [
  { pod: { serviceAccount: 'istio-system/ztunnel' }, grant: 'node' },
  { pod: { serviceAccount: 'web/front', labels: { tier: 'edge', zone: 'a' } }, grant: ['spiffe://example.org/ns/web/sa/*'] },
  { pod: { serviceAccount: 'web/blocked' }, grant: 'none' },
  { pod: {}, grant: 'own' },
  { host: { unit: 'envoy.service', uid: 101 }, grant: 'node' },
  { host: { unit: 'metrics.service' }, grant: 'none' },
  { host: { uid: 1000 }, grant: ['spiffe://example.org/ns/dev/sa/a'] },
];

for (const { name, subject, grant } of [
  { name: 'a delegate by its account', subject: pod({ namespace: 'istio-system', serviceAccount: 'ztunnel' }), grant: 'node' },
  { name: 'the same account name in another namespace', subject: pod({ serviceAccount: 'ztunnel' }), grant: 'own' },
  { name: 'all labels', subject: pod({ labels: { tier: 'edge', zone: 'a', more: 'x' } }), grant: ['spiffe://example.org/ns/web/sa/*'] },
  { name: 'not all labels', subject: pod({ labels: { tier: 'edge' } }), grant: 'own' },
  { name: 'a label with another value', subject: pod({ labels: { tier: 'edge', zone: 'b' } }), grant: 'own' },
  { name: 'an explicit none before the rule for all', subject: pod({ serviceAccount: 'blocked' }), grant: 'none' },
  { name: 'unit and uid', subject: host(101, 'envoy.service'), grant: 'node' },
  { name: 'the unit with another uid', subject: host(0, 'envoy.service'), grant: undefined },
  { name: 'the uid without the unit', subject: host(101), grant: undefined },
  { name: 'a unit alone', subject: host(7, 'metrics.service'), grant: 'none' },
  { name: 'a uid in whatever unit', subject: host(1000, 'x.service'), grant: ['spiffe://example.org/ns/dev/sa/a'] },
  { name: 'root is nobody special', subject: host(0), grant: undefined },
] as const) {
  t.test(`rules: ${name}`, async (t) => {
    t.same(matchRules(rules, subject), grant);
  });
}

t.test('a label that only the prototype has does not match', async (t) => {
  t.equal(matchRules([{ pod: { labels: { constructor: 'x' } }, grant: 'node' }], pod({})), undefined);
});

t.test('the first match wins, and without rules nobody gets anything', async (t) => {
  t.equal(matchRules([{ pod: {}, grant: 'own' }, ...rules], pod({ namespace: 'istio-system', serviceAccount: 'ztunnel' })), 'own');
  t.equal(matchRules([], pod({})), undefined);
  t.equal(matchRules([], host(0)), undefined);
});
