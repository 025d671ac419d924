// The root file system of the image: Signet, its Node, the C and C++ libraries of the Debian that builds, and nothing that starts
// another program. Called by image.mjs, for an engine and for an image without one.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { launchEnv } from './code-cache.mjs';
import { description, files, home, license, makeDirectory, productEntries, putEntries, root } from './tree.mjs';

/** Debian packages of which the image has the libraries. */
export const libraries = ['libc6', 'libgcc-s1', 'libstdc++6'];

/** No name of a user is asked for, but tools expect these. */
const accounts = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nsignet:x:65532:65532:signet:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nsignet:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/** What a container of the image runs with; of the OCI image configuration, "config". */
export const runtimeConfig = {
  User: '65532:65532',
  Env: Object.entries({ PATH: '/usr/bin', ...launchEnv() }).map(([name, value]) => `${name}=${value}`),
  Entrypoint: ['/usr/bin/signet'],
  WorkingDir: '/',
  Labels: {
    'org.opencontainers.image.title': 'signet',
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.licenses': license,
  },
};

const isNode = ([path]) => path === `${home}/bin/node`;

/** Each writes one part into the directory, which may have the others: layers of an image, the one that changes least first. */
export function writeBase(directory, node) {
  putEntries(directory, [
    ['lib', 0o777, { link: 'usr/lib' }],
    ['lib64', 0o777, { link: 'usr/lib64' }],
    ...libraries.flatMap(libraryEntries),
    ...Object.entries(accounts).map(([path, text]) => [path, 0o644, { text }]),
    ...productEntries(node).filter(isNode),
  ]);
  for (const path of ['dev', 'etc/signet', 'proc', 'run/signet', 'sys', 'tmp', 'usr/lib64', 'var/lib/signet'])
    makeDirectory(directory, path);
  chmodSync(join(directory, 'tmp'), 0o1777);
}

export function writeProduct(directory, node) {
  putEntries(directory, [
    ...productEntries(node).filter((entry) => !isNode(entry)),
    ['usr/bin/signet', 0o755, { file: join(root, 'packaging/image/signet') }],
  ]);
}

/** As that Node records it, which has to run here. */
export function writeCodeCache(directory, node) {
  const stage = mkdtempSync(join(tmpdir(), 'signet-code-cache-'));
  try {
    const dist = join(stage, 'dist');
    putEntries(
      stage,
      files.map((path) => [path, 0o644, { file: join(root, path) }]),
    );
    execFileSync(join(node, 'bin/node'), [join(root, 'packaging/code-cache.mjs'), dist], { stdio: 'inherit' });
    const recorded = readdirSync(join(dist, 'code-cache')).map((name) => `dist/code-cache/${name}`);
    putEntries(
      directory,
      recorded.map((path) => [`${home}/${path}`, 0o644, { file: join(stage, path) }]),
    );
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The shared libraries of an installed package, its licence, and its entry for scanners, where distroless images have it. */
function libraryEntries(name) {
  const query = (...args) => execFileSync('dpkg-query', [...args, name], { encoding: 'utf8' });
  const listed = query('--listfiles')
    .split('\n')
    .filter((path) => /^(?:\/usr)?\/lib(?:64)?\/(?:[^/]+\/)?[^/]+\.so(?:\.[0-9.]+)?$/.test(path) && existsSync(path));
  const found = new Map(listed.map((path) => [`${realpathSync(dirname(path)).slice(1)}/${path.split('/').at(-1)}`, path]));
  return [
    ...[...found].map(([path, file]) =>
      lstatSync(file).isSymbolicLink() ? [path, 0o777, { link: readlinkSync(file) }] : [path, 0o755, { file }],
    ),
    [`usr/share/doc/${name}/copyright`, 0o644, { text: readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8') }],
    [`var/lib/dpkg/status.d/${name}`, 0o644, { text: query('--status') }],
  ];
}
