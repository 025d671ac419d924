#!/usr/bin/env node
// The `signet` executable: runs the bundle beside it, signet-main.cjs, with the V8 code cache that packaging/code-cache.mjs
// recorded. A cache is found by its name only, which covers the bytes of the bundle, the Node version and the flags;
// where there is none, or V8 refuses it, the bundle is compiled as usual: the same program, started later.
'use strict';

const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = join(__dirname, 'signet-main.cjs');
const flags = JSON.stringify([process.version, process.arch, process.execArgv, process.env.NODE_OPTIONS ?? '']);
// esbuild writes plain ASCII, and a Latin-1 string takes half the memory of a UTF-8 one that V8 had to widen.
const source = readFileSync(filename, 'latin1');
const hash = createHash('sha256').update(source, 'latin1').update(flags).digest('hex');
const cacheFile = join(__dirname, 'code-cache', hash.slice(0, 32));

function readCache() {
  try {
    return readFileSync(cacheFile);
  } catch {
    return undefined;
  }
}

const script = new Script(source, { filename, cachedData: readCache() });
module.exports = { script, cacheFile };
const main = { exports: {} };
script.runInThisContext()(main.exports, require, main, filename, __dirname);
