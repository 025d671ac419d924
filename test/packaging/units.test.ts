// The units, as the package installs them: what systemd says about them, and the servers under a systemd that really enforces them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runToEnd } from '../fixtures/child.js';
import { buildDeb } from '../fixtures/deb.js';
import { agentSettings, changeUnit, configureAgent, installDeb, property, untilReady } from '../fixtures/installed.js';
import { startMachine, whyNoMachine } from '../fixtures/machine.js';
import type { Machine } from '../fixtures/machine.js';
import { openNotifySocket } from '../fixtures/notify-socket.js';
import { createCgroups } from '../fixtures/real-cgroups.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const skip = whyNoMachine() ?? false;
const agent = 'signet-agent.service';
const ca = 'signet-ca.service';

/** A kubeconfig for an API server that nobody runs: enough to start with. */
const kubeconfig = (user: object): string =>
  JSON.stringify({
    'apiVersion': 'v1',
    'kind': 'Config',
    'current-context': 'default',
    'clusters': [{ name: 'default', cluster: { server: 'https://127.0.0.1:6443' } }],
    'users': [{ name: 'default', user }],
    'contexts': [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
  });

/** A line of /proc/PID/status of the main process. */
async function processStatus(machine: Machine, unit: string, key: string): Promise<string | undefined> {
  const text = await machine.output('cat', `/proc/${await property(machine, unit, 'MainPID')}/status`);
  return new RegExp(`^${key}:\\s+(.*)$`, 'm').exec(text)?.[1];
}

t.test('the units', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const machine = await startMachine(scene, cgroups);
  const deb = await buildDeb({ directory: join(scene.directory, 'deb') });
  await installDeb(machine, deb);

  t.test('systemd-analyze finds nothing wrong and no more exposure than the page says', async (t) => {
    const page = readFileSync('docs/systemd.md', 'utf8');
    for (const unit of ['signet-agent.socket', agent, ca]) {
      const { code, stdout, stderr } = await machine.run('systemd-analyze', 'verify', unit);
      t.same({ code, text: stdout + stderr }, { code: 0, text: '' }, unit);
    }
    for (const unit of [agent, ca]) {
      const score = new RegExp(`\`${unit}\` \\| ([0-9.]+) `).exec(page)?.[1] ?? '0';
      const path = `/usr/lib/systemd/system/${unit}`;
      const analyze = ['systemd-analyze', 'security', '--offline=true', '--no-pager'];
      t.match(await machine.output(...analyze, `--threshold=${Number(score) * 10}`, path), `: ${score} OK`, unit);
    }
  });

  t.test('the command of the unit takes a socket and tells a service manager how it is', async (t) => {
    configureAgent(machine);
    const notify = openNotifySocket(join(machine.root, 'tmp/notify'));
    const unit = await machine.output('systemctl', 'cat', agent);
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [, file = ''] = /^EnvironmentFile=(.*)$/m.exec(unit) ?? [];
    const [, runtime = ''] = /^RuntimeDirectory=(.*)$/m.exec(unit) ?? [];
    const [, name = ''] = /^FileDescriptorName=(.*)$/m.exec(await machine.output('systemctl', 'cat', 'signet-agent.socket')) ?? [];
    const variables = (await machine.output('cat', file)).match(/^[A-Z_]+=.*$/gm) ?? [];
    const own = Array.from(unit.matchAll(/^Environment=(.*)$/gm), ([, each = '']) => each);
    const environment = [...variables, ...own, 'NOTIFY_SOCKET=/tmp/notify', 'WATCHDOG_USEC=2000000'].flatMap((each) => ['--setenv', each]);
    // ProtectSystem=strict and RuntimeDirectory=, by hand: nothing can be written but what the unit names.
    const strict = `mkdir -p /run/${runtime} && mount -t tmpfs tmpfs /run/${runtime} && mount -o remount,bind,ro /run`;
    const sandbox = ['unshare', '--mount', 'sh', '-c', `${strict} && mount -o remount,bind,ro / && exec "$@"`, 'sh'];
    const activate = ['systemd-socket-activate', '--listen', '/run/test.sock', '--fdname', name, ...environment];
    const child = machine.start('agent', ...activate, ...sandbox, ...command.split(' '));
    const fetch = (): Promise<boolean> =>
      machine.run('signet', 'fetch', 'spiffe://example.org/ns/shop/sa/cart', '--socket', '/run/test.sock').then(({ code }) => code === 0);
    await until('a certificate by the socket that was passed in', 60_000, fetch, 200);
    await until('the watchdog hears from it', 30_000, () => notify.lines().includes('WATCHDOG=1'));
    t.equal(notify.lines()[0], 'READY=1');
    t.ok(notify.lines().includes('STATUS=ready'));
    t.notOk(notify.lines().includes('STOPPING=1'));
    child.signal('SIGTERM');
    await child.ended;
    t.equal(notify.lines().at(-1), 'STOPPING=1');
    notify.close();
  });

  t.test('the agent runs in its sandbox', async (t) => {
    configureAgent(machine);
    machine.write('/var/lib/kubelet/pods/0/secret', 'of a pod');
    await machine.output('systemctl', 'restart', agent);
    await untilReady(machine, agent);
    t.equal(await processStatus(machine, agent, 'CapBnd'), '0000000000000000');
    t.equal(await processStatus(machine, agent, 'NoNewPrivs'), '1');
    t.equal(await processStatus(machine, agent, 'Seccomp'), '2');
    const inside = ['nsenter', '--target', await property(machine, agent, 'MainPID'), '--mount'];
    for (const path of ['/usr/x', '/etc/signet/x', '/var/lib/x'])
      t.match((await machine.run(...inside, 'touch', path)).stderr, /Read-only file system/, path);
    t.equal((await machine.run(...inside, 'ls', '/var/lib/kubelet/pods')).stdout, '', 'no secrets of pods');
    await machine.output('signet', 'fetch', 'shop/cart');
  });

  t.test('a process that hangs is replaced, and serves what it had', async (t) => {
    await changeUnit(machine, agent, ['[Service]', 'WatchdogSec=10s']);
    await untilReady(machine, agent);
    const before = await machine.output('signet', 'fetch', 'shop/cart', '--pem');
    const pid = await property(machine, agent, 'MainPID');
    await machine.output('sh', '-c', `kill -STOP ${pid}`);
    await until('another process', 60_000, async () => ![pid, '0'].includes(await property(machine, agent, 'MainPID')), 200);
    await untilReady(machine, agent);
    t.match(await machine.output('journalctl', '--unit', agent, '--output', 'cat'), /Watchdog timeout/);
    t.equal(await machine.output('signet', 'fetch', 'shop/cart', '--pem'), before);
  });

  t.test('the agent is the node of the kubelet, whose credential only root reads', async (t) => {
    const openssl = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
    const { stdout } = await runToEnd('openssl', [...openssl, '-subj', '/O=system:nodes/CN=system:node:node-7', '-keyout', '-']);
    machine.write('/var/lib/kubelet/pki/kubelet-client-current.pem', stdout);
    const file = '/var/lib/kubelet/pki/kubelet-client-current.pem';
    machine.write('/etc/kubernetes/kubelet.conf', kubeconfig({ 'client-certificate': file, 'client-key': file }));
    const { node: _, ...settings } = agentSettings;
    configureAgent(machine, { ...settings, kubeconfig: '/etc/kubernetes/kubelet.conf' });
    await machine.output('systemctl', 'restart', agent);
    await untilReady(machine, agent);
    t.match(await machine.output('signet', 'status'), /node +node-7 in trust domain/);
  });

  t.test('the key of the sealed state may be a credential', async (t) => {
    configureAgent(machine);
    machine.write('/etc/signet/state-key', Buffer.alloc(32, 7));
    await changeUnit(machine, agent, ['[Service]', 'LoadCredential=signet-state-key:/etc/signet/state-key']);
    await untilReady(machine, agent);
    await machine.output('rm', '/run/signet/state/sealed-key');
    await machine.output('systemctl', 'restart', agent);
    await untilReady(machine, agent);
    t.equal((await machine.run('ls', '/run/signet/state/sealed-key')).code, 2, 'none was made');
    t.notMatch(await machine.output('signet', 'status'), /! sealed state/);
  });

  t.test('a fault of the configuration ends the agent, which is not started over and over', async (t) => {
    configureAgent(machine, { ...agentSettings, trustDomian: 'x' });
    t.not((await machine.run('systemctl', 'restart', agent)).code, 0);
    t.equal(await property(machine, agent, 'ActiveState'), 'failed');
    t.equal(await property(machine, agent, 'ExecMainStatus'), '2');
  });

  t.test('the CA runs as a user of its own, with the secrets of root as credentials', async (t) => {
    machine.write('/etc/signet/kubeconfig', kubeconfig({ token: 'secret' }));
    const settings = {
      trustDomain: 'example.org',
      kubeconfig: `/run/credentials/${ca}/kubeconfig`,
      audiences: ['signet-ca'],
      nodeAgents: ['signet-system/signet-agent'],
      listen: { address: '127.0.0.1:15012', names: ['ca.example.org'] },
      audit: { file: '/var/log/signet/audit.log' },
    };
    machine.write('/etc/signet/ca.yaml', JSON.stringify(settings), 0o644);
    await changeUnit(machine, ca, ['[Service]', 'LoadCredential=kubeconfig:/etc/signet/kubeconfig']);
    const lacks = 'not ready; pods of Kubernetes: kube-unavailable';
    await until('it says what it lacks', 60_000, async () => (await property(machine, ca, 'StatusText')) === lacks, 200);
    t.equal(await property(machine, ca, 'ActiveState'), 'active', 'and has started all the same');
    t.not((await processStatus(machine, ca, 'Uid'))?.split('\t')[0], '0');
    t.equal(await processStatus(machine, ca, 'CapBnd'), '0000000000000000');
    t.equal(await processStatus(machine, ca, 'Seccomp'), '2');
    await machine.output('ls', '/var/lib/signet/issuer.key', '/var/log/signet/audit.log');
    const key = await machine.output('sha256sum', '/var/lib/signet/issuer.key');
    await machine.output('systemctl', 'restart', ca);
    t.equal(await machine.output('sha256sum', '/var/lib/signet/issuer.key'), key, 'the issuer stays');
  });
});
