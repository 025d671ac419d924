// The name of a node from the kubeconfig of its kubelet.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../../agent/config.js';
import { nodeOfKubeconfig } from '../../../agent/config/node-credential.js';
import { createLeaf, createRoot, keyPem } from '../../fixtures/pki.js';

const root = createRoot();
const ofUser = (subject: string, organization = 'system:nodes') =>
  createLeaf(root, 'spiffe://test/node', { uris: [], subject, organization });

const kubeconfig = (user: object): string =>
  JSON.stringify({
    'current-context': 'x',
    'contexts': [
      { name: 'other', context: { cluster: 'c', user: 'nobody' } },
      { name: 'x', context: { cluster: 'c', user: 'u' } },
    ],
    'users': [{ name: 'u', user }],
  });

t.test('a file beside it, as the kubelet has it, or data', (t) => {
  const node = ofUser('system:node:node-1.example.com');
  const directory = t.testdir({ 'kubelet.pem': `${keyPem(node)}${node.pem}` });
  const path = join(directory, 'kubelet.conf');
  writeFileSync(path, kubeconfig({ 'client-certificate': 'kubelet.pem' }));
  t.equal(nodeOfKubeconfig(path), 'node-1.example.com');
  writeFileSync(path, kubeconfig({ 'client-certificate': join(directory, 'kubelet.pem') }));
  t.equal(nodeOfKubeconfig(path), 'node-1.example.com');
  writeFileSync(path, kubeconfig({ 'client-certificate-data': Buffer.from(node.pem).toString('base64') }));
  t.equal(nodeOfKubeconfig(path), 'node-1.example.com');
  t.end();
});

t.test('none for a user that is no node, for a token, for what is not there', (t) => {
  const path = join(t.testdir({}), 'kubeconfig');
  t.equal(nodeOfKubeconfig(path), undefined);
  const data = (subject: string): string => Buffer.from(ofUser(subject).pem).toString('base64');
  for (const user of [{ 'client-certificate-data': data('admin') }, { token: 'abc' }, { 'client-certificate': '/nowhere.pem' }]) {
    writeFileSync(path, kubeconfig(user));
    t.equal(nodeOfKubeconfig(path), undefined);
  }
  for (const text of ['', '[]', 'current-context: x', '{']) {
    writeFileSync(path, text);
    t.equal(nodeOfKubeconfig(path), undefined, text);
  }
  t.end();
});

t.test('the setting and $NODE_NAME come first; without any it is asked for', (t) => {
  const directory = t.testdir({});
  const path = join(directory, 'kubelet.conf');
  writeFileSync(path, kubeconfig({ 'client-certificate-data': Buffer.from(ofUser('system:node:cn').pem).toString('base64') }));
  const file = join(directory, 'agent.yaml');
  const nodeWith = (more: string, env: Record<string, string> = {}): string => {
    writeFileSync(file, `trustDomain: example.org\nupstreams: [{kind: built-in}]\n${more}\n`);
    return loadConfig({ defaults: 'agent', env, file }).config.node;
  };
  const named = `kubeconfig: ${path}`;
  t.equal(nodeWith(named), 'cn');
  t.equal(nodeWith('', { SIGNET_KUBECONFIG: path }), 'cn');
  t.equal(nodeWith(named, { NODE_NAME: 'env' }), 'env');
  t.equal(nodeWith(`${named}\nnode: set`, { NODE_NAME: 'env' }), 'set');
  for (const without of ['', 'kubeconfig: /nowhere'])
    t.throws(() => nodeWith(without), { name: 'SignetError', fields: { faults: [/^node is required/] } });
  t.end();
});
