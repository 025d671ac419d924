// The directory of what survives a restart: whether it is fit for keys, and its files, read and replaced as a whole.
// Used by the sealed state. Promises: no file is followed through a link, read when others could have written or read it, or
// seen half-written; what cannot be used is told by a reason, nothing else.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { foreignEntry } from '../listen/directory.js';
import type { Fields } from '../runtime/errors.js';
import { SignetError } from '../runtime/errors.js';

export interface StateDirectory {
  /** The file in memory of its own; undefined when there is none. Throws with reason `state-unsafe` or `state-unusable`. */
  read(name: string): Buffer | undefined;
  /** Replaces the file, mode 0600. Throws with reason `state-unusable`. */
  replace(name: string, content: Buffer): void;
  /** Removes the file if it is there. Throws with reason `state-unusable`. */
  remove(name: string): void;
  /** Removes what a crash left behind. Throws with reason `state-unusable`. */
  removeTorn(): void;
}

/** What decides whether keys may be in a directory. */
export interface Place {
  /** Of its file system, as statfs(2) has it. */
  readonly type: number;
  readonly isSwapOn: boolean;
  /** Of its file system: `rw`, `noswap`, … */
  readonly options: readonly string[];
}

/** TMPFS_MAGIC of statfs(2). */
const tmpfsType = 0x01021994;
const maxFileBytes = 64 * 1024 * 1024;
const temporaryPrefix = '.sealed-';

/** Opens the directory, which is made with mode 0700 when it is missing. Throws with reason `state-unsafe` or `state-unusable`. */
export function openStateDirectory(path: string): StateDirectory {
  attempt(path, () => prepareDirectory(path));
  return {
    read: (name) => attempt(path, () => readOwnFile(join(path, name), (about) => isOurs(about) && (about.mode & 0o077) === 0)),
    replace: (name, content) => attempt(path, () => replaceFile(path, name, content)),
    remove: (name) => attempt(path, () => rmSync(join(path, name), { force: true })),
    removeTorn: () => attempt(path, () => removeTorn(path)),
  };
}

/** Throws with reason `state-unfit` where keys may not be. */
export function checkPlace(path: string, lookAt: (path: string) => Place = readPlace): void {
  const why = whyUnfit(attempt(path, () => lookAt(path)));
  if (why !== undefined) throw new SignetError('invalid', why, { reason: 'state-unfit', fields: { path } });
}

/** Why keys may not be in such a place; undefined where they may. */
export function whyUnfit({ type, isSwapOn, options }: Place): string | undefined {
  if (type !== tmpfsType) return 'the directory is not on a tmpfs';
  if (isSwapOn && !options.includes('noswap')) return 'swap is on, and the tmpfs has not the option noswap';
  return undefined;
}

function readPlace(path: string): Place {
  // proc(5): a line of heads, then one for each swap area.
  const isSwapOn = readFileSync('/proc/swaps', 'utf8').trim().includes('\n');
  const options = optionsOf(readFileSync('/proc/self/mountinfo', 'utf8'), statSync(path).dev);
  return { type: statfsSync(path).type, isSwapOn, options };
}

/** The options of the file system with this device number (makedev(3)), from proc_pid_mountinfo(5); none for one on a real device. */
export function optionsOf(mountinfo: string, device: number): readonly string[] {
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  const line = mountinfo.split('\n').find((each) => each.split(' ')[2] === `0:${minor}`);
  return line?.split(' - ')[1]?.split(' ')[2]?.split(',') ?? [];
}

function prepareDirectory(path: string): void {
  // Not closed like the directory itself: others stand beside it, such as that of the SDS socket.
  mkdirSync(dirname(path), { recursive: true });
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 });
  const about = lstatSync(path);
  if (!about.isDirectory() || !isOurs(about) || (about.mode & 0o077) !== 0 || foreignEntry(path) !== undefined) {
    throw unsafe('the state directory is open to others', path, about);
  }
}

function removeTorn(path: string): void {
  for (const name of readdirSync(path)) if (name.startsWith(temporaryPrefix)) rmSync(join(path, name), { force: true });
}

function isOurs({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}

/** A regular file in memory of its own; undefined when there is none. Throws with reason `state-unsafe` when `isSafe` says no. */
export function readOwnFile(path: string, isSafe: (about: Stats) => boolean): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw unsafe('a file of the state is a link', path, lstatSync(path));
    throw error;
  }
  try {
    const about = fstatSync(file);
    if (!about.isFile() || !isSafe(about)) throw unsafe('a file of the state is open to others', path, about);
    if (about.size > maxFileBytes) throw new SignetError('exhausted', 'too large', { reason: 'state-unusable', fields: { path } });
    const content = Buffer.allocUnsafeSlow(about.size);
    return content.subarray(0, readSync(file, content));
  } finally {
    closeSync(file);
  }
}

function replaceFile(path: string, name: string, content: Buffer): void {
  const temporary = join(path, temporaryPrefix + randomBytes(8).toString('hex'));
  try {
    // No fsync: a tmpfs is memory.
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, join(path, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function unsafe(message: string, path: string, { mode, uid }: Stats): SignetError {
  const fields: Fields = { path, mode: (mode & 0o7777).toString(8).padStart(4, '0'), owner: uid, uid: process.geteuid?.() };
  return new SignetError('denied', message, { reason: 'state-unsafe', fields });
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof SignetError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new SignetError('unavailable', 'the state directory cannot be used', {
      cause,
      reason: 'state-unusable',
      fields: { path, code },
    });
  }
}
