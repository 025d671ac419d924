// The local CA endpoint: where it may be, and what it may show.

import t from 'tap';
import type { Config, Upstream } from '../../../agent/config.js';
import { ConfigError, evaluateConfig, formatFault } from '../../../agent/config.js';
import { forwardingFaults } from '../../../agent/config/forwarding.js';

const others = 'trustDomain: example.org\nnode: n\nupstreams: [{kind: built-in}]\n';
const upstream = 'auth: upstream, ';

function read(text: string): Config['localCa'] | string[] {
  try {
    return evaluateConfig({ defaults: 'agent', env: {} }, `${others}localCa: {${text}}\n`, '/etc/signet/agent.yaml').config.localCa;
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(formatFault);
    throw error;
  }
}

t.test('defaults: no endpoint', (t) => {
  t.strictSame(read(''), {
    serving: 'node-root',
    names: ['signet-local-ca.signet-system.svc', 'localhost', '127.0.0.1', '::1'],
    rootDirectory: '/run/signet/local-ca',
    audiences: ['istio-ca'],
    delegates: ['istio-system/ztunnel'],
    whenApiServerAway: 'unavailable',
    auth: 'caller',
    deadlineMs: 10_000,
    waitForPodMs: 3_000,
    quickAck: true,
  });
  t.end();
});

t.test('an address, or all of them', (t) => {
  t.match(read(`${upstream}address: ':15812'`), { address: { host: '', port: 15_812 } });
  t.match(read(`${upstream}address: '10.0.0.1:15812'`), { address: { host: '10.0.0.1', port: 15_812 } });
  t.match(read(`${upstream}address: '[fd00::1]:15812'`), { address: { host: 'fd00::1', port: 15_812 } });
  const allowed = 'an address and port, such as 10.0.0.1:15812 or [fd00::1]:15812, or :15812 for all addresses';
  for (const wrong of ['15812', ':70000', ':', '10.0.0.1', 'fd00::1:15812']) {
    t.strictSame(read(`address: '${wrong}'`), [`localCa.address (line 4) must be ${allowed}`], wrong);
  }
  t.end();
});

t.test('the token of the caller is for upstreams that take it', (t) => {
  t.strictSame(read("address: ':15812'"), [
    'localCa.auth must be upstream without an upstream istio: no other takes the token of a caller',
  ]);
  t.end();
});

t.test('what a local CA wants of upstreams and their queue', (t) => {
  const faultsOf = (kinds: readonly Upstream['kind'][], auth: 'caller' | 'upstream', concurrency = 8): string[] => {
    const upstreams = kinds.map((kind) => ({ kind }));
    return forwardingFaults({ upstreams, certificate: { concurrency }, localCa: { address: '', auth } }).map(({ path }) => path);
  };
  t.strictSame(faultsOf(['built-in', 'istio'], 'caller'), []);
  t.strictSame(faultsOf(['kubernetes-csr'], 'upstream', 2), []);
  t.strictSame(faultsOf(['cert-manager', 'pod-certificate'], 'upstream'), []);
  t.strictSame(faultsOf(['pod-certificate', 'pod-certificate'], 'upstream'), ['upstreams']);
  t.strictSame(faultsOf(['pod-certificate'], 'caller', 1), ['localCa.auth', 'upstreams', 'certificate.concurrency']);
  const off = { upstreams: [{ kind: 'pod-certificate' }], certificate: { concurrency: 1 }, localCa: { auth: 'caller' } } as const;
  t.strictSame(forwardingFaults(off), []);
  t.end();
});

t.test('a root of the node, or files', (t) => {
  t.match(read('serving: node-root'), { serving: 'node-root' });
  t.match(read('serving: {certificate: /c, privateKey: /k}'), { serving: { certificate: '/c', privateKey: '/k' } });
  for (const wrong of ['serving: files', 'serving: {certificate: /c}', 'serving: {certificate: c, privateKey: /k}']) {
    t.match(read(wrong), [/^localCa\.serving/], wrong);
  }
  t.end();
});

t.test('accounts and audiences', (t) => {
  t.match(read('delegates: [mesh/proxy], audiences: [a, b]'), { delegates: ['mesh/proxy'], audiences: ['a', 'b'] });
  t.match(read('delegates: []'), { delegates: [] });
  t.match(read('delegates: [proxy]'), [/localCa\.delegates\[0\] .*must be/]);
  t.match(read('audiences: []'), [/must have at least one entry/]);
  t.end();
});
