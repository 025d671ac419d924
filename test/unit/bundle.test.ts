// What ships works alone: a copy of dist/ far from node_modules runs; the code cache is used where it fits and harmless
// where it does not; a second build gives the same bytes. Needs `npm run build`, which `npm test` runs first.

import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import t from 'tap';

const shipped = ['signet.cjs', 'signet-main.cjs', 'koffi.node', 'THIRD-PARTY-NOTICES.txt'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const environment = (directory: string): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], HOME: directory, XDG_RUNTIME_DIR: directory });

function temporaryDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-bundle-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A copy of what ships, where no node_modules is found on the way up. */
function install(t: Test, files: readonly string[] = shipped): string {
  const directory = temporaryDirectory(t);
  for (const file of files) cpSync(join('dist', file), join(directory, file), { recursive: true });
  return directory;
}

/** Runs to the end, without the loaders that tap gives every Node that a test starts, by NODE_OPTIONS. */
const run = (directory: string, ...command: readonly string[]) =>
  spawnSync('env', ['-u', 'NODE_OPTIONS', ...command], { cwd: directory, env: environment(directory), encoding: 'utf8' });

const runVersion = (directory: string) => run(directory, join(directory, 'signet.cjs'), 'version');

/** Resolves with the first line of the output that matches. */
async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) if (pattern.test(line)) return line;
  throw new Error(`ended without ${String(pattern)}`);
}

t.test('a copy without node_modules runs', async (t) => {
  const directory = install(t);
  t.match(runVersion(directory), { status: 0, stdout: version, stderr: '' });

  cpSync('docs/examples/pods.yaml', join(directory, 'pods.yaml'));
  const command = ['-u', 'NODE_OPTIONS', join(directory, 'signet.cjs'), 'dev', '--pods', 'pods.yaml', '--http-address', '127.0.0.1:0'];
  const dev = spawn('env', command, { cwd: directory, env: environment(directory), stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => dev.kill('SIGKILL'));
  const socket = (await lineOf(dev, /sds\.sock/)).trim().split(/\s+/).at(-1) ?? '';
  t.ok(statSync(socket).isSocket(), socket);
  const exit = once(dev, 'exit');
  dev.kill('SIGTERM');
  t.same(await exit, [0, null]);
});

t.test('the largest pods file in yaml is read within the memory of the shipped launch', async (t) => {
  const directory = install(t);
  const pod = (index: number): string => `- apiVersion: v1
  kind: Pod
  metadata: {name: p${index}, namespace: shop, labels: {app: a, tier: b, zone: c}}
  spec: {serviceAccountName: s${index % 20}, containers: [{name: a, image: b, env: [{name: A, value: B}, {name: C, value: D}]}]}
`;
  const largest = 2 * 1024 * 1024 - 1024;
  let text = 'apiVersion: v1\nkind: List\nitems:\n';
  for (let index = 0; text.length < largest; index += 1) text += pod(index);
  writeFileSync(join(directory, 'pods.yaml'), text);
  const launch = [...readFileSync('packaging/launch.env', 'utf8').matchAll(/^[A-Z_]+=.*$/gm)].map(([setting]) => setting);
  const command = [
    ...launch,
    process.execPath,
    join(directory, 'signet.cjs'),
    'dev',
    '--pods',
    'pods.yaml',
    '--http-address',
    '127.0.0.1:0',
  ];
  const dev = spawn('env', command, { cwd: directory, env: environment(directory), stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => dev.kill('SIGKILL'));
  t.match(await lineOf(dev, /serves/), '20 identities');
});

t.test('the code cache is recorded, and V8 takes it', (t) => {
  const { status, stderr } = run(temporaryDirectory(t), process.execPath, resolve('packaging/code-cache.mjs'));
  t.equal(status, 0, stderr);
  t.end();
});

t.test('a code cache that does not fit changes nothing', (t) => {
  const directory = install(t, [...shipped, 'code-cache']);
  t.match(runVersion(directory), { status: 0, stdout: version, stderr: '' });
  for (const name of readdirSync(join(directory, 'code-cache'))) writeFileSync(join(directory, 'code-cache', name), 'no code cache');
  t.match(runVersion(directory), { status: 0, stdout: version, stderr: '' });
  t.end();
});

t.test('a second build, from another directory, gives the same bytes', (t) => {
  const directory = temporaryDirectory(t);
  const { status, stderr } = run(directory, process.execPath, resolve('packaging/build.mjs'), directory);
  t.equal(status, 0, stderr);
  for (const file of shipped) t.ok(readFileSync(join(directory, file)).equals(readFileSync(join('dist', file))), file);
  t.end();
});

t.test('the bundle holds no path of the machine that built it', (t) => {
  const bundle = readFileSync('dist/signet-main.cjs', 'latin1');
  for (const path of [process.cwd(), ...(homedir() === '/' ? [] : [`${homedir()}/`])]) t.notOk(bundle.includes(path), path);
  t.end();
});

t.test('what is never used is not in the bundle, and says so when it is called', (t) => {
  const bundle = readFileSync('dist/signet-main.cjs', 'utf8');
  for (const module of ['child_process', 'https', 'cluster']) t.notOk(bundle.includes(`require("${module}")`), module);
  const places = [...bundle.matchAll(/throw new Error\("bug: (.+?) is not in the bundle"\)/g)].map(([, place]) => place);
  t.ok(places.includes('@grpc/proto-loader of @grpc/grpc-js') && places.includes('./lib/cluster of prom-client'), places.join(', '));
  t.end();
});
