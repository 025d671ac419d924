import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { verify } from 'node:crypto';
import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { Issuer, IssuerFiles } from '../../../agent/x509/issuer.js';
import { loadIssuer } from '../../../agent/x509/issuer.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import {
  unknownSpki,
  createIntermediate,
  createLeaf,
  createRoot,
  createTestKey,
  dayMs,
  hourMs,
  keyPem,
  pemOf,
  testTime,
} from '../../fixtures/pki.js';

const directory = mkdtempSync(join(tmpdir(), 'signet-issuer-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

interface Content {
  readonly certificate: Buffer | string;
  readonly privateKey: Buffer | string;
  readonly chain?: Buffer;
  readonly roots?: Buffer;
}

let count = 0;
async function load(content: Content, now = testTime): Promise<Issuer> {
  count += 1;
  const files: Record<string, string> = {};
  for (const [name, bytes] of Object.entries(content)) {
    files[name] = join(directory, `${count}-${name}.pem`);
    writeFileSync(files[name], bytes as Buffer, { mode: 0o600 });
  }
  return await loadIssuer(files as unknown as IssuerFiles, now);
}

const root = createRoot();
const middle = createIntermediate(root);
const issuing = createIntermediate(middle, { notAfter: testTime + 2 * hourMs });

t.test('what is no regular file, or too large, is refused at once; a pipe without a writer is not waited for', async (t) => {
  const paths = { pipe: join(directory, 'pipe'), large: join(directory, 'large'), directory, device: '/dev/zero' };
  execFileSync('mkfifo', [paths.pipe]);
  writeFileSync(paths.large, Buffer.alloc(1024 * 1024 + 1));
  const [certificate, privateKey] = [join(directory, 'good.crt'), join(directory, 'good.key')];
  writeFileSync(certificate, root.pem);
  writeFileSync(privateKey, keyPem(root), { mode: 0o600 });
  for (const [name, path] of Object.entries(paths)) {
    for (const files of [
      { certificate, privateKey: path },
      { certificate: path, privateKey },
    ]) {
      const error: unknown = await loadIssuer(files, testTime).catch((cause: unknown) => cause);
      t.match(error, { reason: 'issuer-unreadable' }, name);
    }
  }
});

t.test('keys of every kind and form', async (t) => {
  for (const type of ['ec-p256', 'ec-p384', 'ec-p521', 'rsa-2048'] as const) {
    const key = createTestKey(type);
    const ca = createRoot({ key });
    const forms = ['pkcs8', type === 'rsa-2048' ? 'pkcs1' : 'sec1'] as const;
    for (const form of forms) {
      const privateKey = key.privateKey.export({ type: form as 'pkcs8', format: 'pem' });
      const issuer = await load({ certificate: ca.pem, privateKey });
      const signature = await issuer.sign(Buffer.from('data'));
      t.ok(verify(issuer.algorithm.digest, Buffer.from('data'), key.publicKey, signature), `${type} ${form}`);
      t.same(issuer.chain, [], 'a root goes not along');
      t.same(
        issuer.roots.map((each) => each.fingerprint),
        [ca.certificate.fingerprint],
      );
    }
  }
});

t.test('parameters before the key, as openssl ecparam writes them', async (t) => {
  const key = createTestKey();
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const privateKey = parameters + key.privateKey.export({ type: 'sec1', format: 'pem' }).toString();
  t.ok(await load({ certificate: createRoot({ key }).pem, privateKey }));
});

t.test('the chain comes from any of the files', async (t) => {
  const privateKey = keyPem(issuing);
  for (const [name, content] of Object.entries({
    'all in one': { certificate: pemOf(issuing, middle, root), privateKey },
    'any order after the first': { certificate: pemOf(issuing, root, middle), privateKey },
    'chain file': { certificate: issuing.pem, privateKey, chain: pemOf(middle, root) },
    'chain and roots files': { certificate: issuing.pem, privateKey, chain: middle.pem, roots: root.pem },
    'root repeated': { certificate: pemOf(issuing, middle, root), privateKey, chain: pemOf(middle), roots: root.pem },
  })) {
    const issuer = await load(content);
    t.same(
      issuer.chain.map((each) => each.fingerprint),
      [issuing, middle].map((each) => each.certificate.fingerprint),
      name,
    );
    t.same(
      issuer.roots.map((each) => each.fingerprint),
      [root.certificate.fingerprint],
      name,
    );
    t.equal(issuer.notAfter, testTime + 2 * hourMs, 'the earliest of the path');
    t.equal(issuer.name.keyId, issuing.certificate.subjectKeyId);
  }
});

t.test('several roots are all published', async (t) => {
  const other = createRoot();
  const issuer = await load({ certificate: pemOf(issuing, middle), privateKey: keyPem(issuing), roots: pemOf(other, root) });
  t.equal(issuer.roots.length, 2);
  t.equal(issuer.chain.length, 2);
});

t.test('a faulty issuer is refused, and the check is named', async (t) => {
  const weak = createRoot({ key: createTestKey('rsa-1024') });
  const strange = createRoot({ key: createTestKey('ed25519') });
  const own = (ca: TestCertificate): Content => ({ certificate: ca.pem, privateKey: keyPem(ca) });
  const under = (ca: TestCertificate, above: TestCertificate): Content => ({ certificate: pemOf(ca, above), privateKey: keyPem(ca) });
  const expired = createRoot({ notAfter: testTime - dayMs });
  const narrow = createRoot({ pathLength: 0 });
  const mute = createRoot({ keyUsage: ['cRLSign'] });
  for (const [name, [reason, content]] of Object.entries({
    'no certificate': ['issuer-unreadable', { certificate: 'nothing', privateKey: keyPem(root) }],
    'a damaged certificate': ['issuer-unreadable', { certificate: root.pem.subarray(0, 200), privateKey: keyPem(root) }],
    'a key among the certificates': [
      'issuer-unreadable',
      { certificate: Buffer.concat([root.pem, keyPem(root)]), privateKey: keyPem(root) },
    ],
    'no key': ['issuer-unreadable', { certificate: root.pem, privateKey: 'nothing' }],
    'an encrypted key': [
      'issuer-unreadable',
      {
        certificate: root.pem,
        privateKey: createTestKey().privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' }),
      },
    ],
    'a certificate file that is too large': ['issuer-unreadable', { certificate: Buffer.alloc(1024 * 1024 + 1), privateKey: keyPem(root) }],
    'rsa of 1024 bits': ['issuer-weak', own(weak)],
    'ed25519': ['issuer-weak', own(strange)],
    'a key that openssl does not know': [
      'issuer-weak',
      { certificate: createIntermediate(root, { key: { publicKeySpki: unknownSpki } }).pem, privateKey: keyPem(root) },
    ],
    'the key of another': ['issuer-key-mismatch', { certificate: root.pem, privateKey: keyPem(middle) }],
    'a leaf': ['issuer-not-ca', under(createLeaf(root, 'spiffe://example.org/ns/a/sa/b'), root)],
    'no keyCertSign': ['issuer-not-ca', own(mute)],
    'expired': ['issuer-expired', own(expired)],
    'not valid yet': ['issuer-expired', own(createRoot({ notBefore: testTime + 1000 }))],
    'under an expired root': ['issuer-expired', under(createIntermediate(expired), expired)],
    'under a weak root': ['issuer-weak', under(createIntermediate(weak), weak)],
    'no root': ['issuer-chain-invalid', own(middle)],
    'another root': ['issuer-chain-invalid', { ...own(middle), roots: createRoot().pem }],
    'a link missing': ['issuer-chain-invalid', under(issuing, root)],
    'a path length that leaves no room': ['issuer-chain-invalid', under(createIntermediate(narrow), narrow)],
    'a damaged signature': ['issuer-chain-invalid', under(createIntermediate(root, { damaged: true }), root)],
    'no subject key identifier': ['issuer-chain-invalid', own(createRoot({ subjectKeyId: null }))],
  } as Record<string, readonly [string, Content]>)) {
    await t.rejects(load(content), { name: 'SignetError', kind: 'invalid', reason }, name);
  }
});

t.test('a key of another type is a mismatch, and the next key is read', async (t) => {
  const other = createRoot({ key: createTestKey('rsa-2048') });
  await t.rejects(load({ certificate: root.pem, privateKey: keyPem(other) }), { name: 'SignetError', reason: 'issuer-key-mismatch' });
  t.same((await load({ certificate: other.pem, privateKey: keyPem(other) })).certificate.fingerprint, other.certificate.fingerprint);
});

t.test('a file that is missing or closed is told by its path', async (t) => {
  const certificate = join(directory, 'missing.pem');
  await t.rejects(loadIssuer({ certificate, privateKey: certificate }, testTime), {
    name: 'SignetError',
    reason: 'issuer-unreadable',
    fields: { path: certificate },
  });
  const closed = join(directory, 'closed.pem');
  writeFileSync(closed, 'x');
  chmodSync(closed, 0);
  await t.rejects(loadIssuer({ certificate: closed, privateKey: closed }, testTime), SignetError);
});

t.test('no key in errors, and none in the issuer that is shown', async (t) => {
  const secret = keyPem(root).toString().split('\n')[1];
  const mismatch = load({ certificate: middle.pem, privateKey: keyPem(root) });
  const error = await mismatch.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  t.notMatch(inspect(error, { depth: 9 }) + JSON.stringify(error), secret);
  const issuer = await load({ certificate: root.pem, privateKey: keyPem(root) });
  t.notMatch(inspect(issuer, { depth: 9, showHidden: true }) + JSON.stringify(issuer), secret);
});
