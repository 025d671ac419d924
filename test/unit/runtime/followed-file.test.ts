import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { followFile } from '../../../agent/runtime/followed-file.js';
import { advanceUntil, createFakeClock, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

type Test = Pick<typeof t, 'teardown'>;

// The clock stands still unless a test moves it: what arrives without that came from the watch, not from a poll.
function follow(test: Test, path: string, options: { maxBytes?: number } = {}) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const stop = new AbortController();
  const got: string[] = [];
  const waits = clock.nextAlarm();
  const ended = followFile({ path, clock, log, metrics, ...options }, (content) => {
    got.push(Buffer.isBuffer(content) ? content.toString() : `${content.kind}: ${content.message}`);
  }).run(stop.signal);
  test.teardown(async () => {
    stop.abort();
    await ended;
    if (clock.alarms !== 0) throw new Error('an alarm was left behind');
    if ((await read('signet_files_polled')) !== 0) throw new Error('a file that is not followed any more is counted');
  });
  return {
    clock,
    log,
    got,
    waits,
    polled: () => read('signet_files_polled'),
    until: (count: number) => until(() => got.length >= count, `delivery ${count}`),
    /** One write can make several events, so polls go on until the delivery is there. */
    async pollUntil(count: number) {
      await advanceUntil(clock, 5_000, () => got.length >= count);
    },
    /** Resolves when the file waits for just this long: 250 ms in doubt, 5 s at rest. */
    async waiting(delayMs: number) {
      while ((await clock.nextAlarm()) !== delayMs);
    },
  };
}

t.test('delivers the first read and each change of the bytes, however the file is written', async (t) => {
  const directory = t.testdir({ 'a.yaml': 'one' });
  const path = join(directory, 'a.yaml');
  const file = follow(t, path);
  await file.waits;
  t.same(file.got, ['one']);

  writeFileSync(path, 'two');
  await file.until(2);
  writeFileSync(join(directory, 'new'), 'three');
  renameSync(join(directory, 'new'), path);
  await file.until(3);
  // Again in place: the watch must not have stayed on the file that was replaced.
  writeFileSync(path, 'four');
  await file.until(4);
  writeFileSync(path, 'four');
  writeFileSync(join(directory, 'neighbour'), 'four and a half');
  writeFileSync(path, 'five');
  await file.until(5);
  t.same(file.got, ['one', 'two', 'three', 'four', 'five']);
});

t.test('follows five swaps of a volume as the kubelet makes them', async (t) => {
  const links = { '..data': t.fixture('symlink', 'v0'), 'roots.pem': t.fixture('symlink', '..data/roots.pem') };
  const directory = t.testdir({ v0: { 'roots.pem': '0' }, ...links });
  const file = follow(t, join(directory, 'roots.pem'));
  await file.waits;
  for (let swap = 1; swap <= 5; swap += 1) {
    mkdirSync(join(directory, `v${swap}`));
    writeFileSync(join(directory, `v${swap}`, 'roots.pem'), String(swap));
    symlinkSync(`v${swap}`, join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
    rmSync(join(directory, `v${swap - 1}`), { recursive: true });
    await file.until(swap + 1);
  }
  t.same(file.got, ['0', '1', '2', '3', '4', '5']);
});

t.test('a change behind a symlink into another directory is found by polling', async (t) => {
  const directory = t.testdir({ other: { target: 'one' }, here: { link: t.fixture('symlink', '../other/target') } });
  const file = follow(t, join(directory, 'here', 'link'));
  await file.waits;
  writeFileSync(join(directory, 'other', 'target'), 'two');
  await file.clock.advance(4_999);
  t.same(file.got, ['one']);
  await file.clock.advance(1);
  await file.until(2);
  t.same(file.got, ['one', 'two']);
});

t.test('a directory that comes late, or goes and comes back, is watched', async (t) => {
  const directory = join(t.testdir({}), 'late');
  const path = join(directory, 'file');
  const file = follow(t, path);
  await file.waits;
  t.same(file.got, ['notFound: file does not exist']);

  mkdirSync(directory);
  writeFileSync(path, 'one');
  await file.pollUntil(2);
  writeFileSync(path, 'two');
  await file.until(3);

  const gone = file.waiting(250);
  rmSync(directory, { recursive: true });
  await gone;
  await file.clock.advance(250);
  await file.until(4);
  mkdirSync(directory);
  writeFileSync(path, 'two');
  await file.pollUntil(5);
  writeFileSync(path, 'three');
  await file.until(6);
  t.same(file.got, ['notFound: file does not exist', 'one', 'two', 'notFound: file does not exist', 'two', 'three']);
});

t.test('a directory that is replaced within one tick is watched, even under the same inode number', async (t) => {
  const directory = join(t.testdir({ dir: { file: 'one' } }), 'dir');
  const path = join(directory, 'file');
  const file = follow(t, path);
  await file.waits;
  for (let round = 1; round <= 5; round += 1) {
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    writeFileSync(path, `made ${round}`);
    await file.until(2 * round);
    writeFileSync(path, `changed ${round}`);
    await file.until(2 * round + 1);
  }
  t.equal(file.got.at(-1), 'changed 5');
});

t.test('a read that does not give as many bytes as the file has is no content', async (t) => {
  // Files in /proc say that their size is 0, which is what a file looks like that grows under the read.
  const file = follow(t, '/proc/self/comm');
  await file.waits;
  t.same(file.got, ['unavailable: file changed while it was read']);
});

t.test('an empty or missing file is believed only when it stands', async (t) => {
  const path = join(t.testdir({ file: 'one' }), 'file');
  const file = follow(t, path);
  await file.waits;

  const pause = file.waiting(250);
  writeFileSync(path, '');
  await pause;
  await file.clock.advance(249);
  t.same(file.got, ['one'], 'not yet');
  const calm = file.waiting(5_000);
  writeFileSync(path, 'one');
  await calm;
  await file.clock.advance(250);
  t.same(file.got, ['one'], 'a writer that truncates first is no change');

  const missing = file.waiting(250);
  unlinkSync(path);
  await missing;
  writeFileSync(path, 'two');
  await file.until(2);

  const emptied = file.waiting(250);
  writeFileSync(path, '');
  await emptied;
  await file.clock.advance(250);
  await file.until(3);
  t.same(file.got, ['one', 'two', '']);
  unlinkSync(path);
  await file.until(4);
  t.same(file.got, ['one', 'two', '', 'notFound: file does not exist'], 'nothing is lost any more: told at once');
});

t.test('a file that is created empty is not believed before its content had time to come', async (t) => {
  const path = join(t.testdir({}), 'file');
  const file = follow(t, path);
  await file.waits;
  const created = file.waiting(250);
  writeFileSync(path, '');
  await created;
  writeFileSync(path, 'one');
  await file.until(2);
  t.same(file.got, ['notFound: file does not exist', 'one']);
});

t.test('an error is told once per change, and content that returns after it is told again', async (t) => {
  const directory = t.testdir({ file: '12345678' });
  const path = join(directory, 'file');
  const file = follow(t, path, { maxBytes: 8 });
  await file.waits;

  const large = file.waiting(250);
  writeFileSync(path, '123456789');
  await large;
  await file.clock.advance(250);
  await file.until(2);
  const again = file.waiting(5_000);
  writeFileSync(path, '1234567890');
  await again;
  writeFileSync(path, '12345678');
  await file.until(3);
  const odd = file.waiting(250);
  unlinkSync(path);
  mkdirSync(path);
  await odd;
  await file.clock.advance(250);
  await file.until(4);
  rmSync(path, { recursive: true });
  execFileSync('mkfifo', [path]);
  await file.waiting(5_000);
  unlinkSync(path);
  await file.until(5);
  t.same(file.got, [
    '12345678',
    'exhausted: file is too large',
    '12345678',
    'invalid: not a regular file',
    'notFound: file does not exist',
  ]);
});

t.test('without the right to list the directory it polls, with one warning', { skip: process.getuid?.() === 0 }, async (t) => {
  const directory = t.testdir({ file: 'one' });
  chmodSync(directory, 0o311);
  const file = follow(t, join(directory, 'file'));
  await file.waits;
  writeFileSync(join(directory, 'file'), 'two');
  await file.pollUntil(2);
  chmodSync(join(directory, 'file'), 0o000);
  await file.pollUntil(3);
  t.equal(await file.polled(), 1);
  chmodSync(directory, 0o755);
  t.same(file.got, ['one', 'two', 'denied: file may not be read']);
  t.same(
    file.log.lines.map((line) => [line.level, line.message]),
    [['warn', 'cannot watch a directory, polling its file instead']],
  );
});

t.test('delivered bytes belong to the receiver', async (t) => {
  const path = join(t.testdir({ file: 'secret' }), 'file');
  const clock = createFakeClock();
  const stop = new AbortController();
  const received: Buffer[] = [];
  const ended = followFile({ path, clock, log: createRecordingLogger(), metrics: createTestMetrics().metrics }, (content) => {
    if (Buffer.isBuffer(content)) received.push(content);
  }).run(stop.signal);
  await clock.nextAlarm();
  await clock.advance(5_000);
  t.equal(received[0]?.toString(), 'secret');
  t.ok((received[0]?.buffer.byteLength ?? 0) <= 7, 'not a slice of a shared pool');
  stop.abort();
  await ended;
});

t.test('a receiver that throws ends the run with its error', async (t) => {
  const path = join(t.testdir({ file: 'one' }), 'file');
  const clock = createFakeClock();
  const run = followFile({ path, clock, log: createRecordingLogger(), metrics: createTestMetrics().metrics }, () => {
    throw new Error('bug: receiver');
  }).run(new AbortController().signal);
  await t.rejects(run, { message: 'bug: receiver' });
  t.equal(clock.alarms, 0);
});
