import t from 'tap';
import { formatDuration, formatTable } from '../../../agent/commands/format.js';

t.test('durations show their two largest units', async (t) => {
  const table: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [499, '0s'],
    [999, '1s'],
    [59_000, '59s'],
    [60_000, '1m 0s'],
    [3_599_999, '1h 0m'],
    [86_400_000 + 4 * 3_600_000, '1d 4h'],
    [-180_000, '3m 0s ago'],
    [400 * 86_400_000, '400d 0h'],
  ];
  for (const [durationMs, text] of table) t.equal(formatDuration(durationMs), text);
});

t.test('tables align all columns but the last', async (t) => {
  t.equal(
    formatTable([
      ['a', 'bb', 'c'],
      ['aaa', 'b', 'cccc'],
    ]),
    'a    bb  c\naaa  b   cccc\n',
  );
});
