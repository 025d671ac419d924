// The committed notices are those of the bundle, and a package that must not ship stops the build.

import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';

interface Notices {
  packagesInBundle(metafile: {
    readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { bytesInOutput: number }>> }>>;
  }): string[];
  formatNotices(root: string, folders: readonly string[]): string;
}

const { packagesInBundle, formatNotices } = (await import(pathToFileURL(resolve('packaging/notices.mjs')).href)) as Notices;

function repository(t: Test, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'signet-notices-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

t.test('the committed notices are those of the bundle; `npm run notices` updates them', (t) => {
  t.equal(readFileSync('packaging/THIRD-PARTY-NOTICES.txt', 'utf8'), readFileSync('dist/THIRD-PARTY-NOTICES.txt', 'utf8'));
  t.end();
});

t.test('packages are taken from what is in the output, nested ones too', (t) => {
  const inputs = {
    'agent/cli.ts': { bytesInOutput: 10 },
    'node_modules/yaml/dist/index.js': { bytesInOutput: 10 },
    'node_modules/yaml/dist/other.js': { bytesInOutput: 10 },
    'node_modules/@grpc/grpc-js/build/index.js': { bytesInOutput: 10 },
    'node_modules/@grpc/proto-loader/node_modules/protobufjs/index.js': { bytesInOutput: 10 },
    'node_modules/shaken-off/index.js': { bytesInOutput: 0 },
  };
  t.same(packagesInBundle({ outputs: { 'dist/signet-main.cjs': { inputs } } }), [
    'node_modules/@grpc/grpc-js',
    'node_modules/@grpc/proto-loader/node_modules/protobufjs',
    'node_modules/yaml',
  ]);
  t.end();
});

t.test('every licence text of a package is there, also of code compiled into its binary', (t) => {
  const root = repository(t, {
    'node_modules/a/package.json': '{"name": "a", "version": "1.2.3", "license": "MIT", "homepage": "https://a.example"}',
    'node_modules/a/LICENSE.md': 'licence of a\r\nsecond line\r\n',
    'node_modules/a/NOTICE': 'notice of a',
    'node_modules/a/licensed.js': 'no text',
    'node_modules/a/vendor/b/COPYING': 'licence of b',
  });
  const text = formatNotices(root, ['node_modules/a']);
  for (const part of ['a 1.2.3, MIT, https://a.example\n', 'licence of a\nsecond line\n', 'notice of a', 'licence of b'])
    t.match(text, part);
  t.notMatch(text, 'no text');
  t.end();
});

t.test('a package without a licence does not ship', (t) => {
  const root = repository(t, {
    'node_modules/no-text/package.json': '{"name": "no-text", "version": "1.0.0", "license": "MIT"}',
    'node_modules/no-field/package.json': '{"name": "no-field", "version": "1.0.0"}',
    'node_modules/no-field/LICENSE': 'text',
  });
  for (const folder of ['node_modules/no-text', 'node_modules/no-field']) t.throws(() => formatNotices(root, [folder]), /has no licence/);
  t.end();
});
