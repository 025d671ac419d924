// The notices of the third-party packages in the bundle, from esbuild's metafile: what is listed is what is shipped.
// Called by the build, which writes dist/THIRD-PARTY-NOTICES.txt. The copy in packaging/ is committed, so that a review
// sees what a change brings in; a test compares the two, `npm run notices` updates it.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const licenseFile = /^(licen[cs]e|notice|copying)([.-].*)?$/i;

/** Folders of the packages that have code in the outputs, relative to the repository, sorted. */
export function packagesInBundle(metafile) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
      if (match !== null && bytesInOutput > 0) folders.add(match[0]);
    }
  }
  return [...folders].sort();
}

// koffi's binary has code of the packages in its vendor folder compiled in.
function licenseTexts(folder) {
  const vendored = readdirSync(folder).includes('vendor') ? readdirSync(join(folder, 'vendor')).map((name) => join('vendor', name)) : [];
  return ['.', ...vendored].flatMap((inner) =>
    readdirSync(join(folder, inner))
      .filter((name) => licenseFile.test(name))
      .sort()
      .map((name) => {
        const text = readFileSync(join(folder, inner, name), 'utf8')
          .replaceAll('\r\n', '\n')
          .trim();
        return inner === '.' ? text : `(part of the binary: ${inner})\n\n${text}`;
      }),
  );
}

/** The text of THIRD-PARTY-NOTICES. Throws when a package has no licence field or no licence text. */
export function formatNotices(root, folders) {
  const entries = folders.map((folder) => {
    const { name, version, license, homepage } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const texts = licenseTexts(join(root, folder));
    if (typeof license !== 'string' || texts.length === 0) throw new Error(`${name} ${version} has no licence: do not ship it`);
    const title = `${name} ${version}, ${license}${homepage === undefined ? '' : `, ${homepage}`}`;
    return [title, '-'.repeat(title.length), ...texts].join('\n\n');
  });
  return `Signet contains the following third-party packages.\n\n${entries.join('\n\n\n')}\n`;
}

/** `name@version` of each package that such a text lists. */
export function packagesInNotices(text) {
  return Array.from(text.matchAll(/^(\S+) (\S+), .*\n\n-+$/gm), ([, name, version]) => `${name}@${version}`);
}
