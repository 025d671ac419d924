// `node packaging/release.mjs DIRECTORY [--no-audit] [--no-commit]`, after `npm ci`, on Debian: all that a release has, for the
// architecture of this machine, with checksums. Two runs on one commit, in whatever directory, give the same bytes. It refuses a tree with
// other changes. --no-audit: for a registry that gives no advisories; --no-commit: for a tree outside of git, with SOURCE_DATE_EPOCH.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { auditPackages } from './release-audit.mjs';
import { formatSbom, shippedPackages } from './release-sbom.mjs';
import {
  architecture,
  files,
  filesBelow,
  installNode,
  putEntries,
  recorder,
  root,
  sha256,
  sourceDateEpoch,
  tarOf,
  version,
} from './tree.mjs';

const flag = { type: 'boolean', default: false };
const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'no-audit': flag, 'no-commit': flag } });
if (positionals[0] === undefined) throw new Error('usage: node packaging/release.mjs DIRECTORY [--no-audit] [--no-commit]');
const directory = resolve(positionals[0]);

if (!values['no-commit']) checkTree();
checkVersions();
mkdirSync(directory);
const epoch = sourceDateEpoch();
const stage = mkdtempSync(join(tmpdir(), 'signet-release-'));
try {
  run('npm', 'run', '--silent', 'build');
  if (!values['no-audit']) for (const line of auditPackages(shippedPackages())) console.log(`not shipped, ${line}`);
  pack(`signet-${version}-linux-${architecture}.tar.gz`, `signet-${version}`, bundle());
  pack(`signet-${version}.tgz`, 'signet', chart());
  const node = installNode(join(stage, 'npm'));
  run(process.execPath, 'packaging/deb.mjs', directory, '--node', node);
  run(process.execPath, 'packaging/image.mjs', directory, '--node', node);
  write(`signet-${version}-${architecture}.cdx.json`, formatSbom(node, epoch));
  write('THIRD-PARTY-NOTICES.txt', readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt')));
  write('SHA256SUMS', readdirSync(directory).sort().map(checksum).join(''));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** What is released is a commit. */
function checkTree() {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changes !== '') throw new Error(`the tree is not that of a commit:\n${changes}`);
}

/** The version stands in several files, whose readers know no other place. */
function checkVersions() {
  const text = (path) => readFileSync(join(root, path), 'utf8');
  const chart = parse(text('packaging/chart/Chart.yaml'));
  const tag = (path) => parse(text(path)).images[0].newTag;
  const found = {
    'package-lock.json': JSON.parse(text('package-lock.json')).version,
    'packaging/chart/Chart.yaml': chart.version,
    'packaging/chart/Chart.yaml, appVersion': chart.appVersion,
    ...Object.fromEntries(
      ['base', 'components/ca'].map((name) => `packaging/kustomize/${name}/kustomization.yaml`).map((path) => [path, tag(path)]),
    ),
  };
  const wrong = Object.entries(found).filter(([, each]) => each !== version);
  if (wrong.length > 0) throw new Error(`package.json has ${version}:\n${wrong.map(([path, each]) => `${path} has ${each}`).join('\n')}`);
}

/** What runs on a Node that is there, with the launch settings, units and examples for it. */
function bundle() {
  const below = ['systemd', 'docs/examples'].flatMap((path) => filesBelow(join(root, path)).map((file) => `${path}/${file}`));
  return [...files, 'LICENSE', ...recorder, ...below].map((path) => [path, path]);
}

/** [name in the archive, path in the tree] of each file. */
function chart() {
  const path = 'packaging/chart';
  return filesBelow(join(root, path)).map((file) => [file, `${path}/${file}`]);
}

function pack(name, top, entries) {
  const tree = mkdtempSync(join(stage, 'tree-'));
  putEntries(
    tree,
    entries.map(([path, file]) => [`${top}/${path}`, 0o644, { file: join(root, file) }]),
  );
  write(name, gzipSync(tarOf(tree, epoch, top)));
}

function write(name, content) {
  writeFileSync(join(directory, name), content);
  chmodSync(join(directory, name), 0o644);
}

/** As `sha256sum --check` reads it. */
function checksum(name) {
  return `${sha256(readFileSync(join(directory, name)))}  ${name}\n`;
}

function run(command, ...args) {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, SOURCE_DATE_EPOCH: epoch } });
}
