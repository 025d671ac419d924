// `node packaging/deb.mjs DIRECTORY [REVISION]`, after `npm run build`: the Debian package of this tree and architecture, with a Node of
// its own. Needs npm and dpkg-deb. The same tree, SOURCE_DATE_EPOCH (default: the time of the last commit) and dpkg give the same bytes.
// The code cache is recorded where the package is installed, by its Node.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [directory, revision = '1'] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node packaging/deb.mjs DIRECTORY [REVISION]');
const { version, description, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
if (architecture === undefined) throw new Error(`no package for ${process.arch}`);
const epoch = process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();

const home = 'usr/lib/signet';
const doc = 'usr/share/doc/signet';

const stage = mkdtempSync(join(tmpdir(), 'signet-deb-'));
try {
  const node = installNode(join(stage, 'npm'));
  const tree = join(stage, 'tree');
  put(tree, readTree(node));
  putControl(tree);
  const deb = resolve(directory, `signet_${version}-${revision}_${architecture}.deb`);
  mkdirSync(dirname(deb), { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', '--threads-max=1', '--build', tree, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(deb);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Installs what the lock file names and gives the directory of the package. */
function installNode(prefix) {
  mkdirSync(prefix);
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, 'packaging/deb/node', name), join(prefix, name));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(prefix, 'node_modules', `node-linux-${process.arch}`);
}

/** What is installed: path, mode, and the file or the text that it is. */
function readTree(node) {
  const from = (path) => ({ file: join(root, path) });
  return [
    ...files.map((path) => [`${home}/${path}`, 0o644, from(path)]),
    // What the launcher of the code cache starts, with the pods that it starts it for.
    ...['packaging/code-cache.mjs', 'packaging/launch.env', 'packaging/launch-ca.env', 'docs/examples/pods.yaml'].map((path) => [
      `${home}/${path}`,
      0o644,
      from(path),
    ]),
    [`${home}/bin/node`, 0o755, { file: join(node, 'bin/node') }],
    ['usr/bin/signet', 0o755, from('packaging/deb/signet')],
    ...readdirSync(join(root, 'systemd')).map((name) => [`usr/lib/systemd/system/${name}`, 0o644, from(`systemd/${name}`)]),
    [`${doc}/systemd.md`, 0o644, from('docs/systemd.md')],
    [`${doc}/examples/agent.yaml`, 0o644, from('docs/examples/agent.yaml')],
    [`${doc}/examples/ca.yaml`, 0o644, from('docs/examples/ca.yaml')],
    [`${doc}/copyright`, 0o644, { text: readLicences(node) }],
  ];
}

function readLicences(node) {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const ofNode = readFileSync(join(node, 'LICENSE'), 'utf8');
  return `${own}\n\nPackages in the bundles: /${home}/dist/THIRD-PARTY-NOTICES.txt\n\n/${home}/bin/node, Node.js:\n\n${ofNode}`;
}

/** The umask counts for nothing: neither for directories. */
function put(tree, entries) {
  makeDirectory(tree, 'etc/signet');
  for (const [path, mode, { file, text }] of entries) {
    makeDirectory(tree, dirname(path));
    const target = join(tree, path);
    if (file === undefined) writeFileSync(target, text);
    else copyFileSync(file, target);
    chmodSync(target, mode);
  }
}

function makeDirectory(tree, path) {
  const parts = path.split('/');
  for (let length = 0; length <= parts.length; length += 1) {
    const each = join(tree, ...parts.slice(0, length));
    mkdirSync(each, { recursive: true });
    chmodSync(each, 0o755);
  }
}

function putControl(tree) {
  const installed = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(tree, join(parentPath, name)))
    .sort();
  const bytes = installed.reduce((sum, path) => sum + statSync(join(tree, path)).size, 0);
  const control = `Package: signet
Version: ${version}-${revision}
Architecture: ${architecture}
Maintainer: Signet maintainers <maintainers@signet.invalid>
Section: net
Priority: optional
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5)
Description: ${description}
 The node agent and the CA of Signet as units of systemd, with a Node.js of
 their own. Both do nothing until they have a configuration in /etc/signet.
`;
  const md5 = (path) =>
    createHash('md5')
      .update(readFileSync(join(tree, path)))
      .digest('hex');
  makeDirectory(tree, 'DEBIAN');
  const write = (name, mode, text) => {
    writeFileSync(join(tree, 'DEBIAN', name), text);
    chmodSync(join(tree, 'DEBIAN', name), mode);
  };
  write('control', 0o644, control);
  write('md5sums', 0o644, installed.map((path) => `${md5(path)}  ${path}\n`).join(''));
  for (const name of ['postinst', 'prerm', 'postrm']) write(name, 0o755, readFileSync(join(root, 'packaging/deb', name)));
}
