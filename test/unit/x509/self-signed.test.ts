import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Issuer } from '../../../agent/x509/issuer.js';
import { formatCertificates } from '../../../agent/x509/pem.js';
import { openIssuer } from '../../../agent/x509/self-signed.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { openssl } from '../../fixtures/openssl.js';
import { createRoot, dayMs, keyPem, testTime } from '../../fixtures/pki.js';

const base = mkdtempSync(join(tmpdir(), 'signet-self-signed-'));
t.teardown(() => rmSync(base, { recursive: true, force: true }));

let count = 0;
const fresh = (): string => join(base, String((count += 1)), 'state', 'issuer');
const open = async (directory: string, now = testTime): Promise<Issuer> =>
  await openIssuer({ directory, trustDomain: 'example.org', clock: createFakeClock({ startAt: now }) });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

t.test('the first start makes an issuer that every later one finds', async (t) => {
  const directory = fresh();
  const issuer = await open(directory);
  t.equal(modeOf(directory), '700');
  t.same(readdirSync(directory).sort(), ['issuer.crt', 'issuer.key']);
  t.equal(modeOf(join(directory, 'issuer.key')), '600');
  const { certificate } = issuer;
  t.ok(certificate.selfSigned);
  t.ok(certificate.isCa);
  t.same([...(certificate.keyUsage ?? [])], ['keyCertSign', 'cRLSign']);
  t.ok(certificate.notAfter > testTime + 3650 * dayMs, 'ten years');
  t.ok(certificate.notBefore < testTime);
  t.same(certificate.uriSans, ['spiffe://example.org']);
  const pem = formatCertificates([certificate]);
  t.ok(
    openssl(['verify', '-x509_strict', '-check_ss_sig', '-attime', String(testTime / 1000), '-CAfile', 'ca.pem', 'ca.pem'], {
      'ca.pem': pem,
    }).ok,
  );
  t.match(
    openssl(['x509', '-noout', '-subject', '-in', 'ca.pem'], { 'ca.pem': pem }).output,
    /O *= *example.org, CN *= *signet issuer [0-9a-f]{16}/,
  );
  t.equal((await open(directory)).certificate.fingerprint, certificate.fingerprint);
});

t.test('only the directory itself is closed to others, what was missing above it is not', async (t) => {
  const directory = fresh();
  const umask = process.umask(0o022);
  t.teardown(() => process.umask(umask));
  await open(directory);
  t.equal(modeOf(directory), '700');
  t.equal(modeOf(join(directory, '..')), '755');
  t.equal(modeOf(join(directory, '../..')), '755');
});

t.test('two issuers never have one name', async (t) => {
  const [a, b] = await Promise.all([open(fresh()), open(fresh())]);
  t.notOk(a.certificate.subject.equals(b.certificate.subject));
});

t.test('starts that race agree on one issuer', async (t) => {
  const directory = fresh();
  const issuers = await Promise.all(Array.from({ length: 8 }, async () => await open(directory)));
  t.equal(new Set(issuers.map((issuer) => issuer.certificate.fingerprint)).size, 1);
  t.same(readdirSync(directory).sort(), ['issuer.crt', 'issuer.key']);
});

t.test('a start is completed by the next one, wherever it crashed', async (t) => {
  const whole = fresh();
  const { certificate } = await open(whole);
  const key = readFileSync(join(whole, 'issuer.key'));
  const crt = readFileSync(join(whole, 'issuer.crt'));
  const scenes: Record<string, Record<string, Buffer>> = {
    'before anything': {},
    'while the key was written': { '.issuer.00': key.subarray(0, 50) },
    'before the key had its name': { '.issuer.00': key },
    'before its temporary name was gone': { '.issuer.00': key, 'issuer.key': key },
    'while the certificate was written': { 'issuer.key': key, '.issuer.01': crt.subarray(0, 50) },
    'before the last temporary name was gone': { 'issuer.key': key, 'issuer.crt': crt, '.issuer.01': crt },
  };
  for (const [name, files] of Object.entries(scenes)) {
    const directory = fresh();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content, { mode: 0o600 });
    const issuer = await open(directory);
    t.same(readdirSync(directory).sort(), ['issuer.crt', 'issuer.key'], name);
    t.equal(
      'issuer.key' in files,
      issuer.certificate.publicKeySpki.equals(certificate.publicKeySpki),
      `${name}: a key that was there is used`,
    );
    t.equal((await open(directory)).certificate.fingerprint, issuer.certificate.fingerprint, name);
  }
});

t.test('what is there is never overwritten', async (t) => {
  const stranger = createRoot();
  const scenes: Record<string, readonly [string, Record<string, Buffer>]> = {
    'the key is lost': ['issuer-unreadable', { 'issuer.crt': stranger.pem }],
    'the certificate is damaged': ['issuer-unreadable', { 'issuer.crt': Buffer.from('?'), 'issuer.key': keyPem(stranger) }],
    'they do not belong together': ['issuer-key-mismatch', { 'issuer.crt': stranger.pem, 'issuer.key': keyPem(createRoot()) }],
    'the key is damaged': ['issuer-unreadable', { 'issuer.key': Buffer.from('?') }],
  };
  for (const [name, [reason, files]] of Object.entries(scenes)) {
    const directory = fresh();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content);
    await t.rejects(open(directory), { name: 'SignetError', reason }, name);
    for (const [file, content] of Object.entries(files)) t.same(readFileSync(join(directory, file)), content, name);
    t.same(readdirSync(directory).sort(), Object.keys(files).sort(), name);
  }
});

t.test('an expired issuer is refused', async (t) => {
  const directory = fresh();
  await open(directory);
  await t.rejects(open(directory, testTime + 3700 * dayMs), { name: 'SignetError', reason: 'issuer-expired' });
});

t.test('a directory that others can use is refused', async (t) => {
  for (const mode of [0o750, 0o707, 0o711, 0o770]) {
    const directory = fresh();
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, mode);
    await t.rejects(open(directory), {
      name: 'SignetError',
      kind: 'denied',
      reason: 'issuer-directory-unsafe',
      fields: { mode: mode.toString(8) },
    });
    t.same(readdirSync(directory), [], 'nothing is written');
  }
});

t.test('a directory behind a symlink is judged by itself', async (t) => {
  const target = fresh();
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const way = join(base, 'way');
  symlinkSync(target, way);
  t.ok(await open(way));
});

t.test('a directory that cannot be made is told', async (t) => {
  const file = join(base, 'file');
  writeFileSync(file, '');
  await t.rejects(open(join(file, 'issuer')), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'issuer-unwritable',
    fields: { code: 'ENOTDIR' },
  });
});
