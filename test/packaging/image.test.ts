// The image: what is in it, and that it does the main job as a container does, without a shell, as a user without rights on a root
// that cannot be written to. The Dockerfile gives the same image.

import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { repository } from '../fixtures/envoy-examples.js';
import type { ImageConfig } from '../fixtures/image.js';
import { buildImage, startContainer } from '../fixtures/image.js';
import { agentSettings } from '../fixtures/installed.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const skip = process.getuid?.() === 0 ? false : 'only root may make a container';
const pods = readFileSync(join(repository, 'docs/examples/pods.yaml'), 'utf8');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of the Dockerfile, each on one line there. */
const instructions: readonly Instruction[] = readFileSync(join(repository, 'packaging/Dockerfile'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));

t.test('the base of the Dockerfile is pinned by its digest, and the script puts all into the image that is there', async (t) => {
  const stages = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest);
  t.same(stages, ['${BASE} AS build', 'scratch']);
  t.match(instructions[0], { name: 'ARG', rest: /^BASE=\S+@sha256:[0-9a-f]{64}$/ });
  const last = instructions.slice(instructions.findIndex(({ rest }) => rest === 'scratch'));
  t.same(
    last.filter(({ name }) => name === 'COPY' || name === 'ADD' || name === 'RUN').map(({ name, rest }) => `${name} ${rest}`),
    ['COPY --from=build /image/ /'],
  );
  t.ok(instructions.some(({ name, rest }) => name === 'RUN' && rest.endsWith('node packaging/image.mjs --root --code-cache /image')));
});

t.test('the image', { skip }, async (t) => {
  const { directory } = await createScene(t);
  const image = await buildImage(join(directory, 'image'));

  await t.test('is under 80 MB, and runs as the Dockerfile says', async (t) => {
    t.ok(image.size < 80_000_000, `${image.size} bytes`);
    t.comment(`${(image.size / 1e6).toFixed(1)} MB compressed, ${(sizeOf(image.root) / 1e6).toFixed(1)} MB unpacked`);
    t.strictSame(image.config, configOfDockerfile());
  });

  await t.test('has two programs, and no others', async (t) => {
    const executable = execFileSync('find', ['.', '-type', 'f', '-perm', '/111', '-not', '-name', '*.so*'], {
      cwd: image.root,
      encoding: 'utf8',
    });
    t.same(executable.trim().split('\n').sort(), ['./usr/bin/signet', './usr/lib/signet/bin/node']);
    const foreign = execFileSync(
      'find',
      ['.', '-not', '-type', 'l', '(', '-perm', '/6000', '-o', '-perm', '-2', '-o', '-not', '-uid', '0', ')'],
      {
        cwd: image.root,
        encoding: 'utf8',
      },
    );
    t.equal(foreign.trim(), './tmp', 'nothing else is written to by others, or gives rights');
  });

  await t.test('signet dev: certificates over SDS, and an end with code 0', async (t) => {
    const scene = await createScene(t);
    const container = await startContainer(scene, 'dev', image, {
      args: ['dev', '--pods', '/etc/signet/pods.yaml', '--http-address', '127.0.0.1:0'],
      files: { 'pods.yaml': pods },
    });
    await until('a certificate', 60_000, async () => (await container.exec('signet', 'fetch', 'shop/cart')).code === 0, 200);
    t.match((await container.exec('signet', 'status')).stdout, /spiffe:\/\/example\.org\/ns\/shop\/sa\/cart +issued/);
    t.match(confinementOf(container.pid), { uid: '65532', capabilities: '0000000000000000', noNewPrivs: '1', root: /^ro\b/ });
    t.not((await container.exec('/bin/sh', '-c', 'true')).code, 0, 'there is no shell');
    t.equal(await container.stop(), 0, container.tail());
  });

  await t.test('signet agent: certificates over SDS, and the other commands beside it', async (t) => {
    const scene = await createScene(t);
    const container = await startContainer(scene, 'agent', image, {
      args: ['agent', '--config=/etc/signet/agent.yaml'],
      environment: { SIGNET_HTTP_ADDRESS: '127.0.0.1:0' },
      files: { 'pods.yaml': pods, 'agent.yaml': JSON.stringify({ ...agentSettings, peers: [{ host: { uid: 65532 }, grant: 'node' }] }) },
    });
    await until('a certificate', 60_000, async () => (await container.exec('signet', 'fetch', 'shop/cart')).code === 0, 200);
    t.match((await container.exec('signet', 'agent', '--help')).stdout, /Usage: signet agent/);
    t.match((await container.exec('signet', 'check-config')).stdout, /trustDomain: example\.org/);
    t.equal(await container.stop(), 0, container.tail());
  });
});

/** What the kernel says of a process. */
function confinementOf(pid: number): Readonly<Record<string, string | undefined>> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  return {
    uid: /^Uid:\s+(\d+)/m.exec(status)?.[1],
    capabilities: /^CapPrm:\s+(\w+)/m.exec(status)?.[1],
    noNewPrivs: /^NoNewPrivs:\s+(\d)/m.exec(status)?.[1],
    // proc_pid_mountinfo(5): the mount point is as its process sees it.
    root: /^\d+ \d+ \S+ \S+ \/ (\S+)/m.exec(mounts)?.[1],
  };
}

function sizeOf(root: string): number {
  const listed = execFileSync('find', ['.', '-type', 'f'], { cwd: root, encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .reduce((sum, path) => sum + statSync(join(root, path)).size, 0);
}

function configOfDockerfile(): ImageConfig {
  const all = (name: string): readonly string[] => instructions.filter((each) => each.name === name).map(({ rest }) => rest);
  const last = instructions.findIndex(({ rest }) => rest === 'scratch');
  const one = (name: string): string => instructions.slice(last).find((each) => each.name === name)?.rest ?? '';
  const unquoted = (text: string): string => text.replace(/="(.*)"$/, '=$1');
  return {
    User: one('USER'),
    Env: all('ENV').map(unquoted),
    Entrypoint: JSON.parse(one('ENTRYPOINT')) as string[],
    WorkingDir: one('WORKDIR'),
    Labels: Object.fromEntries(all('LABEL').map((text) => unquoted(text).split('=') as [string, string])),
  };
}
