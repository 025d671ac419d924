// `npm run test:ztunnel-sds`: format, lints and tests of the SDS client in Rust, the tests against `signet dev` among them, and one round
// of its bench, whose figures are shown and not judged. Where there is no cargo it says so and runs nothing. Builds are kept in the
// user's cache directory.

import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const environment = {
  ...process.env,
  PATH: `${process.env['PATH'] ?? ''}:${join(homedir(), '.cargo/bin')}`,
  CARGO_TARGET_DIR: join(cache, 'signet/cargo'),
  CARGO_BUILD_JOBS: '2',
  SDS_SERVER: join(root, 'dist/signet.cjs'),
};

/** Output and success of one cargo command; undefined without a cargo. */
async function cargo(...args: readonly string[]): Promise<{ readonly text: string; readonly ok: boolean } | undefined> {
  const child = spawn('nice', ['cargo', ...args], {
    cwd: join(root, 'packaging/ztunnel/sds-client'),
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    process.stdout.write(chunk);
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // What nice exits with when the command is not found (POSIX).
  return status === 127 ? undefined : { text, ok: status === 0 };
}

async function main(): Promise<boolean> {
  const format = await cargo('fmt', '--check');
  if (format === undefined) {
    process.stdout.write('not run, for there is no cargo here: tests of the SDS client in Rust\n');
    return true;
  }
  // To cargo the same package in another checkout is this one; if it was built later, that is what would be tested.
  for (const profile of ['dev', 'bench']) await cargo('clean', '--locked', '--package', 'signet-sds-client', '--profile', profile);
  const lints = await cargo('clippy', '--locked', '--all-targets', '--', '-D', 'warnings');
  const tests = await cargo('test', '--locked', '--no-fail-fast');
  let [passed, failed] = [0, 0];
  for (const [, pass, fail] of tests?.text.matchAll(/^test result: .* (\d+) passed; (\d+) failed;/gm) ?? []) {
    passed += Number(pass);
    failed += Number(fail);
  }
  const bench = await cargo('bench', '--locked', '--bench', 'fetch', '--', '--short');
  process.stdout.write(`# pass ${passed}\n# fail ${failed}\n`);
  return [format, lints, tests, bench].every((step) => step?.ok === true);
}

process.exitCode = (await main()) ? 0 : 1;
