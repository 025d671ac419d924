import fc from 'fast-check';
import t from 'tap';
import { createSpiffeId, isNamespace, isServiceAccount, isTrustDomain, parseSpiffeId } from '../../../agent/identity/spiffe-id.js';

const accepts = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

t.test('parses the canonical form', async (t) => {
  t.same(parseSpiffeId('spiffe://cluster.local/ns/shop/sa/cart.v2'), {
    trustDomain: 'cluster.local',
    namespace: 'shop',
    serviceAccount: 'cart.v2',
    uri: 'spiffe://cluster.local/ns/shop/sa/cart.v2',
  });
});

t.test('refuses everything else', async (t) => {
  const refused = [
    '',
    'spiffe://',
    'spiffe:///ns/a/sa/b',
    'spiffe://td',
    'spiffe://td/',
    'spiffe://td/ns/a',
    'spiffe://td/ns/a/sa/',
    'spiffe://td/ns//sa/b',
    'spiffe://td/ns/a/sa/b/',
    'spiffe://td/ns/a/sa/b/c',
    'spiffe://td//ns/a/sa/b',
    'spiffe://td/sa/b/ns/a',
    'SPIFFE://td/ns/a/sa/b',
    'spiffe://TD/ns/a/sa/b',
    'spiffe://td/NS/a/sa/b',
    'spiffe://td/ns/A/sa/b',
    'spiffe://td/ns/a/sa/B',
    'spiffe://td:443/ns/a/sa/b',
    'spiffe://user@td/ns/a/sa/b',
    'spiffe://td/ns/a/sa/b?x=1',
    'spiffe://td/ns/a/sa/b#f',
    'spiffe://td/ns/a/sa/b%2e',
    'spiffe://td/ns/../sa/b',
    'spiffe://td/ns/a.b/sa/b',
    'spiffe://td/ns/-a/sa/b',
    'spiffe://td/ns/a/sa/b-',
    'spiffe://td/ns/a/sa/.b',
    'spiffe://td/ns/a/sa/b..c',
    ' spiffe://td/ns/a/sa/b',
    'spiffe://td/ns/a/sa/b ',
    'spiffe://td/ns/a/sa/b\n',
    'https://td/ns/a/sa/b',
    `spiffe://td/ns/a/sa/${'b'.repeat(2_000)}`,
  ];
  for (const text of refused)
    t.throws(
      () => parseSpiffeId(text),
      { name: 'SignetError', kind: 'invalid', reason: 'name-invalid' },
      JSON.stringify(text.slice(0, 60)),
    );
});

t.test('bounds of length', async (t) => {
  t.ok(isTrustDomain('a'.repeat(255)));
  t.notOk(isTrustDomain('a'.repeat(256)));
  t.ok(isNamespace('a'.repeat(63)));
  t.notOk(isNamespace('a'.repeat(64)));
  t.ok(isServiceAccount('a'.repeat(253)), 'Kubernetes limits the whole name, not its labels');
  t.notOk(isServiceAccount('a'.repeat(254)));
  const longest = createSpiffeId('a'.repeat(255), 'b'.repeat(63), 'c'.repeat(253));
  t.same(parseSpiffeId(longest.uri), longest);
});

t.test('every byte value: alone, at the start, in the middle and at the end of each part', async (t) => {
  const inTrustDomain = /[a-z0-9._-]/;
  const alphanumeric = /[a-z0-9]/;
  for (let code = 0; code < 256; code += 1) {
    const char = String.fromCharCode(code);
    const expected = {
      trustDomain: inTrustDomain.test(char),
      inner: alphanumeric.test(char) || char === '-',
      edge: alphanumeric.test(char),
    };
    for (const text of [char, `${char}a`, `a${char}a`, `a${char}`]) {
      const inside = text.length === 3;
      t.equal(isTrustDomain(text), expected.trustDomain, `trust domain with ${code}`);
      t.equal(isNamespace(text), inside ? expected.inner : expected.edge, `namespace with ${code}`);
      t.equal(isServiceAccount(text), inside ? expected.inner || char === '.' : expected.edge, `service account with ${code}`);
      const uri = `spiffe://td/ns/n/sa/${text}`;
      t.equal(
        accepts(() => parseSpiffeId(uri)),
        isServiceAccount(text),
        `id with ${code}`,
      );
    }
  }
});

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const name = (extra: string, max: number) =>
  fc
    .tuple(
      fc.constantFrom(...letters),
      fc.string({ unit: fc.constantFrom(...letters, ...extra), maxLength: max - 2 }),
      fc.constantFrom(...letters),
    )
    .map((parts) => parts.join(''))
    .filter((text) => !/\.[-.]|-\./.test(text));

t.test('parse and format round trip', async (t) => {
  fc.assert(
    fc.property(name('._-', 255), name('-', 63), name('.-', 253), (trustDomain, namespace, serviceAccount) => {
      const id = createSpiffeId(trustDomain, namespace, serviceAccount);
      t.same(parseSpiffeId(id.uri), id);
    }),
    { numRuns: 200 },
  );
});

t.test('any text is refused or is its own canonical form', async (t) => {
  const nearMiss = fc
    .tuple(
      fc.constantFrom('spiffe://', 'spiffe:/', ''),
      fc.string(),
      fc.constantFrom('/ns/', '/NS/', '/'),
      fc.string(),
      fc.constantFrom('/sa/', '//'),
      fc.string(),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(nearMiss, (text) => {
      if (accepts(() => parseSpiffeId(text))) t.equal(parseSpiffeId(text).uri, text);
    }),
    { numRuns: 500 },
  );
});

t.test('each wrong part is named', async (t) => {
  t.throws(() => createSpiffeId('A', 'a', 'a'), { message: 'trust domain is not valid' });
  t.throws(() => createSpiffeId('a', 'A', 'a'), { message: 'namespace is not valid' });
  t.throws(() => createSpiffeId('a', 'a', 'A'), { message: 'service account name is not valid' });
});
