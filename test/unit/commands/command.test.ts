import t from 'tap';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeOf, findSocket, formatError, loadFromOptions } from '../../../agent/commands/command.js';
import { toFlagNames } from '../../../agent/commands/setting-options.js';
import { ConfigError } from '../../../agent/config.js';
import { listSettings } from '../../../agent/config/settings.js';
import type { ErrorKind } from '../../../agent/runtime/errors.js';
import { SignetError } from '../../../agent/runtime/errors.js';

t.test('every kind of error has its exit code', async (t) => {
  const table: Readonly<Record<ErrorKind, number>> = {
    invalid: 2,
    unauthenticated: 5,
    denied: 5,
    notFound: 4,
    conflict: 3,
    exhausted: 5,
    deadline: 4,
    cancelled: 4,
    unavailable: 3,
    internal: 1,
  };
  for (const [kind, code] of Object.entries(table)) t.equal(exitCodeOf(new SignetError(kind as ErrorKind, 'x')), code, kind);
  t.equal(exitCodeOf(new TypeError('x')), 1, 'what is not ours is a bug');
});

t.test('an error shows its chain, its facts, and what to change', async (t) => {
  const error = new SignetError('unavailable', 'cannot start', {
    cause: new Error('EACCES'),
    reason: 'issuer-unreadable',
    fields: { path: '/etc/issuer.pem', line: undefined },
  });
  const text = formatError(error);
  t.match(text, /^signet: cannot start: EACCES \(path: \/etc\/issuer.pem\)\n/);
  t.match(text, /^ {2}issuer-unreadable: The issuer files cannot be read or parsed\. Check path/m);
  t.equal(formatError(new SignetError('internal', 'bug: odd')), 'signet: bug: odd\n');
});

t.test('a configuration with faults shows each on a line of its own', async (t) => {
  const text = formatError(
    new ConfigError([
      { path: 'a', message: 'is unknown' },
      { path: 'b', message: 'is required', line: 3 },
    ]),
  );
  t.equal(text, 'signet: a is unknown\nsignet: b (line 3) is required\n');
});

t.test('flags as commander hands them out get their names back', async (t) => {
  for (const { flag } of listSettings()) {
    if (flag === undefined) continue;
    const camel = flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    t.same(toFlagNames({ [camel]: 'x' }), { [flag]: 'x' });
  }
});

t.test('options become a configuration; --pods is relative to the working directory', async (t) => {
  const { loaded } = loadFromOptions('dev', { pods: 'pods.yaml', logLevel: 'debug' });
  t.same(loaded.config.pods.sources, [{ kind: 'file', path: join(process.cwd(), 'pods.yaml') }]);
  t.equal(loaded.config.log.level, 'debug');
  t.throws(() => loadFromOptions('dev', { pods: 'pods.yaml', logLevel: 'loud' }), { kind: 'invalid', message: 'configuration has faults' });
});

t.test('a socket is told, or the first that exists, or the one of the agent', async (t) => {
  t.equal(findSocket('sds.socket.path', { socket: '/x/y' }), '/x/y');
  const directory = t.testdir();
  const config = join(directory, 'agent.yaml');
  writeFileSync(config, `sds: {socket: {path: ${directory}/own.sock}}\n`);
  t.equal(findSocket('sds.socket.path', { config }), `${directory}/own.sock`, 'the file names it');
  const runtime = process.env['XDG_RUNTIME_DIR'];
  process.env['XDG_RUNTIME_DIR'] = directory;
  t.teardown(() => {
    if (runtime === undefined) delete process.env['XDG_RUNTIME_DIR'];
    else process.env['XDG_RUNTIME_DIR'] = runtime;
  });
  t.equal(findSocket('admin.socket.path', {}), '/run/signet/admin/admin.sock');
  const own = join(directory, `signet-${process.getuid?.() ?? 0}`, 'admin');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'admin.sock'), '');
  t.equal(findSocket('admin.socket.path', {}), join(own, 'admin.sock'), 'dev runs here');
});
