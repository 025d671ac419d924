// istiod as CA, called without the agent: what the suites of the agent build on. See suites.md.

import { join } from 'node:path';
import t from 'tap';
import { parseSpiffeId } from '../../agent/identity/spiffe-id.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { createCsr, csrToPem, generateKey } from '../../agent/x509/csr.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { istioAudience, startIstiod, writeIstioCa } from '../fixtures/cluster-istiod.js';
import { createAccount, createNamespace, createNode, createPod, createToken, requestToken } from '../fixtures/cluster-objects.js';
import type { IstioCall } from '../fixtures/istio-client.js';
import { callIstio } from '../fixtures/istio-client.js';
import { createScene } from '../fixtures/scene.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'istiod');
for (const account of ['web', 'orders', 'agent']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const idOf = (account: string): string => `spiffe://cluster.local/ns/${namespace}/sa/${account}`;
const pods = {
  web: await createPod(cluster, { namespace, account: 'web', node: own.name, tokenAudiences: [istioAudience], phase: 'Running' }),
  agent: await createPod(cluster, { namespace, account: 'agent', node: own.name, phase: 'Running' }),
  orders: await createPod(cluster, { namespace, account: 'orders', node: other.name, phase: 'Running' }),
};

async function csrFor(account: string): Promise<string> {
  return csrToPem(await createCsr(await generateKey('ec-p256'), parseSpiffeId(idOf(account)), 'none'));
}

/** Certificates of an answer, or code and text of the refusal. */
async function answerTo(call: IstioCall): Promise<readonly Certificate[] | string> {
  try {
    const elements = await callIstio(call);
    return readCertificates(elements.join(''), { source: 'istiod' });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

await t.test('istiod signs for the token of a workload that its node asked for', async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster);
  const granted = await requestToken(own.client, { namespace, account: 'web', audience: istioAudience, pod: pods.web });
  t.equal(granted.status, 201, 'the node gets the token');
  const { token } = granted.body.status;
  const call = { port: istiod.port(), rootsFile: istiod.rootsFile, token, csr: await csrFor('web') };

  const answer = await answerTo(call);
  const [root] = readCertificates(istiod.roots, { source: 'root' });
  t.same(
    Array.isArray(answer) && answer.map(({ uriSans, fingerprint }) => (fingerprint === root?.fingerprint ? 'root' : uriSans)),
    [[idOf('web')], 'root'],
    'leaf and root',
  );
  t.match(await answerTo({ ...call, impersonate: idOf('agent') }), /^16 .*impersonation/, 'no account is trusted to impersonate');
  t.match(await answerTo({ ...call, clusterId: 'elsewhere' }), /^16 /, 'nor is the id of another cluster taken');
  const foreign = await createToken(cluster, { namespace, account: 'web', audience: 'other-ca', pod: pods.web });
  t.match(await answerTo({ ...call, token: foreign }), /^16 /, 'nor another audience');

  const before = istiod.port();
  await istiod.stop();
  await istiod.start('new');
  t.not(istiod.port(), before, 'started again on other ports');
  t.ok(Array.isArray(await answerTo({ ...call, port: istiod.port() })), 'with the same root');
});

await t.test('a trusted node account may impersonate the accounts of its own node', async (t) => {
  const istiod = await startIstiod(await createScene(t), cluster, { trustedNodeAccounts: [`${namespace}/agent`] });
  const token = await createToken(cluster, { namespace, account: 'agent', audience: istioAudience, pod: pods.agent });
  const call = { port: istiod.port(), rootsFile: istiod.rootsFile, token };
  const answer = await answerTo({ ...call, csr: await csrFor('web'), impersonate: idOf('web') });
  t.ok(Array.isArray(answer), `web has a pod on this node: ${Array.isArray(answer) ? 'granted' : answer}`);
  t.match(await answerTo({ ...call, csr: await csrFor('orders'), impersonate: idOf('orders') }), /^16 .*impersonation/, 'orders has none');
  // What istiod writes comes through a pipe, so it may come after its answer.
  const said = `no instances of "${namespace}/orders" found on node`;
  t.ok(await until('the log says so', 60_000, () => istiod.tail().includes(said)), 'and the log says so');
});

await t.test('a CA that is given to istiod is replaced by a restart', async (t) => {
  const scene = await createScene(t);
  const caDirectory = join(scene.directory, 'cacerts');
  writeIstioCa(caDirectory);
  const istiod = await startIstiod(scene, cluster, { caDirectory });
  const token = await createToken(cluster, { namespace, account: 'web', audience: istioAudience, pod: pods.web });
  const call = { port: istiod.port(), rootsFile: istiod.rootsFile, token, csr: await csrFor('web') };
  // The chain file holds the root, as Istio's documentation says, and the root is the last element again.
  t.match(await answerTo(call), [{ isCa: false }, { isCa: true }, { selfSigned: true }, { selfSigned: true }]);
  writeIstioCa(caDirectory);
  await istiod.stop();
  await istiod.start();
  t.match(await answerTo(call), /^14 /, 'its old root does not verify it any more');
  t.ok(Array.isArray(await answerTo({ ...call, rootsFile: join(caDirectory, 'root-cert.pem') })), 'its new one does');
});
