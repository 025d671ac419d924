// Pods as servers send them, with all that may be missing.

import t from 'tap';
import type { KubeObject } from '../../../agent/kube/client.js';
import { toPod } from '../../../agent/pods/kube-pod.js';
import { apiPod } from '../../fixtures/api-server.js';

t.test('the fields that are kept', (t) => {
  const pod = apiPod('cart', {
    account: 'sa',
    metadata: { labels: { app: 'cart', odd: 1 }, annotations: {} },
    spec: { hostNetwork: true, containers: [] },
  });
  t.same(toPod(pod as KubeObject), {
    uid: 'uid-cart',
    namespace: 'shop',
    name: 'cart',
    serviceAccount: 'sa',
    phase: 'Running',
    labels: { app: 'cart' },
    hostNetwork: true,
    mirror: false,
    ambient: false,
  });
  t.end();
});

const rows: readonly [name: string, pod: Record<string, unknown>, expected: object | undefined][] = [
  ['R062: without a service account', apiPod('a', { account: null }), undefined],
  ['R062, F118: with an empty service account', apiPod('a', { account: '' }), undefined],
  ['without a uid', apiPod('a', { metadata: { uid: undefined } }), undefined],
  ['without anything', {}, undefined],
  ['R063: without a status', { ...apiPod('a'), status: undefined }, { phase: 'Pending' }],
  ['with an unknown phase', apiPod('a', { phase: 'Dreaming' }), { phase: 'Pending' }],
  ['R058: that is terminating', apiPod('a', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), { phase: 'Running' }],
  ['that is over', apiPod('a', { phase: 'Failed' }), { phase: 'Failed' }],
  ['R054, F127: with an account of 77 characters', apiPod('a', { account: 'a'.repeat(77) }), { serviceAccount: 'a'.repeat(77) }],
  ['F117: that is a mirror', apiPod('a', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } }), { mirror: true }],
  [
    'in the ambient mesh by its namespace',
    apiPod('a', { metadata: { annotations: { 'ambient.istio.io/redirection': 'enabled' } } }),
    { ambient: true },
  ],
  ['in the ambient mesh by its label', apiPod('a', { metadata: { labels: { 'istio.io/dataplane-mode': 'ambient' } } }), { ambient: true }],
  [
    'that keeps out of the ambient mesh',
    apiPod('a', {
      metadata: { labels: { 'istio.io/dataplane-mode': 'none' }, annotations: { 'ambient.istio.io/redirection': 'enabled' } },
    }),
    { ambient: false },
  ],
  [
    'on the host network with the label of the ambient mesh',
    apiPod('a', { metadata: { labels: { 'istio.io/dataplane-mode': 'ambient' } }, spec: { hostNetwork: true } }),
    { ambient: false },
  ],
  ['with fields of other types', { ...apiPod('a'), spec: { serviceAccountName: 7 }, status: 'x' }, undefined],
];
for (const [name, pod, expected] of rows) {
  t.test(`a pod ${name}`, (t) => {
    const read = toPod(pod as KubeObject);
    if (expected === undefined) t.equal(read, undefined);
    else t.match(read, expected);
    t.end();
  });
}
