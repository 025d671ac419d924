// Pods of the ambient mesh by the labels of their namespaces, from the API server to the identities.

import t from 'tap';
import { createNodeSecrets } from '../../../agent/node-secrets.js';
import { createAmbientNamespaces, selectionWith } from '../../../agent/pods/ambient-namespaces.js';
import { createIdentityIndex } from '../../../agent/pods/identity-index.js';
import type { Selection } from '../../../agent/pods/selection.js';
import { WatchedByKey, WatchedValue } from '../../../agent/runtime/watched.js';
import type { ApiCall, ApiStream } from '../../fixtures/api-server.js';
import { apiList } from '../../fixtures/api-server.js';
import { until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { createFakePodSource, createPod } from '../../fixtures/pods.js';
import { start } from '../../fixtures/reasons.js';

const uri = (account: string): string => `spiffe://example.org/ns/shop/sa/${account}`;
const namespace = (name: string, version = '100'): object => ({ metadata: { name, uid: `uid-${name}`, resourceVersion: version } });

t.test('by the label of the namespace, from the first moment on and no longer than it is there', async (t) => {
  const streams: ApiStream[] = [];
  const held: ApiCall[] = [];
  const scene = await createKubeScene(t, (call) => {
    if (call.query['sendInitialEvents'] !== undefined) call.status(422, 'not served');
    else if (call.query['watch'] === undefined) held.push(call);
    else streams.push(call.stream());
  });
  const namespaces = createAmbientNamespaces(scene);
  const select = new WatchedValue<Selection>({ ambient: true });
  const source = createFakePodSource();
  const options = { sources: [source], trustDomain: 'example.org', select: selectionWith(select, namespaces), lingerMs: 0, ...scene };
  const index = createIdentityIndex(options);
  for (const part of [namespaces, index]) start(t, part);
  const has = (account: string): boolean => index.identities.value.has(uri(account));
  source.set([
    createPod('cart', { phase: 'Pending' }),
    createPod('out', { labels: { 'istio.io/dataplane-mode': 'none' } }),
    createPod('in', { labels: { 'istio.io/dataplane-mode': 'ambient' }, ambient: true }),
    createPod('host', { hostNetwork: true }),
  ]);

  await until(() => held.length === 1);
  t.match(held[0], { path: '/api/v1/namespaces', query: { labelSelector: 'istio.io/dataplane-mode=ambient' } });
  await until(() => has('in'));
  t.equal(namespaces.reason.value?.code, 'namespaces-unread');
  t.match(index.explain(uri('cart')), { code: 'namespaces-unread', detail: 'namespace shop' });
  const cache = new WatchedByKey<undefined>(() => undefined);
  const bundle = new WatchedValue(undefined);
  const secrets = createNodeSecrets({
    trustDomain: 'example.org',
    index,
    cache: { watch: (of) => cache.watch(of), urgent: () => {} },
    bundle,
  });
  t.match(secrets.identity(uri('cart')).value, { status: 'waiting' }, 'nobody can tell yet that it has none');
  t.match(secrets.identity(uri('out')).value, { status: 'absent' });

  held[0]?.json(apiList([namespace('shop')]));
  await until(() => has('cart'));
  t.equal(namespaces.reason.value, undefined);
  t.match(
    ['out', 'host'].map((account) => index.explain(uri(account))),
    [
      { code: 'not-selected', detail: 'pod out is not in the ambient mesh' },
      { code: 'not-selected', detail: 'pod host is not in the ambient mesh' },
    ],
  );

  await until(() => streams.length === 1);
  streams[0]?.event('DELETED', namespace('shop', '101'));
  await until(() => !has('cart'));
  streams[0]?.event('ADDED', namespace('shop', '102'));
  await until(() => has('cart'));
  streams[0]?.cut();
  await until(() => namespaces.reason.value?.code === 'kube-unavailable');
  t.ok(has('cart'), 'what was read stays');

  select.set({ ambient: true, namespaces: ['bank'] });
  await until(() => !has('in'));
  t.match(index.explain(uri('cart')), { code: 'not-selected', detail: /is not in namespaces/ });
});

t.test('names from before a restart count until the namespaces have been read', async (t) => {
  const held: ApiCall[] = [];
  const scene = await createKubeScene(t, (call) => (call.query['watch'] === undefined ? held.push(call) : call.status(422, 'not served')));
  const namespaces = createAmbientNamespaces({ ...scene, restored: ['shop', 'gone'] });
  start(t, namespaces);
  await until(() => held.length === 1);
  t.same(namespaces.names.value, new Set(['shop', 'gone']));
  t.equal(namespaces.reason.value?.code, 'namespaces-unread', 'which the reason says');
  held[0]?.json(apiList([namespace('shop')]));
  await until(() => namespaces.reason.value === undefined);
  t.same(namespaces.names.value, new Set(['shop']));
});
