import t from 'tap';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentCommand } from '../../../agent/commands/agent.js';
import { createCheckConfigCommand } from '../../../agent/commands/check-config.js';
import { createDevCommand, formatWelcome } from '../../../agent/commands/dev.js';
import { createVersionCommand } from '../../../agent/commands/version.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { podsOf } from '../../fixtures/agent.js';
import { createRecordingTerminal, runCommand } from '../../fixtures/terminal.js';

// The commands that serve or only look at settings.

function createPlace(t: { teardown(handler: () => void): unknown }): { readonly directory: string; readonly sockets: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'sc-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'pods.yaml'), podsOf('cart'));
  const sockets = ['sds', 'admin'].flatMap((name) => [`--${name}-socket-path`, join(directory, name, `${name}.sock`)]);
  return {
    directory,
    sockets: [...sockets, '--http-address', '127.0.0.1:0', '--log-level', 'error', '--state-directory', join(directory, 'state')],
  };
}

t.test('dev says what it serves, and ends with the signal', async (t) => {
  const { directory, sockets } = createPlace(t);
  const terminal = createRecordingTerminal();
  const serving = runCommand(createDevCommand, ['--pods', join(directory, 'pods.yaml'), ...sockets], terminal);
  await terminal.until((output) => output.includes('Ctrl-C'));
  t.match(terminal.output, /signet serves 1 identities:\n {2}spiffe:\/\/example.org\/ns\/shop\/sa\/cart\n/);
  t.match(terminal.output, /npx signet fetch spiffe:\/\/example.org\/ns\/shop\/sa\/cart\n/);
  terminal.stop();
  await serving;
});

t.test('agent serves until the signal', async (t) => {
  const { directory, sockets } = createPlace(t);
  const config = join(directory, 'agent.yaml');
  writeFileSync(config, 'trustDomain: td.test\nnode: node-a\nupstreams: [{kind: built-in}]\n');
  const terminal = createRecordingTerminal();
  terminal.stop();
  await runCommand(createAgentCommand, ['--config', config, '--pods', join(directory, 'pods.yaml'), ...sockets], terminal);
  t.equal(terminal.output, '');
  await t.rejects(runCommand(createAgentCommand, ['--config', join(directory, 'none.yaml')]), { message: 'configuration has faults' });
});

t.test('the welcome without pods, without http, and with many identities', async (t) => {
  const addresses = { sds: '/s', admin: '/a' };
  const none = formatWelcome({ addresses, http: new WatchedValue(undefined), identities: new WatchedValue(new Map()) });
  t.match(none, /knows no pods yet/);
  t.match(none, /metrics +not served/);
  t.match(none, /npx signet fetch ROOTCA/);
  const many = new Map(Array.from({ length: 12 }, (_, index) => [`spiffe://td/ns/a/sa/${index}`, {} as never]));
  t.match(
    formatWelcome({ addresses, http: new WatchedValue({ host: 'h', port: 1 }), identities: new WatchedValue(many) }),
    /… and 2 more\n/,
  );
});

t.test('check-config prints what is in effect, or fails with all faults', async (t) => {
  const { directory } = createPlace(t);
  const pods = ['--pods', join(directory, 'pods.yaml')];
  t.match((await runCommand(createCheckConfigCommand, ['--dev', ...pods])).output, /trustDomain: example.org # default\n/);
  await t.rejects(runCommand(createCheckConfigCommand, ['--dev', ...pods, '--http-address', 'x', '--log-level', 'y']), {
    message: 'configuration has faults',
    faults: [{ path: 'http.address' }, { path: 'log.level' }],
  });
});

t.test('check-config --ca is about the file of signet ca', async (t) => {
  const { directory } = createPlace(t);
  const check = (text: string, ...flags: readonly string[]) => {
    writeFileSync(join(directory, 'ca.yaml'), text);
    return runCommand(createCheckConfigCommand, ['--ca', '--config', join(directory, 'ca.yaml'), ...flags]);
  };
  const { output } = await check('trustDomain: td.test\nnodeAgents: [shop/agent]\n', '--listen-address', '0.0.0.0:1');
  t.match(output, 'trustDomain: td.test # file line 1\n');
  t.match(output, '# file line 2\nnodeAgents:\n  - shop/agent\n');
  t.match(output, 'listen:\n  address: 0.0.0.0:1 # --listen-address\n');
  const bare = (text: string): string => text.replaceAll(/ *#.*|"/g, '');
  t.equal(bare((await check(output)).output), bare(output), 'what is printed gives the same again');
  await t.rejects(check('trustdomain: x\nnodeAgents: a\nupstreams: []\n', '--limits-calls', '0', '--sds-hold', '1s'), {
    message: 'configuration has faults',
    faults: [
      { path: '--sds-hold' },
      { path: 'trustdomain', line: 1 },
      { path: 'upstreams', line: 3 },
      { path: 'trustDomain' },
      { path: 'nodeAgents', line: 2 },
      { path: 'limits.calls', from: '--limits-calls' },
    ],
  });
  await t.rejects(check('trustDomain: td.test\n', '--dev'), { code: 'commander.conflictingOption' });
});

t.test('version', async (t) => {
  t.match((await runCommand(createVersionCommand, [])).output, /^signet \S+ \(node \d+\.\d+\.\d+\)\n$/);
});
