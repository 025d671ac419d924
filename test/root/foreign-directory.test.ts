// A directory of another user below one that all may write to is not believed, neither to listen in nor to connect to.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { findSocket } from '../../agent/commands/command.js';
import { foreignEntry, prepareDirectory } from '../../agent/listen/directory.js';

const nobody = 65_534;

t.test('dev does not listen below a directory that another user made first, and commands do not ask there', (t) => {
  const shared = mkdtempSync(join(tmpdir(), 'signet-shared-'));
  const runtime = process.env['XDG_RUNTIME_DIR'];
  process.env['XDG_RUNTIME_DIR'] = shared;
  t.teardown(() => {
    if (runtime === undefined) delete process.env['XDG_RUNTIME_DIR'];
    else process.env['XDG_RUNTIME_DIR'] = runtime;
    rmSync(shared, { recursive: true });
  });
  const base = join(shared, `signet-${process.getuid?.()}`);
  const socket = join(base, 'sds/sds.sock');
  mkdirSync(join(base, 'sds'), { recursive: true });
  writeFileSync(socket, '');
  chmodSync(shared, 0o1777);

  t.equal(foreignEntry(socket), undefined);
  t.equal(findSocket('sds.socket.path', {}), socket, 'our own');
  t.doesNotThrow(() => prepareDirectory(join(base, 'sds'), 0o755));

  chownSync(base, nobody, nobody);
  t.equal(foreignEntry(socket), base);
  t.equal(findSocket('sds.socket.path', {}), '/run/signet/sds/sds.sock');
  for (const name of ['sds', 'new']) {
    t.throws(
      () => prepareDirectory(join(base, name), 0o755),
      { kind: 'invalid', message: /another user made/, fields: { path: base } },
      name,
    );
  }

  chmodSync(shared, 0o755);
  t.equal(foreignEntry(socket), undefined, 'where only root writes, whoever owns it was given it');
  t.end();
});
