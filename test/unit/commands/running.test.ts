import t from 'tap';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFetchCommand } from '../../../agent/commands/fetch.js';
import { createLogLevelCommand } from '../../../agent/commands/log-level.js';
import { createRenewCommand } from '../../../agent/commands/renew.js';
import { createStatusCommand } from '../../../agent/commands/status.js';
import type { TestAgent } from '../../fixtures/agent.js';
import { idOf, podsOf, startTestAgent } from '../../fixtures/agent.js';
import { createRoot, pemOf } from '../../fixtures/pki.js';
import { createRecordingTerminal, runCommand } from '../../fixtures/terminal.js';

// The commands that ask a running agent, against one.

/** A configuration that names the sockets of the agent, as an operator would have it. */
function configOf({ agent, directory }: TestAgent): string {
  const path = join(directory, 'tools.yaml');
  const { sds, admin } = agent.addresses;
  writeFileSync(path, `sds: {socket: {path: ${sds}}}\nadmin: {socket: {path: ${admin}}}\n`);
  return path;
}

t.test('fetch shows, prints and writes a certificate, by its full or short name', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart', 'checkout') });
  t.teardown(() => running.stop());
  const config = ['--config', configOf(running)];
  const people = await runCommand(createFetchCommand, [idOf('cart'), ...config]);
  t.match(people.output, new RegExp(`SPIFFE ID +${idOf('cart')}\n`));
  t.match(people.output, /key +EC prime256v1\n/);
  t.match(people.output, /-----BEGIN CERTIFICATE-----/);

  const json = JSON.parse((await runCommand(createFetchCommand, ['shop/cart', '--json', ...config])).output) as Record<string, string>;
  t.equal(json['spiffeId'], idOf('cart'));
  t.equal(new X509Certificate(json['pem'] ?? '').subjectAltName, `URI:${idOf('cart')}`);
  t.match(json['roots'], /-----BEGIN CERTIFICATE-----/);

  const pem = await runCommand(createFetchCommand, [idOf('cart'), '--pem', ...config]);
  t.match(pem.output, /^-----BEGIN CERTIFICATE-----\n/);
  for (const { output } of [people, pem]) t.notMatch(output, /PRIVATE KEY/);

  const directory = join(running.directory, 'written');
  const written = await runCommand(createFetchCommand, [idOf('cart'), '--write', directory, ...config]);
  t.match(written.output, new RegExp(`written to +${directory}\n`));
  const [chain, key] = ['svid.pem', 'svid.key'].map((name) => readFileSync(join(directory, name)));
  t.ok(new X509Certificate(chain ?? '').checkPrivateKey(createPrivateKey(key ?? '')), 'certificate and key belong together');
  t.match(readFileSync(join(directory, 'bundle.pem'), 'utf8'), /BEGIN CERTIFICATE/);

  const roots = await runCommand(createFetchCommand, ['ROOTCA', ...config]);
  t.match(roots.output, /^root +[0-9a-f]+, /);
  t.match(JSON.parse((await runCommand(createFetchCommand, ['ROOTCA', '--json', ...config])).output), { certificates: 1 });
});

t.test('fetch says why there is nothing', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart', 'checkout') });
  t.teardown(() => running.stop());
  const config = ['--config', configOf(running)];
  await t.rejects(runCommand(createFetchCommand, ['shop/nope', ...config]), {
    message: 'no certificate for this name',
    kind: 'notFound',
    reason: 'not-on-node',
  });
  for (const [name, reason] of [
    ['cart', 'name-invalid'],
    ['spiffe://other.test/ns/shop/sa/cart', 'trust-domain-foreign'],
  ] as const) {
    await t.rejects(runCommand(createFetchCommand, [name, ...config]), { name: 'SignetError', kind: 'notFound', reason }, name);
  }
  await t.rejects(
    runCommand(createFetchCommand, config),
    { message: 'the sds server refused', kind: 'denied' },
    'default means nobody here',
  );
  await t.rejects(runCommand(createFetchCommand, ['--timeout', 'soon']), { code: 'commander.invalidArgument' });
  const socket = join(running.directory, 'nobody.sock');
  await t.rejects(runCommand(createFetchCommand, ['ROOTCA', '--socket', socket]), {
    message: 'there is no sds socket at this path; is the agent running?',
    kind: 'unavailable',
  });
});

t.test('fetch says why a certificate is not there yet', async (t) => {
  const day = 86_400_000;
  const stranger = createRoot({ notBefore: Date.now() - day, notAfter: Date.now() + day });
  const bundle = join(t.testdir({ 'bundle.pem': pemOf(stranger) }), 'bundle.pem');
  const settings = { 'trustBundle.sources': [{ kind: 'file', path: bundle }] };
  const running = await startTestAgent({ pods: podsOf('cart'), flags: { 'sds-hold': '0s' }, settings });
  t.teardown(() => running.stop());
  for (let look = 0; look < 2_000; look += 1) {
    const { identities } = await running.admin.status(new AbortController().signal);
    if (identities[0]?.state === 'unavailable') break;
  }
  const fetched = runCommand(createFetchCommand, ['shop/cart', '--config', configOf(running)]);
  await t.rejects(fetched, { message: 'no certificate for this name', kind: 'notFound', reason: 'trust-anchor-unknown' });
});

t.test('fetch --watch writes each renewal and waits for a name that went away', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart'), flags: { 'pods-linger': '0s' } });
  t.teardown(() => running.stop());
  const config = ['--config', configOf(running)];
  const directory = join(running.directory, 'written');
  const terminal = createRecordingTerminal();
  const watching = runCommand(createFetchCommand, ['shop/cart', '--watch', '--write', directory, ...config], terminal);
  const shown = (count: number) => (output: string) => output.split('written to').length - 1 >= count;
  await terminal.until(shown(1));
  const before = readFileSync(join(directory, 'svid.pem'), 'utf8');
  await runCommand(createRenewCommand, ['shop/cart', ...config]);
  await terminal.until(shown(2));
  t.not(readFileSync(join(directory, 'svid.pem'), 'utf8'), before);
  running.writePods(podsOf('checkout'));
  running.writePods(podsOf('cart', 'checkout'));
  await runCommand(createRenewCommand, ['shop/checkout', ...config]).catch(() => {
    // It may not be there yet; only a change of the file was wanted.
  });
  terminal.stop();
  await watching;
  t.match(terminal.output, /written to/);
});

t.test('status, renew and log-level speak to the control socket', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart') });
  t.teardown(() => running.stop());
  await running.agent.podsRead;
  const config = ['--config', configOf(running)];
  t.match((await runCommand(createStatusCommand, config)).output, new RegExp(`${idOf('cart')} +(issued|pending)`));
  const json = JSON.parse((await runCommand(createStatusCommand, ['--json', ...config])).output) as {
    identities: unknown[];
    streams: { total: number };
  };
  t.equal(json.identities.length, 1);
  t.equal(json.streams.total, 0);
  t.equal((await runCommand(createRenewCommand, [idOf('cart'), ...config])).output, `${idOf('cart')} is being renewed\n`);
  await t.rejects(runCommand(createRenewCommand, ['shop/nope', ...config]), { message: 'no such identity on this node', kind: 'notFound' });
  t.match((await runCommand(createLogLevelCommand, ['warn', ...config])).output, /logs warn/);
  t.equal((await running.admin.status(new AbortController().signal)).logLevel, 'warn');
  await t.rejects(runCommand(createLogLevelCommand, ['loud', ...config]), { code: 'commander.invalidArgument' });
});
