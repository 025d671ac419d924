import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createKubeAccess } from '../../../agent/kube/access.js';
import { createApiServer, createServerCertificate } from '../../fixtures/api-server.js';
import { never } from '../../fixtures/kube.js';
import { keyPem } from '../../fixtures/pki.js';
import { createServices } from '../../fixtures/reasons.js';

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');

t.test('as whoever the credential says, as the node, and as nobody but the token of the call', async (t) => {
  const server = await createApiServer(t, (call) => call.json({}));
  const client = createServerCertificate(server.root);
  const kubeconfig = join(t.testdir({}), 'kubeconfig');
  const user = { 'client-certificate-data': base64(client.pem), 'client-key-data': base64(keyPem(client)) };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'clusters': [{ name: 'c', cluster: { 'server': server.url.href, 'certificate-authority-data': base64(server.ca) } }],
      'users': [{ name: 'u', user }],
      'contexts': [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  const { own, asNode, anonymous } = createKubeAccess({ kubeconfig, env: {}, node: 'node-a', ...createServices() });
  for (const each of [own, asNode, anonymous]) await each.request({ path: '/', token: 'of-a-workload' }, never);
  await own.request({ path: '/' }, never);
  for (const each of [own, asNode, anonymous]) each.close();
  t.same(
    server.calls.map(({ client: certificate, headers }) => [certificate, headers['impersonate-user'], headers.authorization]),
    [
      ['system:node:node-a', undefined, 'Bearer of-a-workload'],
      ['system:node:node-a', 'system:node:node-a', 'Bearer of-a-workload'],
      [undefined, undefined, 'Bearer of-a-workload'],
      ['system:node:node-a', undefined, undefined],
    ],
  );
});

t.test('without a credential nothing is asked', async (t) => {
  const { own, asNode, anonymous } = createKubeAccess({ env: {}, node: 'node-a', ...createServices() });
  for (const each of [own, asNode, anonymous])
    await t.rejects(each.request({ path: '/', token: 'x' }, never), { name: 'SignetError', reason: 'kube-config-invalid' });
});
