// The release script: what it makes, that it makes the same anywhere, and what it refuses.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';
import type { Finished } from '../fixtures/child.js';
import { runToEnd } from '../fixtures/child.js';
import { repository } from '../fixtures/envoy-examples.js';
import { helmBinaries } from '../fixtures/helm-binaries.js';
import { copyTree } from '../fixtures/tree-copy.js';

const epoch = '1796054400';
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { readonly version: string };
const own = process.env as Readonly<Record<string, string>>;

interface ReleaseOptions {
  readonly umask?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** Releases a tree into `out` beside it. The deb is not compressed, which takes a minute. */
async function release(tree: string, { umask = '022', environment = {}, args = ['--no-audit'] }: ReleaseOptions = {}): Promise<Finished> {
  const command = `umask ${umask} && exec "$@"`;
  return await runToEnd(
    'sh',
    ['-c', command, 'sh', process.execPath, join(tree, 'packaging/release.mjs'), join(tree, 'out'), '--no-commit', ...args],
    {
      environment: { ...own, SOURCE_DATE_EPOCH: epoch, DPKG_DEB_COMPRESSOR_TYPE: 'none', ...environment },
      deadlineMs: 600_000,
    },
  );
}

/** An npm in the directory that writes down how it is called before it does the same as the real one. */
function recordNpm(directory: string): { calls(): readonly string[] } {
  const calls = join(directory, 'calls');
  mkdirSync(directory);
  writeFileSync(join(directory, 'npm'), `#!/bin/sh\necho "$@" >> '${calls}'\nPATH='${own['PATH']}' exec npm "$@"\n`, { mode: 0o755 });
  return { calls: () => readFileSync(calls, 'utf8').trim().split('\n') };
}

t.test('two releases, from directories of other names, as others run them, have the same bytes', async (t) => {
  const directory = t.testdir({});
  const releaseAs = async (name: string, options: ReleaseOptions): Promise<string> => {
    const tree = copyTree(join(directory, name));
    const { code, stderr } = await release(tree, options);
    t.equal(code, 0, stderr);
    return join(tree, 'out');
  };
  const npm = recordNpm(join(directory, 'npm'));
  const outs = await Promise.all([
    releaseAs('one', { environment: { PATH: `${directory}/npm:${own['PATH']}` } }),
    releaseAs('another/much-longer-name', { umask: '077', environment: { TZ: 'Pacific/Auckland', LC_ALL: 'C' } }),
  ]);
  const [one, another] = outs;
  const sums = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
  t.equal(readFileSync(join(another, 'SHA256SUMS'), 'utf8'), sums);
  for (const out of outs) t.equal((await runToEnd('sh', ['-c', `cd '${out}' && sha256sum --check --strict SHA256SUMS`])).code, 0);
  t.same(
    readdirSync(one)
      .filter((name) => name !== 'SHA256SUMS')
      .map((name) => name.replace(/amd64|arm64/, 'ARCH'))
      .sort(),
    [
      'THIRD-PARTY-NOTICES.txt',
      ...[`signet-${version}-ARCH.cdx.json`, `signet-${version}-ARCH.oci.tar`, `signet-${version}-linux-ARCH.tar.gz`],
      ...[`signet-${version}.tgz`, `signet_${version}-1_ARCH.deb`],
    ].sort(),
  );
  t.comment(sums);
  t.equal(npm.calls().filter((call) => call.startsWith('ci ')).length, 1, 'the deb, the image and the bill of materials are of one Node');

  await t.test('the bundle runs from where it is unpacked', async (t) => {
    const [archive = ''] = readdirSync(one).filter((name) => name.includes('-linux-'));
    execFileSync('tar', ['-xzf', join(one, archive), '-C', directory]);
    const { stdout } = await runToEnd(process.execPath, [join(directory, `signet-${version}`, 'dist/signet.cjs'), 'version']);
    t.match(stdout, version);
  });

  await t.test('the chart is what Helm makes of its directory', async (t) => {
    const { helm } = await helmBinaries();
    const render = async (chart: string): Promise<string> => {
      const { code, stdout, stderr } = await runToEnd(helm, ['template', 'signet', chart, '--namespace', 'signet-system']);
      t.equal(code, 0, stderr);
      return stdout;
    };
    t.equal(await render(join(one, `signet-${version}.tgz`)), await render(join(repository, 'packaging/chart')));
  });

  await t.test('the bill of materials has what ships, and no more', (t) => {
    const [name = ''] = readdirSync(one).filter((file) => file.endsWith('.cdx.json'));
    const { metadata, components } = JSON.parse(readFileSync(join(one, name), 'utf8')) as {
      readonly metadata: object;
      readonly components: readonly { readonly name: string; readonly version: string; readonly purl: string }[];
    };
    t.match(metadata, { timestamp: '2026-11-30T16:00:00.000Z', component: { name: 'signet', version } });
    const notices = readFileSync(join(one, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const ofNpm = components.filter(({ purl }) => purl.startsWith('pkg:npm/') && !purl.includes('koffi-linux'));
    for (const component of ofNpm) t.ok(notices.includes(`\n${component.name} ${component.version}, `), component.purl);
    t.equal(ofNpm.length, notices.match(/^-{10,}$/gm)?.length, 'as many as there are notices');
    const others = components.filter((component) => !ofNpm.includes(component)).map((component) => component.name);
    t.match(others, [/^@koromix\/koffi-linux-/, 'node', 'libc6', 'libgcc-s1', 'libstdc++6']);
    t.end();
  });
});

t.test('nothing is released with versions that differ, or of a tree that is no commit', async (t) => {
  const tree = copyTree(join(t.testdir({}), 'tree'));
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@test.invalid', ...args], { cwd: tree });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'test');
  appendFileSync(join(tree, 'packaging/chart/Chart.yaml'), '# not committed\n');
  const changed = await runToEnd(process.execPath, [join(tree, 'packaging/release.mjs'), join(tree, 'out')], {
    environment: { ...own, SOURCE_DATE_EPOCH: epoch },
  });
  t.match(changed, { code: 1, stderr: /the tree is not that of a commit:\n M packaging\/chart\/Chart\.yaml/ });

  const kustomization = join(tree, 'packaging/kustomize/base/kustomization.yaml');
  writeFileSync(kustomization, readFileSync(kustomization, 'utf8').replace(/newTag: .*/, 'newTag: 9.9.9'));
  t.match(await release(tree), { code: 1, stderr: /packaging\/kustomize\/base\/kustomization\.yaml has 9\.9\.9/ });
});

/** A registry of npm that knows these advisories; undefined: that knows of no advisories at all. */
async function registry(t: Test, advisories: Readonly<Record<string, readonly object[]>> | undefined): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isAudit = request.method === 'POST' && request.url?.startsWith('/-/npm/v1/security/advisories') === true;
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    if (isAudit && advisories !== undefined) response.end(JSON.stringify(advisories));
    else if (request.method === 'GET') response.end(JSON.stringify({ name, 'dist-tags': {}, 'versions': {} }));
    else response.writeHead(405).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const advisory = { id: 1, url: 'https://advisories.example/1', title: 'test', severity: 'high', vulnerable_versions: '*' };

/** Runs the step for a bundle that has yaml and zod in it. */
async function audit(t: Test, url: string): Promise<Finished> {
  const step = pathToFileURL(join(repository, 'packaging/release-audit.mjs')).href;
  const script = `import { auditPackages } from '${step}'; for (const line of auditPackages(['yaml@2.0.0', 'zod@4.0.0'])) console.log(line);`;
  const environment = { ...own, npm_config_registry: url, npm_config_cache: t.testdir({}), npm_config_fetch_retries: '0' };
  return await runToEnd(process.execPath, ['--input-type=module', '--eval', script], { environment, deadlineMs: 300_000 });
}

t.test('an advisory about what ships stops the release, one about tools of the build is told', async (t) => {
  t.match(await audit(t, await registry(t, { yaml: [advisory] })), { code: 1, stderr: /advisories about what ships:\nyaml: high: https:/ });
  t.match(await audit(t, await registry(t, { prettier: [advisory] })), {
    code: 0,
    stdout: /prettier: high: https:\/\/advisories\.example/,
  });
  t.match(await audit(t, await registry(t, {})), { code: 0, stdout: '' });
});

t.test('a registry that gives no advisories stops the release', async (t) => {
  t.match(await audit(t, await registry(t, undefined)), { code: 1, stderr: /the registry gives no advisories: 405/ });
  const tree = copyTree(join(t.testdir({}), 'tree'));
  const { code, stderr } = await release(tree, { args: [], environment: { npm_config_registry: await registry(t, undefined) } });
  t.equal(code, 1);
  t.match(stderr, /the registry gives no advisories/);
  t.same(readdirSync(join(tree, 'out')), [], 'there is nothing to publish');
});
