import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { loadNative, socketFd } from '../../../agent/runtime/native.js';
import { until } from '../../fixtures/clock.js';
import { openNotifySocket } from '../../fixtures/notify-socket.js';

/** A listener that hands each accepted socket to the test before anything is read from it. */
async function listen(test: Pick<typeof t, 'teardown'>) {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  const path = join(directory, 's');
  const accepted: Socket[] = [];
  let taken = 0;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    accepted.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  test.teardown(async () => {
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });
  return {
    path,
    async next(): Promise<Socket> {
      await until(() => accepted.length > taken, 'a connection');
      taken += 1;
      return accepted[taken - 1] as Socket;
    },
  };
}

function fdOf(socket: Socket): number {
  const fd = socketFd(socket);
  if (fd === undefined) throw new Error('the socket has no descriptor');
  return fd;
}

/** A process that connects, and ends when its standard input does. */
function connector(path: string) {
  const code = `require('net').connect(${JSON.stringify(path)}).on('error', () => {}); process.stdin.resume().on('end', () => process.exit())`;
  return spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'ignore', 'inherit'] });
}

const openFds = (): number => readdirSync('/proc/self/fd').length;

t.test('credentials are those of the process at the other end, seen from both ends', async (t) => {
  const native = await loadNative();
  const listener = await listen(t);
  const child = connector(listener.path);
  const socket = await listener.next();
  t.same(native.peerCredentials(fdOf(socket)), { pid: child.pid, uid: process.getuid?.(), gid: process.getgid?.() });
  child.stdin.end();
  await once(child, 'exit');

  // A client sees who listens.
  const client = connect(listener.path);
  await once(client, 'connect');
  t.same(native.peerCredentials(fdOf(client)), { pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() });
  client.destroy();
  t.equal(socketFd(client), undefined, 'a destroyed socket has no descriptor');
});

t.test('groups are those of the process at the other end', async (t) => {
  const native = await loadNative();
  const listener = await listen(t);
  const child = connector(listener.path);
  const groups = native.peerGroups(fdOf(await listener.next()));
  // getgroups(2) may or may not have the effective group among them.
  t.same(new Set([...groups, process.getegid?.()]), new Set([...(process.getgroups?.() ?? []), process.getegid?.()]));
  child.stdin.end();
  await once(child, 'exit');
});

t.test('a pidfd tells when the process ends, and is closed again', async (t) => {
  const native = await loadNative();
  const listener = await listen(t);
  const child = connector(listener.path);
  const socket = await listener.next();
  const before = openFds();
  const pidfd = native.peerPidfd(fdOf(socket));
  if (pidfd === 'unsupported') {
    t.comment('this kernel has no SO_PEERPIDFD');
    child.stdin.end();
    return;
  }
  if (pidfd === 'exited') throw new Error('the process is alive');
  t.equal(openFds(), before + 1);
  t.ok(pidfd.alive());
  child.stdin.end();
  await once(child, 'exit');
  t.notOk(pidfd.alive());
  const held = openFds();
  pidfd.close();
  t.equal(openFds(), held - 1);

  // Asked for only after the process was reaped: newer kernels still give a pidfd, older ones an error.
  const late = native.peerPidfd(fdOf(socket));
  t.ok(late === 'exited' || (late !== 'unsupported' && !late.alive()));
  if (typeof late === 'object') late.close();
});

for (const { name, path } of [
  { name: 'at a path', path: join(mkdtempSync(join(tmpdir(), 'signet-')), 'n') },
  { name: 'with an abstract name', path: `@signet-test-${process.pid}` },
]) {
  t.test(`datagrams reach a socket ${name}, and nothing stays open`, async (t) => {
    const native = await loadNative();
    const socket = openNotifySocket(path);
    const before = openFds();
    native.sendDatagram(path, 'READY=1\nSTATUS=ü');
    native.sendDatagram(path, 'STOPPING=1');
    t.same(socket.lines(), ['READY=1', 'STATUS=ü', 'STOPPING=1']);
    socket.close();
    t.throws(() => native.sendDatagram(path, 'READY=1'), /sendto failed/);
    t.equal(openFds(), before - 1);
    if (!path.startsWith('@')) rmSync(dirname(path), { recursive: true });
  });
}

t.test('a descriptor that is no socket is an error with errno', async (t) => {
  const native = await loadNative();
  t.throws(() => native.peerCredentials(0x7fff_fff0), /getsockopt SO_PEERCRED failed/);
});

t.test('a process that forbids dumps has no core and closes its memory to others of its user', async (t) => {
  const code = `
    const { loadNative } = await import(${JSON.stringify(new URL('../../../agent/runtime/native.js', import.meta.url).href)});
    const fs = await import('node:fs');
    const owner = () => fs.statSync('/proc/self/environ').uid + ' ' + fs.statSync('/proc/self/mem').gid;
    if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
    (await loadNative()).forbidDumps();
    console.log(JSON.stringify({ owner: owner(), limits: fs.readFileSync('/proc/self/limits', 'utf8') }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
  const result = JSON.parse(stdout) as { owner: string; limits: string };
  t.equal(result.owner, '0 0', 'proc(5): the files of a process that is not dumpable belong to root');
  t.match(result.limits, /^Max core file size +0 +0 /m);
});
