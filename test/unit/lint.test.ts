// Proves that each rule of .oxlintrc.json fires: test/fixtures/lint is a small tree of its own, linted with the real
// configuration; the first line of each file names the one rule that it breaks, or "fires nothing".

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

interface Rules {
  readonly rules: Readonly<Record<string, unknown>>;
}

const lines = (count: number, line: string): string => `${line}\n`.repeat(count);

/** Fixtures whose fault is their size. */
const longFiles: Readonly<Record<string, string>> = {
  'agent/cache/long-file.ts': `// fires: eslint(max-lines)\n${lines(400, 'export {};')}`,
  'agent/cache/long-function.ts': `// fires: eslint(max-lines-per-function)\nexport const f = (log: (n: number) => void): void => {\n${lines(100, '  log(1);')}};\n`,
};

/** The fixtures as a repository, with the same configuration, rules and compiler settings. Outside the tree, whose .gitignore oxlint would heed. */
function layOut(): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-lint-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync('test/fixtures/lint', directory, { recursive: true });
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'packaging/lint-rules.mjs']) cpSync(file, join(directory, file));
  for (const [file, text] of Object.entries(longFiles)) writeFileSync(join(directory, file), text);
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  return directory;
}

const directory = layOut();
const expected = new Map(
  readdirSync(join(directory, 'agent'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const file = join('agent', name);
      const header = readFileSync(join(directory, file), 'utf8').split('\n')[0] ?? '';
      return [file, /^\/\/ fires: (\S+)$/.exec(header)?.[1] ?? 'nothing'];
    }),
);

t.test('each fixture breaks the rule that it names, and no other', (t) => {
  // tap gives every Node that a test starts its own loaders by NODE_OPTIONS, and oxlint does not run under them.
  const command = ['-u', 'NODE_OPTIONS', resolve('node_modules/.bin/oxlint'), '--type-aware', '--format=json', '--deny-warnings', 'agent'];
  const { stdout, stderr, status } = spawnSync('env', command, { cwd: directory, encoding: 'utf8' });
  t.equal(status, 1, stderr);
  const found = new Map<string, Set<string>>();
  for (const { filename, code } of (JSON.parse(stdout) as Report).diagnostics) {
    found.set(filename, (found.get(filename) ?? new Set()).add(code));
  }
  for (const [file, rule] of expected) t.equal([...(found.get(file) ?? ['nothing'])].join(', '), rule, file);
  t.end();
});

t.test('every rule that the configuration names has a fixture', (t) => {
  const { rules, overrides } = JSON.parse(readFileSync('.oxlintrc.json', 'utf8')) as Rules & { readonly overrides: readonly Rules[] };
  const fired = new Set([...expected.values()].map((rule) => /\((\S+)\)$/.exec(rule)?.[1]));
  for (const [rule, setting] of [rules, ...overrides.map((override) => override.rules)].flatMap((set) => Object.entries(set))) {
    if (setting !== 'off') t.ok(fired.has(rule.replace(/^.*\//, '')), rule);
  }
  t.end();
});
