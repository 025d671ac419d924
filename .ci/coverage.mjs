// Says which files keep the coverage under the floors of package.json, from the report of the last `tap` run: tap itself
// ends with 1 and not a word. Prints nothing and ends with 0 when the floors are met.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const kinds = ['statements', 'branches', 'functions', 'lines'];
const { tap: floors } = JSON.parse(readFileSync('package.json', 'utf8'));
try {
  execFileSync('node_modules/.bin/tap', ['report', 'json-summary'], { stdio: 'pipe' });
} catch {
  // tap ends with 1 when a floor is not met, which is what the report is read for.
}
const { total, ...files } = JSON.parse(readFileSync('.tap/report/coverage-summary.json', 'utf8'));
for (const kind of kinds.filter((name) => total[name].pct < floors[name])) {
  console.log(`coverage: ${total[kind].pct} % of ${kind}, the floor is ${floors[kind]} %; the files below it, by what they miss:`);
  Object.entries(files)
    .map(([file, of]) => ({ file: relative('.', file), pct: of[kind].pct, missing: of[kind].total - of[kind].covered }))
    .filter(({ pct }) => pct < floors[kind])
    .sort((a, b) => b.missing - a.missing)
    .forEach(({ file, pct, missing }) => console.log(`  ${file}: ${pct} %, ${missing} missing`));
  process.exitCode = 1;
}
