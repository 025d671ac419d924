// Records the V8 code cache of a built signet.cjs for the Node that runs this file: once for a bare start, once for the
// flags of launch.env. Called by the build; an image calls it again with its own Node: `node packaging/code-cache.mjs`.
// The cache is taken from a `signet dev` that listens, so that it holds the functions a start really needs.
// Start time only: a cache that cannot be recorded is reported, and the program runs without it.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));

/** The variables of a launch file of packaging. */
export function launchEnv(file = 'launch.env') {
  const lines = readFileSync(join(root, 'packaging', file), 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, value]) => [name, value]));
}

/** Records and verifies both caches of the launcher in `dist`; returns what could not be done, empty when all is well. */
export function recordCodeCaches(dist) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const starts = { 'a bare start': {}, 'launch.env': launchEnv() };
  return Object.entries(starts).flatMap(([what, extra]) => {
    for (const step of ['record', 'verify']) {
      const options = { env: { ...env, ...extra }, encoding: 'utf8', timeout: 30_000 };
      const child = spawnSync(process.execPath, [self, step, join(dist, 'signet.cjs')], options);
      if (child.status !== 0) return [`code cache for ${what}: cannot ${step}: ${child.error?.message ?? child.stderr.trim()}`];
    }
    return [];
  });
}

/** Runs the launcher in this process, as if it had been started with the arguments. */
function load(launcher, ...args) {
  process.argv.splice(1, Infinity, launcher, ...args);
  return createRequire(self)(launcher);
}

const lookMs = 20;
const maxLooks = 1_500;

function record(launcher) {
  const runtime = mkdtempSync(join(tmpdir(), 'signet-code-cache-'));
  process.on('exit', () => rmSync(runtime, { recursive: true, force: true }));
  process.env.XDG_RUNTIME_DIR = runtime;
  const { script, cacheFile } = load(launcher, 'dev', '--pods', join(root, 'docs/examples/pods.yaml'), '--http-address', '127.0.0.1:0');
  const socket = join(runtime, `signet-${process.getuid()}`, 'sds/sds.sock');
  let looks = 0;
  const poll = setInterval(() => {
    looks += 1;
    // Whoever started this may be gone, and with it the deadline.
    if (looks > maxLooks) throw new Error('signet dev did not listen in time');
    if (!existsSync(socket)) return;
    clearInterval(poll);
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, script.createCachedData());
    process.kill(process.pid, 'SIGTERM');
  }, lookMs);
}

function verify(launcher) {
  const { script } = load(launcher, 'version');
  if (script.cachedDataRejected !== false) throw new Error('V8 refuses the cache it has just written');
}

if (process.argv[1] === self) {
  const [step, launcher] = process.argv.slice(2);
  if (step === 'record') record(launcher);
  else if (step === 'verify') verify(launcher);
  else {
    const faults = recordCodeCaches(resolve(step ?? join(root, 'dist')));
    for (const fault of faults) console.error(fault);
    if (faults.length > 0) process.exitCode = 1;
  }
}
