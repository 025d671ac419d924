import { createPrivateKey, createPublicKey } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import type { ServingSecrets } from '../../../agent/authority/serving-secrets.js';
import { createServingSecrets } from '../../../agent/authority/serving-secrets.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import type { Issuer } from '../../../agent/x509/issuer.js';
import { createIssuer } from '../../../agent/x509/issuer.js';
import { formatCertificates, readCertificates } from '../../../agent/x509/pem.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import type { IssuerScene } from '../../fixtures/issuer-scene.js';
import { createIssuerScene } from '../../fixtures/issuer-scene.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createRoot, hourMs, keyPem, testTime } from '../../fixtures/pki.js';

const path = '/api/v1/namespaces/istio-system/secrets/istiod-tls';
const hosts = ['istiod.istio-system.svc', '10.0.0.1'];
const root = createRoot();
const middle = createIntermediate(root);

function issuerOf(certificate: TestCertificate): Issuer {
  const key = createPrivateKey(keyPem(certificate));
  return createIssuer({ certificates: [certificate.certificate], roots: [root.certificate], key, now: testTime });
}

interface Scene extends IssuerScene {
  readonly issuer: WatchedValue<Issuer>;
  readonly roots: WatchedValue<readonly Certificate[]>;
  readonly serving: ServingSecrets;
  leaf(): Certificate | undefined;
}

async function createScene(t: Test, start = true): Promise<Scene> {
  const scene = await createIssuerScene(t);
  const { client, clock, log, metrics, text } = scene;
  const issuer = new WatchedValue(issuerOf(middle));
  const roots = new WatchedValue<readonly Certificate[]>([root.certificate]);
  const secrets = [{ namespace: 'istio-system', name: 'istiod-tls', hosts }];
  const serving = createServingSecrets({ client, secrets, issuer, roots, lifetimeMs: hourMs, clock, log, metrics });
  if (start) scene.start(serving);
  return { ...scene, issuer, roots, serving, leaf: () => readCertificates(text('tls.crt', path) ?? '', { source: 'tls.crt' })[0] };
}

t.test('a Secret that a server can serve with', async (t) => {
  const { store, text, leaf } = await createScene(t);
  await until(() => store.get(path) !== undefined);
  const found = leaf();
  if (found === undefined) throw new Error('no certificate');
  t.equal(store.get(path)?.['type'], 'kubernetes.io/tls');
  t.match(store.get(path), { metadata: { annotations: { 'signet-ca/hosts': hosts.join(',') } } });
  t.ok(found.isSignedBy(middle.certificate));
  t.equal(found.otherSans, 2);
  t.equal(found.notAfter, testTime + hourMs);
  t.equal(readCertificates(text('tls.crt', path) ?? '', { source: '' }).length, 2, 'with its chain');
  t.equal(text('ca.crt', path), formatCertificates([root.certificate]));
  t.ok(createPublicKey(createPrivateKey(text('tls.key', path) ?? '')).equals(found.publicKey));
});

t.test('made anew when it is due, when issuer or roots change, and when somebody changes it', async (t) => {
  const { store, text, leaf, issuer, roots, clock, put } = await createScene(t);
  await until(() => store.get(path) !== undefined);
  const anew = async (what: string, step = 200): Promise<void> => {
    await advanceUntil(clock, step, () => leaf()?.fingerprint !== before, what);
    before = leaf()?.fingerprint;
  };
  let before = leaf()?.fingerprint;
  await clock.advance(25 * 60_000);
  t.equal(leaf()?.fingerprint, before);
  await anew('half of its life is over');
  roots.set([root.certificate, createRoot().certificate]);
  await anew('another root');
  t.equal(text('ca.crt', path), formatCertificates(roots.value));
  issuer.set(issuerOf(root));
  await anew('another issuer');
  t.ok(leaf()?.isSignedBy(root.certificate));
  put({ 'tls.crt': text('tls.crt', path) ?? '', 'tls.key': keyPem(root), 'ca.crt': text('ca.crt', path) ?? '' }, path);
  await anew('another key');
  put({ 'tls.crt': 'text' }, path);
  await advanceUntil(clock, 200, () => text('tls.key', path) !== undefined && leaf() !== undefined);
  store.delete(path);
  await advanceUntil(clock, 200, () => store.get(path) !== undefined, 'a removal');
});

t.test('one that is as it should be is left alone, by the next replica too', async (t) => {
  const { store, serving, start, clock } = await createScene(t, false);
  const stop = start(serving);
  await until(() => store.writes.length === 1);
  await stop();
  start(serving);
  await clock.advance(10 * 60_000);
  t.equal(store.writes.length, 1);
});

t.test('one that cannot be written is a reason', async (t) => {
  const { store, serving, clock, start, log } = await createScene(t, false);
  store.refuse = ({ method }) => (method === 'PATCH' ? 403 : undefined);
  start(serving);
  await until(() => serving.reason.value !== undefined);
  t.match(serving.reason.value, { code: 'roots-not-published', detail: /^secret istio-system\/istiod-tls: / });
  await clock.advance(60_000);
  const tries = log.lines.filter(({ message }) => message === 'cannot write a serving certificate').length;
  t.ok(tries < 10, `${tries} tries in a minute`);
  store.refuse = () => undefined;
  await advanceUntil(clock, 200, () => serving.reason.value === undefined);
  t.ok(store.get(path));
});
