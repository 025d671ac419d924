import { inspect } from 'node:util';
import t from 'tap';
import { Token } from '../../../agent/ca/token.js';
import { testTime } from '../../fixtures/pki.js';
import { createTestToken } from '../../fixtures/tokens.js';

const second = 1_000;

t.test('what a token says of itself', async (t) => {
  const of = (spec: Parameters<typeof createTestToken>[0]) => new Token(createTestToken(spec)).claims;
  t.same(of({ audiences: 'one', expiresAt: testTime, account: 'shop/cart' }), {
    audiences: ['one'],
    expiresAt: testTime,
    account: 'shop/cart',
  });
  t.same(of({ audiences: ['one', 'two'], expiresAt: null }).audiences, ['one', 'two']);
  t.equal(of({ expiresAt: null }).expiresAt, Infinity);
});

t.test('it is given for its audience, until it expires', async (t) => {
  const text = createTestToken({ audiences: ['istio-ca', 'other'], expiresAt: testTime });
  const token = new Token(`\n ${text}\r\n`);
  t.equal(token.authorization('istio-ca', testTime - 1), `Bearer ${text}`, 'white space around it does not count');
  t.equal(token.authorization('other', testTime - 1), `Bearer ${text}`);
  t.throws(() => token.authorization('istio-ca', testTime), {
    name: 'SignetError',
    kind: 'unauthenticated',
    reason: 'ca-token-expired',
    fields: { expiredAt: '2026-01-01T00:00:00.000Z' },
  });
  t.throws(() => token.authorization('istio', testTime - second), {
    name: 'SignetError',
    kind: 'unauthenticated',
    reason: 'ca-token-audience',
    fields: { audience: 'istio', tokenAudiences: ['istio-ca', 'other'] },
  });
});

t.test('what is no token is refused and not quoted', async (t) => {
  const [head = '', , tail = ''] = createTestToken().split('.');
  const payload = (text: string): string => `${head}.${Buffer.from(text).toString('base64url')}.${tail}`;
  const texts = [
    '',
    'secret',
    'secret.secret',
    'a.b.c.d',
    payload('secret'),
    payload('"secret"'),
    payload('null'),
    `${createTestToken()} secret`,
  ];
  for (const text of texts) {
    const error = t.throws(() => new Token(text), { name: 'SignetError', kind: 'invalid', reason: 'ca-token-invalid' });
    t.notMatch(inspect(error, { depth: 9, showHidden: true }), /secret/);
  }
});

t.test('its text cannot be printed', async (t) => {
  const text = createTestToken();
  const token = new Token(text);
  for (const printed of [inspect(token, { depth: 9, showHidden: true }), JSON.stringify(token), String(token)]) t.notMatch(printed, text);
});
