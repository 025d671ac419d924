import fc from 'fast-check';
import t from 'tap';
import { matchesPattern } from '../../../agent/identity/pattern.js';

t.test('a star stands for any characters but the slash', (t) => {
  const table: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ['shop/web', 'shop/web', true],
    ['shop/web', 'shop/webs', false],
    ['shop/*', 'shop/web', true],
    ['shop/*', 'shop/web/x', false],
    ['*/web', 'shop/web', true],
    ['*', 'shop/web', false],
    ['*/*', 'shop/web', true],
    ['shop/w*b', 'shop/web', true],
    ['shop/we*eb', 'shop/web', false],
    ['shop/.*', 'shop/web', false],
    ['shop/[w]eb', 'shop/web', false],
  ];
  for (const [pattern, text, matches] of table) t.equal(matchesPattern(pattern, text), matches, `${pattern} ${text}`);
  t.end();
});

t.test('as the same pattern written as a regular expression', (t) => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '-', '*', '/'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '/'), maxLength: 8 });
  fc.assert(
    fc.property(
      pattern,
      text,
      (wanted, given) => matchesPattern(wanted, given) === new RegExp(`^${wanted.replaceAll('*', '[^/]*')}$`).test(given),
    ),
    { numRuns: 500 },
  );
  t.end();
});
