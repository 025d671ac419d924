// Generates proto/gen from the protos of this folder: `node proto/generate.mjs`; with `--check` it writes nothing and fails
// when the committed code differs. One module a service, each under its own root name: modules that share one overwrite
// each other's types.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = {
  'sds': 'envoy/service/secret/v3/sds.proto',
  'istio-ca': 'istio/v1/auth/ca.proto',
  'pods-api': 'kubelet/pods/v1alpha1/api.proto',
};

const here = dirname(fileURLToPath(import.meta.url));
const committed = join(here, 'gen');
const pbjs = createRequire(import.meta.url).resolve('protobufjs-cli/bin/pbjs');

function generate(directory) {
  mkdirSync(directory, { recursive: true });
  for (const [name, proto] of Object.entries(modules)) {
    // Left out: what nothing calls (verify, convert, delimited, service stubs). Comments stay out of the code: the protos have them.
    const flags = ['--no-verify', '--no-convert', '--no-delimited', '--no-service', '--force-number'];
    const output = ['-t', 'static-module', '-w', 'esm', '--dts', '-r', `signet-${name}`, '-o', join(directory, `${name}.js`)];
    execFileSync(process.execPath, [pbjs, ...output, ...flags, '-p', here, join(here, proto)], { stdio: 'inherit' });
  }
}

function differences(one, other) {
  const names = new Set([...readdirSync(one), ...readdirSync(other)]);
  const read = (directory, name) => {
    try {
      return readFileSync(join(directory, name), 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }
  };
  return [...names].filter((name) => read(one, name) !== read(other, name)).sort();
}

if (process.argv.includes('--check')) {
  const scratch = mkdtempSync(join(tmpdir(), 'signet-proto-'));
  try {
    generate(scratch);
    const changed = differences(committed, scratch);
    if (changed.length > 0) {
      process.stderr.write(`proto/gen differs from its protos: ${changed.join(', ')}; run node proto/generate.mjs\n`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
} else {
  rmSync(committed, { recursive: true, force: true });
  generate(committed);
}
