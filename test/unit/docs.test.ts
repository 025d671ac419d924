// The generated pages say what their sources say, and what pages name is there.

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { blocksOf } from '../fixtures/page-blocks.js';

t.test('node docs/generate.mjs leaves no difference', async (t) => {
  const check = promisify(execFile)(process.execPath, ['docs/generate.mjs', '--check'], { timeout: 60_000 });
  await t.resolves(check);
});

const pages = ['.', 'docs', 'packaging', 'proto', 'systemd', 'test'].flatMap((directory) =>
  readdirSync(directory, { recursive: directory !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(directory, name)),
);

/** What a link into the page may end with: its headings, as they are written in addresses. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

t.test('links and paths in the pages lead to files, and to headings in them', (t) => {
  for (const known of ['SECURITY.md', 'docs/envoy.md', 'packaging/chart/README.md', 'test/cluster/suites.md'])
    t.ok(pages.includes(known), known);
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)) {
      const path = target === '' ? page : join(dirname(page), target);
      t.ok(existsSync(path), `${page}: ${target}`);
      if (anchor !== '') t.ok(anchorsOf(readFileSync(path, 'utf8')).has(anchor), `${page}: ${target}#${anchor}`);
    }
    for (const [, path = ''] of text.matchAll(/`((?:agent|docs|packaging|proto|systemd|test|\.ci)\/[\w./-]+)`/g))
      t.ok(existsSync(path), `${page}: ${path}`);
  }
  t.end();
});

t.test('an agent that is started by hand as docs/operations.md says has the environment of launch.env', async (t) => {
  const command = blocksOf('operations.md', 'Set up a node').find((block) => block.includes('signet.cjs agent')) ?? '';
  const path = t.testdir({ node: '#!/bin/sh\necho "$@"\nenv\n' });
  chmodSync(join(path, 'node'), 0o755);
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { PATH: `${path}:${process.env['PATH']}` }, timeout: 60_000 });
  const lines = stdout.split('\n');
  t.equal(lines[0], 'dist/signet.cjs agent');
  const settings = readFileSync('packaging/launch.env', 'utf8').match(/^[^#\n].*$/gm) ?? [];
  t.ok(settings.length > 0);
  for (const setting of settings) t.ok(lines.includes(setting), setting);
});
