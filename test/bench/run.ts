// `npm run bench`: measures the budgets on this machine and prints them beside their bounds and references.
// SIGNET_BENCH_NODES: node binaries, separated by commas (default: the running one). SIGNET_BENCH_ONLY: names of scenarios.
// With `cluster` those that need a control plane run instead of the others (`npm run bench -- cluster`).
// With --write the table goes into docs/performance.md, between its marks. Exits 1 when a bound is missed.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { controlPlaneScenarios } from './control-plane.js';
import type { Row } from './measure.js';
import { scenarios } from './scenarios.js';

const nodes = (process.env['SIGNET_BENCH_NODES'] ?? process.execPath).split(',');
const only = process.env['SIGNET_BENCH_ONLY']?.split(',');
const [chosen, mark] = process.argv.includes('cluster') ? [controlPlaneScenarios, 'cluster'] : [scenarios, 'results'];

function formatRow(row: Row): string {
  const verdict = row.bound === undefined ? '' : row.value <= row.bound ? 'met' : '**missed**';
  const digits = row.unit === 'ms' ? 1 : row.unit === 'MiB' ? 1 : 2;
  return `| ${row.what} | ${row.value.toFixed(digits)} ${row.unit} | ${row.bound === undefined ? '–' : `≤ ${row.bound}`} | ${verdict} | ${row.beside} |`;
}

let missed = 0;
const lines: string[] = [];
for (const node of nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  // A machine that others use at the same time makes every time longer, and unevenly.
  const load = `load average before: ${(loadavg()[0] ?? 0).toFixed(1)} on ${cpus().length} cores`;
  lines.push('', `Node ${version}, ${load}`, '', '| what | measured | budget | | beside |', '|---|---|---|---|---|');
  for (const scenario of chosen.filter(({ name }) => only === undefined || only.includes(name))) {
    for (const row of await scenario.run(node)) {
      if (row.bound !== undefined && !(row.value <= row.bound)) missed += 1;
      lines.push(formatRow(row));
      console.log(`${version} ${formatRow(row)}`);
    }
  }
}
if (process.argv.includes('--write')) {
  const path = 'docs/performance.md';
  const [begin, end] = [`<!-- ${mark} -->\n`, `<!-- end of ${mark} -->\n`];
  const [head = '', rest = ''] = readFileSync(path, 'utf8').split(begin);
  const [, tail = ''] = rest.split(end);
  writeFileSync(path, `${head}${begin}${lines.join('\n').trim()}\n${end}${tail}`);
}
process.exitCode = missed > 0 ? 1 : 0;
