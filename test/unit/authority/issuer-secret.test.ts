import { inspect } from 'node:util';
import t from 'tap';
import type { IssuerSecret } from '../../../agent/authority/issuer-secret.js';
import { operationsTo, readIssuerSecret } from '../../../agent/authority/issuer-secret.js';
import type { RotationState, StepName } from '../../../agent/authority/rotation.js';
import { publishedRoots, takeStep } from '../../../agent/authority/rotation.js';
import { reasonOf } from '../../../agent/runtime/errors.js';
import { createIntermediate, createRoot, createTestKey, dayMs, hourMs, keyPem, pemOf, testTime } from '../../fixtures/pki.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { tlsData } from '../../fixtures/issuer-scene.js';

const root = createRoot();
const other = createRoot();
const middle = createIntermediate(root);

type Data = Readonly<Record<string, Buffer | string>>;
const encode = (data: Data): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
const read = (data: Data): IssuerSecret => readIssuerSecret({ metadata: { resourceVersion: '7' }, data: encode(data) }, testTime);
const prints = (list: readonly { fingerprint: string }[]): string[] => list.map(({ fingerprint }) => fingerprint);
const printsOf = (...list: readonly TestCertificate[]): string[] => prints(list.map(({ certificate }) => certificate));

t.test('the Secrets that hold an issuer', (t) => {
  const cases: Readonly<Record<string, readonly [Data, issuer: TestCertificate, chain: TestCertificate[], roots: TestCertificate[]]>> = {
    'kubernetes.io/tls, self-signed': [tlsData(root), root, [], [root]],
    'kubernetes.io/tls below a root, as cert-manager writes it': [tlsData(middle, root), middle, [middle], [root]],
    'cacerts of Istio, its chain with the root': [
      {
        'ca-cert.pem': middle.pem,
        'ca-key.pem': keyPem(middle),
        'cert-chain.pem': pemOf(middle, root),
        'root-cert.pem': pemOf(root, other),
      },
      middle,
      [middle],
      [root, other],
    ],
    'istio-ca-secret, with names that are empty': [
      { 'ca-cert.pem': root.pem, 'ca-key.pem': keyPem(root), 'cert-chain.pem': '', 'root-cert.pem': '', 'key.pem': '' },
      root,
      [],
      [root],
    ],
  };
  for (const [what, [data, issuer, chain, roots]] of Object.entries(cases)) {
    const found = read(data);
    t.equal(found.issuer.certificate.fingerprint, issuer.certificate.fingerprint, what);
    t.same(prints(found.issuer.chain), printsOf(...chain), 'chain');
    t.same(prints(publishedRoots(found.state)), printsOf(...roots), 'roots');
    t.equal(found.version, '7');
  }
  t.end();
});

t.test('an RSA key in PKCS#1, as istiod writes it', async (t) => {
  const key = createTestKey('rsa-2048');
  const issuer = createRoot({ key });
  const pem = key.privateKey.export({ type: 'pkcs1', format: 'pem' });
  const found = read({ 'ca-cert.pem': issuer.pem, 'ca-key.pem': pem });
  t.ok((await found.issuer.sign(Buffer.from('text'))).length > 0);
});

t.test('what is no issuer', (t) => {
  const state = (value: unknown): Data => ({ ...tlsData(root), 'signet.json': typeof value === 'string' ? value : JSON.stringify(value) });
  const sound = { noted: root.pem.toString(), former: [], longestLifetimeSeconds: 1 };
  const cases: Readonly<Record<string, readonly [Data, string]>> = {
    'nothing': [{}, 'issuer-unreadable'],
    'no key': [{ 'tls.crt': root.pem }, 'issuer-unreadable'],
    'the key of another': [{ ...tlsData(root), 'tls.key': keyPem(other) }, 'issuer-key-mismatch'],
    'no certificate': [{ ...tlsData(root), 'tls.crt': 'text' }, 'issuer-unreadable'],
    'damaged roots': [{ ...tlsData(root), 'ca.crt': root.pem.subarray(0, 99) }, 'issuer-unreadable'],
    'another root': [tlsData(middle, other), 'issuer-chain-invalid'],
    'expired': [tlsData(createRoot({ notAfter: testTime - 1 })), 'issuer-expired'],
    'a state that is no JSON': [state('{'), 'issuer-unreadable'],
    'a state of another shape': [state({ ...sound, former: [{}] }), 'issuer-unreadable'],
    'a next issuer without its key': [state({ ...sound, next: { certificate: other.pem.toString() } }), 'issuer-unreadable'],
    'two certificates for one': [
      state({ ...sound, former: [{ certificate: pemOf(root, other).toString(), until: '2026-01-01T00:00:00Z' }] }),
      'issuer-unreadable',
    ],
    'an instant that is none': [state({ ...sound, former: [{ certificate: other.pem.toString(), until: 'soon' }] }), 'issuer-unreadable'],
  };
  for (const [what, [data, code]] of Object.entries(cases)) {
    t.throws(() => read(data), { name: 'SignetError', kind: 'invalid' }, what);
    try {
      read(data);
    } catch (error) {
      t.equal(reasonOf(error), code, what);
    }
  }
  t.throws(() => readIssuerSecret({}, testTime), { name: 'SignetError', kind: 'invalid' });
  t.end();
});

/** What the API server makes of the patch. */
function patched(data: Data, secret: IssuerSecret, after: RotationState, nextKey?: Buffer): Data {
  const result: Record<string, Buffer | string> = { ...data };
  const name = (path: string): string => path.replace('/data/', '');
  for (const operation of operationsTo(secret, after, nextKey)) {
    if (operation.op === 'remove') delete result[name(operation.path)];
    else if (operation.op === 'move') {
      result[name(operation.path)] = result[name(operation.from)] ?? 'missing';
      delete result[name(operation.from)];
    } else result[name(operation.path)] = Buffer.from(String(operation.value), 'base64');
  }
  return result;
}

t.test('a rotation through the Secret, in each form', async (t) => {
  const facts = { confirmed: undefined, leafLifetimeMs: hourMs, lagMs: 1_000 };
  const forms: Readonly<Record<string, Data>> = {
    'kubernetes.io/tls': tlsData(root),
    'istio-ca-secret': { 'ca-cert.pem': root.pem, 'ca-key.pem': keyPem(root) },
    'cacerts': { 'ca-cert.pem': root.pem, 'ca-key.pem': keyPem(root), 'cert-chain.pem': root.pem, 'root-cert.pem': root.pem },
  };
  for (const [what, start] of Object.entries(forms)) {
    let data = start;
    let expected: RotationState | undefined;
    const take = (step: StepName, now: number): IssuerSecret => {
      const secret = read(data);
      const after = takeStep(secret.state, step, now, facts, other.certificate);
      data = patched(data, secret, after, step === 'prepare' ? keyPem(other) : undefined);
      expected = after;
      const found = read(data);
      t.same({ ...found.state, issuer: undefined }, { ...expected, issuer: undefined }, `${what}: ${step} is read as it was written`);
      return found;
    };
    take('note', testTime);
    take('prepare', testTime);
    t.same(data['signet-next.key'], keyPem(other));
    take('confirm', testTime + 1);
    const switched = take('switch', testTime + 2);
    t.equal(switched.issuer.certificate.fingerprint, other.certificate.fingerprint, 'the next issuer with its key');
    t.same(prints(publishedRoots(switched.state)), printsOf(other, root));
    t.notOk(data['signet-next.key']);
    t.notOk(data['cert-chain.pem'], 'no chain of the issuer before');
    t.same(
      Object.keys(data)
        .filter((name) => !name.startsWith('signet'))
        .sort(),
      Object.keys(start)
        .filter((name) => name !== 'cert-chain.pem')
        .sort(),
      'the names that were there',
    );
    take('note', testTime + 3);
    const done = take('retire', testTime + 4 + hourMs + dayMs);
    t.same(prints(publishedRoots(done.state)), printsOf(other));
  }
});

t.test('a rotation that the issuer has outgrown leaves no key', (t) => {
  const data = patched(
    tlsData(root),
    read(tlsData(root)),
    { ...read(tlsData(root)).state, next: { certificate: other.certificate } },
    keyPem(other),
  );
  const replaced = { ...data, ...tlsData(middle, root) };
  const secret = read(replaced);
  const { next: _, ...state } = secret.state;
  t.notOk(patched(replaced, secret, state)['signet-next.key']);
  t.end();
});

t.test('no key can be seen', (t) => {
  const secret = read(tlsData(root));
  const seen = inspect(secret, { depth: 20, showHidden: true }) + JSON.stringify(secret);
  const scalar = createScalar(root);
  t.notOk(seen.includes('PRIVATE KEY-----'));
  t.notOk(seen.replaceAll(/\s/g, '').includes(scalar));
  t.end();
});

function createScalar(certificate: TestCertificate): string {
  return keyPem(certificate).toString().split('\n').slice(1, 3).join('');
}
