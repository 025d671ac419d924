// loadConfig over real files: precedence, every kind of fault, warnings, and what is printed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { ConfigInput, LoadedConfig } from '../../agent/config.js';
import { ConfigError, configFields, evaluateConfig, formatFault, loadConfig } from '../../agent/config.js';
import { formatConfig } from '../../agent/config/format.js';
import { listSettings } from '../../agent/config/settings.js';
import { isRetryable, kindOf } from '../../agent/runtime/errors.js';

const minimal = `
trustDomain: example.org
node: node-1
pods: {sources: [{kind: file, path: /etc/signet/pods.yaml}]}
upstreams: [{kind: built-in}]
`;

function evaluate(text: string | undefined, input: Partial<ConfigInput> = {}): LoadedConfig {
  return evaluateConfig({ defaults: 'agent', env: {}, ...input }, text, text === undefined ? undefined : '/etc/signet/agent.yaml');
}

function faultsOf(text: string | undefined, input: Partial<ConfigInput> = {}): string[] {
  try {
    evaluate(text, input);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(formatFault);
    throw error;
  }
  return [];
}

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

t.test('scalars are what was written, not what YAML would make of them', async (t) => {
  const text = `${minimal.replace('node-1', '1e3')}sds: {socket: {mode: 0640, takeover: true}}\n`;
  const { config } = evaluate(text);
  t.equal(config.node, '1e3');
  t.equal(config.sds.socket.mode, 0o640);
  t.equal(config.sds.socket.takeover, true);
});

t.test('JSON is YAML', async (t) => {
  const json = { trustDomain: 'a.b', node: 'n', pods: { sources: [{ kind: 'file', path: '/p' }] }, upstreams: [{ kind: 'built-in' }] };
  const { config } = evaluate(JSON.stringify({ ...json, certificate: { concurrency: 4 }, sds: { socket: { takeover: true } } }));
  t.equal(config.certificate.concurrency, 4);
  t.equal(config.sds.socket.takeover, true);
});

t.test('each fault names its place and what is allowed', async (t) => {
  const inFile: readonly (readonly [string, string])[] = [
    ['trustDomian: x', 'trustDomian (line 6) is unknown; did you mean trustDomain?'],
    ['sds: {socket: {pth: /x}}', 'sds.socket.pth (line 6) is unknown; did you mean path?'],
    ['log: {colour: red}', 'log.colour (line 6) is unknown; known here: level'],
    ['log: debug', 'log (line 6) must be a mapping of level'],
    ['log: {level: loud}', 'log.level (line 6) must be one of error, warn, info, debug'],
    ['log:\n  level: [debug]', 'log.level (line 7) must be one of error, warn, info, debug'],
    ['certificate: {lifetime: 5}', 'certificate.lifetime (line 6) must be a duration from 10s to 90d (units ms, s, m, h, d)'],
    ['certificate: {lifetime: 9s}', 'certificate.lifetime (line 6) must be a duration from 10s to 90d (units ms, s, m, h, d)'],
    ['certificate: {lifetime: 91d}', 'certificate.lifetime (line 6) must be a duration from 10s to 90d (units ms, s, m, h, d)'],
    ['certificate: {concurrency: eight}', 'certificate.concurrency (line 6) must be a whole number from 1 to 256'],
    ['certificate: {concurrency: 0}', 'certificate.concurrency (line 6) must be a whole number from 1 to 256'],
    ['certificate: {concurrency: 257}', 'certificate.concurrency (line 6) must be a whole number from 1 to 256'],
    ['sds: {limits: {message: 1MB}}', 'sds.limits.message (line 6) must be a size from 1KiB to 64MiB (units B, KiB, MiB, GiB)'],
    ['sds: {socket: {mode: 0888}}', 'sds.socket.mode (line 6) must be an octal file mode, such as 0666'],
    ['sds: {socket: {takeover: yes}}', 'sds.socket.takeover (line 6) must be true or false'],
    ['sds: {socket: {path: sds.sock}}', 'sds.socket.path (line 6) must be an absolute path of at most 107 bytes'],
    ['sds: {socket: {group: "a b"}}', 'sds.socket.group (line 6) must be a group name or number'],
    ['http: {address: 9470}', 'http.address (line 6) must be an address and port, such as 127.0.0.1:9470 or [::1]:9470'],
    ['http: {address: "::1:9470"}', 'http.address (line 6) must be an address and port, such as 127.0.0.1:9470 or [::1]:9470'],
    ['http: {address: "x:65536"}', 'http.address (line 6) must be an address and port, such as 127.0.0.1:9470 or [::1]:9470'],
    [
      'trustBundle: {sources: []}',
      'trustBundle.sources (line 6) must have at least one entry: a list of sources: {kind: file, path}, {kind: issuer}, {kind: configmap, namespace, name, key} or {kind: cluster-trust-bundle, name or signerName}',
    ],
    [
      'trustBundle: {sources: [{kind: url}]}',
      'trustBundle.sources[0].kind (line 6) must be file, issuer, configmap or cluster-trust-bundle',
    ],
    ['trustBundle: {sources: [{kind: file}]}', 'trustBundle.sources[0].path (line 6) is required'],
    ['trustBundle: {sources: [{kind: issuer, path: /x}]}', 'trustBundle.sources[0].path (line 6) is unknown; known here: kind'],
    [
      'trustBundle: {sources: issuer}',
      'trustBundle.sources (line 6) must be a list of sources: {kind: file, path}, {kind: issuer}, {kind: configmap, namespace, name, key} or {kind: cluster-trust-bundle, name or signerName}',
    ],
    ['identities: {select: {namespaces: [Shop]}}', 'identities.select.namespaces[0] (line 6) must be the name of a namespace'],
    ['identities: {select: {podLabels: [a]}}', 'identities.select.podLabels (line 6) must be a mapping of labels to values'],
    ['identities: {select: {podLabels: {__proto__: x}}}', 'identities.select.podLabels.__proto__ (line 6) is no key'],
    ['peers: [{pod: {labels: {__proto__: x}}, grant: node}]', 'peers[0].pod.labels.__proto__ (line 6) is no key'],
    ['identities: {select: {podLabels: {a: {b: c}}}}', 'identities.select.podLabels.a (line 6) must be the value of a label'],
    ['peers: [{pod: {labels: {a b: c}}, grant: own}]', 'peers[0].pod.labels.a b (line 6) is not the key of a label'],
    ['peers: [{pod: {labels: {a: b c}}, grant: own}]', 'peers[0].pod.labels.a (line 6) must be the value of a label'],
    ['peers: [{grant: own}]', 'peers[0] (line 6) must have either pod or host'],
    ['peers: [{pod: {}, host: {uid: 1}, grant: node}]', 'peers[0] (line 6) must have either pod or host'],
    ['peers: [{pod: {}}]', 'peers[0].grant (line 6) is required'],
    ['peers: [{pod: , grant: own}]', 'peers[0].pod (line 6) must be a mapping of serviceAccount and labels, {} for any pod'],
    ['peers: [{pod: {serviceAccount: web}, grant: own}]', 'peers[0].pod.serviceAccount (line 6) must be <namespace>/<service account>'],
    ['peers:\n  - pod: {}\n    grant: own\n  - host: {}\n    grant: node', 'peers[1].host (line 9) must name a unit or a uid'],
    ['peers: [{host: {uid: 1}, grant: own}]', 'peers[0].grant (line 6) must not grant own to a host process: it has no pod'],
    [
      'peers: [{host: {uid: 1}, grant: all}]',
      'peers[0].grant (line 6) must be node, own, none or a list of SPIFFE IDs, with * for any characters of a namespace or service account',
    ],
    [
      'peers: [{host: {uid: 1}, grant: ["spiffe://*/ns/a/sa/b"]}]',
      'peers[0].grant[0] (line 6) must be spiffe://<trust domain>/ns/<namespace>/sa/<service account>, with * for any characters of the last two',
    ],
  ];
  for (const [line, expected] of inFile) t.strictSame(faultsOf(`${minimal}${line}\n`), [expected], line);

  const issuer = minimal.replace('{kind: built-in}', '{kind: built-in, issuer: {certificate: /a, privatekey: /b}}');
  t.strictSame(faultsOf(issuer), [
    'upstreams[0].issuer.privateKey (line 5) is required',
    'upstreams[0].issuer.privatekey (line 5) is unknown; did you mean privateKey?',
  ]);
  t.strictSame(faultsOf(minimal.replace('[{kind: built-in}]', '[{kind: built-in}, {kind: built-in}]')), [
    'upstreams (line 5) must have one built-in upstream at most',
  ]);
});

t.test('all faults of all sources at once', async (t) => {
  const env = { SIGNET_LOG_LEVEL: 'loud' };
  const flags = { 'sds-hold': '1', 'nod': 'x' };
  t.strictSame(faultsOf('node: n\nfoo: 1\nfoo2: 2\n', { env, flags }), [
    '--nod is unknown; did you mean node?',
    `foo (line 2) is unknown; known here: trustDomain, node, identities, pods, kubeconfig, upstreams, trustBundle, certificate, sds, peers, localCa, http, admin, state, log`,
    `foo2 (line 3) is unknown; known here: trustDomain, node, identities, pods, kubeconfig, upstreams, trustBundle, certificate, sds, peers, localCa, http, admin, state, log`,
    'trustDomain is required; set it in /etc/signet/agent.yaml, with SIGNET_TRUST_DOMAIN or --trust-domain',
    'upstreams is required; set it in /etc/signet/agent.yaml',
    'sds.hold (--sds-hold) must be a duration from 0s to 30s (units ms, s, m, h, d)',
    'log.level (SIGNET_LOG_LEVEL) must be one of error, warn, info, debug',
  ]);
});

t.test('what is not YAML is told with its line, and nothing else is', async (t) => {
  t.match(faultsOf('node: n\npods: [\n'), [/^the file \(line 3\) is not valid YAML: /]);
  t.match(faultsOf('node: a\nnode: b\n'), ['the file (line 2) is not valid YAML: Map keys must be unique']);
  t.strictSame(faultsOf('node: a\n---\nnode: b\n'), ['the file (line 2) must hold a single YAML document']);
  t.strictSame(faultsOf('- a\n')[0], 'the file (line 1) must be a mapping of settings');
  t.match(faultsOf('node: *nowhere\n'), [/^the file .*is not valid YAML: .*nowhere/]);
  const bomb = ['a: &a x', ...[...'bcdefgh'].map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]`)];
  t.match(faultsOf(bomb.join('\n')), [/not valid YAML: Excessive alias count/]);
});

t.test('a key without value, or null, is not set; an empty file is none', async (t) => {
  t.equal(evaluate(`${minimal}log:\n`).config.log.level, 'info');
  t.equal(evaluate(`${minimal}log: {level: null}\nsds:\n  socket:\n    path: ~\n`).config.sds.socket.path, '/run/signet/sds/sds.sock');
  t.equal(faultsOf('').length, 3);
  t.equal(faultsOf('# nothing\n').length, 3);
});

t.test('a socket path is measured in bytes', async (t) => {
  const withPath = (path: string): string[] => faultsOf(minimal, { flags: { 'sds-socket-path': path } });
  t.equal(withPath(`/${'x'.repeat(106)}`).length, 0, '107 bytes fit');
  t.equal(withPath(`/${'x'.repeat(107)}`).length, 1, '108 do not');
  t.equal(withPath(`/${'é'.repeat(60)}`).length, 1, '60 characters of two bytes do not');
});

t.test('a grant outside of the trust domain is a warning', async (t) => {
  const { warnings } = evaluate(
    `${minimal}peers: [{pod: {}, grant: ['spiffe://example.org/ns/a/sa/*', 'spiffe://exmaple.org/ns/a/sa/b']}]\n`,
  );
  t.strictSame(warnings, ['peers[0].grant names spiffe://exmaple.org/ns/a/sa/b, outside of the trust domain example.org: no effect']);
});

t.test('unknown variables are warnings, service links are not even that', async (t) => {
  const env = {
    SIGNET_CONFIG: '/x',
    SIGNET_NODE: 'n',
    SIGNET_CERTIFICATE_LIFETIM: '1h',
    SIGNET_FROBNICATE: '1',
    SIGNET_PORT: 'tcp://10.0.0.1:80',
    SIGNET_SERVICE_HOST: '10.0.0.1',
    SIGNET_AGENT_SERVICE_HOST: '10.0.0.1',
    SIGNET_AGENT_SERVICE_PORT: '80',
    SIGNET_AGENT_SERVICE_PORT_HTTP: '80',
    SIGNET_CA_PORT: 'tcp://10.0.0.1:15012',
    SIGNET_CA_PORT_15012_TCP_ADDR: '10.0.0.1',
    PATH: '/bin',
  };
  t.strictSame(evaluate(minimal, { env }).warnings, [
    'SIGNET_CERTIFICATE_LIFETIM in the environment is no setting and has no effect; did you mean SIGNET_CERTIFICATE_LIFETIME?',
    'SIGNET_FROBNICATE in the environment is no setting and has no effect',
  ]);
});

t.test('names of variables and flags follow from the path and never look like service links', async (t) => {
  const named = listSettings();
  const of = (path: string): unknown[] => named.filter((entry) => entry.path === path).flatMap(({ variable, flag }) => [variable, flag]);
  t.strictSame(of('sds.limits.namesPerOwner'), ['SIGNET_SDS_LIMITS_NAMES_PER_OWNER', 'sds-limits-names-per-owner']);
  t.strictSame(of('peers'), [undefined, undefined], 'lists stand in the file only');
  const variables = named.flatMap(({ variable }) => variable ?? []);
  t.equal(new Set(variables).size, variables.length);
  t.notOk(variables.some((name) => /_PORT(_|$)|_SERVICE_HOST$/.test(name)));
});

t.test('every scalar setting is read from its variable and its flag', async (t) => {
  const values: Readonly<Record<string, string>> = {
    'identities.select.hostNetwork': 'exclude',
    'certificate.issue': 'on-demand',
    'certificate.keyType': 'rsa-3072',
    ...Object.fromEntries(['http', 'pods.kubelet', 'localCa'].map((above) => [`${above}.address`, '[::1]:80'])),
    'pods.kubelet.pin': 'b'.repeat(64),
    'localCa.whenApiServerAway': 'jwks',
    'localCa.auth': 'caller',
    'localCa.quickAck': 'false',
    'state.sealed': 'false',
    'log.level': 'debug',
  };
  const text = `${minimal}localCa: {auth: upstream}\n`;
  for (const { path, setting, variable, flag } of listSettings()) {
    if (variable === undefined || flag === undefined) continue;
    const value =
      values[path] ??
      (/from [0-9]+ to ([0-9]+)$/.exec(setting.allowed)?.[1] ||
        /^a (?:duration|size) from \S+ to (\S+)/.exec(setting.allowed)?.[1] ||
        (setting.allowed.startsWith('an absolute path') ? '/some/path' : setting.allowed === 'true or false' ? 'true' : '640'));
    const byVariable = evaluate(text, { env: { [variable]: value } });
    const byFlag = evaluate(text, { flags: { [flag]: value } });
    t.strictSame(byVariable.config, byFlag.config, path);
    t.notSame(byFlag.config, evaluate(text).config, `${path} has an effect`);
  }
});

t.test('durations within the bounds are read exactly', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 10_000, max: 7_776_000_000 }), (ms) => {
      const { lifetimeMs } = evaluate(minimal, { flags: { 'certificate-lifetime': `${ms}ms` } }).config.certificate;
      return lifetimeMs === ms;
    }),
    { numRuns: 50 },
  );
});

t.test('addresses', async (t) => {
  const of = (text: string): unknown => evaluate(minimal, { flags: { 'http-address': text } }).config.http.address;
  t.strictSame(of('[fe80::1%eth0]:0'), { host: 'fe80::1%eth0', port: 0 });
  t.strictSame(of('[::]:65535'), { host: '::', port: 65_535 });
  t.strictSame(of('localhost:80'), { host: 'localhost', port: 80 });
});

t.test('any text as file gives a configuration or faults, never anything else', async (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      faultsOf(text);
      faultsOf(`${minimal}${text}`);
    }),
    { numRuns: 100, interruptAfterTimeLimit: 3_000 },
  );
  t.pass();
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

t.test('the error carries its faults for programs and as fields for the log', async (t) => {
  const thrown = t.throws(() => evaluate(`${minimal}log: {level: loud}\n`)) as ConfigError;
  t.strictSame(thrown.faults, [{ path: 'log.level', message: 'must be one of error, warn, info, debug', line: 6 }]);
  t.strictSame(thrown.fields, { faults: ['log.level (line 6) must be one of error, warn, info, debug'] });
});

t.test('the effective configuration is a file that gives the same one, with origins', async (t) => {
  const env = { SIGNET_SDS_HOLD: '5s', SIGNET_FOO: '1' };
  const loaded = evaluate(`${minimal}certificate: {lifetime: 1h}\nsds: {socket: {mode: 0600}}\n`, { env });
  const printed = formatConfig(loaded);
  t.match(printed, '# file: /etc/signet/agent.yaml\n# warning: SIGNET_FOO in the environment is no setting');
  t.match(printed, '  lifetime: 1h # file line 6\n');
  t.match(printed, '  hold: 5s # SIGNET_SDS_HOLD\n');
  t.match(printed, '\n# default\npeers:\n');
  t.match(printed, '\n# file line 5\nupstreams:\n');
  t.match(printed, '  # file line 4\n  sources:\n');
  t.strictSame(evaluate(printed).config, loaded.config);
  t.match(
    formatConfig(
      evaluate(undefined, { defaults: 'dev', overrides: { 'pods.sources': { value: [{ kind: 'file', path: '/p' }], from: '--pods' } } }),
    ),
    /^# no file was read\n/,
  );
  t.match(configFields(loaded), { 'certificate.lifetime': '1h', 'peers': '[{"pod":{},"grant":"own"}]', 'certificate.concurrency': 8 });
});

t.test('the example of the reference page is accepted', async (t) => {
  const { config } = evaluate(readFileSync('docs/examples/agent.yaml', 'utf8'));
  t.equal(config.peers.length, 4);
  t.strictSame(config.peers[2]?.grant, ['spiffe://example.org/ns/shop/sa/*', 'spiffe://example.org/ns/team-*/sa/web']);
});
