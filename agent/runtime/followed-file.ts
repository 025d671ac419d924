// Follows the content of one file: pods, roots, issuers and configuration are read through it.
// Promises: each change is delivered once, usually within a few ms and at the latest after one poll; whatever happens to
// the file or its directory, following goes on; no bytes of the content are kept, only their hash.

import { createHash } from 'node:crypto';
import { constants, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { createBell } from './bell.js';
import type { ErrorKind } from './errors.js';
import { SignetError } from './errors.js';
import type { Logger } from './log.js';
import { errorFields } from './log.js';
import type { Clock } from './time.js';

export interface FollowedFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: {
    /** Files that are polled alone, as their directory cannot be watched. */
    readonly filesPolled: { inc(): void; dec(): void };
  };
  /** A larger file is not read but an error of kind `exhausted`. Default 16 MiB. */
  readonly maxBytes?: number;
}

/** The bytes, which the receiver owns and may wipe, or why there are none: `notFound`, `denied`, `exhausted`, `invalid`, `unavailable`. */
export type FileContent = Buffer | SignetError;

export interface FollowedFile {
  /** Reads at once, then follows until the signal aborts. Rejects only when the receiver throws. */
  run(signal: AbortSignal): Promise<void>;
}

// The watch misses what happens behind symlinks into other directories, on network file systems and before the directory
// exists; reading every few seconds finds all of it.
const pollMs = 5_000;

// Many writers create or truncate and then write, and editors move the old file away before the new one is in place. A file
// that is empty, or after content gone or unreadable, is therefore read again after this pause before anybody is told. Any
// other half-written state is delivered as it is: a receiver that cannot use it keeps what it had, and the rest of the write
// is the next event.
const confirmMs = 250;

/**
 * Follows a file through edits in place, replacement by rename, symlink swaps (Kubernetes volumes), deletion and return.
 * `onContent` gets the first read, then each read that differs from the one delivered before. An error is such a
 * difference: content that comes back unchanged after an error is delivered again.
 */
export function followFile(options: FollowedFileOptions, onContent: (content: FileContent) => void): FollowedFile {
  const { clock, log, metrics, maxBytes = 16 * 1024 * 1024 } = options;
  const path = resolve(options.path);
  return {
    async run(signal) {
      const bell = createBell(clock, signal);
      const directory = watchDirectory(path, { log, metrics }, bell.ring);
      let delivered = { key: '', lost: true };
      let doubtedAt: number | undefined;
      try {
        while (!signal.aborted) {
          // Armed before the read, so that no change falls between the two.
          await directory.arm();
          const { content, ...read } = await readOnce(path, maxBytes);
          const now = clock.monotonic();
          if (signal.aborted || read.key === delivered.key) {
            doubtedAt = undefined;
            // It may be a private key, and nobody else will wipe this copy.
            if (Buffer.isBuffer(content)) content.fill(0);
          } else if (read.lost && (Buffer.isBuffer(content) || !delivered.lost) && now - (doubtedAt ?? now) < confirmMs) {
            doubtedAt ??= now;
          } else {
            doubtedAt = undefined;
            delivered = read;
            onContent(content);
          }
          await bell.wait(doubtedAt === undefined ? pollMs : doubtedAt + confirmMs - now);
        }
      } finally {
        directory.close();
      }
    },
  };
}

interface Read {
  readonly content: FileContent;
  /** Equal for equal reads. */
  readonly key: string;
  /** There are no bytes: an error, or an empty file. */
  readonly lost: boolean;
}

async function readOnce(path: string, maxBytes: number): Promise<Read> {
  try {
    const content = await readRegularFile(path, maxBytes);
    return { content, key: createHash('sha256').update(content).digest('base64'), lost: content.length === 0 };
  } catch (error) {
    const content = toSignetError(error, path);
    return { content, key: `${content.kind} ${content.message}`, lost: true };
  }
}

/** The whole content, for whoever needs it once: a file that is not regular, too large or changing is an error, never a wait. */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  // Non-blocking: opening a FIFO would otherwise wait for its writer and hold a thread for good.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile()) throw new SignetError('invalid', 'not a regular file', { fields: { path } });
    if (about.size > maxBytes) throw new SignetError('exhausted', 'file is too large', { fields: { path, maxBytes } });
    // Not from the shared pool, so that a receiver that wipes its buffer wipes the only copy; one byte more shows growth.
    const buffer = Buffer.alloc(about.size + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    // Half of something; in doubt until the event of that write, or the pause, has it read again.
    if (bytesRead !== about.size) throw new SignetError('unavailable', 'file changed while it was read', { fields: { path } });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const kindsByCode: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  EACCES: 'denied',
  EPERM: 'denied',
};

function toSignetError(error: unknown, path: string): SignetError {
  if (error instanceof SignetError) return error;
  const code = String((error as NodeJS.ErrnoException).code);
  const kind = kindsByCode[code] ?? 'unavailable';
  const message = kind === 'notFound' ? 'file does not exist' : kind === 'denied' ? 'file may not be read' : 'file cannot be read';
  return new SignetError(kind, message, { cause: error, fields: { path, code } });
}

interface DirectoryWatch {
  /** Watches the directory that is at the path now; does nothing when that one is watched already. */
  arm(): Promise<void>;
  close(): void;
}

type Reports = Pick<FollowedFileOptions, 'log' | 'metrics'>;

/** Calls `onEvent` for events that may change what `path` reads as; polling covers the rest, and the lack of a watch. */
function watchDirectory(path: string, { log, metrics }: Reports, onEvent: () => void): DirectoryWatch {
  const directory = dirname(path);
  let watcher: FSWatcher | undefined;
  let watched: string | undefined;
  let failing = false;
  const setFailing = (fails: boolean): void => {
    if (fails !== failing) metrics.filesPolled[fails ? 'inc' : 'dec']();
    failing = fails;
  };
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
    watched = undefined;
  };
  const fail = (error: unknown): void => {
    close();
    if (!failing) log.warn('cannot watch a directory, polling its file instead', { directory, ...errorFields(error) });
    setFailing(true);
  };
  const onChange = (event: string, name: string | null): void => {
    // The directory itself went away (inotify names it in its own watch); its inode number may come back in a new one.
    if (event === 'rename' && name === basename(directory)) close();
    // Kubernetes volumes swap the symlink ..data, to which the file's own symlink leads.
    else if (name !== null && name !== basename(path) && !name.startsWith('..')) return;
    onEvent();
  };
  return {
    async arm() {
      const found = await stat(directory).then(
        ({ dev, ino }) => `${dev}:${ino}`,
        () => undefined,
      );
      if (found === watched && watcher !== undefined) return;
      close();
      // Its absence is told by the read of the file.
      if (found === undefined) return;
      try {
        watcher = watch(directory, onChange).on('error', fail);
        watched = found;
        setFailing(false);
      } catch (error) {
        fail(error);
      }
    },
    close() {
      close();
      setFailing(false);
    },
  };
}
