// Durations and tables as people read them, for the output of commands.

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** The two largest units of a duration: "1d 4h", "12m 3s", "0s". Negative durations read "3m 0s ago". */
export function formatDuration(durationMs: number): string {
  const left = Math.abs(Math.round(durationMs / 1000)) * 1000;
  const first = units.findIndex(([, size]) => left >= size);
  const [unit, size] = units[first] ?? ['s', 1000];
  const next = units[first + 1];
  const rest = next === undefined ? '' : ` ${Math.floor((left % size) / next[1])}${next[0]}`;
  return `${Math.floor(left / size)}${unit}${first < 0 ? '' : rest}${durationMs <= -1000 ? ' ago' : ''}`;
}

/** Left-aligned columns, two spaces apart; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
