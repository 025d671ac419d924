import t from 'tap';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDirectory } from '../../../agent/commands/write-directory.js';

const file = (name: string, text: string, mode = 0o644) => ({ name, content: Buffer.from(text), mode });

t.test('writes all files with their modes, and switches them together', async (t) => {
  const directory = join(t.testdir(), 'out');
  await writeDirectory(directory, [file('svid.pem', 'one'), file('svid.key', 'key one', 0o600)]);
  t.equal(readFileSync(join(directory, 'svid.pem'), 'utf8'), 'one');
  t.equal(statSync(join(directory, 'svid.key')).mode & 0o777, 0o600);
  t.equal(statSync(join(directory, 'svid.pem')).mode & 0o777, 0o644);
  await writeDirectory(directory, [file('svid.pem', 'two'), file('svid.key', 'key two', 0o600)]);
  t.equal(readFileSync(join(directory, 'svid.pem'), 'utf8'), 'two');
  t.equal(readFileSync(join(directory, 'svid.key'), 'utf8'), 'key two');
  t.equal(readdirSync(directory).filter((name) => name.startsWith('..signet-')).length, 1, 'the former set is gone');
});

t.test('a reader that opens files during a switch sees one set or the other', async (t) => {
  const directory = t.testdir();
  await writeDirectory(directory, [file('a', '0'), file('b', '0')]);
  for (let round = 1; round <= 20; round += 1) {
    const writing = writeDirectory(directory, [file('a', String(round)), file('b', String(round))]);
    const current = join(directory, '..data');
    // Through one resolved directory both files belong to one round.
    const set = statSync(current).ino;
    const [a, b] = [readFileSync(join(current, 'a'), 'utf8'), readFileSync(join(current, 'b'), 'utf8')];
    if (statSync(current).ino === set) t.equal(a, b);
    await writing;
  }
});

t.test('a plain file of the user is never replaced', async (t) => {
  const directory = t.testdir({ 'svid.pem': 'mine' });
  await t.rejects(writeDirectory(directory, [file('svid.pem', 'new')]), {
    kind: 'conflict',
    message: 'a file of this name is there already and was not written by signet; give another directory',
  });
  t.equal(readFileSync(join(directory, 'svid.pem'), 'utf8'), 'mine');
});

t.test('a directory that cannot be made is a clear error', async (t) => {
  const blocked = join(t.testdir(), 'blocked');
  writeFileSync(blocked, '');
  await t.rejects(writeDirectory(join(blocked, 'out'), [file('a', '')]), { kind: 'unavailable', message: 'cannot write the files' });
});
