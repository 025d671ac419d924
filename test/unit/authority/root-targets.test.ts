import t from 'tap';
import type { Test } from 'tap';
import type { RootTargets, RootTargetsOptions } from '../../../agent/authority/root-targets.js';
import { createRootTargets } from '../../../agent/authority/root-targets.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { formatCertificates } from '../../../agent/x509/pem.js';
import type { ApiStore } from '../../fixtures/api-store.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import type { IssuerScene } from '../../fixtures/issuer-scene.js';
import { createIssuerScene } from '../../fixtures/issuer-scene.js';
import { createRoot } from '../../fixtures/pki.js';

const one = createRoot().certificate;
const two = createRoot().certificate;
const pemOf = (...certificates: readonly Certificate[]): string => formatCertificates(certificates);
const configMap = (namespace: string, name = 'signet-ca-root'): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const bundle = '/apis/certificates.k8s.io/v1/clustertrustbundles/signet-ca-root';
const lagMs = 200_000;
const served = { '/apis/certificates.k8s.io/v1': ['clustertrustbundles'] };

const held = (store: ApiStore, path: string): string | undefined => store.get(path)?.data?.['root-cert.pem'];

interface Scene extends IssuerScene {
  readonly roots: WatchedValue<readonly Certificate[]>;
  readonly targets: RootTargets;
  createNamespace(name: string, more?: object): void;
  readonly stop: () => Promise<void>;
}

async function createScene(t: Test, more: Partial<RootTargetsOptions> = {}, discovery = {}): Promise<Scene> {
  const scene = await createIssuerScene(t, discovery);
  const { client, clock, log, metrics, store } = scene;
  const createNamespace: Scene['createNamespace'] = (name, metadata = {}) =>
    store.put(`/api/v1/namespaces/${name}`, { kind: 'Namespace', metadata: { name, ...metadata } });
  createNamespace('shop');
  const roots = new WatchedValue<readonly Certificate[]>([one]);
  const targets = createRootTargets({
    client,
    roots,
    configMaps: ['signet-ca-root'],
    selects: (namespace) => !namespace.startsWith('kube-'),
    clock,
    log,
    metrics,
    ...more,
  });
  return { ...scene, roots, targets, createNamespace, stop: scene.start(targets) };
}

t.test('each selected namespace has the roots, and what is done to them is undone', async (t) => {
  const { store, targets, roots, createNamespace, clock, stop } = await createScene(t, {
    configMaps: ['signet-ca-root', 'istio-ca-root-cert'],
  });
  await until(() => targets.confirmed.value !== undefined);
  t.equal(held(store, configMap('shop')), pemOf(one));
  t.equal(held(store, configMap('shop', 'istio-ca-root-cert')), pemOf(one));

  createNamespace('kube-public');
  createNamespace('going', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  createNamespace('bank');
  await until(() => held(store, configMap('bank')) === pemOf(one), 'a new namespace');
  t.notOk(held(store, configMap('kube-public')));
  t.notOk(held(store, configMap('going')));

  await clock.advance(60_000);
  store.put(configMap('shop'), {
    kind: 'ConfigMap',
    metadata: { name: 'signet-ca-root', namespace: 'shop' },
    data: { 'root-cert.pem': pemOf(one, two), 'more': 'x' },
  });
  await until(() => held(store, configMap('shop')) === pemOf(one), 'an edit');
  t.equal(targets.lapsedAt.value, clock.now(), 'is remembered');
  const { value: lapsedAt } = targets.lapsedAt;
  t.equal(store.get(configMap('shop'))?.data?.['more'], 'x', 'what is not ours stays');
  await clock.advance(60_000);
  store.delete(configMap('bank'));
  await until(() => held(store, configMap('bank')) === pemOf(one), 'a removal');

  roots.set([two, one]);
  await advanceUntil(clock, 100, () => targets.confirmed.value?.length === 2);
  t.equal(held(store, configMap('bank')), pemOf(two, one));
  roots.set([two]);
  await advanceUntil(clock, 100, () => targets.confirmed.value?.length === 1);
  t.equal(held(store, configMap('bank')), pemOf(two), 'a retired root is gone');
  t.equal(targets.lapsedAt.value, lapsedAt, 'what we write, what is new and what is gone is no lapse');
  t.equal(targets.reason.value, undefined);
  await stop();
  t.equal(targets.confirmed.value, undefined);
});

t.test('a ClusterTrustBundle where there are such', async (t) => {
  const { store, targets } = await createScene(t, { clusterTrustBundle: { name: 'signet-ca-root' } }, served);
  await until(() => targets.confirmed.value !== undefined);
  t.match(store.get(bundle), { apiVersion: 'certificates.k8s.io/v1', spec: { trustBundle: pemOf(one) } });
  t.notOk(store.get(bundle)?.['spec']?.hasOwnProperty('signerName'));
});

t.test('a ClusterTrustBundle of a signer', async (t) => {
  const clusterTrustBundle = { name: 'example.org:ca:roots', signerName: 'example.org/ca' };
  const { store, targets } = await createScene(t, { clusterTrustBundle }, { '/apis/certificates.k8s.io/v1beta1': ['clustertrustbundles'] });
  await until(() => targets.confirmed.value !== undefined);
  t.match(store.get(`/apis/certificates.k8s.io/v1beta1/clustertrustbundles/${clusterTrustBundle.name}`), {
    apiVersion: 'certificates.k8s.io/v1beta1',
    spec: { signerName: 'example.org/ca', trustBundle: pemOf(one) },
  });
});

t.test('an API server without them', async (t) => {
  const { targets, roots, store, clock, log } = await createScene(t, { clusterTrustBundle: { name: 'signet-ca-root' }, lagMs });
  const startedAt = clock.monotonic();
  for (const wanted of [[one], [one, two], [two]]) {
    roots.set(wanted);
    await advanceUntil(clock, 100, () => held(store, configMap('shop')) === pemOf(...wanted));
  }
  await advanceUntil(clock, 1_000, () => targets.confirmed.value !== undefined);
  t.ok(clock.monotonic() - startedAt >= lagMs, 'it was asked again before that is believed');
  t.equal(targets.lapsedAt.value, undefined, 'what we wrote meanwhile is no lapse');
  t.same(new Set(store.writes), new Set([`PATCH ${configMap('shop')}`]));
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  t.match(warnings, [{ fields: { reason: 'bundle-unserved', action: /^Switch on ClusterTrustBundle/ } }]);
});

t.test('one that cannot be asked for them: the others are written, and nothing is confirmed', async (t) => {
  const { store, targets, roots, clock, log } = await createScene(t, { clusterTrustBundle: { name: 'signet-ca-root' } }, served);
  store.refuse = ({ path }) => (path.startsWith('/apis/certificates.k8s.io') ? 503 : undefined);
  await until(() => log.lines.some(({ message }) => message === 'cannot find out about clustertrustbundles'));
  for (const wanted of [[one], [one, two]]) {
    roots.set(wanted);
    await advanceUntil(clock, 1_000, () => held(store, configMap('shop')) === pemOf(...wanted));
  }
  t.equal(targets.confirmed.value, undefined);
  store.refuse = () => undefined;
  await advanceUntil(clock, 1_000, () => targets.confirmed.value?.length === 2);
  t.match(store.get(bundle)?.['spec'], { trustBundle: pemOf(one, two) });
});

/** An API server whose ClusterTrustBundles come and go. */
async function createChangingScene(t: Test, more: Partial<RootTargetsOptions> = { lagMs }) {
  const group = '/apis/certificates.k8s.io';
  const discovery: Record<string, readonly string[]> = { [`${group}/v1beta1`]: ['clustertrustbundles'] };
  const scene = await createScene(t, { clusterTrustBundle: { name: 'signet-ca-root' }, ...more }, discovery);
  const { store, targets } = scene;
  let version: string | undefined = 'v1beta1';
  store.refuse = ({ path }) => (path.includes('/clustertrustbundles') && !path.startsWith(`${group}/${version}/`) ? 404 : undefined);
  const serve = (next: string | undefined): void => {
    for (const key of Object.keys(discovery)) delete discovery[key];
    if (next !== undefined) discovery[`${group}/${next}`] = ['clustertrustbundles'];
    version = next;
    store.cut();
  };
  await until(() => targets.confirmed.value !== undefined);
  return { ...scene, serve, held: () => (store.get(bundle)?.['spec'] as { trustBundle?: string } | undefined)?.trustBundle };
}

t.test('an API server that serves them in another version, or not any more, or again', async (t) => {
  const { store, targets, roots, clock, serve, held: heldInBundle } = await createChangingScene(t);
  serve('v1');
  roots.set([one, two]);
  await advanceUntil(clock, 500, () => targets.confirmed.value?.length === 2);
  t.equal(heldInBundle(), pemOf(one, two), 'written in the version that is served now');

  serve(undefined);
  const goneAt = clock.monotonic();
  roots.set([two]);
  await advanceUntil(clock, 500, () => held(store, configMap('shop')) === pemOf(two), 'the others are written');
  await advanceUntil(clock, 1_000, () => targets.confirmed.value?.length === 1);
  t.ok(clock.monotonic() - goneAt >= lagMs, 'not missed once they are known to be gone');
  t.equal(heldInBundle(), pemOf(one, two));

  serve('v1');
  await advanceUntil(clock, 500, () => heldInBundle() === pemOf(two));
  t.equal(targets.reason.value, undefined);
  // What was served for a minute is looked for soon.
  await clock.advance(60_000);

  serve(undefined);
  const goneAgainAt = clock.monotonic();
  roots.set([one, two]);
  await advanceUntil(clock, 1_000, () => targets.confirmed.value?.length === 2);
  t.ok(clock.monotonic() - goneAgainAt >= lagMs, 'which has to be known anew');
});

t.test('one of several API servers that does not serve them yet', async (t) => {
  const { store, targets, roots, clock, log, serve, held: heldInBundle } = await createChangingScene(t, {});
  const isUnserved = (): boolean => log.lines.some(({ fields }) => fields['reason'] === 'bundle-unserved');
  serve(undefined);
  roots.set([one, two]);
  await advanceUntil(clock, 500, () => isUnserved() && held(store, configMap('shop')) === pemOf(one, two));
  t.equal(targets.confirmed.value?.length, 1, 'clients of another read a bundle without the new root');
  serve('v1');
  await advanceUntil(clock, 500, () => targets.confirmed.value?.length === 2);
  t.equal(heldInBundle(), pemOf(one, two));
  t.equal(targets.lapsedAt.value, undefined, 'it was only late');
});

t.test('they are not known to be gone when it could not be asked meanwhile', async (t) => {
  const { store, targets, roots, clock, log, serve } = await createChangingScene(t);
  serve(undefined);
  roots.set([one, two]);
  await advanceUntil(clock, 500, () => log.lines.some(({ fields }) => fields['reason'] === 'bundle-unserved'));
  const unservedAt = clock.monotonic();
  let refused = 0;
  store.refuse = ({ path }) => {
    if (!path.startsWith('/apis/certificates.k8s.io')) return undefined;
    refused += 1;
    return 503;
  };
  await advanceUntil(clock, 1_000, () => refused > 2 && clock.monotonic() - unservedAt > lagMs);
  store.refuse = () => undefined;
  const backAt = clock.monotonic();
  await advanceUntil(clock, 1_000, () => targets.confirmed.value?.length === 2);
  t.ok(clock.monotonic() - backAt >= lagMs);
});

t.test('a target that cannot be written', async (t) => {
  const { store, targets, createNamespace, clock, log, roots } = await createScene(t);
  await until(() => targets.confirmed.value !== undefined);
  let tries = 0;
  store.refuse = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/locked/')) return undefined;
    tries += 1;
    return 403;
  };
  createNamespace('locked');
  createNamespace('bank');
  await until(() => targets.reason.value !== undefined);
  t.match(targets.reason.value, { code: 'roots-not-published', detail: /namespaces\/locked.* refused the call/ });
  await until(() => store.get(configMap('bank')) !== undefined, 'the others are written');
  roots.set([one, two]);
  await advanceUntil(clock, 100, () => store.get(configMap('bank'))?.data?.['root-cert.pem'] === pemOf(one, two));
  t.equal(targets.confirmed.value?.length, 1, 'it keeps roots from being confirmed');

  await clock.advance(600_000);
  t.ok(tries > 5 && tries < 40, `tried ${tries} times in ten minutes`);
  t.equal(log.lines.filter(({ message }) => message === 'cannot write roots').length, 1, 'told once');
  store.refuse = () => undefined;
  await advanceUntil(clock, 200, () => targets.confirmed.value?.length === 2);
  t.equal(targets.reason.value, undefined);
});

t.test('nobody is fought at full speed', async (t) => {
  const { store, clock, targets } = await createScene(t);
  await until(() => targets.confirmed.value !== undefined);
  for (let second = 0; second < 300; second += 1) {
    store.put(configMap('shop'), { metadata: { name: 'signet-ca-root' }, data: { 'root-cert.pem': 'theirs' } });
    await clock.advance(1_000);
  }
  t.ok(store.writes.length > 5, 'it is put back');
  t.ok(store.writes.length < 30, `but rarely: ${store.writes.length} times in five minutes`);
});
