// `npm run test:cluster`: builds what is missing, starts one control plane, and has tap run the suites against it, one
// after the other. Arguments are tap's; without a file among them, all suites run. See suites.md.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sharedClusterVariable, startControlPlane } from '../fixtures/cluster.js';
import { istiodBinary, kubernetesBinaries } from '../fixtures/cluster-binaries.js';
import { openScene } from '../fixtures/scene.js';

const given = process.argv.slice(2);
const suites = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.js'));
const files = given.some((argument) => argument.endsWith('.js')) ? [] : suites.map((name) => join(import.meta.dirname, name));

function runTap(environment: Readonly<Record<string, string>>): Promise<number> {
  const args = ['--disable-coverage', '--jobs=1', '--timeout=900', ...given, ...files];
  const child = spawn('tap', args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

await kubernetesBinaries();
await istiodBinary();
const scene = await openScene();
let failed = true;
try {
  const { startedInMs } = await startControlPlane(scene);
  process.stderr.write(`control plane ready after ${startedInMs} ms\n`);
  failed = (await runTap({ [sharedClusterVariable]: scene.directory })) !== 0;
} finally {
  await scene.close({ showLogs: failed });
}
process.exitCode = failed ? 1 : 0;
