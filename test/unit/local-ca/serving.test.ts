// What the endpoint shows: a root of the node that stays the same, its file, and files that are followed.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { TlsIdentity } from '../../../agent/listen/tls.js';
import { createNodeRoot, createServingFiles } from '../../../agent/local-ca/serving.js';
import { readCertificates } from '../../../agent/x509/pem.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { writeServingFiles } from '../../fixtures/local-ca.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createLeaf, createRoot, keyPem, testTime } from '../../fixtures/pki.js';
import { until } from '../../fixtures/until.js';

function createServices() {
  return { clock: createFakeClock({ startAt: testTime }), log: createRecordingLogger(), ...createTestMetrics() };
}

function createRootScene(t: Test) {
  const directory = t.testdir({});
  const services = createServices();
  const rootDirectory = join(directory, 'root');
  const create = () =>
    createNodeRoot({
      stateDirectory: join(directory, 'state'),
      rootDirectory,
      names: ['localhost', '::1'],
      trustDomain: 'x.org',
      ...services,
    });
  return { ...services, directory, create, rootFile: join(rootDirectory, 'root-cert.pem'), rootDirectory };
}

const shownBy = ({ chain, privateKey }: TlsIdentity) => {
  const [leaf] = readCertificates(chain, { source: 'chain' });
  if (leaf === undefined) throw new Error('no leaf');
  const isPair = createPublicKey(createPrivateKey(privateKey)).equals(leaf.publicKey);
  return { leaf, isPair };
};

t.test('a certificate under a root that all agents of the node share', async (t) => {
  const { create, rootFile, rootDirectory, directory, read } = createRootScene(t);
  const [one, two] = await Promise.all([create().open(), create().open()]);
  const root = readFileSync(rootFile, 'utf8');
  const [ca, ...more] = readCertificates(root, { source: 'root' });
  t.same(more, []);
  t.equal(statSync(rootFile).mode & 0o777, 0o644);
  t.equal(statSync(rootDirectory).mode & 0o777, 0o755);
  t.same(readdirSync(directory).sort(), ['root', 'state'], 'nothing is left');
  for (const identity of [one, two]) {
    const { leaf, isPair } = shownBy(identity);
    t.ok(isPair);
    t.ok(ca !== undefined && leaf.isSignedBy(ca), 'two agents at once are trusted alike');
    t.equal(leaf.otherSans, 2);
  }
  t.equal(await read('signet_local_ca_serving_expiry_timestamp_seconds'), (testTime + 24 * 3_600_000) / 1_000);
  await create().open();
  t.equal(readFileSync(rootFile, 'utf8'), root, 'and so is the next one');
});

t.test('renewed at half of its life; a root file that goes away comes back', async (t) => {
  const { create, rootFile, rootDirectory, clock, log } = createRootScene(t);
  const serving = create();
  const first = shownBy(await serving.open()).leaf;
  const root = readFileSync(rootFile, 'utf8');
  const shown: TlsIdentity[] = [];
  const end = new AbortController();
  const running = serving.run((identity) => shown.push(identity), end.signal);
  rmSync(rootDirectory, { recursive: true });
  await clock.advance(30_000);
  await until('the root is there again', 30_000, () => existsSync(rootFile));
  t.equal(readFileSync(rootFile, 'utf8'), root);
  await until('that is told', 30_000, () => log.lines.some(({ level }) => level === 'warn'));
  await clock.advance(12 * 3_600_000);
  await until('another certificate', 30_000, () => shown.length === 1);
  t.not(shown[0] && shownBy(shown[0]).leaf.serial, first.serial);
  end.abort();
  await running;
  t.equal(clock.alarms, 0);
});

t.test('a directory that is not fit for it', async (t) => {
  const { create, rootDirectory } = createRootScene(t);
  writeFileSync(rootDirectory, 'a file');
  await t.rejects(create().open(), { name: 'SignetError', reason: 'local-ca-serving' });
  rmSync(rootDirectory);
  mkdirSync(join(rootDirectory, 'root-cert.pem'), { recursive: true });
  await t.rejects(create().open(), { name: 'SignetError', reason: 'local-ca-serving' });
});

const ca = createRoot();
const leafFor = (name: string): TestCertificate => createLeaf(ca, 'spiffe://x/ns/a/sa/b', { dnsNames: [name] });

t.test('files count when they fit together', async (t) => {
  const directory = t.testdir({});
  const [one, two] = [leafFor('one'), leafFor('two')];
  const files = writeServingFiles(directory, one.pem, keyPem(one));
  const services = createServices();
  const serving = createServingFiles({ ...files, ...services });
  t.equal(shownBy(await serving.open()).leaf.serial, one.certificate.serial);
  const shown: TlsIdentity[] = [];
  const end = new AbortController();
  const running = serving.run((identity) => shown.push(identity), end.signal);
  const showsNext = async (serial: string): Promise<void> => {
    await until(`it shows ${serial}`, 30_000, async () => {
      await services.clock.advance(1_000);
      const last = shown.at(-1);
      return last !== undefined && shownBy(last).leaf.serial === serial;
    });
  };
  writeServingFiles(directory, two.pem, keyPem(two));
  await showsNext(two.certificate.serial);
  t.equal(serving.reason.value, undefined);

  writeFileSync(files.certificate, one.pem);
  await until('the fault is noted', 30_000, async () => {
    await services.clock.advance(1_000);
    return serving.reason.value?.code === 'local-ca-serving';
  });
  t.equal(services.log.lines.filter(({ level }) => level === 'warn').length, 1, 'once');
  writeFileSync(files.privateKey, keyPem(one));
  await showsNext(one.certificate.serial);
  await until('the fault is over', 30_000, () => serving.reason.value === undefined);
  end.abort();
  await running;
});

t.test('files that cannot be used at all', async (t) => {
  const directory = t.testdir({});
  const [one, two] = [leafFor('one'), leafFor('two')];
  const services = createServices();
  const open = (certificate: Buffer | string, key: Buffer | string) =>
    createServingFiles({ ...writeServingFiles(directory, certificate, key), ...services }).open();
  for (const [certificate, key] of [
    [one.pem, keyPem(two)],
    ['', keyPem(one)],
    [one.pem, 'x'],
    ['x', 'x'],
  ] as const) {
    await t.rejects(open(certificate, key), { name: 'SignetError', reason: 'local-ca-serving' });
  }
});
