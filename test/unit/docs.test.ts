// The generated pages say what their sources say, and what pages name is there.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

t.test('node docs/generate.mjs leaves no difference', async (t) => {
  const check = promisify(execFile)(process.execPath, ['docs/generate.mjs', '--check'], { timeout: 60_000 });
  await t.resolves(check);
});

const pages = ['.', 'docs', 'docs/clients', 'docs/decisions', 'docs/runbooks', 'packaging/monitoring'].flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(directory, name)),
);

t.test('links and paths in the pages lead to files', (t) => {
  t.ok(pages.includes('SECURITY.md') && pages.includes('docs/envoy.md'));
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g))
      t.ok(existsSync(join(dirname(page), target)), `${page}: ${target}`);
    for (const [, path = ''] of text.matchAll(/`((?:agent|docs|packaging|proto|systemd|test|\.ci)\/[\w./-]+)`/g))
      t.ok(existsSync(path), `${page}: ${path}`);
  }
  t.end();
});
