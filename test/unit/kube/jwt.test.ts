import t from 'tap';
import { readJwtClaims, readJwtPart } from '../../../agent/kube/jwt.js';

const encode = (text: string): string => Buffer.from(text).toString('base64url');

t.test('the content of a part', (t) => {
  t.strictSame(readJwtPart(encode('{"aud":["a"],"exp":1}')), { aud: ['a'], exp: 1 });
  for (const text of ['', 'null', '1', '"a"', '{', '{"a":1} x']) t.equal(readJwtPart(encode(text)), undefined, text);
  t.equal(readJwtPart(''), undefined);
  t.end();
});

t.test('the claims of three parts, whatever the others hold', (t) => {
  const payload = encode('{"sub":"x"}');
  t.strictSame(readJwtClaims(`a.${payload}.b`), { sub: 'x' });
  for (const token of [
    '',
    payload,
    `a.${payload}`,
    `a.${payload}.`,
    `.${payload}.b`,
    `a.${payload}.b.c`,
    `a.${payload}.b `,
    `a.${payload}=.b`,
  ])
    t.equal(readJwtClaims(token), undefined, token);
  t.end();
});
