import t from 'tap';
import { createBuiltIn } from '../../../agent/ca/built-in.js';
import type { CaAnswer, CaClient } from '../../../agent/ca/ca-client.js';
import { acceptAnswer, acceptChain } from '../../../agent/ca/ca-client.js';
import { Token } from '../../../agent/ca/token.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createCsr, generateKey } from '../../../agent/x509/csr.js';
import type { KeyType } from '../../../agent/x509/csr.js';
import type { Issuer } from '../../../agent/x509/issuer.js';
import { createIssuer } from '../../../agent/x509/issuer.js';
import type { Svid } from '../../../agent/x509/svid.js';
import type { FakeClock } from '../../fixtures/clock.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { opensslVerify } from '../../fixtures/openssl.js';
import { createTestToken } from '../../fixtures/tokens.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createRoot, createTestKey, dayMs, hourMs, pemOf, testTime } from '../../fixtures/pki.js';

const id = createSpiffeId('example.org', 'shop', 'cart');
const signal = new AbortController().signal;
const ignore = (): void => {};

function issuerOf(...path: readonly TestCertificate[]): Issuer {
  const key = path[0]?.key;
  if (key === undefined || !('privateKey' in key)) throw new Error('no key');
  return createIssuer({ certificates: path.map((each) => each.certificate), roots: undefined, key: key.privateKey, now: testTime });
}

interface Scene {
  readonly clock: FakeClock;
  readonly issuer: WatchedValue<Issuer>;
  readonly ca: CaClient;
  issue(lifetimeMs: number, keyType?: KeyType): Promise<Svid>;
}

function createScene(first: Issuer): Scene {
  const clock = createFakeClock({ startAt: testTime });
  const issuer = new WatchedValue(first);
  const ca = createBuiltIn({ issuer, roots: new WatchedValue(first.roots), clock });
  return {
    clock,
    issuer,
    ca,
    async issue(lifetimeMs, keyType = 'ec-p256') {
      const key = await generateKey(keyType);
      const request = { id, csr: await createCsr(key, id, ca.subject), key, lifetimeMs };
      const { roots } = issuer.value;
      return await ca.request(request, ({ elements }) => acceptAnswer(elements, { id, key, roots, now: clock.now() }), signal);
    },
  };
}

t.test('its answers pass every check, and openssl', async (t) => {
  const root = createRoot();
  const middle = createIntermediate(root, { key: createTestKey('rsa-2048') });
  const issuing = createIntermediate(middle, { key: createTestKey('ec-p384') });
  for (const path of [[root], [middle, root], [issuing, middle, root]]) {
    const { issue, ca } = createScene(issuerOf(...path));
    for (const keyType of ['ec-p256', 'ec-p384', 'rsa-2048'] as const) {
      const svid = await issue(dayMs, keyType);
      t.equal(svid.chain.length, path.length, 'the leaf, and all above it but the root');
      t.same(opensslVerify(svid.chainPem(), root.pem, testTime), { ok: true, output: '' });
      t.same(svid.chain[0]?.subject.length, 2, 'empty subject');
    }
    t.same(
      ca.roots.value.map((each) => each.fingerprint),
      [root.certificate.fingerprint],
    );
  }
});

t.test('lifetime and back-dating', async (t) => {
  const { issue } = createScene(issuerOf(createRoot()));
  for (const [lifetimeMs, backdateMs] of [
    [10_000, 1_000],
    [10 * 60_000, 60_000],
    [dayMs, 120_000],
    [90 * dayMs, 120_000],
  ] as const) {
    const svid = await issue(lifetimeMs);
    t.equal(svid.notAfter, testTime + lifetimeMs);
    t.equal(svid.notBefore, testTime - backdateMs);
  }
});

t.test('a leaf never outlives any issuer of its chain', async (t) => {
  const root = createRoot({ notAfter: testTime + 2 * hourMs });
  const middle = createIntermediate(root, { notAfter: testTime + dayMs });
  const { issue, clock } = createScene(issuerOf(middle, root));
  t.equal((await issue(dayMs)).notAfter, testTime + 2 * hourMs);
  await clock.advance(2 * hourMs);
  await t.rejects(issue(dayMs), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'issuer-expired',
    fields: { notAfter: '2026-01-01T02:00:00.000Z' },
  });
  clock.step(-4 * hourMs);
  await t.rejects(issue(dayMs), { name: 'SignetError', reason: 'issuer-expired' }, 'and none before its time');
});

t.test('the issuer that is current signs', async (t) => {
  const scene = createScene(issuerOf(createRoot()));
  const first = await scene.issue(dayMs);
  const next = issuerOf(createRoot());
  scene.issuer.set(next);
  const second = await scene.issue(dayMs);
  t.ok(second.chain[0]?.isSignedBy(next.certificate));
  t.notOk(first.chain[0]?.isSignedBy(next.certificate));
});

t.test('only the name that is asked for, by a sound request', async (t) => {
  const { ca } = createScene(issuerOf(createRoot()));
  const key = await generateKey('ec-p256');
  const csr = await createCsr(key, createSpiffeId('example.org', 'a', 'b'), 'none');
  await t.rejects(ca.request({ id, csr, key, lifetimeMs: dayMs }, ignore, signal), {
    name: 'SignetError',
    kind: 'invalid',
    reason: 'ca-refused-request',
  });
  await t.rejects(ca.request({ id, csr: Buffer.from('x'), key, lifetimeMs: dayMs }, ignore, signal), {
    name: 'SignetError',
    reason: 'ca-refused-request',
  });
  await t.rejects(ca.request({ id, csr, key, lifetimeMs: dayMs }, ignore, AbortSignal.abort()), { name: 'SignetError', kind: 'cancelled' });
});

t.test('a damaged request gains nothing', async (t) => {
  const { ca } = createScene(issuerOf(createRoot()));
  const [root, key] = [pemOf(createRoot()), await generateKey('ec-p256')];
  await t.rejects(ca.request({ id, csr: root, key, lifetimeMs: dayMs }, ignore, signal), {
    name: 'SignetError',
    reason: 'ca-refused-request',
  });
});

t.test('it signs what somebody else asks for, but not as they would be seen', async (t) => {
  const { ca } = createScene(issuerOf(createRoot()));
  const own = await generateKey('ec-p256');
  const key = { publicKeySpki: own.publicKeySpki };
  const request = { id, csr: await createCsr(own, id, 'none'), key, lifetimeMs: hourMs };
  const accept = ({ elements, roots }: CaAnswer) => acceptChain(elements, { id, key, roots, now: testTime });
  t.ok((await ca.request(request, accept, signal))[0].publicKeySpki.equals(own.publicKeySpki));
  const caller = { token: new Token(createTestToken()), impersonates: true, clusterId: undefined };
  await t.rejects(ca.request({ ...request, caller }, accept, signal), { name: 'SignetError', reason: 'forward-unserved' });
});
