import t from 'tap';
import type { Pod } from '../../../agent/pods/pod.js';
import type { Selection } from '../../../agent/pods/selection.js';
import { whyLeftOut } from '../../../agent/pods/selection.js';
import { createPod } from '../../fixtures/pods.js';

const mode = (value: string): Partial<Pod> => ({ labels: { 'istio.io/dataplane-mode': value } });

t.test('each condition leaves out what it says, and all must hold', async (t) => {
  const rows: readonly (readonly [selection: Selection, pod: Partial<Pod>, why: string | undefined])[] = [
    [{}, {}, undefined],
    [{}, { hostNetwork: true }, undefined],
    [{}, { namespace: 'kube-system' }, 'namespace kube-system is in excludeNamespaces'],
    [{}, { namespace: 'kube-public' }, 'namespace kube-public is in excludeNamespaces'],
    [{}, { namespace: 'kube-node-lease' }, 'namespace kube-node-lease is in excludeNamespaces'],
    [{ excludeNamespaces: [] }, { namespace: 'kube-system' }, undefined],
    [{ excludeNamespaces: ['shop'] }, {}, 'namespace shop is in excludeNamespaces'],
    [{ namespaces: ['shop'] }, {}, undefined],
    [{ namespaces: ['bank'] }, {}, 'namespace shop is not in namespaces'],
    [{ namespaces: [] }, {}, 'namespace shop is not in namespaces'],
    [{ namespaces: ['kube-system'] }, { namespace: 'kube-system' }, 'namespace kube-system is in excludeNamespaces'],
    [{ podLabels: { a: '1', b: '2' } }, { labels: { a: '1', b: '2', c: '3' } }, undefined],
    [{ podLabels: { a: '1', b: '2' } }, { labels: { a: '1' } }, 'pod cart has no label b=2'],
    [{ podLabels: { a: '1' } }, { labels: { a: '2' } }, 'pod cart has no label a=1'],
    [{ podLabels: { toString: 'x' } }, {}, 'pod cart has no label toString=x'],
    [{ hostNetwork: 'exclude' }, { hostNetwork: true }, 'pod cart is on the host network'],
    [{ hostNetwork: 'exclude' }, {}, undefined],
    [{ ambient: true }, { ambient: true }, undefined],
    [{ ambient: true }, {}, 'pod cart is not in the ambient mesh, as far as is known without pods.namespaces'],
    [{ ambient: true, namespaces: ['bank'] }, { ambient: true }, 'namespace shop is not in namespaces'],
    [{ ambient: true }, mode('none'), 'pod cart is not in the ambient mesh'],
    [{ ambient: true, ambientNamespaces: new Set() }, {}, 'pod cart is not in the ambient mesh'],
    [{ ambient: true, ambientNamespaces: new Set() }, { ambient: true }, undefined],
    [{ ambient: true, ambientNamespaces: new Set(['shop']) }, {}, undefined],
    [{ ambient: true, ambientNamespaces: new Set(['shop']) }, mode('none'), 'pod cart is not in the ambient mesh'],
    [{ ambient: true, ambientNamespaces: new Set(['shop']) }, { hostNetwork: true }, 'pod cart is not in the ambient mesh'],
    [{ ambient: true, ambientNamespaces: 'unread' }, mode('none'), 'pod cart is not in the ambient mesh'],
    [{ ambient: true, ambientNamespaces: 'unread' }, { ambient: true }, undefined],
    [{ ambientNamespaces: 'unread' }, {}, undefined],
  ];
  for (const [selection, pod, why] of rows) {
    const reason = why === undefined ? undefined : { code: 'not-selected', detail: why };
    t.same(whyLeftOut(createPod('cart', pod), selection), reason, JSON.stringify([selection, pod]));
  }
  const unread = whyLeftOut(createPod('cart'), { ambient: true, ambientNamespaces: 'unread' });
  t.same(unread, { code: 'namespaces-unread', detail: 'namespace shop' });
});
