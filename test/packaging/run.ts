// `npm run test:packaging`: what is shipped, installed and started as its users do it, one suite after the other. Arguments are tap's;
// without a file among them, all suites of the directory run.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const given = process.argv.slice(2);
const suites = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.js'));
const files = given.some((argument) => argument.endsWith('.js')) ? [] : suites.map((name) => join(import.meta.dirname, name));
const tap = spawn('tap', ['--disable-coverage', '--jobs=1', '--timeout=900', ...given, ...files], { stdio: 'inherit' });
tap.once('close', (code) => {
  process.exitCode = code ?? 1;
});
