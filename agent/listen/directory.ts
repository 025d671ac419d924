// A directory in which others look for what is ours, such as a Unix socket: made when it is missing, refused when somebody else could
// replace what stands in it. Called by listen.ts before each bind, by the commands before they believe a socket, and by the local CA.

import type { Stats } from 'node:fs';
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SignetError } from '../runtime/errors.js';

/** `what` stands in it. Throws `invalid` for a directory that is not safe, `unavailable` for one that cannot be made. */
export function prepareDirectory(path: string, mode: number, what: 'socket' | 'root' = 'socket'): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) checkDirectory(path, found, what);
  const foreign = foreignEntry(path);
  if (foreign !== undefined) {
    throw new SignetError('invalid', `the directory of the ${what} stands in one that another user made`, { fields: { path: foreign } });
  }
  if (found === undefined) make(path, mode, what);
}

function checkDirectory(path: string, found: Stats, what: string): void {
  const fields = { path, mode: (found.mode & 0o7777).toString(8).padStart(4, '0'), uid: found.uid, gid: found.gid };
  const refuse = (message: string): SignetError => new SignetError('invalid', message, { fields });
  if (!found.isDirectory()) throw refuse(`the directory of the ${what} is no directory`);
  if (found.uid !== 0 && found.uid !== process.getuid?.()) throw refuse(`the directory of the ${what} belongs to another user`);
  if (isOpenToOthers(found)) throw refuse(`the directory of the ${what} can be changed by others`);
}

/**
 * The entry on the way to `path`, itself included, that somebody else than root and this user made in a directory that
 * all may write to, as /tmp is. Whoever made it can put there what they like.
 */
export function foreignEntry(path: string): string | undefined {
  for (let entry = path; entry !== dirname(entry); entry = dirname(entry)) {
    const above = statSync(dirname(entry), { throwIfNoEntry: false });
    if (above === undefined || (above.mode & 0o002) === 0) continue;
    const found = lstatSync(entry, { throwIfNoEntry: false });
    if (found !== undefined && found.uid !== 0 && found.uid !== process.getuid?.()) return entry;
  }
  return undefined;
}

function make(path: string, mode: number, what: string): void {
  try {
    makeWithParents(path, mode);
  } catch (error) {
    throw new SignetError('unavailable', `make the directory of the ${what}`, { cause: error, fields: { path } });
  }
}

// Not `recursive: true`: Node 20 never returns from it where a file system answers ENOENT, as procfs does.
function makeWithParents(path: string, mode: number): void {
  if (!existsSync(dirname(path))) makeWithParents(dirname(path), mode);
  mkdirSync(path, { mode });
  // The umask takes bits from what mkdir gives, not from what chmod does.
  chmodSync(path, mode);
}

// In a sticky directory, such as /tmp, only owners rename and delete.
function isOpenToOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
}
