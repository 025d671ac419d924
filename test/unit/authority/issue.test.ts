// What is signed: dates within all bounds, the answer in Istio's order, and nothing while the issuer is not valid.

import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createIssue } from '../../../agent/authority/issue.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createIssuer } from '../../../agent/x509/issuer.js';
import { readCertificates } from '../../../agent/x509/pem.js';
import { caIdOf } from '../../fixtures/cluster-pods.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { opensslVerify } from '../../fixtures/openssl.js';
import type { TestCertificate } from '../../fixtures/pki.js';
import { createIntermediate, createRoot, createTestKey, dayMs, hourMs, keyPem, testTime } from '../../fixtures/pki.js';

const uri = caIdOf('shop/web');
const { publicKeySpki } = createTestKey();
const bounds = { lifetimeMs: hourMs, minLifetimeMs: 10_000, maxLifetimeMs: dayMs };
const issuerOf = (certificates: readonly TestCertificate[], roots: readonly TestCertificate[]) => {
  const [first] = certificates;
  if (first === undefined) throw new Error('no certificate');
  return createIssuer({
    certificates: certificates.map(({ certificate }) => certificate),
    roots: roots.map(({ certificate }) => certificate),
    key: createPrivateKey(keyPem(first)),
    now: testTime,
  });
};

t.test('leaf, intermediates one each, all roots in one; OpenSSL takes it', async (t) => {
  const [root, former] = [createRoot(), createRoot()];
  const middle = createIntermediate(root);
  const issuer = new WatchedValue(issuerOf([middle], [root]));
  const roots = new WatchedValue([root.certificate, former.certificate]);
  const issue = createIssue({ issuer, roots, bounds, clock: createFakeClock({ startAt: testTime }) });
  const { elements, facts } = await issue({ uri, publicKeySpki, lifetimeMs: hourMs });
  t.equal(elements.length, 3);
  t.equal(elements[1], String(middle.pem));
  t.equal(elements[2], `${root.pem}${former.pem}`);
  t.ok(opensslVerify(elements.slice(0, 2).join(''), root.pem, testTime).ok);
  t.equal(facts.issuerKeyId, middle.certificate.subjectKeyId);

  const next = createRoot();
  issuer.set(issuerOf([next], [next]));
  roots.set([next.certificate]);
  const after = await issue({ uri, publicKeySpki, lifetimeMs: hourMs });
  t.strictSame(after.elements.slice(1), [String(next.pem)]);
  t.not(after.facts.serial, facts.serial);
});

t.test('dates, for any lifetime and any rest of the issuer', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 10, max: 86_400 }), fc.integer({ min: 2, max: 172_800 }), async (seconds, rest) => {
      const root = createRoot({ notBefore: testTime - dayMs, notAfter: testTime + rest * 1_000 });
      const only = issuerOf([root], [root]);
      const issue = createIssue({
        issuer: new WatchedValue(only),
        roots: new WatchedValue(only.roots),
        bounds,
        clock: createFakeClock({ startAt: testTime }),
      });
      const { elements, facts } = await issue({ uri, publicKeySpki, lifetimeMs: seconds * 1_000 });
      const [leaf] = readCertificates(elements[0] ?? '', { source: 'leaf', maxBytes: 10_000 });
      const life = Math.min(seconds, rest) * 1_000;
      t.equal(leaf?.notAfter, testTime + life, 'never after the issuer');
      t.equal(facts.notAfter, new Date(testTime + life).toISOString());
      t.equal(leaf?.notBefore, Math.floor((testTime - Math.min(120_000, life / 10)) / 1_000) * 1_000);
    }),
    { numRuns: 30 },
  );
});

t.test('lifetimes out of bounds, and none at all', async (t) => {
  const root = createRoot();
  const only = issuerOf([root], [root]);
  const issue = createIssue({
    issuer: new WatchedValue(only),
    roots: new WatchedValue(only.roots),
    bounds,
    clock: createFakeClock({ startAt: testTime }),
  });
  t.equal((await issue({ uri, publicKeySpki, lifetimeMs: 0 })).facts.notAfter, new Date(testTime + hourMs).toISOString());
  for (const lifetimeMs of [-1, 1, 9_999, dayMs + 1, 2 ** 63 * 1_000, -(2 ** 63) * 1_000, Number.NaN, Infinity]) {
    await t.rejects(
      issue({ uri, publicKeySpki, lifetimeMs }),
      { name: 'SignetError', kind: 'invalid', reason: 'lifetime-refused' },
      String(lifetimeMs),
    );
  }
});

t.test('an issuer that is not valid signs nothing', async (t) => {
  const root = createRoot({ notAfter: testTime + hourMs });
  const only = issuerOf([root], [root]);
  const clock = createFakeClock({ startAt: testTime });
  const issue = createIssue({ issuer: new WatchedValue(only), roots: new WatchedValue(only.roots), bounds, clock });
  await clock.advance(hourMs);
  await t.rejects(issue({ uri, publicKeySpki, lifetimeMs: hourMs }), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'issuer-expired',
  });
});
