import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Listener, UnixListenOptions } from '../../agent/listen.js';
import { listenFd, listenUnix } from '../../agent/listen.js';
import { SignetError } from '../../agent/runtime/errors.js';
import type { PeerCredentials } from '../../agent/runtime/native.js';
import { loadNative } from '../../agent/runtime/native.js';
import { createFakeClock, until } from '../fixtures/clock.js';
import { createRecordingLogger } from '../fixtures/log.js';

type Test = Pick<typeof t, 'teardown'>;

const ourUid = process.getuid?.() ?? 0;

/** An empty directory with a short name: the path of a socket has at most 107 bytes. */
function temporary(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => {
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true });
  });
  return directory;
}

function scene(t: Test) {
  const [clock, log] = [createFakeClock(), createRecordingLogger()];
  const ended: Promise<void>[] = [];
  const stop = new AbortController();
  const accepted: Socket[] = [];
  t.teardown(async () => {
    stop.abort();
    for (const socket of accepted) socket.destroy();
    await Promise.all(ended);
    await until(() => clock.alarms === 0, 'all alarms cancelled');
  });
  const run = (listener: Listener): Promise<void> => {
    const running = listener.run(stop.signal);
    ended.push(running);
    return running;
  };
  const onConnection = (socket: Socket): void => {
    socket.on('error', () => {});
    accepted.push(socket);
  };
  return {
    clock,
    log,
    accepted,
    onConnection,
    stop: () => stop.abort(),
    run,
    async listen(path: string, options: Partial<UnixListenOptions> = {}) {
      const listener = await listenUnix({ path, mode: 0o666, clock, log, ...options }, onConnection);
      return { ended: run(listener) };
    },
    refused: (path: string, options: Partial<UnixListenOptions> = {}): Promise<SignetError> =>
      listenUnix({ path, mode: 0o666, clock, log, ...options }, onConnection).then(
        (listener) => {
          void run(listener);
          throw new Error('it listens');
        },
        (error: SignetError) => error,
      ),
  };
}

/** Whether something accepts on the path. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const result = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
  socket.destroy();
  return result;
}

async function foreign(t: Test, path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return server;
}

/** Leaves a socket file behind that nobody serves, as a killed process does. */
function leaveStale(path: string): void {
  const code = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', code]);
  if (!lstatSync(path).isSocket()) throw new Error('no socket was left');
}

t.test('U03: mode and directory are as set, the umask is restored, and the socket goes at the end', async (t) => {
  const s = scene(t);
  const directory = join(temporary(t), 'made', 'here');
  const path = join(directory, 's.sock');
  const umask = process.umask(0o077);
  const { ended } = await s.listen(path, { mode: 0o660, gid: process.getgid?.() ?? 0 });
  t.equal(process.umask(umask), 0o077);
  t.equal(statSync(path).mode & 0o7777, 0o660);
  t.equal(statSync(path).gid, process.getgid?.());
  t.equal(statSync(directory).mode & 0o7777, 0o755);
  t.same(readdirSync(directory), ['s.sock'], 'no temporary name stays');
  t.ok(await answers(path));
  s.stop();
  await ended;
  t.notOk(existsSync(path));
});

t.test('U03: nobody can connect before mode and group are set', async (t) => {
  const s = scene(t);
  const directory = temporary(t);
  const seen = new Set<string>();
  const listening = s.listen(join(directory, 's.sock'), { mode: 0o600 });
  // Between the turns of the event loop in which it binds and renames.
  for (let turn = 0; turn < 50; turn += 1) {
    for (const name of readdirSync(directory)) seen.add((statSync(join(directory, name)).mode & 0o777).toString(8));
    await Promise.resolve();
  }
  await listening;
  for (const name of readdirSync(directory)) seen.add((statSync(join(directory, name)).mode & 0o777).toString(8));
  t.same(
    [...seen].filter((mode) => mode !== '0' && mode !== '600'),
    [],
  );
});

t.test('U02: the length of the path counts in bytes', async (t) => {
  const s = scene(t);
  const directory = temporary(t);
  const fit = (bytes: number): string => join(directory, 'x'.repeat(bytes - directory.length - 1));
  await s.listen(fit(107));
  t.ok(await answers(fit(107)));
  for (const path of [fit(108), join(directory, 'é'.repeat(60))]) {
    const error = await s.refused(path);
    t.equal(error.kind, 'invalid');
    t.match(error.message, /too long/);
    t.match(error.fields, { limit: 107, bytes: Buffer.byteLength(path) });
  }
  t.equal(readdirSync(directory).length, 1);
});

t.test('U01: a stale socket is replaced', async (t) => {
  const s = scene(t);
  const path = join(temporary(t), 's.sock');
  leaveStale(path);
  await s.listen(path);
  t.ok(await answers(path));
});

t.test('U01: a live socket stays untouched', async (t) => {
  const s = scene(t);
  const path = join(temporary(t), 's.sock');
  await foreign(t, path);
  const before = statSync(path).ino;
  const error = await s.refused(path);
  t.equal(error.kind, 'conflict');
  t.equal(statSync(path).ino, before);
  t.ok(await answers(path));
});

for (const { name, make } of [
  { name: 'a plain file', make: (path: string) => writeFileSync(path, 'precious') },
  { name: 'a directory', make: (path: string) => mkdirSync(path) },
  { name: 'a symbolic link', make: (path: string) => symlinkSync('elsewhere', path) },
]) {
  t.test(`U01: ${name} at the path is never deleted`, async (t) => {
    const s = scene(t);
    const path = join(temporary(t), 's.sock');
    make(path);
    const error = await s.refused(path);
    t.equal(error.kind, 'invalid');
    t.match(error.message, /is no socket/);
    t.ok(lstatSync(path));
  });
}

t.test('a live socket of our own agent is taken over, and its end leaves ours alone', async (t) => {
  const [old, fresh] = [scene(t), scene(t)];
  const native = await loadNative();
  const path = join(temporary(t), 's.sock');
  const first = await old.listen(path);
  const ask = (peerCredentials: (fd: number) => PeerCredentials, same: boolean) => ({
    native: { peerCredentials },
    isSameAgent: async () => same,
  });
  const notToldWho = (): never => {
    throw new Error('no');
  };
  const another = (fd: number): PeerCredentials => ({ ...native.peerCredentials(fd), uid: ourUid + 1 });
  for (const takeover of [ask(another, true), ask(native.peerCredentials, false), ask(notToldWho, true)]) {
    t.equal((await fresh.refused(path, { takeover })).kind, 'conflict');
  }

  await fresh.listen(path, { takeover: { native, isSameAgent: async () => true } });
  const inode = statSync(path).ino;
  await old.clock.advance(30_000);
  t.equal(old.log.lines.filter((line) => line.level === 'error').length, 1, 'the old one says once that it was replaced');
  old.stop();
  await first.ended;
  t.equal(statSync(path).ino, inode);
  t.ok(await answers(path));
});

t.test('an agent that ends while it is asked whether it may be replaced leaves its place to the next', async (t) => {
  const [old, fresh] = [scene(t), scene(t)];
  const native = await loadNative();
  const path = join(temporary(t), 's.sock');
  const first = await old.listen(path);
  const fails = (work: () => Promise<void>) => ({
    native,
    isSameAgent: async (): Promise<boolean> => {
      await work();
      throw new SignetError('unavailable', 'no answer');
    },
  });
  t.match(
    (await fresh.refused(path, { takeover: fails(async () => {}) })).message,
    'no answer',
    'one that lives and does not answer stays',
  );
  const end = async (): Promise<void> => {
    old.stop();
    await first.ended;
  };
  await fresh.listen(path, { takeover: fails(end) });
  t.ok(await answers(path));
});

t.test('a vanished socket is bound again, and connections of before live on', async (t) => {
  const s = scene(t);
  const directory = join(temporary(t), 'd');
  const path = join(directory, 's.sock');
  await s.listen(path, { mode: 0o600 });
  const client = connect(path);
  client.on('error', () => {});
  await until(() => s.accepted.length === 1, 'a connection');
  unlinkSync(path);
  await s.clock.advance(1_000);
  await until(() => existsSync(path), 'the socket');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.notOk(client.destroyed);
  t.ok(await answers(path));

  rmSync(directory, { recursive: true });
  await s.clock.advance(1_000);
  await until(() => existsSync(path), 'the socket with its directory');
  t.ok(await answers(path));
  s.accepted[0]?.write('still here');
  const [data] = (await once(client, 'data')) as [Buffer];
  t.equal(data.toString(), 'still here');
  client.destroy();
});

t.test('a socket that cannot be bound again is reported once, and comes back when it can', async (t) => {
  const s = scene(t);
  const directory = join(temporary(t), 'd');
  const path = join(directory, 's.sock');
  let isInPlace: boolean | undefined;
  await s.listen(path, { onLook: (is) => (isInPlace = is) });
  rmSync(directory, { recursive: true });
  writeFileSync(directory, 'in the way');
  await s.clock.advance(5_000);
  t.equal(isInPlace, false);
  t.equal(s.log.lines.filter((line) => line.level === 'error').length, 1);
  unlinkSync(directory);
  await s.clock.advance(1_000);
  await until(() => existsSync(path), 'the socket');
  await until(() => isInPlace === true, 'that it is in its place');
  t.ok(await answers(path));
});

t.test('a live socket that replaced ours is not stolen, a dead one is replaced', async (t) => {
  const s = scene(t);
  const directory = temporary(t);
  const path = join(directory, 's.sock');
  const { ended } = await s.listen(path);
  const other = await foreign(t, join(directory, 'o'));
  renameSync(join(directory, 'o'), path);
  const inode = statSync(path).ino;
  await s.clock.advance(60_000);
  t.equal(statSync(path).ino, inode);
  t.equal(s.log.lines.filter((line) => line.level === 'error').length, 1);
  other.close();
  if (!existsSync(path)) leaveStale(path);
  await s.clock.advance(10_000);
  await until(() => s.log.lines.some((line) => line.level === 'warn'), 'the socket bound again');
  t.ok(await answers(path));

  rmSync(path);
  writeFileSync(path, 'mine');
  await s.clock.advance(5_000);
  s.stop();
  await ended;
  t.equal(readFileSync(path, 'utf8'), 'mine', 'what stands in the place of our socket is not removed');
});

for (const { name, spoil, message } of [
  { name: 'can be changed by others', spoil: (d: string) => chmodSync(d, 0o777), message: /changed by others/ },
  { name: 'is a file', spoil: (d: string) => (rmSync(d, { recursive: true }), writeFileSync(d, '')), message: /no directory/ },
]) {
  t.test(`a directory that ${name} is refused`, async (t) => {
    const s = scene(t);
    const directory = join(temporary(t), 'd');
    mkdirSync(directory);
    spoil(directory);
    const error = await s.refused(join(directory, 's.sock'));
    t.equal(error.kind, 'invalid');
    t.match(error.message, message);
    t.equal(error.fields['path'], directory);
  });
}

t.test('a sticky directory is no danger', async (t) => {
  const s = scene(t);
  const directory = temporary(t);
  chmodSync(directory, 0o1777);
  await s.listen(join(directory, 's.sock'));
  t.ok(await answers(join(directory, 's.sock')));
});

t.test('what keeps a directory from being made or a socket from being bound is named', async (t) => {
  const s = scene(t);
  // Not even root makes files in procfs.
  const made = await s.refused('/proc/self/signet/s.sock');
  t.equal(made.kind, 'unavailable');
  t.match(made.message, /make the directory/);
  const bound = await s.refused('/proc/s.sock');
  t.equal(bound.kind, 'unavailable');
  t.match(bound.message, /security labels \(SELinux, AppArmor\)/);
  t.match(bound.fields, { path: '/proc/s.sock', mode: '0666', uid: ourUid, gid: process.getgid?.(), code: 'EACCES' });
});

t.test(
  'a group that may not be given is named, and nothing stays behind',
  { skip: ourUid === 0 ? 'root may give any group' : false },
  async (t) => {
    const s = scene(t);
    const directory = temporary(t);
    const error = await s.refused(join(directory, 's.sock'), { gid: 1 });
    t.match(error.message, /check its group/);
    await until(() => readdirSync(directory).length === 0, 'the temporary socket to go');
  },
);

t.test('a socket that systemd bound is served and left in place', async (t) => {
  const path = join(temporary(t), 's.sock');
  const code = `
    const { listenFd } = await import(${JSON.stringify(new URL('../../agent/listen.js', import.meta.url).href)});
    const stop = new AbortController();
    const log = { info() {}, error() {} };
    const listener = await listenFd(3, { log }, (socket) => { socket.end('served'); stop.abort(); });
    await listener.run(stop.signal);`;
  // This process binds as systemd does and lets go of the socket once the child has it. Node then removes only the first name.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.first`, resolve));
  renameSync(`${path}.first`, path);
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'ignore', 'inherit', fd] });
  const exit = once(child, 'exit');
  server.close();
  const client = connect(path);
  const [data] = (await once(client, 'data')) as [Buffer];
  t.equal(data.toString(), 'served');
  client.destroy();
  t.same(await exit, [0, null]);
  t.ok(existsSync(path));
});

t.test('a descriptor that is no socket is refused', async (t) => {
  const s = scene(t);
  const fd = openSync('/dev/null', 'r');
  await t.rejects(listenFd(fd, { log: s.log }, s.onConnection), /passed in/);
});

t.test('an end before the start removes the socket at once', async (t) => {
  const s = scene(t);
  const path = join(temporary(t), 's.sock');
  s.stop();
  const { ended } = await s.listen(path);
  await ended;
  t.notOk(existsSync(path));
});
