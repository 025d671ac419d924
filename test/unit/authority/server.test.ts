// The whole of `signet ca` with a scripted API server: ready when the pods are read, several clusters, and an end without a failed call.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { AuditRecord } from '../../../agent/authority/audit.js';
import { startAuthority } from '../../../agent/authority/server.js';
import { loadCaConfig } from '../../../agent/config.js';
import { systemClock } from '../../../agent/runtime/time.js';
import type { ApiCall, ApiServer } from '../../fixtures/api-server.js';
import { apiList, apiPod, createApiServer } from '../../fixtures/api-server.js';
import { createRawCaClient } from '../../fixtures/authority.js';
import { writeKubeconfig } from '../../fixtures/cluster-credentials.js';
import { caIdOf } from '../../fixtures/cluster-pods.js';
import { createApiStore } from '../../fixtures/api-store.js';
import { createRoot, dayMs, keyPem } from '../../fixtures/pki.js';
import { createTestToken } from '../../fixtures/tokens.js';
import { until } from '../../fixtures/until.js';

const agent = apiPod('agent', { account: 'signet-agent', metadata: { namespace: 'signet-system', uid: 'uid-agent' } });
const holder = {
  username: 'system:serviceaccount:signet-system:signet-agent',
  groups: ['system:serviceaccounts'],
  extra: {
    'authentication.kubernetes.io/pod-name': ['agent'],
    'authentication.kubernetes.io/pod-uid': ['uid-agent'],
    'authentication.kubernetes.io/node-name': ['node-a'],
  },
};

/** An API server that reviews every token well and has these pods; `answer` may delay reviews. */
const cluster =
  (pods: readonly unknown[], review: (answer: () => void) => void = (answer) => answer()) =>
  (call: ApiCall): void => {
    if (call.method === 'POST') review(() => call.json({ status: { authenticated: true, audiences: ['signet-ca'], user: holder } }, 201));
    else if (call.query['watch'] === undefined) call.json(apiList(pods));
    else if (call.query['sendInitialEvents'] !== undefined) call.status(422, 'not served');
    else call.stream();
  };

async function start(t: Test, own: ApiServer, more: object = {}, rootsFile?: string) {
  const directory = t.testdir({});
  const kubeconfigOf = (server: ApiServer, name: string): string => {
    const caFile = join(directory, `${name}.crt`);
    writeFileSync(caFile, server.ca);
    return writeKubeconfig(join(directory, name), { url: server.url.href, caFile }, { token: 'ours' });
  };
  const configFile = join(directory, 'ca.yaml');
  const config = {
    trustDomain: 'example.org',
    kubeconfig: kubeconfigOf(own, 'own'),
    listen: { address: '127.0.0.1:0', names: ['localhost'] },
    http: { address: '127.0.0.1:0' },
    state: { directory: join(directory, 'state') },
    ...(typeof more === 'function' ? (more as (kubeconfig: typeof kubeconfigOf) => object)(kubeconfigOf) : more),
  };
  writeFileSync(configFile, JSON.stringify(config));
  const out: string[] = [];
  const logs: string[] = [];
  const authority = await startAuthority({
    loaded: loadCaConfig({ file: configFile, env: {} }),
    clock: systemClock,
    env: {},
    writeOutput: (text) => out.push(text),
    writeLog: (line) => logs.push(line),
  });
  const end = new AbortController();
  const running = authority.run(end.signal);
  const client = createRawCaClient(`localhost:${authority.address.port}`, rootsFile ?? join(directory, 'state', 'issuer.crt'));
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  t.teardown(async () => {
    client.close();
    await stop();
  });
  const http = async (path: string) => {
    const { host, port } = await until('http', 5_000, async () => authority.http.value);
    const answer = await fetch(`http://${host}:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const audit = (): readonly AuditRecord[] =>
    out
      .join('')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditRecord);
  return { authority, directory, client, audit, logs, http, stop };
}

const token = (): string => createTestToken({ audiences: ['signet-ca'] });
const web = caIdOf('shop/web');

t.test('ready when the pods are read; grants from then on; metrics and audit on standard output', async (t) => {
  let letIn = false;
  const serve = cluster([agent, apiPod('web')]);
  const server = await createApiServer(t, (call) => (letIn ? serve(call) : call.status(503, 'not yet')));
  const { authority, client, audit, http } = await start(t, server);
  const before = await http('/readyz');
  t.equal(before.status, 503);
  t.match(before.text, /pods of Kubernetes/);
  letIn = true;
  await authority.podsRead;
  t.equal((await http('/readyz')).status, 200);
  const answer = await client.call({ token: token(), identity: web });
  t.equal(answer.code, 0, answer.details);
  t.match(audit().at(-1), { decision: 'grant', identity: web, peer: /^127\.0\.0\.1:/ });
  const { text } = await http('/metrics');
  t.match(text, 'signet_ca_decisions_total{decision="grant",reason="node"} 1');
  t.match(text, 'signet_ca_indexed_pods{cluster="Kubernetes"} 2');
  t.notMatch(text, 'signet_sds_streams', 'nothing of the agent');
});

t.test('several clusters: each call is decided in the one that it names', async (t) => {
  const own = await createApiServer(t, cluster([agent, apiPod('web')]));
  const other = await createApiServer(t, cluster([agent, apiPod('cart')]));
  const { authority, client, audit } = await start(t, own, (kubeconfigOf: (server: ApiServer, name: string) => string) => ({
    cluster: { id: 'one', aliases: ['uno'] },
    clusters: [{ id: 'two', aliases: ['due'], kubeconfig: kubeconfigOf(other, 'other') }],
  }));
  await authority.podsRead;
  const codeOf = async (account: string, clusterId?: string): Promise<number> =>
    (await client.call({ token: token(), identity: caIdOf(`shop/${account}`), ...(clusterId === undefined ? {} : { clusterId }) })).code;
  for (const id of [undefined, 'one', 'uno']) t.equal(await codeOf('web', id), 0, String(id));
  for (const id of ['two', 'due']) t.equal(await codeOf('cart', id), 0, id);
  t.equal(await codeOf('web', 'two'), 16);
  t.equal(audit().at(-1)?.cluster, 'two');
  t.equal(await codeOf('web', 'three'), 16);
  t.equal(audit().at(-1)?.reason, 'cluster-unknown');
});

t.test('at the end calls under way are answered', async (t) => {
  let answerReview = (): void => {};
  const server = await createApiServer(
    t,
    cluster([agent, apiPod('web')], (answer) => (answerReview = answer)),
  );
  const { authority, client, stop, logs } = await start(t, server);
  await authority.podsRead;
  const call = client.call({ token: token(), identity: web });
  await until('the review', 5_000, async () => (server.calls.some(({ method }) => method === 'POST') ? true : undefined));
  const stopping = stop();
  await until('the drain', 5_000, async () => (logs.some((line) => line.includes('"stopping"')) ? true : undefined));
  answerReview();
  t.equal((await call).code, 0);
  await stopping;
  t.match((await client.call({ token: token(), identity: web })).code, 14);
  await until('the end of its connections to the API server', 30_000, async () => server.connections.open === 0);
});

t.test('a message that is too large has an audit line all the same', async (t) => {
  const server = await createApiServer(t, cluster([agent]));
  const { client, audit } = await start(t, server);
  t.equal((await client.call({ token: token(), csr: 'x'.repeat(100_000) })).code, 8);
  await until('the line', 5_000, async () => audit()[0]);
  t.match(audit(), [{ decision: 'refuse', reason: 'message-too-large' }]);
});

t.test('an issuer from files', async (t) => {
  const server = await createApiServer(t, cluster([agent, apiPod('web')]));
  const directory = mkdtempSync(join(tmpdir(), 'ca-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const root = createRoot({ notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs });
  const files = { certificate: join(directory, 'given.crt'), privateKey: join(directory, 'given.key') };
  writeFileSync(files.certificate, root.pem);
  writeFileSync(files.privateKey, keyPem(root));
  const { authority, client } = await start(t, server, { issuer: files, audit: { file: join(directory, 'audit.log') } }, files.certificate);
  await authority.podsRead;
  t.equal((await client.call({ token: token(), identity: web })).code, 0);
  t.match(JSON.parse(readFileSync(join(directory, 'audit.log'), 'utf8')), { decision: 'grant' });
});

t.test('an issuer in a Secret, made on the first start; what cannot be written is shown', async (t) => {
  const store = createApiStore({ '/apis/certificates.k8s.io': [] });
  const serve = cluster([agent, apiPod('web')]);
  const server = await createApiServer(t, (call) => (/pods|reviews/.test(call.path) ? serve(call) : store.handle(call)));
  store.put('/api/v1/namespaces/shop', { metadata: { name: 'shop' } });
  store.put('/api/v1/namespaces/kube-system', { metadata: { name: 'kube-system' } });
  const settings = {
    issuer: { secret: { namespace: 'signet-system', name: 'signet-ca-issuer' } },
    roots: { configMaps: ['signet-ca-root'], excludeNamespaces: ['kube-system'], clusterTrustBundle: { name: 'signet-ca-root' } },
    servingSecrets: [{ namespace: 'istio-system', name: 'istiod-tls', hosts: ['istiod.istio-system.svc'] }],
  };
  const directory = mkdtempSync(join(tmpdir(), 'ca-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const rootsFile = join(directory, 'roots.pem');
  writeFileSync(rootsFile, createRoot().pem);
  const { authority, http, logs } = await start(t, server, settings, rootsFile);
  await authority.podsRead;
  const roots = await until('the roots', 10_000, async () => store.get('/api/v1/namespaces/shop/configmaps/signet-ca-root')?.data);
  t.equal(store.get('/api/v1/namespaces/kube-system/configmaps/signet-ca-root'), undefined);
  await until('the serving certificate', 10_000, async () => store.get('/api/v1/namespaces/istio-system/secrets/istiod-tls'));
  writeFileSync(rootsFile, roots['root-cert.pem'] ?? '');
  const client = createRawCaClient(`localhost:${authority.address.port}`, rootsFile);
  t.teardown(() => client.close());
  t.equal((await client.call({ token: token(), identity: web })).code, 0);
  t.match((await http('/metrics')).text, /signet_ca_issuer_expiry\S* \d/);

  store.refuse = ({ method, path }) => (method === 'PATCH' && path.includes('configmaps') ? 403 : undefined);
  store.put('/api/v1/namespaces/late', { metadata: { name: 'late' } });
  await until('the reason', 10_000, async () => (await http('/readyz?verbose')).text.includes('roots-not-published'));
  t.equal((await http('/readyz')).status, 200, 'it signs all the same');
  t.ok(logs.some((line) => line.includes('made an issuer')));
});
