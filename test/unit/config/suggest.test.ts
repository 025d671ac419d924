// The closest known word.

import fc from 'fast-check';
import t from 'tap';
import { closest } from '../../../agent/config/suggest.js';

const known = ['trustDomain', 'node', 'certificate', 'peers', 'log'];

t.test('a small slip finds the word, a foreign word finds none', async (t) => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['trustdomain', 'trustDomain'],
    ['trust-domain', 'trustDomain'],
    ['certificates', 'certificate'],
    ['certifcate', 'certificate'],
    ['peer', 'peers'],
    ['nodes', 'node'],
    ['lgo', undefined],
    ['logs', 'log'],
    ['proxy', undefined],
    ['', undefined],
    ['x'.repeat(65), undefined],
  ];
  for (const [word, expected] of table) t.equal(closest(word, known), expected, word);
  t.equal(closest('node', []), undefined);
});

t.test('one edit away from a word of three letters or more is always found', async () => {
  const word = fc.string({ minLength: 3, maxLength: 30, unit: fc.constantFrom(...'abcdefgh') });
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('', 'z'), (text, at, replacement) => {
      const index = at % text.length;
      return closest(text.slice(0, index) + replacement + text.slice(index + 1), [text]) === text;
    }),
  );
});
