// Records the V8 code cache of dist/signet.cjs for the Node that runs this file: once for a bare start, once for the flags
// of launch.env. Called by the build; an image calls it again with its own Node: `node packaging/code-cache.mjs`.
// The cache is taken from a `signet dev` that listens, so that it holds the functions a start really needs.
// Start time only: a cache that cannot be recorded is reported, and the program runs without it.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const launcher = join(root, 'dist/signet.cjs');

/** The variables of packaging/launch.env. */
export function launchEnv() {
  const lines = readFileSync(join(root, 'packaging/launch.env'), 'utf8').split('\n');
  return Object.fromEntries(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Records and verifies both caches; returns what could not be done, empty when all is well. */
export function recordCodeCaches() {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const starts = { 'a bare start': {}, 'launch.env': launchEnv() };
  return Object.entries(starts).flatMap(([what, extra]) => {
    for (const step of ['record', 'verify']) {
      const child = spawnSync(process.execPath, [self, step], { env: { ...env, ...extra }, encoding: 'utf8', timeout: 30_000 });
      if (child.status !== 0) return [`code cache for ${what}: cannot ${step}: ${child.error?.message ?? child.stderr.trim()}`];
    }
    return [];
  });
}

function load(...argv) {
  process.argv.splice(1, Infinity, launcher, ...argv);
  return createRequire(self)(launcher);
}

function record() {
  const runtime = mkdtempSync(join(tmpdir(), 'signet-code-cache-'));
  process.on('exit', () => rmSync(runtime, { recursive: true, force: true }));
  process.env.XDG_RUNTIME_DIR = runtime;
  const { script, cacheFile } = load('dev', '--pods', join(root, 'docs/examples/pods.yaml'));
  const socket = join(runtime, `signet-${process.getuid()}`, 'sds/sds.sock');
  const poll = setInterval(() => {
    if (!existsSync(socket)) return;
    clearInterval(poll);
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, script.createCachedData());
    process.kill(process.pid, 'SIGTERM');
  }, 20);
}

function verify() {
  const { script } = load('version');
  if (script.cachedDataRejected !== false) throw new Error('V8 refuses the cache it has just written');
}

if (process.argv[1] === self) {
  if (process.argv[2] === 'record') record();
  else if (process.argv[2] === 'verify') verify();
  else {
    const faults = recordCodeCaches();
    for (const fault of faults) console.error(fault);
    if (faults.length > 0) process.exitCode = 1;
  }
}
