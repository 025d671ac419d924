// What a package of Signet has in it, and trees of files for tools that pack them. Called by deb.mjs, image.mjs and release.mjs, after
// `npm run build`. What they make depends on the commit alone: neither on the directory, nor the umask, nor the time of day.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const { version, description, license, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** As Debian and OCI call it; undefined where there is no package. */
export const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];

/** What records the code cache where a package is installed, beside the pods of docs/examples. */
export const recorder = ['packaging/code-cache.mjs', 'packaging/launch.env', 'packaging/launch-ca.env'];

/** Where Signet is in every package. */
export const home = 'usr/lib/signet';

/** Seconds since 1970 for every time in a package: SOURCE_DATE_EPOCH, else that of the last commit. */
export function sourceDateEpoch() {
  return process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
}

/** Installs the Node that the lock file names, below the directory, and gives the directory of its package. */
export function installNode(prefix) {
  mkdirSync(prefix);
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, 'packaging/node', name), join(prefix, name));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(prefix, 'node_modules', `node-linux-${process.arch}`);
}

/** Paths of the regular files below a directory, relative to it, in order. */
export function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .sort();
}

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** An entry is [path, mode, { file } or { text } or { link }]. These are the bundle, a Node, and the licences of both. */
export function productEntries(node) {
  return [
    ...files.map((path) => [`${home}/${path}`, 0o644, { file: join(root, path) }]),
    [`${home}/bin/node`, 0o755, { file: join(node, 'bin/node') }],
    ['usr/share/doc/signet/copyright', 0o644, { text: licences(node) }],
  ];
}

function licences(node) {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const ofNode = readFileSync(join(node, 'LICENSE'), 'utf8');
  return `${own}\n\nPackages in the bundles: /${home}/dist/THIRD-PARTY-NOTICES.txt\n\n/${home}/bin/node, Node.js:\n\n${ofNode}`;
}

/** Writes the entries below the directory, which may have others. */
export function putEntries(tree, entries) {
  for (const [path, mode, { file, text, link }] of entries) {
    makeDirectory(tree, dirname(path));
    const target = join(tree, path);
    if (link !== undefined) {
      symlinkSync(link, target);
      continue;
    }
    if (file === undefined) writeFileSync(target, text);
    else copyFileSync(file, target);
    chmodSync(target, mode);
  }
}

/** Makes it and what is above it, 0755 each. */
export function makeDirectory(tree, path) {
  const parts = path.split('/');
  for (let length = 0; length <= parts.length; length += 1) {
    const each = join(tree, ...parts.slice(0, length));
    mkdirSync(each, { recursive: true });
    chmodSync(each, 0o755);
  }
}

/** A tar archive of what is in the directory, or of one member of it: owned by root, in the order of names, every time the same. */
export function tarOf(directory, epoch, member = '.', ...options) {
  const fixed = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
  return execFileSync('tar', ['--create', ...fixed, ...options, '--directory', directory, member], { maxBuffer: 1024 * 1024 * 1024 });
}
