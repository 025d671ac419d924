import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { Status } from '../../agent/admin/client.js';
import type { Upstream } from '../../agent/config.js';
import { createSpiffeId } from '../../agent/identity/spiffe-id.js';
import { createFixedIssuer } from '../../agent/ca/issuer-owner.js';
import { createKubeAccess } from '../../agent/kube/access.js';
import type { KubeClient } from '../../agent/kube/client.js';
import type { CreateToken, TokenOptions } from '../../agent/kube/token-request.js';
import type { Pod } from '../../agent/pods/pod.js';
import { SignetError } from '../../agent/runtime/errors.js';
import { systemClock } from '../../agent/runtime/time.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import type { TrustBundle } from '../../agent/trust-bundle.js';
import { createWatchedRootSource } from '../../agent/trust-bundle.js';
import { createUpstreams } from '../../agent/upstreams.js';
import { createCsr, generateKey } from '../../agent/x509/csr.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { openIssuer } from '../../agent/x509/self-signed.js';
import type { TestAgent, TestAgentOptions } from '../fixtures/agent.js';
import { idOf, podsOf, startTestAgent, statusWhere } from '../fixtures/agent.js';
import { createApiServer } from '../fixtures/api-server.js';
import type { FakeIstioCa } from '../fixtures/istio-ca.js';
import { createFakeIstioCa, refusals } from '../fixtures/istio-ca.js';
import { createKubeScene } from '../fixtures/kube.js';
import { createRecordingLogger } from '../fixtures/log.js';
import { createTestMetrics } from '../fixtures/metrics.js';
import { pemOf } from '../fixtures/pki.js';
import type { TestCertificate } from '../fixtures/pki.js';
import { createPod } from '../fixtures/pods.js';
import { createTestToken } from '../fixtures/tokens.js';

const never = new AbortController().signal;
const within = { deadlineMs: 60_000, signal: never };

const token = createTestToken();

/** An istio upstream of the setting, with its files in the directory of the test. */
function upstreamOf(directory: string, ca: FakeIstioCa, name: string, more: object = {}) {
  writeFileSync(join(directory, `${name}-tls.pem`), ca.servingRoot.pem);
  writeFileSync(join(directory, `${name}-token`), token);
  return {
    kind: 'istio',
    endpoints: [`127.0.0.1:${ca.port}`],
    tls: { roots: { kind: 'file', path: join(directory, `${name}-tls.pem`) }, serverName: 'ca.test' },
    tokenFile: join(directory, `${name}-token`),
    ...more,
  };
}

interface AgentScene {
  readonly running: TestAgent;
  /** The certificate of shop/cart over SDS. */
  fetch(): Promise<{ readonly issuer: Buffer | undefined; readonly roots: number }>;
}

async function startScene(
  t: Test,
  files: string,
  upstreams: readonly object[],
  bundle: readonly TestCertificate[],
  options: Partial<TestAgentOptions> = {},
): Promise<AgentScene> {
  const roots = join(files, 'roots.pem');
  writeFileSync(roots, pemOf(...bundle));
  const settings = { upstreams, 'trustBundle.sources': [{ kind: 'file', path: roots }], ...options.settings };
  const running = await startTestAgent({ pods: podsOf('cart'), ...options, settings });
  t.teardown(() => running.stop());
  return {
    running,
    async fetch() {
      const [secret] = await running.sds.fetchOnce([idOf('cart')], within);
      const [rootsSecret] = await running.sds.fetchOnce(['ROOTCA'], within);
      if (secret?.kind !== 'certificate' || rootsSecret?.kind !== 'roots') throw new Error('no secret');
      const [leaf] = readCertificates(secret.chainPem, { source: 'answer' });
      return { issuer: leaf?.issuer, roots: readCertificates(rootsSecret.rootsPem, { source: 'roots' }).length };
    },
  };
}

const isUnavailable = ({ identities }: Status): boolean => identities[0]?.state === 'unavailable';

t.test('the agent serves what an istio CA signed, and never logs its token', async (t) => {
  const ca = await createFakeIstioCa(t);
  const files = t.testdir({});
  const upstream = upstreamOf(files, ca, 'one', { clusterId: 'Kubernetes', headers: { 'x-tenant': 'blue' } });
  const { running, fetch } = await startScene(t, files, [upstream], [ca.root]);
  t.ok((await fetch()).issuer?.equals(ca.root.certificate.subject));
  t.match(ca.calls[0], {
    impersonatedIdentity: idOf('cart'),
    headers: { 'authorization': `Bearer ${token}`, 'clusterid': 'Kubernetes', 'x-tenant': 'blue' },
  });
  const status = await running.admin.status(never);
  t.equal(status.ready, true);
  t.same(
    status.sources.filter(({ of }) => of === 'certificates'),
    [{ of: 'certificates', name: `istio 127.0.0.1:${ca.port}` }],
  );
  const printed = `${running.logs.join('\n')}${JSON.stringify(status)}`;
  for (const part of token.split('.').slice(1)) t.notMatch(printed, part);
});

t.test('R051, F012: an agent whose token is for another audience is not ready and says both', async (t) => {
  const ca = await createFakeIstioCa(t);
  const files = t.testdir({});
  const { running } = await startScene(t, files, [upstreamOf(files, ca, 'one', { audience: 'other-ca' })], [ca.root]);
  const { ready, reasons } = await statusWhere(running, ({ reasons }) => reasons.some(({ code }) => code === 'ca-token-audience'));
  t.equal(ready, false);
  t.match(
    reasons.find(({ gate }) => gate === 'istio token'),
    { code: 'ca-token-audience', detail: /audience other-ca, tokenAudiences istio-ca/ },
  );
  t.equal(ca.connections, 0);
});

t.test('R050, F010: an agent whose token is expired is not ready and asks nobody; a new token heals', async (t) => {
  const ca = await createFakeIstioCa(t);
  const files = t.testdir({});
  const upstream = upstreamOf(files, ca, 'one');
  writeFileSync(join(files, 'one-token'), createTestToken({ expiresAt: Date.now() - 1_000 }));
  const { running, fetch } = await startScene(t, files, [upstream], [ca.root]);
  const { ready } = await statusWhere(running, ({ reasons }) => reasons.some(({ code }) => code === 'ca-token-expired'));
  t.equal(ready, false);
  const { identities } = await statusWhere(running, isUnavailable);
  t.equal(identities[0]?.reason?.code, 'ca-token-expired');
  t.equal(ca.connections, 0);
  writeFileSync(join(files, 'one-token'), token);
  await fetch();
  t.ok((await running.admin.status(never)).ready);
});

t.test('R042, F043: an endpoint that takes connections and never answers: the next one signs within the deadline', async (t) => {
  const [silent, sound] = [await createFakeIstioCa(t), await createFakeIstioCa(t)];
  silent.silent = true;
  const files = t.testdir({});
  const upstreams = [upstreamOf(files, silent, 'one'), upstreamOf(files, sound, 'two')];
  const settings = { 'certificate.deadline': '4s' };
  const { running, fetch } = await startScene(t, files, upstreams, [silent.root, sound.root], { settings });
  t.ok((await fetch()).issuer?.equals(sound.root.certificate.subject));
  t.ok(silent.connections > 0);
  t.notOk(
    running.logs.some((line) => line.includes('certificate unavailable')),
    'in one attempt',
  );
  const { sources } = await running.admin.status(never);
  t.equal(sources.find(({ name }) => name.startsWith('istio-1'))?.reason?.code, 'ca-deadline');
});

t.test('a CA whose certificates name something else is not called good, until it gives the right one', async (t) => {
  const ca = await createFakeIstioCa(t);
  ca.outcome = (call) => ca.sign(call, { dnsNames: ['cart.test'] });
  const files = t.testdir({});
  const { running } = await startScene(t, files, [upstreamOf(files, ca, 'one')], [ca.root]);
  const codeOf = ({ sources }: Status): string | undefined => sources.find(({ of }) => of === 'certificates')?.reason?.code;
  const status = await statusWhere(running, (now) => isUnavailable(now) && codeOf(now) !== undefined);
  t.equal(codeOf(status), 'san-mismatch');
  t.equal(status.identities[0]?.reason?.code, 'san-mismatch');
  ca.outcome = () => undefined;
  await running.admin.renew(idOf('cart'), never);
  t.equal(codeOf(await statusWhere(running, ({ identities }) => identities[0]?.state === 'issued')), undefined);
});

t.test('a second upstream takes over, and what chains to a root of its own is refused', async (t) => {
  const [one, two] = [await createFakeIstioCa(t), await createFakeIstioCa(t)];
  const files = t.testdir({});
  await one.stop();
  const upstreams = [upstreamOf(files, one, 'one'), upstreamOf(files, two, 'two')];
  const stranger = await startScene(t, files, upstreams, [one.root]);
  const { identities } = await statusWhere(stranger.running, isUnavailable);
  t.match(identities[0]?.reason, { code: 'ca-unavailable', detail: /istio-2: check the answer: no known certificate has the name/ });
  const [roots] = await stranger.running.sds.fetchOnce(['ROOTCA'], within);
  t.equal(roots?.kind === 'roots' && readCertificates(roots.rootsPem, { source: 'roots' }).length, 1, 'and the bundle is unchanged');

  const known = await startScene(t, files, upstreams, [one.root, two.root]);
  t.ok((await known.fetch()).issuer?.equals(two.root.certificate.subject));
});

t.test('an upstream that may chain to one root of the bundle is not trusted for the others', async (t) => {
  const ca = await createFakeIstioCa(t);
  const other = await createFakeIstioCa(t);
  const files = t.testdir({ 'mine.pem': String(other.root.pem) });
  const upstream = upstreamOf(files, ca, 'one', { roots: { kind: 'file', path: join(files, 'mine.pem') } });
  const { running } = await startScene(t, files, [upstream], [ca.root, other.root]);
  const { identities } = await statusWhere(running, isUnavailable);
  t.equal(identities[0]?.reason?.code, 'trust-anchor-unknown');
});

t.test('the built-in CA signs while the upstream before it refuses', async (t) => {
  const ca = await createFakeIstioCa(t);
  ca.outcome = () => refusals.impersonation;
  const files = t.testdir({});
  const settings = { 'trustBundle.sources': [{ kind: 'issuer' }] };
  const { fetch } = await startScene(t, files, [upstreamOf(files, ca, 'one'), { kind: 'built-in' }], [ca.root], { settings });
  t.notOk((await fetch()).issuer?.equals(ca.root.certificate.subject));
});

t.test(
  'R107 the API server gives the node no token for the audience: told with audience and verb, and a projected one serves',
  async (t) => {
    const ca = await createFakeIstioCa(t);
    const files = t.testdir({});
    const words = 'serviceaccounts "cart" is forbidden: system:node:local is not authorized to request tokens for audience "istio-ca"';
    const api = await createApiServer(t, (call) => call.status(403, words));
    const kubeconfig = join(files, 'kubeconfig');
    writeFileSync(join(files, 'api.pem'), api.ca);
    const config = {
      'clusters': [{ name: 'c', cluster: { 'server': api.url.href, 'certificate-authority': join(files, 'api.pem') } }],
      'users': [{ name: 'u', user: { token: 'abc' } }],
      'contexts': [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const { tokenFile: _, ...asked } = upstreamOf(files, ca, 'one', { auth: 'workload' });
    const alone = await startScene(t, files, [asked], [ca.root], { flags: { kubeconfig } });
    const { identities } = await statusWhere(alone.running, isUnavailable);
    t.match(identities[0]?.reason, {
      code: 'token-audience-denied',
      detail: /not authorized to request tokens for audience "istio-ca"/,
      action: /request-serviceaccounts-token-audience/,
    });
    t.equal(ca.calls.length, 0);
    const mounted = await startScene(t, files, [asked, upstreamOf(files, ca, 'two')], [ca.root], { flags: { kubeconfig } });
    t.ok((await mounted.fetch()).issuer?.equals(ca.root.certificate.subject));
    t.match(ca.calls[0], { impersonatedIdentity: idOf('cart'), headers: { authorization: `Bearer ${token}` } });
  },
);

t.test('upstreams of request objects: as whom each asks, and the next one when it gets nothing', async (t) => {
  const id = createSpiffeId('example.org', 'shop', 'cart');
  const askedAs = async (upstream: Upstream): Promise<unknown> => {
    const { server, client } = await createKubeScene(t, (call) => {
      if (call.path === '/apis/certificates.k8s.io/v1') call.json({ resources: [{ name: 'podcertificaterequests' }] });
      else call.status(403, 'forbidden');
    });
    const as = (name: string): KubeClient => ({
      ...client,
      request: async (request, signal) => {
        users.push(`${name}: ${request.method ?? 'GET'} ${request.path.split('/').at(-1) ?? ''}`);
        return await client.request(request, signal);
      },
    });
    const users: string[] = [];
    const issuer = createFixedIssuer(
      await openIssuer({ directory: join(t.testdir({}), 'state'), trustDomain: 'example.org', clock: systemClock }),
    );
    const roots = issuer.roots.value;
    const { ca, needs, endpoints } = createUpstreams({
      upstreams: [upstream, { kind: 'built-in' }],
      issuer,
      bundle: new WatchedValue<TrustBundle | undefined>({ roots, pem: Buffer.alloc(0), version: '' }),
      kube: {
        own: as('own'),
        asNode: as('node'),
        anonymous: as('anonymous'),
        createToken: async ({ audience }) => {
          users.push(`token for ${audience ?? 'the api server'}`);
          return { token: 'abc', expiresAt: 0 };
        },
      },
      node: 'node-a',
      createRoots: () => createWatchedRootSource('named', new WatchedValue(roots)),
      index: {
        identities: new WatchedValue(new Map([[id.uri, { id, pods: ['uid-cart'], since: 0 }]])),
        pods: new WatchedValue<ReadonlyMap<string, Pod>>(new Map([['uid-cart', createPod('cart')]])),
      },
      deadlineMs: 10_000,
      clock: systemClock,
      log: createRecordingLogger(),
      metrics: createTestMetrics().metrics,
    });
    t.same(
      endpoints.map(({ name }) => name),
      [upstream.kind, 'built-in'],
    );
    t.same(
      needs.map(({ name }) => name),
      [`${upstream.kind} roots`],
    );
    const key = await generateKey('ec-p256');
    const request = { id, csr: await createCsr(key, id, ca.subject), key, lifetimeMs: 3_600_000 };
    t.equal(await ca.request(request, ({ upstream: signed }) => signed, never), 'built-in');
    t.ok(server.calls.length > 0);
    return users;
  };
  const roots = { kind: 'file', path: '/named' } as const;
  t.same(await askedAs({ kind: 'kubernetes-csr', signerName: 'a.b/c', roots }), ['own: POST selfsubjectreviews']);
  t.same(await askedAs({ kind: 'pod-certificate', signerName: 'a.b/c', roots }), ['own: GET v1', 'node: GET cart', 'node: GET node-a']);
  const issuerRef = { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' };
  t.same(await askedAs({ kind: 'cert-manager', issuerRef, roots }), ['token for the api server', 'anonymous: POST certificaterequests']);
});

t.test('auth workload: a token for a live pod of the identity, from the API server as the node', async (t) => {
  const id = createSpiffeId('cluster.local', 'shop', 'cart');
  const kube = createKubeAccess({
    env: {},
    node: 'node-a',
    clock: systemClock,
    log: createRecordingLogger(),
    metrics: createTestMetrics().metrics,
  });
  const options = (createToken: CreateToken) => ({
    upstreams: [
      {
        kind: 'istio',
        endpoints: [{ host: '127.0.0.1', port: 1 }],
        tls: { roots: { kind: 'file', path: '/none' } },
        auth: 'workload',
        audience: 'istio-ca',
      },
    ] satisfies Upstream[],
    issuer: undefined,
    bundle: new WatchedValue<TrustBundle | undefined>(undefined),
    kube: { ...kube, createToken },
    node: 'node-a',
    createRoots: () => createWatchedRootSource('none', new WatchedValue([])),
    index: {
      identities: new WatchedValue(new Map([[id.uri, { id, pods: ['uid-gone', 'uid-cart'], since: 0 }]])),
      pods: new WatchedValue<ReadonlyMap<string, Pod>>(new Map([['uid-cart', createPod('cart')]])),
    },
    deadlineMs: 10_000,
    clock: systemClock,
    log: createRecordingLogger(),
    metrics: createTestMetrics().metrics,
  });
  const asked: TokenOptions[] = [];
  const { ca } = createUpstreams(
    options(async (request) => {
      asked.push(request);
      return { token: createTestToken({ audiences: ['api'] }), expiresAt: 0 };
    }),
  );
  const request = { id, csr: Buffer.alloc(0), key: await generateKey('ec-p256'), lifetimeMs: 1_000 };
  await t.rejects(
    ca.request(request, () => {}, never),
    { name: 'SignetError', reason: 'ca-token-audience' },
    'and it is looked at before it is sent',
  );
  t.same(asked, [
    { namespace: 'shop', serviceAccount: 'cart', pod: { name: 'cart', uid: 'uid-cart' }, audience: 'istio-ca', lifetimeSeconds: 600 },
  ]);
  const foreign = { ...request, id: createSpiffeId('cluster.local', 'shop', 'other') };
  await t.rejects(
    ca.request(foreign, () => {}, never),
    { name: 'SignetError', reason: 'not-on-node' },
  );
  const down = new SignetError('unavailable', 'cannot talk to the api server', { reason: 'kube-unavailable' });
  const without = createUpstreams(options(() => Promise.reject(down)));
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await t.rejects(
      without.ca.request(request, () => {}, never),
      { name: 'SignetError', reason: 'kube-unavailable' },
      'R073: the API server is named, not the CA',
    );
  }
  t.same(
    without.endpoints.map(({ reason }) => reason.value),
    [undefined],
    'and the CA, which was never asked, is not left out',
  );
});
