import t from 'tap';
import { createSecretIssuer, openIssuerSecret } from '../../../agent/authority/issuer-owner.js';
import type { IssuerSecret } from '../../../agent/authority/issuer-secret.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { reasons } from '../../../agent/runtime/reasons.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { createIssuerScene, issuerSecretPath, tlsData } from '../../fixtures/issuer-scene.js';
import { never } from '../../fixtures/kube.js';
import { createIntermediate, createRoot, dayMs, hourMs, pemOf, testTime } from '../../fixtures/pki.js';

const root = createRoot();
const other = createRoot();

t.test('replicas that start at once have one issuer', async (t) => {
  const { options, store, text, clock, log } = await createIssuerScene(t);
  const opened: IssuerSecret[] = [];
  for (let replica = 0; replica < 3; replica += 1) void openIssuerSecret(options, never).then((secret) => opened.push(secret));
  await advanceUntil(clock, 100, () => opened.length === 3);
  t.equal(new Set(opened.map(({ issuer }) => issuer.certificate.fingerprint)).size, 1);
  t.equal(log.lines.filter(({ message }) => message === 'made an issuer').length, 1);
  const { issuer, state } = opened[0] ?? {};
  t.equal(issuer?.notAfter, testTime + 3_652 * dayMs);
  t.equal(state?.longestLifetimeMs, dayMs, 'the lifetime is noted before the first leaf');
  t.match(store.get(issuerSecretPath), {
    type: 'kubernetes.io/tls',
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'signet-ca' } },
  });
  t.equal(text('ca.crt'), text('tls.crt'));
  t.same(issuer?.certificate.uriSans, ['spiffe://example.org']);
});

t.test('one that was lost is not replaced', async (t) => {
  const { options, store, put } = await createIssuerScene(t);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/signet-system/leases/signet-ca';
  store.put(lease, { metadata: { name: 'signet-ca' } });
  await t.rejects(openIssuerSecret(options, never), {
    name: 'SignetError',
    kind: 'notFound',
    reason: 'issuer-unreadable',
    message: /is gone/,
  });
  t.same(store.writes, []);
  // Another replica starts at the same time, and has done both when we look for the Lease.
  let looks = 0;
  store.refuse = ({ path }) => {
    if (path !== issuerSecretPath) return undefined;
    looks += 1;
    if (looks === 2) put(tlsData(root));
    return undefined;
  };
  t.equal((await openIssuerSecret(options, never)).issuer.certificate.fingerprint, root.certificate.fingerprint);
});

t.test('an issuer that is there is adopted as it is', async (t) => {
  const { options, put, text } = await createIssuerScene(t);
  put(tlsData(root));
  const { issuer } = await openIssuerSecret({ ...options, leafLifetimeMs: hourMs }, never);
  t.equal(issuer.certificate.fingerprint, root.certificate.fingerprint);
  t.equal(text('tls.crt'), root.pem.toString());
  t.match(text('signet.json'), /"longestLifetimeSeconds":3600/);
  await openIssuerSecret(options, never);
  await openIssuerSecret({ ...options, leafLifetimeMs: hourMs }, never);
  t.match(text('signet.json'), /"longestLifetimeSeconds":86400/, 'never less than was noted');
});

t.test('one that may not be written is used all the same', async (t) => {
  const { options, put, store, log } = await createIssuerScene(t);
  put(tlsData(root));
  store.refuse = ({ method }) => (method === 'PATCH' ? 403 : undefined);
  const { issuer } = await openIssuerSecret(options, never);
  t.equal(issuer.certificate.fingerprint, root.certificate.fingerprint);
  t.match(log.lines.at(-1)?.message, /may not be written/);
});

t.test('waits for the API server, not for a mended Secret or a right', async (t) => {
  const { options, put, store, clock, log } = await createIssuerScene(t);
  store.refuse = () => 503;
  const opening = openIssuerSecret(options, never);
  await until(() => log.lines.length > 0);
  t.match(log.lines[0], { level: 'warn', fields: { reason: 'kube-unavailable' } });
  store.refuse = () => undefined;
  put(tlsData(root));
  let opened = false;
  void opening.then(() => (opened = true));
  await advanceUntil(clock, 500, () => opened);

  put({ 'tls.crt': 'text' });
  await t.rejects(openIssuerSecret(options, never), { name: 'SignetError', reason: 'issuer-unreadable' });
  store.refuse = () => 403;
  await t.rejects(openIssuerSecret(options, never), { name: 'SignetError', kind: 'denied' });
  store.refuse = () => 500;
  const controller = new AbortController();
  const waiting = openIssuerSecret(options, controller.signal);
  controller.abort();
  await t.rejects(waiting, { name: 'SignetError', kind: 'cancelled' });
});

t.test('follows the Secret', async (t) => {
  const { options, put, store, start, clock, log } = await createIssuerScene(t);
  put(tlsData(root));
  const owner = createSecretIssuer({ ...options, initial: await openIssuerSecret(options, never) });
  const order: string[] = [];
  owner.roots.subscribe((roots) => order.push(`roots ${roots.length}`));
  owner.issuer.subscribe(({ certificate }) => order.push(certificate === owner.secret.value.issuer.certificate ? 'issuer' : 'other'));
  start(owner);
  await until(() => owner.reason.value === undefined);

  const before = owner.issuer.value;
  put({ ...tlsData(root), note: 'a change that concerns us not' });
  await until(() => owner.secret.value.version === store.get(issuerSecretPath)?.metadata.resourceVersion);
  t.equal(owner.issuer.value, before);

  put({ ...tlsData(root, root, other), 'signet.json': stateOf(root.pem) });
  await until(() => owner.roots.value.length === 2, 'a second root');
  put({ ...tlsData(other), 'signet.json': stateOf(pemOf(root, other)) });
  await until(() => owner.issuer.value.certificate.fingerprint === other.certificate.fingerprint, 'another issuer');
  t.same(
    owner.roots.value.map(({ fingerprint }) => fingerprint),
    [other, root].map(({ certificate }) => certificate.fingerprint),
    'its root, and the one that was noted',
  );
  t.same(
    order,
    ['roots 1', 'issuer', 'roots 2', 'issuer', 'roots 2', 'issuer'],
    'roots before the issuer, and nothing for a change of nothing',
  );

  put({ 'tls.crt': createIntermediate(root).pem });
  await until(() => owner.reason.value?.code === 'issuer-unreadable', 'a fault is a reason');
  const { action } = reasons['issuer-unreadable'];
  const line = log.lines.find(({ fields }) => fields['reason'] === 'issuer-unreadable');
  t.match(line, { level: 'warn', fields: { detail: String, action } }, 'and told with what to change');
  t.equal(owner.issuer.value.certificate.fingerprint, other.certificate.fingerprint, 'the issuer from before stays');
  store.delete(issuerSecretPath);
  await until(() => owner.reason.value?.detail.endsWith('is gone') === true);
  put(tlsData(other));
  await until(() => owner.reason.value === undefined);
  t.equal(clock.alarms > 0, true);
  t.equal(log.lines.filter(({ message }) => message === 'issuer changed').length, 2);
});

function stateOf(noted: Buffer): string {
  return JSON.stringify({ noted: noted.toString(), former: [], longestLifetimeSeconds: 86_400 });
}

t.test('signs no more when the Secret could not be followed for long', async (t) => {
  const { options, put, store, start, clock } = await createIssuerScene(t);
  put(tlsData(root));
  const owner = createSecretIssuer({ ...options, lagMs: hourMs, initial: await openIssuerSecret(options, never) });
  start(owner);
  await until(() => owner.reason.value === undefined);
  const sign = async (): Promise<string | undefined> =>
    owner.issuer.value.sign(Buffer.from('text')).then(
      () => 'signed',
      (error: unknown) => (error instanceof SignetError ? error.reason : undefined),
    );
  store.refuse = () => 503;
  store.cut();
  await until(() => owner.reason.value?.code === 'kube-unavailable');
  await clock.advance(hourMs / 2 - 60_000);
  t.equal(await sign(), 'signed');
  await clock.advance(61_000);
  t.equal(await sign(), 'issuer-stale');
  store.refuse = () => undefined;
  await advanceUntil(clock, 200, () => owner.reason.value === undefined);
  t.equal(await sign(), 'signed');
});
