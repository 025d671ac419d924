// What is wrong with a configuration: each fault by its place with what is allowed there, all at once; and what is only a warning.

import t from 'tap';
import type { ConfigError } from '../../../agent/config.js';
import { evaluate, faultsOf, minimal } from '../../fixtures/config.js';

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

t.test('the error carries its faults for programs and as fields for the log', async (t) => {
  const thrown = t.throws(() => evaluate(`${minimal}log: {level: loud}\n`)) as ConfigError;
  t.strictSame(thrown.faults, [{ path: 'log.level', message: 'must be one of error, warn, info, debug', line: 6 }]);
  t.strictSame(thrown.fields, { faults: ['log.level (line 6) must be one of error, warn, info, debug'] });
});
