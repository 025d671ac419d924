// What the listener does about other users, which takes root to set up.

import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { listenUnix } from '../../agent/listen.js';
import { createFakeClock } from '../fixtures/clock.js';
import { createRecordingLogger } from '../fixtures/log.js';

const skip = process.getuid?.() === 0 ? false : 'not root';

t.test('a directory of another user is refused, a group is given', { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [clock, log, stop] = [createFakeClock(), createRecordingLogger(), new AbortController()];
  const path = join(directory, 'd', 's');
  mkdirSync(join(directory, 'd'));
  chownSync(join(directory, 'd'), 12_345, 0);
  await t.rejects(
    listenUnix({ path, mode: 0o660, gid: 23_456, clock, log }, () => {}),
    /belongs to another user/,
  );
  chownSync(join(directory, 'd'), 0, 0);
  const listener = await listenUnix({ path, mode: 0o660, gid: 23_456, clock, log }, () => {});
  t.equal(statSync(path).gid, 23_456);
  t.equal(statSync(path).mode & 0o7777, 0o660);
  stop.abort();
  await listener.run(stop.signal);
});
