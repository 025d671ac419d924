import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { IssuerOwner } from '../../../agent/ca/issuer-owner.js';
import { createFixedIssuer, createIssuerFromFiles } from '../../../agent/ca/issuer-owner.js';
import { loadIssuer } from '../../../agent/x509/issuer.js';
import type { FakeClock } from '../../fixtures/clock.js';
import { advanceUntil, createFakeClock } from '../../fixtures/clock.js';
import type { RecordingLogger } from '../../fixtures/log.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import type { TestMetrics } from '../../fixtures/metrics.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createRoot, dayMs, hourMs, keyPem, pemOf, testTime } from '../../fixtures/pki.js';

interface Scene {
  readonly owner: IssuerOwner;
  readonly clock: FakeClock;
  readonly log: RecordingLogger;
  readonly metrics: TestMetrics;
  readonly changes: readonly string[];
  write(name: 'certificate' | 'privateKey', content: Buffer | string): void;
  /** Replaces both files. */
  put(...path: readonly TestCertificate[]): void;
  /** Events of files are real, time is not: lets it pass until they led to something. */
  eventually(condition: () => boolean): Promise<void>;
  signs(certificate: TestCertificate): boolean;
  roots(): readonly string[];
}

const leafLifetimeMs = dayMs;
const fingerprints = (...certificates: readonly TestCertificate[]): string[] => certificates.map((each) => each.certificate.fingerprint);

async function createScene(t: Test, ...path: readonly TestCertificate[]): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'signet-owner-'));
  const files = { certificate: join(directory, 'ca.pem'), privateKey: join(directory, 'ca.key') };
  const write = (name: 'certificate' | 'privateKey', content: Buffer | string): void => {
    writeFileSync(`${files[name]}.new`, content, { mode: 0o600 });
    renameSync(`${files[name]}.new`, files[name]);
  };
  const [issuing] = path;
  if (issuing === undefined) throw new Error('no issuer');
  write('certificate', pemOf(...path));
  write('privateKey', keyPem(issuing));
  const clock = createFakeClock({ startAt: testTime });
  const log = createRecordingLogger();
  const metrics = createTestMetrics();
  const initial = await loadIssuer(files, testTime);
  const owner = createIssuerFromFiles({ files, initial, leafLifetimeMs, clock, log, metrics: metrics.metrics });
  const changes: string[] = [];
  owner.roots.subscribe((roots) => changes.push(`roots ${roots.length}`));
  owner.issuer.subscribe((issuer) => changes.push(`issuer ${issuer.certificate.fingerprint}`));
  const controller = new AbortController();
  const running = owner.run(controller.signal);
  t.teardown(async () => {
    controller.abort();
    await running;
    if (clock.alarms > 0) throw new Error('an alarm was left behind');
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    owner,
    clock,
    log,
    metrics,
    changes,
    write,
    put(...next) {
      const [first] = next;
      if (first === undefined) throw new Error('no issuer');
      write('certificate', pemOf(...next));
      write('privateKey', keyPem(first));
    },
    async eventually(condition) {
      await advanceUntil(clock, 20, condition);
    },
    signs: ({ certificate }) => owner.issuer.value.certificate.fingerprint === certificate.fingerprint,
    roots: () => owner.roots.value.map((root) => root.fingerprint),
  };
}

t.test('files that stay the same change nothing', async (t) => {
  const root = createRoot();
  const scene = await createScene(t, root);
  for (let step = 0; step < 600; step += 1) await scene.clock.advance(20);
  t.same(scene.roots(), fingerprints(root));
  t.equal(scene.changes.length, 2, 'the first values alone');
  t.same(scene.log.lines, []);
  t.equal(await scene.metrics.read('signet_reloads_total', { file: 'issuer', result: 'ok' }), undefined);
});

t.test('a new issuer takes over, its roots before it; former roots stay for the life of a leaf', async (t) => {
  const [a, b] = [createRoot(), createRoot()];
  const scene = await createScene(t, a);
  await scene.clock.advance(1000);
  const { alarms } = scene.clock;
  scene.put(b);
  await scene.eventually(() => scene.signs(b));
  t.same(scene.roots(), fingerprints(b, a));
  t.same(scene.changes.slice(2), ['roots 2', `issuer ${b.certificate.fingerprint}`]);
  t.match(scene.log.lines, [{ level: 'info', message: 'issuer changed', fields: { keyId: b.certificate.subjectKeyId, formerRoots: 1 } }]);
  t.equal(await scene.metrics.read('signet_reloads_total', { file: 'issuer', result: 'ok' }), 1);
  await scene.clock.advance(leafLifetimeMs - hourMs);
  t.same(scene.roots(), fingerprints(b, a), 'not yet');
  await scene.clock.advance(2 * hourMs);
  t.same(scene.roots(), fingerprints(b), 'gone');
  t.equal(scene.clock.alarms, alarms, 'and no alarm for them');
});

t.test('an issuer that comes back has its root once', async (t) => {
  const [a, b] = [createRoot(), createRoot()];
  const scene = await createScene(t, a);
  scene.put(b);
  await scene.eventually(() => scene.roots().length === 2);
  scene.put(a);
  await scene.eventually(() => scene.roots()[0] === a.certificate.fingerprint);
  t.same(scene.roots(), fingerprints(a, b));
  await scene.clock.advance(leafLifetimeMs + hourMs);
  t.same(scene.roots(), fingerprints(a));
});

t.test('a new intermediate under the same root changes no root', async (t) => {
  const root = createRoot();
  const scene = await createScene(t, createIntermediate(root), root);
  const next = createIntermediate(root);
  scene.put(next, root);
  await scene.eventually(() => scene.signs(next));
  t.same(scene.roots(), fingerprints(root));
  t.same(scene.changes.slice(2), [`issuer ${next.certificate.fingerprint}`]);
});

t.test('a faulty issuer is logged once with the failed check, and the one before stays', async (t) => {
  const [a, b] = [createRoot(), createRoot()];
  const scene = await createScene(t, a);
  scene.write('certificate', b.pem);
  await scene.eventually(() => scene.log.lines.length > 0);
  await scene.clock.advance(10 * 60_000);
  t.match(scene.log.lines, [{ level: 'warn', message: /issuer from before stays/, fields: { reason: 'issuer-key-mismatch' } }]);
  t.equal(scene.log.lines.length, 1, 'once');
  t.equal(await scene.metrics.read('signet_reloads_total', { file: 'issuer', result: 'invalid' }), 1);
  t.equal(scene.owner.issuer.value.certificate.fingerprint, a.certificate.fingerprint);
  t.same(scene.roots(), fingerprints(a));
  t.match(scene.owner.reason.value, {
    code: 'issuer-key-mismatch',
    detail: /ca\.pem: issuer key belongs to another certificate; the issuer from before/,
  });
  scene.write('privateKey', keyPem(b));
  await scene.eventually(() => scene.signs(b));
  await scene.eventually(() => scene.owner.reason.value === undefined);
});

t.test('certificate and key that are written one after the other are read together', async (t) => {
  const scene = await createScene(t, createRoot());
  const next = createRoot();
  scene.write('certificate', next.pem);
  scene.write('privateKey', keyPem(next));
  await scene.eventually(() => scene.signs(next));
  t.same(
    scene.log.lines.filter((line) => line.level === 'warn'),
    [],
  );
});

t.test('an issuer that is not valid yet takes over when it is', async (t) => {
  const scene = await createScene(t, createRoot());
  const next = createRoot({ notBefore: testTime + hourMs });
  scene.put(next);
  await scene.eventually(() => scene.log.lines.length > 0);
  t.match(scene.log.lines, [{ fields: { reason: 'issuer-expired' } }]);
  await scene.clock.advance(hourMs);
  // No change of its files was needed.
  await scene.eventually(() => scene.signs(next));
  t.match(scene.log.lines.slice(1), [{ message: 'issuer changed' }]);
  t.equal(scene.log.lines.length, 2, 'the fault was told once');
});

t.test('a file that goes keeps the issuer', async (t) => {
  const a = createRoot();
  const scene = await createScene(t, a);
  scene.write('certificate', '');
  await scene.eventually(() => scene.log.lines.length > 0);
  t.match(scene.log.lines, [{ fields: { reason: 'issuer-unreadable' } }]);
  t.ok(scene.signs(a));
});

t.test('a fixed issuer has its own roots', async (t) => {
  const root = createRoot();
  const directory = mkdtempSync(join(tmpdir(), 'signet-owner-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const files = { certificate: join(directory, 'ca.pem'), privateKey: join(directory, 'ca.key') };
  writeFileSync(files.certificate, root.pem);
  writeFileSync(files.privateKey, keyPem(root));
  const issuer = await loadIssuer(files, testTime);
  unlinkSync(files.privateKey);
  const owner = createFixedIssuer(issuer);
  t.equal(owner.issuer.value, issuer);
  t.equal(owner.roots.value, issuer.roots);
  t.equal(owner.reason.value, undefined);
  await owner.run(new AbortController().signal);
});
