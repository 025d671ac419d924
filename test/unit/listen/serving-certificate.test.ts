// The certificate that the CA serves with: its names, when it is due, and a new issuer.

import { X509Certificate, createPrivateKey } from 'node:crypto';
import { Registry } from 'prom-client';
import t from 'tap';
import { createServingCertificate } from '../../../agent/listen/serving-certificate.js';
import type { TlsIdentity } from '../../../agent/listen/tls.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createIssuer } from '../../../agent/x509/issuer.js';
import { advanceUntil, createFakeClock, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createRoot, dayMs, hourMs, keyPem, testTime } from '../../fixtures/pki.js';

const issuerOf = (root: TestCertificate) =>
  createIssuer({ certificates: [root.certificate], roots: undefined, key: createPrivateKey(keyPem(root)), now: testTime });

function createScene(root = createRoot()) {
  const clock = createFakeClock({ startAt: testTime });
  const log = createRecordingLogger();
  const issuer = new WatchedValue(issuerOf(root));
  const names = ['signet-ca.signet-system.svc', '127.0.0.1', '::1', '2001:db8::5'];
  const serving = createServingCertificate({ issuer, names, clock, log, metrics: createAuthorityMetrics(new Registry()) });
  return { clock, log, issuer, serving };
}

t.test('names, dates, and a key of its own', async (t) => {
  const root = createRoot();
  const { serving } = createScene(root);
  const { chain, privateKey } = await serving.create();
  const leaf = new X509Certificate(chain);
  t.equal(
    leaf.subjectAltName,
    'DNS:signet-ca.signet-system.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:0:5',
  );
  t.ok(leaf.verify(new X509Certificate(root.pem).publicKey));
  t.ok(leaf.checkPrivateKey(createPrivateKey(privateKey)));
  t.equal(Date.parse(leaf.validTo), testTime + dayMs);
  t.ok(leaf.checkHost('signet-ca.signet-system.svc') && leaf.checkIP('::1'));
});

t.test('renewed at half of its life, and at once under a new issuer', async (t) => {
  const { clock, issuer, serving } = createScene();
  const shown: TlsIdentity[] = [];
  await serving.create();
  const stop = new AbortController();
  const running = serving.run((identity) => shown.push(identity), stop.signal);
  await clock.advance(12 * hourMs - 1);
  t.equal(shown.length, 0);
  await clock.advance(1);
  await until(() => shown.length === 1);
  const next = createRoot();
  issuer.set(issuerOf(next));
  await clock.advance(0);
  await clock.advance(0);
  await until(() => shown.length === 2);
  t.ok(new X509Certificate(shown[1]?.chain ?? '').verify(new X509Certificate(next.pem).publicKey));
  stop.abort();
  await running;
  t.equal(clock.alarms, 0);
});

t.test('no longer than the issuer; a fault is tried again', async (t) => {
  const { clock, log, issuer, serving } = createScene(createRoot({ notAfter: testTime + hourMs }));
  const { chain } = await serving.create();
  t.equal(Date.parse(new X509Certificate(chain).validTo), testTime + hourMs);
  const shown: TlsIdentity[] = [];
  const stop = new AbortController();
  const running = serving.run((identity) => shown.push(identity), stop.signal);
  const good = issuer.value;
  let broken = true;
  issuer.set({ ...good, sign: (data) => (broken ? Promise.reject(new Error('no')) : good.sign(data)) });
  await clock.advance(0);
  await clock.advance(0);
  await until(() => log.lines.some(({ level }) => level === 'error'));
  broken = false;
  await clock.advance(30_000);
  await until(() => shown.length === 1);
  stop.abort();
  await running;
});

t.test('at the end of the issuer there is a pause between one and the next', async (t) => {
  const { clock, serving } = createScene(createRoot({ notAfter: testTime + 60_000 }));
  await serving.create();
  const shown: TlsIdentity[] = [];
  const stop = new AbortController();
  const running = serving.run((identity) => shown.push(identity), stop.signal);
  await advanceUntil(clock, 1_000, () => shown.length === 5);
  t.ok(clock.now() - testTime >= 5 * 30_000);
  stop.abort();
  await running;
});

t.test('an issuer that comes while a certificate is made is not forgotten', async (t) => {
  const { clock, issuer, serving } = createScene();
  await serving.create();
  const next = issuerOf(createRoot());
  const shown: TlsIdentity[] = [];
  const stop = new AbortController();
  const running = serving.run((identity) => {
    shown.push(identity);
    if (shown.length === 1) issuer.set(next);
  }, stop.signal);
  await clock.advance(12 * hourMs);
  await advanceUntil(clock, 1, () => shown.length === 2);
  t.ok(new X509Certificate(shown[1]?.chain ?? '').verify(next.certificate.publicKey));
  stop.abort();
  await running;
});
