// The Debian package, in a Debian of its own with a systemd that really runs it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildDeb } from '../fixtures/deb.js';
import { repository } from '../fixtures/envoy-examples.js';
import { configureAgent, configureCa, installDeb, listTree, property, untilReady } from '../fixtures/installed.js';
import type { Machine } from '../fixtures/machine.js';
import { startMachine, whyNoMachine } from '../fixtures/machine.js';
import { createCgroups } from '../fixtures/real-cgroups.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { readonly version: string };
const skip = whyNoMachine() ?? false;

t.test('two builds of one tree give the same bytes', { skip }, async (t) => {
  const { directory } = await createScene(t);
  const [one, two] = [await buildDeb({ directory: join(directory, 'one') }), await buildDeb({ directory: join(directory, 'two') })];
  t.not(one, two);
  t.ok(readFileSync(one).equals(readFileSync(two)), 'equal');
});

const readUsers = (machine: Machine): readonly string[] =>
  ['passwd', 'group'].map((name) => readFileSync(join(machine.root, 'etc', name), 'utf8'));

t.test('the package is installed, configured, removed and purged, and leaves nothing', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const deb = await buildDeb({ directory: join(scene.directory, 'deb') });
  const machine = await startMachine(scene, cgroups);
  t.equal((await machine.run('node', '--version')).code, 127, 'there is no other Node');
  const before = listTree(machine);

  await installDeb(machine, deb);
  t.equal(await machine.output('dpkg', '--verify', 'signet'), '', 'the files are those of the package');
  t.match(await machine.output('signet', 'version'), version);
  for (const unit of ['signet-agent.socket', 'signet-agent.service', 'signet-ca.service']) {
    t.equal(await property(machine, unit, 'ActiveState'), 'inactive', `${unit} waits for its configuration`);
    t.equal(await property(machine, unit, 'UnitFileState'), 'enabled');
  }

  const users = readUsers(machine);
  t.equal(await property(machine, 'signet-ca.socket', 'UnitFileState'), 'disabled');

  configureAgent(machine);
  configureCa(machine);
  // Which is a secret otherwise: units.test.ts.
  await machine.output('chmod', '644', '/etc/signet/kubeconfig');
  await machine.output('systemctl', 'start', 'signet-agent.service', 'signet-ca.service');
  await machine.output('systemctl', 'enable', 'signet-ca.socket');
  await untilReady(machine, 'signet-agent.service');
  t.equal(await property(machine, 'signet-agent.socket', 'ActiveState'), 'active', 'the socket came with it');
  await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60');
  t.match(await machine.output('signet', 'status'), /spiffe:\/\/example\.org\/ns\/shop\/sa\/cart +issued/);

  await machine.output('dpkg', '--remove', 'signet');
  t.equal((await machine.run('ls', '/run/signet')).code, 2, 'sockets and kept certificates are gone');
  for (const path of ['etc/signet/agent.yaml', 'etc/signet/ca.yaml', 'var/lib/private/signet/issuer.key'])
    t.ok(listTree(machine).includes(path), `${path} stays`);
  t.notOk(
    listTree(machine).some((path) => path.startsWith('usr/') && path.includes('signet')),
    'nothing else does',
  );
  await installDeb(machine, deb);
  await untilReady(machine, 'signet-agent.service');

  await machine.output('systemctl', 'stop', 'signet-agent.socket', 'signet-agent.service');
  const other = machine.start('other', 'signet', 'agent', '--config', '/etc/signet/agent.yaml');
  await until('an agent outside of the package serves', 60_000, async () => (await machine.run('signet', 'status')).code === 0, 200);
  await machine.output('dpkg', '--remove', 'signet');
  await machine.output('test', '-S', '/run/signet/sds/sds.sock');
  other.signal('SIGTERM');
  await other.ended;
  await installDeb(machine, deb);
  await untilReady(machine, 'signet-agent.service');

  await machine.output('dpkg', '--purge', 'signet');
  t.equal((await machine.run('ls', '/run/signet')).code, 2);
  t.same(
    listTree(machine).filter((path) => !before.includes(path)),
    ['etc/signet', 'etc/signet/kubeconfig', 'etc/signet/pods.yaml'],
    'only what the operator put there is left',
  );
  t.same(readUsers(machine), users, 'no user, no group');
  t.match(await machine.output('systemctl', 'list-units', '--all', 'signet*'), /0 loaded units/);
  t.match(await machine.output('systemctl', '--failed'), /0 loaded units/);
});

t.test('an upgrade and the way back under clients fail no request and give the same certificates', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const directory = join(scene.directory, 'deb');
  const machine = await startMachine(scene, cgroups);
  configureAgent(machine);
  const first = await buildDeb({ directory });
  await installDeb(machine, first);
  await untilReady(machine, 'signet-agent.service');

  const before = await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60', '--pem');
  const inode = await machine.output('stat', '--format=%i', '/run/signet/sds/sds.sock');
  const requests = machine.start(
    'client',
    'sh',
    '-c',
    'while :; do signet fetch spiffe://example.org/ns/shop/sa/cart --timeout 60 >/dev/null 2>>/root/errors && echo ok >>/root/requests || echo failed >>/root/requests; done',
  );
  const stream = machine.start('stream', 'signet', 'fetch', 'spiffe://example.org/ns/shop/sa/checkout', '--watch', '--timeout', '60');
  const answered = (): readonly string[] => readFileSync(join(machine.root, 'root/requests'), 'utf8').trim().split('\n');
  await until('requests are answered', 60_000, () => answered().length >= 3);
  await until('the stream has its certificate', 60_000, () => stream.tail().includes('BEGIN CERTIFICATE'));

  for (const { revision, deb } of [
    { revision: 2, deb: await buildDeb({ directory, revision: '2' }) },
    { revision: 1, deb: first },
  ]) {
    const pid = await property(machine, 'signet-agent.service', 'MainPID');
    await installDeb(machine, deb);
    await untilReady(machine, 'signet-agent.service');
    const at = answered().length;
    await until('requests are answered after it', 60_000, () => answered().length >= at + 3);
    t.not(await property(machine, 'signet-agent.service', 'MainPID'), pid, 'another process');
    t.equal(await property(machine, 'signet-agent.service', 'NRestarts'), '0', 'that no crash brought');
    t.match(await machine.output('dpkg', '--status', 'signet'), new RegExp(`^Version: .*-${revision}$`, 'm'));
    t.ok(requests.running() && stream.running());
    t.same([...new Set(answered())], ['ok'], readFileSync(join(machine.root, 'root/errors'), 'utf8'));
    t.equal(await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60', '--pem'), before, 'the same bytes');
    t.equal(await machine.output('stat', '--format=%i', '/run/signet/sds/sds.sock'), inode, 'the same socket');
  }
  t.comment(`${answered().length} requests`);
});
