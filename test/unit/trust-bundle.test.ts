import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatReason } from '../../agent/runtime/reasons.js';
import type { Watched } from '../../agent/runtime/watched.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import type { RootSource } from '../../agent/trust-bundle.js';
import { createFileRootSource, createRestoredRootSource, createTrustBundle, createWatchedRootSource } from '../../agent/trust-bundle.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { advanceUntil, createFakeClock, settle, until } from '../fixtures/clock.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import type { TestCertificate } from '../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, dayMs, hourMs, keyPem, pemOf, testTime } from '../fixtures/pki.js';

const a = createRoot();
const b = createRoot();
const c = createRoot();

type Test = Pick<typeof t, 'teardown'>;

type CreateSources = (options: Parameters<typeof createFileRootSource>[0]) => readonly RootSource[];

function createScene(test: Test, createSources: CreateSources, path = '') {
  const clock = createFakeClock({ startAt: testTime });
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const owner = createTrustBundle({ sources: createSources({ path, clock, log, metrics }), clock, log, metrics });
  const stop = new AbortController();
  const ended = owner.run(stop.signal);
  let published = -1;
  owner.bundle.subscribe(() => (published += 1));
  test.teardown(async () => {
    stop.abort();
    await ended;
    if (clock.alarms !== 0) throw new Error('an alarm was left behind');
  });
  return {
    clock,
    log,
    read,
    owner,
    published: () => published,
    roots: () => owner.bundle.value?.roots.map(({ fingerprint }) => fingerprint),
    untilPublished: (count: number) => until(() => published >= count, `bundle ${count}`),
    untilReason: (code: string | undefined) => until(() => owner.reason.value?.code === code, `reason ${code}`),
  };
}

const fileScene = (test: Test, path: string) => createScene(test, (services) => [createFileRootSource(services)], path);

const fingerprints = (...of: readonly TestCertificate[]): string[] => of.map(({ certificate }) => certificate.fingerprint).sort();

function watchedRoots(...of: readonly TestCertificate[]) {
  const roots = new WatchedValue<readonly Certificate[]>(of.map(({ certificate }) => certificate));
  return { roots, set: (...next: readonly TestCertificate[]) => roots.set(next.map(({ certificate }) => certificate)) };
}

t.test('a file of roots becomes a bundle: each root once, sorted, in canonical PEM', async (t) => {
  const text = `subject=root\n${pemOf(b, a).toString().replaceAll('\n', '\r\n').trimEnd()}${pemOf(b)}  \n\n# end`;
  const scene = fileScene(t, join(t.testdir({ 'roots.pem': text }), 'roots.pem'));
  t.match(scene.owner.reason.value, { code: 'bundle-missing' });
  await scene.untilPublished(1);
  const bundle = scene.owner.bundle.value;
  t.same(scene.roots(), fingerprints(a, b));
  t.same(
    readCertificates(bundle?.pem ?? '', { source: 'bundle' }).map(({ fingerprint }) => fingerprint),
    fingerprints(a, b),
  );
  t.notMatch(bundle?.pem.toString(), /\r|subject|#/);
  t.match(bundle?.version, /^[0-9a-f]{64}$/);
  t.equal(scene.owner.reason.value, undefined);
  t.equal(await scene.read('signet_trust_bundle_roots'), 2);
  const earliest = Math.min(a.certificate.notAfter, b.certificate.notAfter);
  t.equal(await scene.read('signet_trust_bundle_earliest_expiry_timestamp_seconds'), earliest / 1000);
});

t.test('F044, F068: a root change is published at once, another text of the same roots is no change', async (t) => {
  const path = join(t.testdir({ 'roots.pem': pemOf(a) }), 'roots.pem');
  const scene = fileScene(t, path);
  await scene.untilPublished(1);
  const first = scene.owner.bundle.value;

  writeFileSync(path, `${pemOf(a)}\n`);
  await until(() => scene.log.lines.length >= 1);
  writeFileSync(path, pemOf(a, b));
  await scene.untilPublished(2);
  t.equal(scene.published(), 2, 'the final newline was none');
  t.same(scene.roots(), fingerprints(a, b));
  t.match(scene.log.lines.at(-1), { message: 'trust bundle changed', fields: { roots: 2, added: fingerprints(b), removed: [] } });
  writeFileSync(path, pemOf(b));
  await scene.untilPublished(3);
  t.same(scene.roots(), fingerprints(b));
  writeFileSync(path, pemOf(a));
  await scene.untilPublished(4);
  t.equal(scene.owner.bundle.value?.version, first?.version, 'the same set has the same version');
  t.equal(await scene.read('signet_trust_bundle_changes_total'), 4);
});

t.test('F086: a file with a fault keeps the last good roots, says what is wrong, and shows nothing of its content', async (t) => {
  const path = join(t.testdir({ 'roots.pem': pemOf(a) }), 'roots.pem');
  const scene = fileScene(t, path);
  await scene.untilPublished(1);
  const intermediate = createIntermediate(b);
  const notCa = createRoot({ basicConstraints: null });
  const faults: readonly (readonly [what: string, text: string | Buffer, fault: RegExp])[] = [
    ['a key block', Buffer.concat([pemOf(a, b), keyPem(b)]), /pem block is not a certificate/],
    ['an intermediate', pemOf(b, intermediate), /not self-signed/],
    ['a leaf', pemOf(createLeaf(a, 'spiffe://example.org/ns/a/sa/a')), /not of a ca/],
    ['no CA flag', pemOf(notCa), /not of a ca/],
    ['a forged signature', pemOf(createRoot({ damaged: true })), /not self-signed/],
    ['cut in the middle', pemOf(a, b).subarray(0, -200), /./],
    ['no certificate', '# none\n', /no certificate/],
  ];
  for (const [what, text, fault] of faults) {
    writeFileSync(path, pemOf(a));
    await scene.untilReason(undefined);
    writeFileSync(path, text);
    await scene.untilReason('bundle-invalid');
    t.match(scene.owner.reason.value?.detail, fault, what);
    t.equal(scene.published(), 1, what);
  }
  t.same(scene.roots(), fingerprints(a));
  const lines = JSON.stringify(scene.log.lines);
  const keyText = keyPem(b).toString().split('\n')[1] ?? '';
  t.notOk(lines.includes(keyText), 'no key in the log');
  t.equal(await scene.read('signet_reloads_total', { file: 'roots', result: 'invalid' }), faults.length);
});

t.test('an empty or missing file keeps the last good roots', async (t) => {
  const path = join(t.testdir({ 'roots.pem': pemOf(a) }), 'roots.pem');
  const scene = fileScene(t, path);
  await scene.untilPublished(1);
  writeFileSync(path, '');
  await advanceUntil(scene.clock, 250, () => scene.owner.reason.value !== undefined);
  t.match(scene.owner.reason.value, { code: 'bundle-invalid', detail: `${path}: no certificate in it` });
  rmSync(path);
  await scene.untilReason('bundle-missing');
  t.match(scene.owner.reason.value, { detail: `${path}: file does not exist` });
  t.same(scene.roots(), fingerprints(a));
  writeFileSync(path, pemOf(a));
  await scene.untilReason(undefined);
  t.equal(scene.published(), 1);
});

t.test('F057: without a file there is no bundle until it comes', async (t) => {
  const path = join(t.testdir({}), 'roots.pem');
  const scene = fileScene(t, path);
  await until(() => scene.owner.reason.value?.detail.includes('does not exist') === true);
  t.equal(scene.owner.bundle.value, undefined);
  writeFileSync(path, pemOf(a));
  await scene.untilPublished(1);
  t.same(scene.roots(), fingerprints(a));
});

const sourcesOf = (...of: readonly Watched<readonly Certificate[]>[]) =>
  of.map((roots, index) => createWatchedRootSource(`source ${index}`, roots));

t.test('F008, F086: the union of all sources, and none before each of them was read', async (t) => {
  const one = watchedRoots(a, b);
  const two = watchedRoots();
  const scene = createScene(t, () => sourcesOf(one.roots, two.roots));
  await settle();
  t.equal(scene.owner.bundle.value, undefined, 'half of the roots would look like all of them');
  t.same(scene.owner.reason.value, { code: 'bundle-missing', detail: 'source 1: no root yet' });
  two.set(b, c);
  await settle(1);
  t.same(scene.roots(), fingerprints(a, b, c));
  t.equal(scene.owner.reason.value, undefined);
  one.set(b);
  await settle(1);
  t.same(scene.roots(), fingerprints(b, c), 'a root that is gone is no longer trusted');
  two.set();
  await settle(1);
  t.same(scene.roots(), fingerprints(b, c), 'a source that has none any more changes nothing');
  t.match(scene.owner.reason.value, { code: 'bundle-missing' });
});

t.test('C07: roots with one name and different keys are different roots; order and repetition change no byte', async (t) => {
  const twin = createRoot({ subject: 'same' });
  const other = createRoot({ subject: 'same' });
  const scene = createScene(t, () => sourcesOf(watchedRoots(twin).roots, watchedRoots(other).roots));
  const mirrored = createScene(t, () => sourcesOf(watchedRoots(other, twin, other).roots));
  await settle();
  t.same(scene.roots(), fingerprints(twin, other));
  t.equal(scene.owner.bundle.value?.version, mirrored.owner.bundle.value?.version);
  t.same(scene.owner.bundle.value?.pem, mirrored.owner.bundle.value?.pem);
});

t.test('an expired root is left out when its time comes, but never the last one', async (t) => {
  const short = createRoot({ notAfter: testTime + 2 * dayMs });
  const longer = createRoot({ notAfter: testTime + 3 * dayMs });
  const past = createRoot({ notBefore: testTime - 2 * dayMs, notAfter: testTime - hourMs });
  const source = watchedRoots(short, longer, past);
  const scene = createScene(t, () => sourcesOf(source.roots));
  await settle();
  t.same(scene.roots(), fingerprints(short, longer));
  t.match(scene.owner.reason.value, { code: 'root-expired', detail: `sha-256 ${past.certificate.fingerprint}` });
  t.match(formatReason(scene.owner.reason.value ?? { code: 'draining', detail: '' }), /expired/);
  source.set(short, longer);
  await settle();
  t.equal(scene.owner.reason.value, undefined);
  await scene.clock.advance(2 * dayMs - 1);
  t.same(scene.roots(), fingerprints(short, longer));
  await scene.clock.advance(1);
  t.same(scene.roots(), fingerprints(longer));
  await scene.clock.advance(2 * dayMs);
  t.same(scene.roots(), fingerprints(longer), 'an empty bundle is never published');
  t.match(scene.owner.reason.value, { code: 'root-expired' });
  t.equal(scene.log.lines.filter(({ level }) => level === 'warn').length, 3, 'one warning for each');
});

t.test('roots that a wrong clock makes expired come back when it is set right', async (t) => {
  const [one, two] = [createRoot({ notAfter: testTime + dayMs }), createRoot({ notAfter: testTime + 2 * dayMs })];
  const source = watchedRoots();
  const scene = createScene(t, () => sourcesOf(source.roots));
  scene.clock.step(3 * dayMs);
  source.set(one, two);
  await settle();
  t.equal(scene.owner.bundle.value, undefined);
  t.same(scene.owner.reason.value, { code: 'bundle-missing', detail: 'every root is expired' });
  scene.clock.step(-3 * dayMs);
  await scene.clock.advance(30_000);
  t.same(scene.roots(), fingerprints(one, two));
  t.equal(scene.owner.reason.value, undefined);
});

t.test('roots from before a restart stand for those of a source until it has read its own', async (t) => {
  const [first, other] = [watchedRoots(), watchedRoots()];
  const restored = [a.certificate, b.certificate];
  const scene = createScene(t, () => [
    createRestoredRootSource(createWatchedRootSource('first', first.roots), restored),
    createRestoredRootSource(createWatchedRootSource('other', other.roots), [c.certificate]),
  ]);
  t.same(scene.roots(), fingerprints(a, b, c), 'a bundle at once');
  t.match(scene.owner.reason.value, { code: 'bundle-restored', detail: 'bundle-missing (first: no root yet)' });
  first.set(a);
  await scene.untilPublished(1);
  t.same(scene.roots(), fingerprints(a, c), 'what it does not have any more is gone');
  t.match(scene.owner.reason.value, { code: 'bundle-restored', detail: /other/ });
  other.set(c);
  await scene.untilReason(undefined);
  t.equal(scene.published(), 1, 'the same roots are no change');
});
