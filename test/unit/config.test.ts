// loadConfig over real files: defaults, precedence, which file is read.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { LoadedConfig } from '../../agent/config.js';
import { ConfigError, formatFault, loadConfig } from '../../agent/config.js';
import { isRetryable, kindOf } from '../../agent/runtime/errors.js';
import { evaluate, faultsOf, minimal } from '../fixtures/config.js';

t.test('defaults of the agent', async (t) => {
  const { config, warnings, file } = evaluate(minimal);
  const { localCa: _elsewhere, ...others } = config;
  t.strictSame(others, {
    trustDomain: 'example.org',
    node: 'node-1',
    identities: {
      select: { excludeNamespaces: ['kube-system', 'kube-public', 'kube-node-lease'], hostNetwork: 'include', ambient: false },
    },
    pods: {
      sources: [{ kind: 'file', path: '/etc/signet/pods.yaml' }],
      kubelet: { address: { host: '127.0.0.1', port: 10_250 } },
      namespaces: false,
      lingerMs: 30_000,
    },
    upstreams: [{ kind: 'built-in' }],
    trustBundle: { sources: [{ kind: 'issuer' }] },
    certificate: { issue: 'ahead', lifetimeMs: 86_400_000, keyType: 'ec-p256', concurrency: 8, deadlineMs: 10_000 },
    sds: {
      socket: { path: '/run/signet/sds/sds.sock', mode: 0o666, takeover: false },
      holdMs: 3_000,
      limits: {
        connections: 8_192,
        connectionsPerOwner: 1_024,
        streams: 60_000,
        streamsPerOwner: 20_000,
        namesPerStream: 4_096,
        namesPerOwner: 60_000,
        openBurst: 12_000,
        openRate: 1_000,
        messageBytes: 1_048_576,
        headerListBytes: 16_384,
        halfOpenMs: 10_000,
        stalledWriteMs: 120_000,
        controlFrames: 1_000,
      },
    },
    peers: [{ pod: {}, grant: 'own' }],
    http: { address: { host: '127.0.0.1', port: 9470 } },
    admin: { socket: { path: '/run/signet/admin/admin.sock' } },
    state: { directory: '/run/signet/state', sealed: true },
    log: { level: 'info' },
  });
  t.strictSame(warnings, []);
  t.equal(file, '/etc/signet/agent.yaml');
});

t.test('defaults of dev stay in the directory of the user and need only pods', async (t) => {
  const overrides = { 'pods.sources': { value: [{ kind: 'file', path: '/pods.yaml' }], from: '--pods' } };
  const uid = process.getuid?.() ?? 0;
  const { config } = evaluate(undefined, { defaults: 'dev', env: { XDG_RUNTIME_DIR: '/run/user/7' }, overrides });
  t.equal(config.trustDomain, 'example.org');
  t.equal(config.node, 'local', 'never the host name');
  t.equal(config.sds.socket.path, `/run/user/7/signet-${uid}/sds/sds.sock`);
  t.equal(config.admin.socket.path, `/run/user/7/signet-${uid}/admin/admin.sock`);
  t.equal(config.state.directory, `/run/user/7/signet-${uid}/state`);
  t.strictSame(config.peers, [
    { host: { uid }, grant: 'node' },
    { pod: {}, grant: 'own' },
  ]);
  t.equal(evaluate(undefined, { defaults: 'dev', overrides }).config.state.directory, `/tmp/signet-${uid}/state`);
  t.strictSame(faultsOf(undefined, { defaults: 'dev' }), ['pods.sources is required; set it in a file for --config']);
});

t.test('a flag wins over the environment, that over the file, that over the default', async (t) => {
  const text = `${minimal}certificate: {lifetime: 1h}\n`;
  const env = { SIGNET_CERTIFICATE_LIFETIME: '2h' };
  const flags = { 'certificate-lifetime': '3h' };
  const of = (loaded: LoadedConfig): unknown[] => {
    const origin = loaded.effective.find(({ path }) => path === 'certificate.lifetime')?.origin;
    return [loaded.config.certificate.lifetimeMs / 3_600_000, origin];
  };
  t.strictSame(of(evaluate(minimal)), [24, 'default']);
  t.strictSame(of(evaluate(text)), [1, 'file line 6']);
  t.strictSame(of(evaluate(text, { env })), [2, 'SIGNET_CERTIFICATE_LIFETIME']);
  t.strictSame(of(evaluate(text, { env, flags })), [3, '--certificate-lifetime']);
});

t.test('the node name comes from NODE_NAME when nothing sets it', async (t) => {
  const text = minimal.replace('node: node-1', 'node:');
  t.equal(evaluate(text, { env: { NODE_NAME: 'node-7' } }).config.node, 'node-7');
  t.equal(evaluate(minimal, { env: { NODE_NAME: 'node-7' } }).config.node, 'node-1');
  t.strictSame(faultsOf(text, { env: { NODE_NAME: '' } }), [
    'node is required; set it in /etc/signet/agent.yaml, with SIGNET_NODE or --node',
  ]);
});

t.test('the configuration is frozen through and through', async (t) => {
  const { config } = evaluate(minimal);
  t.throws(() => Object.assign(config.sds.limits, { streams: 1 }), TypeError);
  t.throws(() => (config.upstreams as unknown[]).push(1), TypeError);
  t.throws(() => Object.assign(config.peers[0] ?? {}, { grant: 'node' }), TypeError);
});

t.test('files: named ones must be there and be files, the default one need not', async (t) => {
  const directory = t.testdir({ 'agent.yaml': minimal, 'large.yaml': `# ${'x'.repeat(1024 * 1024)}` });
  const path = join(directory, 'agent.yaml');
  t.equal(loadConfig({ defaults: 'agent', env: {}, file: path }).file, path);
  t.equal(loadConfig({ defaults: 'agent', env: { SIGNET_CONFIG: path } }).file, path);
  t.equal(loadConfig({ defaults: 'dev', env: { SIGNET_CONFIG: path } }).config.node, 'node-1');
  const faults = (file: string): string => {
    try {
      loadConfig({ defaults: 'agent', env: {}, file });
      return '';
    } catch (error) {
      t.equal(kindOf(error), 'invalid');
      t.notOk(isRetryable(error));
      return error instanceof ConfigError ? error.faults.map(formatFault).join() : '';
    }
  };
  t.equal(faults(join(directory, 'none.yaml')), `${join(directory, 'none.yaml')} does not exist`);
  t.equal(faults(directory), `${directory} is not a regular file`);
  t.equal(faults(join(directory, 'large.yaml')), `${join(directory, 'large.yaml')} is larger than 1048576 bytes`);
  t.equal(faults(join(path, 'x')), `${join(path, 'x')} cannot be read: ENOTDIR`);
  t.throws(() => loadConfig({ defaults: 'agent', env: {} }), { message: 'configuration has faults', kind: 'invalid' });
});

t.test('the example of the reference page is accepted', async (t) => {
  const { config } = evaluate(readFileSync('docs/examples/agent.yaml', 'utf8'));
  t.equal(config.peers.length, 4);
  t.strictSame(config.peers[2]?.grant, ['spiffe://example.org/ns/shop/sa/*', 'spiffe://example.org/ns/team-*/sa/web']);
});
