// `node packaging/deb.mjs DIRECTORY [REVISION] [--node PACKAGE]`, after `npm run build`: the Debian package of this tree and architecture,
// with a Node of its own (--node: where it is installed already). Needs npm and dpkg-deb. The same tree, SOURCE_DATE_EPOCH (default: the
// time of the last commit) and dpkg give the same bytes. The code cache is recorded where the package is installed, by its Node.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  architecture,
  description,
  filesBelow,
  home,
  installNode,
  makeDirectory,
  productEntries,
  putEntries,
  recorder,
  root,
  sourceDateEpoch,
  version,
} from './tree.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { node: { type: 'string' } } });
const [directory, revision = '1'] = positionals;
if (directory === undefined) throw new Error('usage: node packaging/deb.mjs DIRECTORY [REVISION] [--node PACKAGE]');
if (architecture === undefined) throw new Error(`no package for ${process.arch}`);

const doc = 'usr/share/doc/signet';

const stage = mkdtempSync(join(tmpdir(), 'signet-deb-'));
try {
  const node = values.node ?? installNode(join(stage, 'npm'));
  const tree = join(stage, 'tree');
  makeDirectory(tree, 'etc/signet');
  putEntries(tree, entriesOf(node));
  putControl(tree);
  const deb = resolve(directory, `signet_${version}-${revision}_${architecture}.deb`);
  mkdirSync(dirname(deb), { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', '--threads-max=1', '--build', tree, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: sourceDateEpoch() },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(deb);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function entriesOf(node) {
  const from = (path) => ({ file: join(root, path) });
  return [
    ...productEntries(node),
    ...[...recorder, 'docs/examples/pods.yaml'].map((path) => [`${home}/${path}`, 0o644, from(path)]),
    ['usr/bin/signet', 0o755, from('packaging/deb/signet')],
    ...readdirSync(join(root, 'systemd')).map((name) => [`usr/lib/systemd/system/${name}`, 0o644, from(`systemd/${name}`)]),
    [`${doc}/systemd.md`, 0o644, from('docs/systemd.md')],
    ...['agent.yaml', 'ca.yaml', 'pods.yaml'].map((name) => [`${doc}/examples/${name}`, 0o644, from(`docs/examples/${name}`)]),
  ];
}

function putControl(tree) {
  const installed = filesBelow(tree);
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
