// The sealed state on a tmpfs of its own, with owners that are others: a whole agent finds again what it had.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { openSealedState } from '../../agent/cache/sealed-state.js';
import { checkPlace } from '../../agent/cache/state-directory.js';
import { systemClock } from '../../agent/runtime/time.js';
import type { ReceivedSecret } from '../../agent/sds/client.js';
import type { TestAgent } from '../fixtures/agent.js';
import { idOf, podsOf, startTestAgent } from '../fixtures/agent.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { binding, contentOf, svidOf } from '../fixtures/sealed-state.js';

const nobody = 65_534;
const never = new AbortController().signal;
const isSwapOn = readFileSync('/proc/swaps', 'utf8').trim().includes('\n');

/** A tmpfs of the test, with `noswap` where that is needed; undefined, and the test is skipped, where none can be mounted. */
function mountTmpfs(t: Test): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'st-'));
  const options = `mode=0700,size=16m${isSwapOn ? ',noswap' : ''}`;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'signet-test', path], { encoding: 'utf8' });
  t.teardown(() => {
    if (mounted.status === 0) execFileSync('umount', [path]);
    rmSync(path, { recursive: true });
  });
  if (mounted.status === 0) return path;
  t.comment(`no tmpfs can be mounted here: ${mounted.stderr}`);
  return undefined;
}

function open(directory: string) {
  const log = createRecordingLogger();
  const { metrics } = createTestMetrics();
  const state = openSealedState({ enabled: true, directory, binding, clock: systemClock, log, metrics });
  return { state, reasons: () => log.lines.map(({ fields }) => fields['reason']) };
}

async function leave(directory: string): Promise<void> {
  await open(directory).state.run([], () => contentOf(svidOf()), AbortSignal.abort());
}

await t.test('keys are sealed on the tmpfs, and not on the disk beside it', async (t) => {
  const directory = mountTmpfs(t);
  if (directory === undefined) return;
  await leave(directory);
  t.equal(open(directory).state.restored.svids.length, 1);
  t.same(readdirSync(directory).sort(), ['sealed-generation', 'sealed-key', 'sealed-state']);
  const disk = t.testdir({});
  chmodSync(disk, 0o700);
  if (spawnSync('stat', ['-f', '-c', '%T', disk], { encoding: 'utf8' }).stdout.trim() === 'tmpfs') return;
  const { state, reasons } = open(disk);
  t.equal(state.reason.value?.code, 'state-unfit');
  t.same(reasons(), ['state-unfit']);
  t.same(readdirSync(disk), []);
});

await t.test('whether a tmpfs may be swapped is read from the kernel', { skip: isSwapOn ? 'swap is on' : false }, async (t) => {
  const directory = mountTmpfs(t);
  if (directory !== undefined) t.doesNotThrow(() => checkPlace(directory));
});

await t.test('what another user owns is not used', async (t) => {
  const directory = mountTmpfs(t);
  if (directory === undefined) return;
  await leave(directory);
  for (const name of ['sealed-state', 'sealed-key'] as const) {
    chownSync(join(directory, name), nobody, nobody);
    const { state, reasons } = open(directory);
    t.equal(state.restored.svids.length, 0, name);
    t.equal(reasons()[0], 'state-unsafe', name);
    await leave(directory);
    t.equal(open(directory).state.restored.svids.length, 1, 'and made anew');
  }
  const theirs = join(directory, 'theirs');
  mkdirSync(theirs, { mode: 0o700 });
  chownSync(theirs, nobody, nobody);
  t.equal(open(theirs).state.reason.value?.code, 'state-unsafe', 'the directory');
});

await t.test('an agent that starts again without its pods serves the same bytes under the same version', async (t) => {
  const directory = mountTmpfs(t);
  if (directory === undefined) return;
  const path = join(t.testdir({ 'pods.yaml': podsOf('cart') }), 'pods.yaml');
  const settings = { 'pods.sources': [{ kind: 'file', path }], 'state.directory': directory, 'state.sealed': true };
  const start = (): Promise<TestAgent> => startTestAgent({ pods: '', settings });
  const fetched = async ({ sds }: TestAgent): Promise<unknown> => {
    const [secret] = await sds.fetchOnce([idOf('cart')], { deadlineMs: 5_000, signal: never });
    return shown(secret);
  };
  const first = await start();
  const before = await fetched(first);
  await first.stop();
  rmSync(path);
  const again = await start();
  t.teardown(() => again.stop());
  t.same(await fetched(again), before);
  const { ready, reasons } = await again.admin.status(never);
  t.equal(ready, true);
  t.match(reasons, [{ gate: 'pods', code: 'pods-restored' }]);
});

function shown(secret: ReceivedSecret | undefined): unknown {
  if (secret?.kind !== 'certificate') return undefined;
  const { privateKeyPem, ...rest } = secret;
  return { ...rest, privateKeyPem: privateKeyPem.toString() };
}
