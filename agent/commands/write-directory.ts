// Writes a set of files into a directory so that a reader sees all of the old ones or all of the new ones.
// Used by `signet fetch --write`. The way of the kubelet's projected volumes: the files are links through `..data`,
// and one rename of that link switches them together. A plain file of the user's is never replaced.

import { chmod, lstat, mkdir, mkdtemp, open, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SignetError } from '../runtime/errors.js';

export interface FileToWrite {
  readonly name: string;
  readonly content: Buffer;
  /** 0600 for keys, 0644 for what is public. */
  readonly mode: number;
}

const current = '..data';

/** Makes the directory (0755) when it is absent. Throws `conflict` when a name in it is taken by something else. */
export async function writeDirectory(directory: string, files: readonly FileToWrite[]): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    for (const file of files) await checkFree(join(directory, file.name), file.name);
    const before = await linkTarget(join(directory, current));
    const fresh = await mkdtemp(join(directory, '..signet-'));
    await chmod(fresh, 0o755);
    for (const file of files) await writeSynced(join(fresh, file.name), file);
    const swap = join(fresh, current);
    await symlink(basename(fresh), swap);
    await rename(swap, join(directory, current));
    for (const file of files) {
      if ((await linkTarget(join(directory, file.name))) === undefined) await symlink(join(current, file.name), join(directory, file.name));
    }
    if (before?.startsWith('..signet-') === true) await rm(join(directory, before), { recursive: true, force: true });
  } catch (error) {
    if (error instanceof SignetError) throw error;
    throw new SignetError('unavailable', 'cannot write the files', { cause: error, fields: { directory } });
  }
}

async function writeSynced(path: string, file: FileToWrite): Promise<void> {
  const handle = await open(path, 'wx', file.mode);
  try {
    await handle.chmod(file.mode);
    await handle.writeFile(file.content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // Absent, or no link: checkFree has told the two apart where it matters.
    if (['ENOENT', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function checkFree(path: string, name: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return;
  if ((await linkTarget(path)) !== join(current, name)) {
    throw new SignetError('conflict', 'a file of this name is there already and was not written by signet; give another directory', {
      fields: { path },
    });
  }
}
