// Images without an engine: a tar archive of an OCI image layout (image-spec v1.1, image-layout.md), which skopeo, podman and docker
// read and push. Called by image.mjs. The same layers and the same zlib give the same bytes.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sha256, tarOf } from './tree.mjs';

const mediaType = (what) => `application/vnd.oci.image.${what}`;

/**
 * Gives the archive. `layers` are directories, the lowest first; `config` is what a container runs with; `directory` is for what is
 * written meanwhile.
 */
export function imageLayout({ directory, layers, config, architecture, reference, epoch }) {
  mkdirSync(join(directory, 'blobs/sha256'), { recursive: true });
  const created = new Date(Number(epoch) * 1000).toISOString();
  const blob = (what, bytes) => {
    const digest = sha256(bytes);
    writeFileSync(join(directory, 'blobs/sha256', digest), bytes, { mode: 0o644 });
    return { mediaType: mediaType(what), digest: `sha256:${digest}`, size: bytes.length };
  };
  const json = (what, value) => blob(what, Buffer.from(JSON.stringify(value)));
  const archives = layers.map((layer) => tarOf(layer, epoch));
  const image = {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: archives.map((archive) => `sha256:${sha256(archive)}`) },
    history: layers.map(() => ({ created, created_by: 'packaging/image.mjs' })),
  };
  const manifest = json('manifest.v1+json', {
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config: json('config.v1+json', image),
    layers: archives.map((archive) => blob('layer.v1.tar+gzip', gzipSync(archive))),
  });
  const index = {
    schemaVersion: 2,
    mediaType: mediaType('index.v1+json'),
    manifests: [{ ...manifest, platform: { architecture, os: 'linux' }, annotations: { 'org.opencontainers.image.ref.name': reference } }],
  };
  writeFileSync(join(directory, 'index.json'), JSON.stringify(index), { mode: 0o644 });
  writeFileSync(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }), { mode: 0o644 });
  return { archive: tarOf(directory, epoch, '.', '--mode=u=rwX,go=rX'), digest: manifest.digest };
}
