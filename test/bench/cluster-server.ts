// What an agent in a cluster talks to, for agents that are measured: an API server with nothing but the pods of one node, as
// large as real ones, and Istio's CA. A process of its own: started by the bench with the number of pods and of service accounts.
// Says by IPC where both listen and their roots, and answers each message with the number of calls to the API server so far.

import { createServer } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiList, apiPod, createServerCertificate, longLife } from '../fixtures/api-server.js';
import { createFakeIstioCa } from '../fixtures/istio-ca.js';
import { createRoot, keyPem } from '../fixtures/pki.js';
import type { ClusterAddresses } from './measure.js';

const [pods = 0, accounts = 1] = process.argv.slice(2).map(Number);

/** Of what an agent has no use for, about as much as a pod of a Deployment has: 5 KB in all. */
function podOf(index: number): Record<string, unknown> {
  const name = `pod-${index}`;
  const env = Array.from({ length: 20 }, (_, each) => ({ name: `SETTING_${each}`, value: `value ${each} of ${name}` }));
  const fields = Object.fromEntries(env.map((each) => [`k:{"name":"${each.name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]));
  return apiPod(name, {
    version: String(index + 1),
    account: `sa-${index % accounts}`,
    metadata: {
      namespace: 'bench',
      labels: { 'app': `app-${index % accounts}`, 'pod-template-hash': '5d8f9c7b6d' },
      annotations: { 'example.org/checksum': 'a'.repeat(64) },
      managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', fieldsV1: { 'f:spec': { 'f:env': fields } } }],
    },
    spec: { containers: [{ name: 'app', image: `registry.example.org/app@sha256:${'0'.repeat(64)}`, env }] },
  });
}

const objects = Array.from({ length: pods }, (_, index) => podOf(index));
const version = String(pods + 1);
let calls = 0;

function watch(response: ServerResponse, initial: boolean): void {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  if (!initial) return;
  for (const object of objects) response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
  const metadata = { resourceVersion: version, annotations: { 'k8s.io/initial-events-end': 'true' } };
  response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', metadata } })}\n`);
}

const root = createRoot(longLife);
const certificate = createServerCertificate(root);
const server = createServer({ cert: certificate.pem, key: keyPem(certificate) }, (request, response) => {
  calls += 1;
  const { pathname, searchParams } = new URL(request.url ?? '', 'https://server');
  response.on('error', () => {});
  if (pathname !== '/api/v1/pods') response.writeHead(404).end('{}');
  else if (searchParams.get('watch') === '1') watch(response, searchParams.get('sendInitialEvents') === 'true');
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(apiList(objects, version)));
});
// It ends with this process.
const istio = await createFakeIstioCa({ teardown: () => {} });
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const addresses: ClusterAddresses = {
    apiServer: { port, root: root.pem.toString() },
    istio: { port: istio.port, servingRoot: istio.servingRoot.pem.toString(), root: istio.root.pem.toString() },
  };
  process.send?.(addresses);
});
process.on('message', () => process.send?.(calls));
process.on('disconnect', () => process.exit(0));
