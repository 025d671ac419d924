import dns from 'node:dns';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createNodeAuth, createWorkloadAuth } from '../../../agent/ca/istio-auth.js';
import { shownIssuerKeyId } from '../../../agent/ca/shown-issuer.js';
import { createTokenFile } from '../../../agent/ca/token-file.js';
import { Token } from '../../../agent/ca/token.js';
import { until } from '../../fixtures/clock.js';
import { createIntermediate, createRoot, dayMs } from '../../fixtures/pki.js';
import { createFakeIstioCa, refusals } from '../../fixtures/istio-ca.js';
import { createIstioScene, fixedAuth, id, issue } from '../../fixtures/istio-scene.js';
import { createTestToken } from '../../fixtures/tokens.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { createFileRootSource } from '../../../agent/trust-bundle.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { start } from '../../fixtures/reasons.js';

function createGate(): { readonly promise: Promise<undefined>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<undefined>((settle) => (resolve = () => settle(undefined)));
  return { promise, resolve: () => resolve() };
}

t.test('F041: a certificate by impersonation, with what the CA must be told', async (t) => {
  const ca = await createFakeIstioCa(t);
  const text = createTestToken();
  const { client } = createIstioScene(t, ca, {
    auth: fixedAuth(text),
    clusterId: 'Kubernetes',
    headers: { 'x-tenant': 'blue', 'authorization': 'Bearer other' },
  });
  const svid = await issue(client);
  t.equal(svid.id.uri, id.uri);
  const [call] = ca.calls;
  t.match(call?.csrPem, /^-----BEGIN CERTIFICATE REQUEST-----\n/);
  t.match(call, { lifetimeMs: 3_600_000, impersonatedIdentity: id.uri });
  t.match(call?.headers, { 'authorization': `Bearer ${text}`, 'clusterid': 'Kubernetes', 'x-tenant': 'blue' });
});

t.test('without a cluster id no header is sent', async (t) => {
  const ca = await createFakeIstioCa(t);
  await issue(createIstioScene(t, ca).client);
  t.notOk('clusterid' in (ca.calls[0]?.headers ?? {}));
});

t.test('a workload asks by its own token and names nobody', async (t) => {
  const ca = await createFakeIstioCa(t, { callerIdentity: id.uri });
  const text = createTestToken({ account: 'shop/cart' });
  const auth = createWorkloadAuth({ createToken: async () => text, clock: systemClock });
  const { client } = createIstioScene(t, ca, { auth });
  t.equal((await issue(client)).id.uri, id.uri);
  t.equal(ca.calls[0]?.impersonatedIdentity, undefined);
  t.equal(ca.calls[0]?.headers['authorization'], `Bearer ${text}`);
});

t.test('chains of every shape are passed on as they are', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  const middle = createIntermediate(ca.root, { notAfter: Date.now() + dayMs });
  const shapes: Readonly<Record<string, (elements: readonly string[]) => readonly string[]>> = {
    'leaf, intermediate, root': (elements) => elements,
    'the root twice': ([leaf = '', issuer = '', root = '']) => [leaf, issuer, root, root],
    'all in one': (elements) => [elements.join('')],
    'mixed order': ([leaf = '', issuer = '', root = '']) => [root, issuer, leaf],
    'no root at all': ([leaf = '', issuer = '']) => [leaf, issuer],
    'carriage returns': (elements) => elements.map((element) => element.replaceAll('\n', '\r\n')),
  };
  for (const [shape, of] of Object.entries(shapes)) {
    ca.outcome = (call) => of(ca.sign(call, {}, middle));
    t.equal((await issue(client)).chain.length, 2, shape);
  }
  ca.outcome = () => [];
  await t.rejects(issue(client), { name: 'SignetError', kind: 'invalid', reason: 'answer-empty' });
  ca.outcome = (call) => ca.sign({ ...call, impersonatedIdentity: 'spiffe://cluster.local/ns/signet-system/sa/signet-agent' });
  await t.rejects(
    issue(client),
    { name: 'SignetError', reason: 'san-mismatch' },
    'a CA that does not know impersonation issues for the caller',
  );
});

t.test('F143: refusals have a reason, and what is known on this side', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca, { clusterId: 'Kubernetes' });
  const expected = [
    [refusals.token, 'unauthenticated', 'ca-unauthenticated'],
    [refusals.impersonation, 'unauthenticated', 'ca-impersonation-refused'],
    [refusals.csr, 'invalid', 'ca-refused-request'],
    [refusals.notReady, 'internal', 'ca-failed'],
    [{ code: 7, details: 'no' }, 'denied', 'ca-denied'],
    [{ code: 12, details: 'unknown method' }, 'unavailable', 'ca-unavailable'],
  ] as const;
  for (const [outcome, kind, reason] of expected) {
    ca.outcome = () => outcome;
    const fields = {
      ca: `127.0.0.1:${ca.port}`,
      id: id.uri,
      account: 'signet-system/signet-agent',
      audience: 'istio-ca',
      clusterId: 'Kubernetes',
      status: outcome.code,
      answer: outcome.details,
    };
    await t.rejects(issue(client), { name: 'SignetError', kind, reason, fields });
  }
});

t.test('R051, F012: a token for another audience, or over, never leaves the node', async (t) => {
  const ca = await createFakeIstioCa(t);
  const auth = fixedAuth(createTestToken({ audiences: ['https://kubernetes.default.svc'] }));
  const { client } = createIstioScene(t, ca, { auth });
  await t.rejects(issue(client), {
    name: 'SignetError',
    reason: 'ca-token-audience',
    fields: { audience: 'istio-ca', tokenAudiences: ['https://kubernetes.default.svc'] },
  });
  auth.token = new Token(createTestToken({ expiresAt: Date.now() - 1_000 }));
  await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-token-expired' });
  t.equal(ca.connections, 0);
});

t.test('R029, F075: a lifetime over the maximum is clamped for the next try', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  const max = 2_160 * 3_600_000;
  ca.outcome = (call) => (call.lifetimeMs > max ? refusals.lifetime : undefined);
  await t.rejects(issue(client, { lifetimeMs: 91 * dayMs }), { name: 'SignetError', kind: 'invalid', reason: 'ca-lifetime-refused' });
  await issue(client, { lifetimeMs: 91 * dayMs });
  await issue(client, { lifetimeMs: 3_600_000 });
  t.same(
    ca.calls.map((call) => call.lifetimeMs),
    [91 * dayMs, max, 3_600_000],
  );
});

t.test('a CA that says no maximum gets half of what it refused', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  ca.outcome = (call) => (call.lifetimeMs > 20_000 ? { code: 3, details: 'lifetime too long' } : undefined);
  await t.rejects(issue(client, { lifetimeMs: 60_000 }));
  await t.rejects(issue(client, { lifetimeMs: 60_000 }));
  await issue(client, { lifetimeMs: 60_000 });
});

t.test('one connection serves all calls, and GOAWAY is survived', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  await Promise.all([issue(client), issue(client), issue(client)]);
  await issue(client);
  t.equal(ca.connections, 1);
  ca.goAway();
  await issue(client);
  t.equal(ca.connections, 2);
});

t.test('F141: a CA that is not there, then is', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  await issue(client);
  await ca.stop();
  await t.rejects(issue(client), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'ca-unavailable',
    message: /connect to the ca|call the ca/,
  });
  await t.rejects(issue(client), { name: 'SignetError', kind: 'unavailable', reason: 'ca-unavailable', message: 'connect to the ca' });
  await ca.move();
  await issue(client);
});

t.test('R042, F043: a CA that accepts and never answers: the deadline, and then another connection', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  ca.silent = true;
  await t.rejects(issue(client, { deadlineMs: 300 }), { name: 'SignetError', kind: 'deadline' });
  ca.silent = false;
  await issue(client);
  ca.outcome = () => 'hang';
  await t.rejects(issue(client, { deadlineMs: 300 }), { name: 'SignetError', kind: 'deadline' });
  ca.outcome = () => undefined;
  await issue(client);
  t.equal(ca.connections, 3);
});

t.test('R043, F048, F049: a name is looked up anew when the address does not answer', async (t) => {
  const ca = await createFakeIstioCa(t);
  let address = '127.0.0.1';
  let resolves = false;
  const lookup = t.capture(dns.promises, 'lookup', (async () => {
    if (!resolves) throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    return [{ address, family: 4 }];
  }) as unknown as typeof dns.promises.lookup);
  const { client } = createIstioScene(t, ca, { endpoint: { host: 'ca.test', port: ca.port } });
  await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-unavailable', message: 'resolve the name of the ca' });
  resolves = true;
  await issue(client);
  await ca.move('127.0.0.2');
  await t.rejects(issue(client), { name: 'SignetError', kind: 'unavailable' });
  address = '127.0.0.2';
  await issue(client);
  t.ok(lookup().length >= 3);
});

t.test('R045, F045: a CA under another root is refused until the roots have it', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client, tlsRoots } = createIstioScene(t, ca);
  await issue(client);
  const next = createRoot({ notAfter: Date.now() + dayMs });
  ca.replaceServing(next);
  await ca.move();
  await t.rejects(issue(client), { name: 'SignetError', kind: 'unavailable' });
  await t.rejects(issue(client), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'ca-root-unknown',
    fields: { shownKeyId: next.certificate.subjectKeyId, knownKeyIds: [ca.servingRoot.certificate.subjectKeyId] },
  });
  tlsRoots.set([ca.servingRoot.certificate, next.certificate]);
  await issue(client);
});

t.test('what cannot be seen of a CA that is refused is left out', async (t) => {
  const key = (): Promise<string | undefined> =>
    shownIssuerKeyId({ host: '127.0.0.1', port: ca.port }, 'ca.test', systemClock, new AbortController().signal);
  const ca = await createFakeIstioCa(t);
  t.equal(await key(), ca.servingRoot.certificate.subjectKeyId);
  await ca.stop();
  t.equal(await key(), undefined);
});

t.test('F116: the token of a moment ago is tried once when the newest is refused', async (t) => {
  const ca = await createFakeIstioCa(t);
  const [former, newest] = [createTestToken(), createTestToken({ expiresAt: Date.now() + 2 * dayMs })];
  const auth = fixedAuth(newest);
  const { client } = createIstioScene(t, ca, { auth });
  const sent = (): unknown[] => ca.calls.splice(0).map(({ headers }) => headers['authorization']);
  ca.outcome = ({ headers }) => (headers['authorization'] === `Bearer ${newest}` ? refusals.token : undefined);
  await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-unauthenticated' });
  t.same(sent(), [`Bearer ${newest}`]);
  auth.former = new Token(former);
  await issue(client);
  t.same(sent(), [`Bearer ${newest}`, `Bearer ${former}`]);
  ca.outcome = () => refusals.token;
  await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-unauthenticated' });
  t.equal(sent().length, 2, 'not again');
  ca.outcome = () => refusals.impersonation;
  await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-impersonation-refused' });
  t.equal(sent().length, 1, 'another refusal is not of the token');
});

t.test('F099: new roots mean a new connection, and calls under way end on the old one', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client, tlsRoots } = createIstioScene(t, ca);
  const { promise: released, resolve: release } = createGate();
  const arrived = new Promise<void>((resolve) => {
    ca.outcome = () => {
      resolve();
      return released;
    };
  });
  const underWay = issue(client);
  await arrived;
  ca.outcome = () => undefined;
  tlsRoots.set([...(tlsRoots.value ?? []), createRoot().certificate]);
  await issue(client);
  t.equal(ca.connections, 2);
  release();
  t.equal((await underWay).id.uri, id.uri);
});

t.test('a call that still waits for a connection is not failed by new roots', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { promise: resolved, resolve } = createGate();
  let lookups = 0;
  t.capture(dns.promises, 'lookup', (async () => {
    lookups += 1;
    await resolved;
    return [{ address: '127.0.0.1', family: 4 }];
  }) as unknown as typeof dns.promises.lookup);
  const { client, tlsRoots } = createIstioScene(t, ca, { endpoint: { host: 'ca.test', port: ca.port } });
  const waiting = issue(client);
  await until(() => lookups === 1);
  tlsRoots.set([...(tlsRoots.value ?? []), createRoot().certificate]);
  const next = issue(client);
  await until(() => lookups === 2);
  resolve();
  t.equal((await waiting).id.uri, id.uri);
  t.equal((await next).id.uri, id.uri);
});

t.test('F057: no root, no connection', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client, tlsRoots } = createIstioScene(t, ca);
  for (const none of [undefined, []]) {
    tlsRoots.set(none);
    await t.rejects(issue(client), { name: 'SignetError', kind: 'unavailable', reason: 'ca-roots-missing' });
  }
  t.equal(ca.connections, 0);
});

t.test('F144: a serving certificate for another name', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca, { serverName: 'other.test' });
  await t.rejects(issue(client), { name: 'SignetError', kind: 'unavailable', reason: 'ca-name-mismatch' });
});

t.test('F152: variables that name a proxy have no effect', async (t) => {
  const ca = await createFakeIstioCa(t);
  const names = ['https_proxy', 'http_proxy', 'grpc_proxy'];
  for (const name of names) process.env[name] = 'http://127.0.0.1:1';
  t.teardown(() => names.forEach((name) => delete process.env[name]));
  const { client } = createIstioScene(t, ca);
  await issue(client);
});

t.test('R040, F014: refused five times, while token and roots change on disk: the sixth try gives the certificate', async (t) => {
  const ca = await createFakeIstioCa(t);
  const next = createRoot({ notAfter: Date.now() + dayMs });
  const [first, renewed] = [createTestToken(), createTestToken({ expiresAt: Date.now() + 2 * dayMs })];
  const directory = t.testdir({ 'token': first, 'roots.pem': String(ca.servingRoot.pem) });
  const [tokenPath, rootsPath] = [join(directory, 'token'), join(directory, 'roots.pem')];
  const services = { clock: systemClock, log: createRecordingLogger(), metrics: createTestMetrics().metrics };
  const token = createTokenFile({ upstream: 'istio', path: tokenPath, audience: 'istio-ca', ...services });
  const roots = createFileRootSource({ path: rootsPath, ...services });
  for (const part of [token, roots]) start(t, part);
  await until(() => token.reason.value === undefined && roots.reason.value === undefined);
  const { client } = createIstioScene(t, ca, { auth: createNodeAuth(token), tlsRoots: roots.roots });
  ca.outcome = ({ headers }) => (headers['authorization'] === `Bearer ${renewed}` ? undefined : refusals.token);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await t.rejects(issue(client), { name: 'SignetError', reason: 'ca-unauthenticated' });
    if (attempt === 3) {
      // The connection is made anew now, to a CA that shows another certificate.
      const before = roots.roots.value;
      ca.replaceServing(next);
      writeFileSync(rootsPath, next.pem);
      await until(() => roots.roots.value !== before);
    }
  }
  const before = token.usable();
  writeFileSync(tokenPath, renewed);
  await until(() => token.usable() !== before);
  t.equal((await issue(client)).id.uri, id.uri);
  t.same([ca.calls.length, ca.connections], [6, 2]);
});

t.test('F014: after three refusals in a row the connection is made anew', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { client } = createIstioScene(t, ca);
  ca.outcome = () => refusals.token;
  for (let attempt = 0; attempt < 5; attempt += 1) await t.rejects(issue(client));
  ca.outcome = () => undefined;
  await issue(client);
  t.equal(ca.connections, 2);
});
