// The bill of materials of a release, CycloneDX 1.5: the packages that are in the bundle, as npm describes them, Node, and the Debian
// packages of the image. Called by release.mjs after the build. It has neither the time of day nor a random name in it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraries } from './image-root.mjs';
import { packagesInNotices } from './notices.mjs';
import { architecture, root, sha256 } from './tree.mjs';

/** `name@version` of all that is in the bundle. Koffi's binary is a package of its own, whose licence is that of Koffi. */
export function shippedPackages() {
  const packages = packagesInNotices(readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8'));
  const koffi = packages.find((name) => name.startsWith('koffi@'));
  return [...packages, `@koromix/koffi-linux-${process.arch}${koffi.slice('koffi'.length)}`];
}

/** The document, as text. `node` is the directory of the Node that ships, `epoch` the time of it. */
export function formatSbom(node, epoch) {
  // --omit=dev would leave out what packages for the build need as well: yaml, protobufjs.
  const output = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { serialNumber: _, metadata, components, dependencies, ...head } = JSON.parse(output);
  const shipped = new Set(shippedPackages());
  const ofBundle = components.filter((component) => shipped.has(component['bom-ref']));
  const missing = [...shipped].filter((ref) => !ofBundle.some((component) => component['bom-ref'] === ref));
  if (missing.length > 0) throw new Error(`npm sbom does not know ${missing.join(', ')}`);
  const others = [nodeComponent(node), ...libraries.map(debianComponent)];
  const own = metadata.component['bom-ref'];
  const refs = new Set([own, ...shipped]);
  const edges = dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: [...dependsOn.filter((name) => refs.has(name)), ...(ref === own ? others.map((component) => component['bom-ref']) : [])],
    }));
  const document = {
    ...head,
    metadata: {
      ...metadata,
      timestamp: new Date(Number(epoch) * 1000).toISOString(),
      // npm takes the name of the directory for that of a private package.
      component: { ...metadata.component, name: 'signet' },
    },
    components: [...ofBundle, ...others],
    dependencies: edges,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function nodeComponent(node) {
  const { version } = JSON.parse(readFileSync(join(node, 'package.json'), 'utf8'));
  const content = sha256(readFileSync(join(node, 'bin/node')));
  return {
    'bom-ref': `node@${version}`,
    'type': 'platform',
    'name': 'node',
    version,
    'purl': `pkg:generic/node@${version}`,
    'cpe': `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    'hashes': [{ alg: 'SHA-256', content }],
    'licenses': [{ license: { id: 'MIT' } }],
  };
}

function debianComponent(name) {
  const version = execFileSync('dpkg-query', ['--show', '--showformat=${Version}', name], { encoding: 'utf8' });
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { 'bom-ref': `${name}@${version}`, 'type': 'library', name, version, purl };
}
