// The units, as the package installs them: what systemd says about them, and the servers under a systemd that really enforces them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildDeb } from '../fixtures/deb.js';
import { agentSettings, changeUnit, configureAgent, configureCa, installDeb, property, untilReady } from '../fixtures/installed.js';
import { startMachine, whyNoMachine } from '../fixtures/machine.js';
import type { Machine } from '../fixtures/machine.js';
import { openNotifySocket } from '../fixtures/notify-socket.js';
import { createRoot, dayMs, hourMs, keyPem, pemOf } from '../fixtures/pki.js';
import { createCgroups } from '../fixtures/real-cgroups.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const skip = whyNoMachine() ?? false;
const agent = 'signet-agent.service';
const ca = 'signet-ca.service';

/** A line of /proc/PID/status of the main process. */
async function processStatus(machine: Machine, unit: string, key: string): Promise<string | undefined> {
  const text = await machine.output('cat', `/proc/${await property(machine, unit, 'MainPID')}/status`);
  return new RegExp(`^${key}:\\s+(.*)$`, 'm').exec(text)?.[1];
}

const withoutApiServer = 'not ready; pods of Kubernetes: kube-unavailable';

/** For `node --eval` with a port and a file of roots: succeeds when a server shows a certificate under them and speaks HTTP/2. */
const tlsHandshake = `const [, port, roots] = process.argv;
const trust = roots === undefined ? { rejectUnauthorized: false } : { ca: require('node:fs').readFileSync(roots) };
const options = { port, host: '127.0.0.1', servername: 'ca.example.org', ALPNProtocols: ['h2'], ...trust };
require('node:tls').connect(options, function () { process.exit(this.alpnProtocol === 'h2' ? 0 : 1); });`;

/** Values of a setting in the text of a unit. */
const settingsOf = (unit: string, name: string): readonly string[] =>
  Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value);

/**
 * The command of an installed unit, in its environment and with the paths that its sandbox leaves writable, under a service manager that
 * is played by `systemd-socket-activate` and /tmp/notify. ProtectSystem=strict is done by hand.
 */
async function activated(machine: Machine, unit: string, doors: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const text = await machine.output('systemctl', 'cat', unit);
  const [command = ''] = settingsOf(text, 'ExecStart');
  const [file = ''] = settingsOf(text, 'EnvironmentFile');
  const variables = (await machine.output('cat', file)).match(/^[A-Z_]+=.*$/gm) ?? [];
  const environment = [...variables, ...settingsOf(text, 'Environment'), 'NOTIFY_SOCKET=/tmp/notify', 'WATCHDOG_USEC=2000000'];
  const writable = Object.entries({ Runtime: '/run', State: '/var/lib', Logs: '/var/log' }).flatMap(([kind, parent]) => {
    const [mode = '0755'] = settingsOf(text, `${kind}DirectoryMode`);
    return settingsOf(text, `${kind}Directory`).map((name) => ({ path: join(parent, name), mode }));
  });
  const sandbox = [
    ...writable.map(({ path, mode }) => `mkdir -p ${path} && mount -t tmpfs -o mode=${mode} tmpfs ${path}`),
    'mount -o remount,bind,ro /run',
    'mount -o remount,bind,ro /',
    'exec "$@"',
  ].join(' && ');
  return [
    'systemd-socket-activate',
    ...Object.values(doors).flatMap((address) => ['--listen', address]),
    ...['--fdname', Object.keys(doors).join(':')],
    ...environment.flatMap((each) => ['--setenv', each]),
    ...['unshare', '--mount', 'sh', '-c', sandbox, 'sh'],
    ...command.split(' '),
  ];
}

const launchNames = /^(?:NODE_|MALLOC_).*/gm;

/** What there is of the settings of packaging/*.env in the main process. */
async function launchedWith(machine: Machine, unit: string): Promise<readonly string[]> {
  const text = await machine.output('cat', `/proc/${await property(machine, unit, 'MainPID')}/environ`);
  return (text.replaceAll('\0', '\n').match(launchNames) ?? []).toSorted();
}

const shippedLaunch = (file: string): readonly string[] =>
  (readFileSync(join('packaging', file), 'utf8').match(launchNames) ?? []).toSorted();

t.test('the units', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const machine = await startMachine(scene, cgroups);
  const deb = await buildDeb({ directory: join(scene.directory, 'deb') });
  await installDeb(machine, deb);

  t.test('systemd-analyze finds nothing wrong and no more exposure than the page says', async (t) => {
    const page = readFileSync('docs/systemd.md', 'utf8');
    for (const unit of ['signet-agent.socket', agent, 'signet-ca.socket', ca]) {
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

  for (const { unit, doors, configure, served, status } of [
    {
      unit: agent,
      doors: { sds: '/run/test.sock', http: '127.0.0.1:9999' },
      // The watchdog hears from it only while it accepts there.
      configure: () => configureAgent(machine, { ...agentSettings, sds: { socket: { path: '/run/test.sock' } } }),
      served: ['signet', 'fetch', 'spiffe://example.org/ns/shop/sa/cart', '--socket', '/run/test.sock'],
      status: 'STATUS=ready',
    },
    {
      unit: ca,
      doors: { ca: '127.0.0.1:9998', http: '127.0.0.1:9999' },
      configure: () => configureCa(machine),
      served: ['/usr/lib/signet/bin/node', '--eval', tlsHandshake, '9998'],
      status: `STATUS=${withoutApiServer}`,
    },
  ]) {
    t.test(`the command of ${unit} takes sockets and tells a service manager how it is`, async (t) => {
      await machine.output('systemctl', 'stop', unit);
      configure();
      const notify = openNotifySocket(join(machine.root, 'tmp/notify'));
      t.teardown(() => notify.close());
      const child = machine.start(unit, ...(await activated(machine, unit, doors)));
      // The first that connects is the reason to start it.
      await until('it answers at the socket that was passed in', 60_000, async () => (await machine.run(...served)).code === 0, 200);
      await machine.output(
        '/usr/lib/signet/bin/node',
        '--eval',
        "fetch('http://127.0.0.1:9999/livez').then(({ ok }) => process.exit(ok ? 0 : 1))",
      );
      await until('the watchdog hears from it', 60_000, () => notify.lines().includes('WATCHDOG=1'));
      await until('and its state', 60_000, () => notify.lines().includes(status));
      t.equal(notify.lines()[0], 'READY=1');
      t.notOk(notify.lines().includes('STOPPING=1'));
      child.signal('SIGTERM');
      await child.ended;
      t.equal(notify.lines().at(-1), 'STOPPING=1');
    });
  }

  t.test('the agent runs in its sandbox', async (t) => {
    configureAgent(machine);
    machine.write('/var/lib/kubelet/pods/0/secret', 'of a pod');
    await machine.output('systemctl', 'restart', agent);
    await untilReady(machine, agent);
    t.equal(await processStatus(machine, agent, 'CapBnd'), '0000000000000000');
    t.equal(await processStatus(machine, agent, 'NoNewPrivs'), '1');
    t.equal(await processStatus(machine, agent, 'Seccomp'), '2');
    t.same(await launchedWith(machine, agent), shippedLaunch('launch.env'), 'it runs as it ships');
    const inside = ['nsenter', '--target', await property(machine, agent, 'MainPID'), '--mount'];
    for (const path of ['/usr/x', '/etc/signet/x', '/var/lib/x'])
      t.match((await machine.run(...inside, 'touch', path)).stderr, /Read-only file system/, path);
    t.equal((await machine.run(...inside, 'ls', '/var/lib/kubelet/pods')).stdout, '', 'no secrets of pods');
    await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60');
  });

  t.test('a process that hangs is replaced, and serves what it had', async (t) => {
    await changeUnit(machine, agent, ['[Service]', 'WatchdogSec=20s']);
    await untilReady(machine, agent);
    const before = await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60', '--pem');
    const pid = await property(machine, agent, 'MainPID');
    await machine.output('sh', '-c', `kill -STOP ${pid}`);
    await until('another process', 120_000, async () => ![pid, '0'].includes(await property(machine, agent, 'MainPID')), 200);
    await untilReady(machine, agent);
    t.match(await machine.output('journalctl', '--unit', agent, '--output', 'cat'), /Watchdog timeout/);
    t.equal(await machine.output('signet', 'fetch', 'shop/cart', '--timeout', '60', '--pem'), before);
  });

  t.test('the key of the sealed state may be a credential', async (t) => {
    configureAgent(machine);
    const file = '/etc/signet/state-key.cred';
    await machine.output('sh', '-c', `head -c 32 /dev/urandom | systemd-creds encrypt --name=signet-state-key - ${file}`);
    await changeUnit(machine, agent, ['[Service]', `LoadCredentialEncrypted=signet-state-key:${file}`]);
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
    configureCa(machine, { kubeconfig: `/run/credentials/${ca}/kubeconfig` });
    await changeUnit(machine, ca, ['[Service]', 'LoadCredential=kubeconfig:/etc/signet/kubeconfig']);
    await until('it says what it lacks', 60_000, async () => (await property(machine, ca, 'StatusText')) === withoutApiServer, 200);
    t.equal(await property(machine, ca, 'ActiveState'), 'active', 'and has started all the same');
    t.not((await processStatus(machine, ca, 'Uid'))?.split('\t')[0], '0');
    t.equal(await processStatus(machine, ca, 'CapBnd'), '0000000000000000');
    t.equal(await processStatus(machine, ca, 'Seccomp'), '2');
    t.same(await launchedWith(machine, ca), shippedLaunch('launch-ca.env'), 'it runs as it ships');
    await machine.output('ls', '/var/lib/signet/issuer.key', '/var/log/signet/audit.log');
    const key = await machine.output('sha256sum', '/var/lib/signet/issuer.key');
    await machine.output('systemctl', 'restart', ca);
    t.equal(await machine.output('sha256sum', '/var/lib/signet/issuer.key'), key, 'the issuer stays');

    configureCa(machine, {
      kubeconfig: `/run/credentials/${ca}/kubeconfig`,
      issuer: { secret: { namespace: 'signet-system', name: 'signet-ca-issuer' } },
    });
    await machine.output('systemctl', 'restart', ca);
    t.equal(await property(machine, ca, 'ActiveState'), 'active', 'a Secret that nobody can read yet holds nobody up');
  });

  t.test('who connects starts the CA, which has its issuer from root', async (t) => {
    const root = createRoot({ notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs });
    const files = { 'tls.crt': pemOf(root), 'tls.key': keyPem(root), 'ca.crt': pemOf(root) };
    for (const [name, content] of Object.entries(files)) machine.write(`/etc/signet/issuer/${name}`, content);
    const credential = (name: string): string => `/run/credentials/${ca}/${name}`;
    configureCa(machine, {
      kubeconfig: credential('kubeconfig'),
      issuer: { certificate: credential('tls.crt'), privateKey: credential('tls.key'), roots: credential('ca.crt') },
    });
    const credentials = ['kubeconfig:/etc/signet/kubeconfig', ...Object.keys(files).map((name) => `${name}:/etc/signet/issuer/${name}`)];
    await changeUnit(machine, ca, ['[Service]', ...credentials.map((each) => `LoadCredential=${each}`)], 'stop');
    await machine.output('systemctl', 'enable', '--now', 'signet-ca.socket');
    t.equal(await property(machine, ca, 'ActiveState'), 'inactive');
    const connect = ['/usr/lib/signet/bin/node', '--eval', tlsHandshake, '15012', '/etc/signet/issuer/ca.crt'];
    await machine.output(...connect);
    // It answers a moment before systemd has heard that it is ready.
    await until('the CA is active', 60_000, async () => (await property(machine, ca, 'ActiveState')) === 'active', 200);
    await machine.output('systemctl', 'restart', ca);
    await machine.output(...connect);
  });
});
