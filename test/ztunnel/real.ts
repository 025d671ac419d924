// `ZTUNNEL_BIN=path npm run test:ztunnel:real`: the suites of this directory with a real ztunnel in the place of the client that behaves
// like one. A ztunnel is built from its sources (`cargo build --release` in istio/ztunnel); none is fetched here.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { runSuites } from '../fixtures/cluster-run.js';

const needs = [
  ['ZTUNNEL_BIN: the path of a ztunnel that can be executed', isExecutable(process.env['ZTUNNEL_BIN'])],
  ['ip, of iproute2', runs('ip', '-Version')],
  ['root, or user namespaces for ordinary users: unshare --net', runs('unshare', ...namespaces())],
] as const;

const missing = needs.filter(([, met]) => !met);
for (const [need] of missing) process.stderr.write(`needed: ${need}\n`);
if (missing.length > 0) process.exitCode = 2;
else await runSuites(import.meta.dirname);

function namespaces(): readonly string[] {
  return [...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--net', '--pid', '--fork', '--mount-proc', 'true'];
}

function runs(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function isExecutable(path: string | undefined): boolean {
  try {
    accessSync(path ?? '', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
