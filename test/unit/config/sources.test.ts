// Where pods and roots come from: what may be said, and what is a fault.

import t from 'tap';
import type { Config } from '../../../agent/config.js';
import { ConfigError, evaluateConfig, formatFault } from '../../../agent/config.js';

const others = 'trustDomain: example.org\nnode: n\nupstreams: [{kind: built-in}]\n';

function read(text: string): Config | string[] {
  try {
    return evaluateConfig({ defaults: 'agent', env: {} }, `${others}${text}\n`, '/etc/signet/agent.yaml').config;
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(formatFault);
    throw error;
  }
}

t.test('without a word about pods the first source that works is taken', (t) => {
  t.match(read(''), { pods: { sources: [{ kind: 'auto' }] } });
  t.end();
});

t.test('a kubeconfig', (t) => {
  t.match(read('kubeconfig: /etc/kubernetes/kubelet.conf'), { kubeconfig: '/etc/kubernetes/kubelet.conf' });
  t.equal((read('') as Config).kubeconfig, undefined);
  t.strictSame(read('kubeconfig: kubelet.conf'), ['kubeconfig (line 4) must be an absolute path']);
  t.end();
});

const pin = 'a'.repeat(64);
const sound: readonly [text: string, sources: readonly object[]][] = [
  ['{kind: apiserver}', [{ kind: 'apiserver' }]],
  [
    '{kind: apiserver, as: node}, {kind: file, path: /p}',
    [
      { kind: 'apiserver', as: 'node' },
      { kind: 'file', path: '/p' },
    ],
  ],
  ['{kind: kubelet}', [{ kind: 'kubelet' }]],
  ['{kind: kubelet-pods-api, socket: /s.sock}', [{ kind: 'kubelet-pods-api', socket: '/s.sock' }]],
  ['{kind: auto}', [{ kind: 'auto' }]],
];
for (const [text, sources] of sound) {
  t.test(`pods from ${text}`, (t) => {
    t.strictSame((read(`pods: {sources: [${text}]}`) as Config).pods.sources, sources);
    t.end();
  });
}

const faults: readonly [text: string, fault: string][] = [
  ['{kind: apiserver, as: admin}', 'pods.sources[0].as (line 4) must be own or node'],
  ['{kind: kubelet, insecure: true}', 'pods.sources[0].insecure (line 4) is unknown; known here: kind'],
  ['{kind: docker}', 'pods.sources[0].kind (line 4) must be auto, apiserver, kubelet, kubelet-pods-api or file'],
];
for (const [text, fault] of faults) {
  t.test(`not pods from ${text}`, (t) => {
    t.strictSame(read(`pods: {sources: [${text}]}`), [fault]);
    t.end();
  });
}

t.test('the kubelet', (t) => {
  const kubelet = (text: string): unknown => {
    const config = read(text);
    return Array.isArray(config) ? config : (config as Config).pods.kubelet;
  };
  t.strictSame(kubelet(''), { address: { host: '127.0.0.1', port: 10_250 } });
  t.strictSame(kubelet(`pods: {kubelet: {address: "[fd00::1]:10250", ca: /ca.pem, serverName: node-a, pin: ${pin}}}`), {
    address: { host: 'fd00::1', port: 10_250 },
    ca: '/ca.pem',
    serverName: 'node-a',
    pin,
  });
  t.strictSame(kubelet('pods: {kubelet: {pin: abc}}'), [
    'pods.kubelet.pin (line 4) must be 64 hexadecimal digits, the SHA-256 of a public key',
  ]);
  t.end();
});

t.test('roots', (t) => {
  const roots = (text: string): unknown => {
    const config = read(`trustBundle: {sources: [${text}]}`);
    return Array.isArray(config) ? config : (config as Config).trustBundle.sources;
  };
  t.strictSame(roots('{kind: configmap, namespace: signet-system, name: signet-ca-root}'), [
    { kind: 'configmap', namespace: 'signet-system', name: 'signet-ca-root' },
  ]);
  t.strictSame(roots('{kind: configmap, namespace: a, name: b, key: ca.crt}'), [
    { kind: 'configmap', namespace: 'a', name: 'b', key: 'ca.crt' },
  ]);
  t.strictSame(roots('{kind: cluster-trust-bundle, signerName: example.com/ca}'), [
    { kind: 'cluster-trust-bundle', signerName: 'example.com/ca' },
  ]);
  t.strictSame(roots('{kind: cluster-trust-bundle, name: "example.com:ca:root"}'), [
    { kind: 'cluster-trust-bundle', name: 'example.com:ca:root' },
  ]);
  t.strictSame(roots('{kind: cluster-trust-bundle}'), ['trustBundle.sources[0] (line 4) must have either name or signerName']);
  t.strictSame(roots('{kind: configmap, name: b}'), ['trustBundle.sources[0].namespace (line 4) is required']);
  t.end();
});
