// `node packaging/image.mjs DIRECTORY [--code-cache] [--node PACKAGE]`, after `npm run build` on Debian: the image of this tree and
// architecture as an archive that needs no engine to be pushed (--node: where its Node is installed already). With --root: only its root
// file system, in DIRECTORY, for the Dockerfile. Two builds of one commit beside the same Debian packages give the same bytes, but for the
// code cache, which makes a start shorter and is a layer of its own.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { imageLayout } from './image-layout.mjs';
import { runtimeConfig, writeBase, writeCodeCache, writeProduct } from './image-root.mjs';
import { architecture, installNode, sourceDateEpoch, version } from './tree.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'code-cache': { type: 'boolean', default: false },
    'node': { type: 'string' },
    'root': { type: 'boolean', default: false },
  },
});
const [directory] = positionals;
if (directory === undefined) throw new Error('usage: node packaging/image.mjs DIRECTORY [--code-cache] [--node PACKAGE] [--root]');
if (architecture === undefined) throw new Error(`no image for ${process.arch}`);

const stage = mkdtempSync(join(tmpdir(), 'signet-image-'));
try {
  const node = values.node ?? installNode(join(stage, 'npm'));
  const parts = [writeBase, writeProduct, ...(values['code-cache'] ? [writeCodeCache] : [])];
  if (values.root) for (const write of parts) write(resolve(directory), node);
  else writeArchive(parts.map((write) => layerOf(write, node)));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function layerOf(write, node) {
  const layer = join(stage, write.name);
  write(layer, node);
  return layer;
}

function writeArchive(layers) {
  const { archive, digest } = imageLayout({
    directory: join(stage, 'layout'),
    layers,
    config: runtimeConfig,
    architecture,
    reference: version,
    epoch: sourceDateEpoch(),
  });
  const file = resolve(directory, `signet-${version}-${architecture}.oci.tar`);
  mkdirSync(resolve(directory), { recursive: true });
  writeFileSync(file, archive);
  console.log(`${file}\n${digest}`);
}
