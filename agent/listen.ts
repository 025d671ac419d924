// Unix listeners: bound under a temporary name and then renamed, so that the path never leads to a socket that does not answer or
// that is open to more than it should be. Called by the wiring, for the SDS and the control socket.
// Promises: never deletes what is no socket, never takes a live socket of somebody else, puts the socket back when it vanishes, and
// removes only its own.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmodSync, chownSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { prepareDirectory } from './listen/directory.js';
import { SignetError, describeError } from './runtime/errors.js';
import type { Logger } from './runtime/log.js';
import { errorFields } from './runtime/log.js';
import type { Native } from './runtime/native.js';
import { socketFd } from './runtime/native.js';
import type { Clock } from './runtime/time.js';
import { aborted, sleep } from './runtime/time.js';

export interface ListenOptions {
  /** Accepted sockets stay unread until `resume()`. Default false. */
  readonly pauseOnConnect?: boolean;
  readonly log: Logger;
}

export interface UnixListenOptions extends ListenOptions {
  /** Where clients find the socket; absolute, at most 107 bytes. */
  readonly path: string;
  /** Permission bits of the socket, e.g. 0o666. */
  readonly mode: number;
  /** Group of the socket. Default: that of the process. */
  readonly gid?: number;
  /** Mode of the directory if it has to be made. Default 0o755. */
  readonly directoryMode?: number;
  /** When a live socket at the path may be replaced. Default: never. */
  readonly takeover?: Takeover;
  /** Told at each look whether the socket is in its place. */
  readonly onLook?: (isInPlace: boolean) => void;
  readonly clock: Clock;
}

/** A live socket may be replaced when its listener has our uid and says that it is an agent for the same trust domain and node. */
export interface Takeover {
  readonly native: Pick<Native, 'peerCredentials'>;
  readonly isSameAgent: () => Promise<boolean>;
}

export interface Listener {
  /** Keeps the socket in its place until the signal aborts; then takes no more connections and removes it. Open ones stay. */
  run(signal: AbortSignal): Promise<void>;
}

/** sun_path of sockaddr_un without its terminator (unix(7)). Node 20 cuts longer paths without a word and listens elsewhere. */
const maxPathBytes = 107;
const backlog = 4096;
const checkMs = 1_000;
const checkForeignMs = 10_000;
const probeMs = 2_000;
const foreign = 'foreign';

type OnConnection = (socket: Socket) => void;
type Inode = Pick<Stats, 'dev' | 'ino'>;

interface Bound {
  readonly server: Server;
  readonly inode: Inode;
}

/** Binds the socket; connections are accepted from now on. Throws `conflict` when another process listens on it. */
export async function listenUnix(options: UnixListenOptions, onConnection: OnConnection): Promise<Listener> {
  const { path, log, clock } = options;
  checkLength(path);
  prepareDirectory(dirname(path), options.directoryMode ?? 0o755);
  const found = await inspect(path, clock);
  if (found === 'other') throw new SignetError('invalid', 'what stands at the path of the socket is no socket', { fields: { path } });
  if (found === 'live' && !(await mayTakeOver(options))) {
    throw new SignetError('conflict', 'another process listens on the socket', { fields: { path } });
  }
  const bound = await bind(options, onConnection);
  log.info('listening', { path, takeover: found === 'live' });
  return { run: (signal) => keep(options, onConnection, bound, signal) };
}

/** Accepts on a socket that was bound by somebody else, such as systemd; it stays where it is. */
export async function listenFd(fd: number, options: ListenOptions, onConnection: OnConnection): Promise<Listener> {
  const server = await openServer(options, onConnection, (opened) => opened.listen({ fd })).catch((error: unknown) => {
    throw new SignetError('invalid', 'listen on the socket that was passed in', { cause: error, fields: { fd } });
  });
  options.log.info('listening', { fd });
  return {
    async run(signal) {
      await aborted(signal);
      server.close();
    },
  };
}

async function keep(options: UnixListenOptions, onConnection: OnConnection, first: Bound, signal: AbortSignal): Promise<void> {
  const { path, log, clock, onLook } = options;
  let bound = first;
  onLook?.(true);
  // What is wrong is said once, not at each check.
  let said = '';
  const say = (fault: string, write: () => void): void => {
    if (fault !== said) write();
    said = fault;
    onLook?.(false);
  };
  while (await passes(clock, said === foreign ? checkForeignMs : checkMs, signal)) {
    try {
      const found = await inspect(path, clock, bound.inode);
      if (found === 'live' || found === 'other') {
        say(foreign, () => log.error('somebody else put something in the place of the socket', { path, is: found }));
        continue;
      }
      if (found !== 'own') {
        const again = await rebind(options, onConnection);
        bound.server.close();
        bound = again;
        log.warn('socket had vanished and was bound again', { path });
      }
      said = '';
      onLook?.(true);
    } catch (error) {
      say(describeError(error), () => log.error('socket has vanished and cannot be bound again', { path, ...errorFields(error) }));
    }
  }
  release(path, bound, log);
}

async function rebind(options: UnixListenOptions, onConnection: OnConnection): Promise<Bound> {
  prepareDirectory(dirname(options.path), options.directoryMode ?? 0o755);
  return await bind(options, onConnection);
}

/** Waits; false as soon as the signal aborts. */
function passes(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  );
}

async function bind(options: UnixListenOptions, onConnection: OnConnection): Promise<Bound> {
  const { path, mode, gid } = options;
  const temporary = temporaryName(path);
  const server = await openServer(options, onConnection, (opened) => {
    // bind(2) happens within this call, so the umask covers nothing else; mode 0 until mode and group are as they should be.
    const umask = process.umask(0o777);
    try {
      opened.listen({ path: temporary, backlog });
    } finally {
      process.umask(umask);
    }
  }).catch((error: unknown) => {
    throw bindError(error, options);
  });
  try {
    if (gid !== undefined) chownSync(temporary, -1, gid);
    chmodSync(temporary, mode);
    const { dev, ino } = lstatSync(temporary);
    renameSync(temporary, path);
    return { server, inode: { dev, ino } };
  } catch (error) {
    server.close();
    throw bindError(error, options);
  }
}

// Node removes the file it was bound to when a server closes: that is the temporary name, which is gone after the rename.
function release(path: string, bound: Bound, log: Logger): void {
  bound.server.close();
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && isSame(found, bound.inode)) unlinkSync(path);
  } catch (error) {
    // The next start finds it stale and replaces it.
    log.warn('socket cannot be removed', { path, ...errorFields(error) });
  }
}

function bindError(error: unknown, { path, mode, gid }: UnixListenOptions): SignetError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const fields = { path, mode: mode.toString(8).padStart(4, '0'), uid: process.getuid?.(), gid: gid ?? process.getgid?.(), code };
  const text: Readonly<Record<string, string>> = {
    EACCES: 'bind the socket: not permitted, check the mode of its directory and security labels (SELinux, AppArmor)',
    EPERM: 'bind the socket: not permitted, check its group and security labels (SELinux, AppArmor)',
    EROFS: 'bind the socket: its directory is on a read-only file system',
  };
  return new SignetError('unavailable', text[code] ?? 'bind the socket', { cause: error, fields });
}

/** A server that listens after `start`; what goes wrong with accepting later (no descriptors left) is logged. */
function openServer(options: ListenOptions, onConnection: OnConnection, start: (server: Server) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ pauseOnConnect: options.pauseOnConnect ?? false }, onConnection);
    server.once('error', reject);
    server.once('listening', () => {
      server.removeListener('error', reject);
      server.on('error', (error) => options.log.error('socket cannot accept', errorFields(error)));
      resolve(server);
    });
    start(server);
  });
}

function temporaryName(path: string): string {
  return join(dirname(path), `.${randomBytes(2).toString('hex')}`);
}

function checkLength(path: string): void {
  for (const name of [path, temporaryName(path)]) {
    const bytes = Buffer.byteLength(name);
    if (bytes <= maxPathBytes) continue;
    throw new SignetError('invalid', 'path of the socket is too long', { fields: { path, bytes, limit: maxPathBytes } });
  }
}

/** What stands at the path: our own socket, nothing, a socket that nobody serves, one that answers, or no socket at all. */
async function inspect(path: string, clock: Clock, own?: Inode): Promise<'own' | 'none' | 'stale' | 'live' | 'other'> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'none';
  if (own !== undefined && isSame(found, own)) return 'own';
  if (!found.isSocket()) return 'other';
  const code = await dial(path, clock, () => 'live' as const).catch((error: NodeJS.ErrnoException) => error.code);
  if (code === 'ECONNREFUSED') return 'stale';
  // Whoever cannot be asked (a full backlog, no permission, another socket type) is taken for alive.
  return code === 'ENOENT' ? 'none' : 'live';
}

async function mayTakeOver({ path, clock, takeover }: UnixListenOptions): Promise<boolean> {
  if (takeover === undefined) return false;
  const { native, isSameAgent } = takeover;
  // It may end while it is asked; nobody is replaced then.
  const hasEnded = async (): Promise<boolean> => ['none', 'stale'].includes(await inspect(path, clock));
  const uid = await dial(path, clock, (socket) => native.peerCredentials(socketFd(socket) ?? -1).uid).catch(() => undefined);
  if (uid === undefined) return await hasEnded();
  if (uid !== process.getuid?.()) return false;
  return await isSameAgent().catch(async (error: unknown) => {
    if (await hasEnded()) return true;
    throw error;
  });
}

/** Connects, looks, and hangs up. */
function dial<T>(path: string, clock: Clock, look: (socket: Socket) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const alarm = clock.alarm(probeMs, () => socket.destroy(new SignetError('deadline', 'connect took too long')));
    socket.once('connect', () => {
      try {
        resolve(look(socket));
      } catch (error) {
        reject(error);
      }
      socket.destroy();
    });
    socket.on('error', reject);
    socket.once('close', () => alarm.cancel());
  });
}

function isSame(a: Inode, b: Inode): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
