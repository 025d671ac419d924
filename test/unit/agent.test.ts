import t from 'tap';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { until } from '../../agent/runtime/watched.js';
import type { ReceivedSecret } from '../../agent/sds/client.js';
import { readCertificates } from '../../agent/x509/pem.js';
import type { TestAgent } from '../fixtures/agent.js';
import { idOf, podsOf, startTestAgent, statusWhere } from '../fixtures/agent.js';
import { connect, namesOf, node, typeUrl } from '../fixtures/sds-script.js';
import { createTestToken } from '../fixtures/tokens.js';
import { createIntermediate, createLeaf, createRoot, keyPem, pemOf } from '../fixtures/pki.js';

// The parts have their own tests; these show that they are wired to each other.

const never = new AbortController().signal;
const within = { deadlineMs: 60_000, signal: never };

async function fetchOne(running: TestAgent, name: string): Promise<ReceivedSecret> {
  const [secret] = await running.sds.fetchOnce([name], within);
  if (secret === undefined) throw new Error('no secret');
  return secret;
}

async function serialOf(running: TestAgent, name: string): Promise<string | undefined> {
  const secret = await fetchOne(running, name);
  return readCertificates(secret.kind === 'certificate' ? secret.chainPem : secret.rootsPem, { source: name })[0]?.serial;
}

/** Follows a name until what comes passes the test. */
async function followUntil(running: TestAgent, name: string, isMet: (secret: ReceivedSecret | undefined) => boolean): Promise<void> {
  const met = new AbortController();
  await running.sds.watch([name], ({ secret }) => isMet(secret) && met.abort(), { signal: met.signal });
}

t.test('from a pod to a certificate over SDS, and both doors', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart', 'checkout') });
  t.teardown(() => running.stop());
  await running.agent.podsRead;
  t.same([...running.agent.identities.value.keys()].sort(), [idOf('cart'), idOf('checkout')]);
  const before = await serialOf(running, idOf('cart'));
  t.ok(before);
  await t.rejects(running.sds.fetchOnce([idOf('payments')], within), { message: 'no such secret', kind: 'notFound' });

  const appears = followUntil(running, idOf('payments'), (secret) => secret !== undefined);
  running.writePods(podsOf('cart', 'checkout', 'payments'));
  await appears;

  const renewed = followUntil(running, idOf('cart'), (secret) => {
    if (secret?.kind !== 'certificate') return false;
    return readCertificates(secret.chainPem, { source: 'cart' })[0]?.serial !== before;
  });
  await running.admin.renew(idOf('cart'), never);
  await renewed;

  const status = await running.admin.status(never);
  t.same(
    [status.ready, status.identities.map(({ name, state }) => `${name} ${state}`)],
    [true, ['cart', 'checkout', 'payments'].map((account) => `${idOf(account)} issued`)],
  );
  const { host, port } = running.agent.http.value ?? { host: '', port: 0 };
  const get = async (path: string): Promise<string> => (await fetch(`http://${host}:${port}${path}`)).text();
  t.match(await get('/readyz'), /ready/);
  const metrics = await get('/metrics');
  t.match(metrics, /signet_ready 1\n/);
  t.match(metrics, /signet_identities\{state="issued"\} 3\n/);
  t.match(metrics, /signet_peer_connections_total\{grant="node"\} \d+\n/);
});

t.test('R102 an identity that is forgotten is in no series', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart', 'checkout'), flags: { 'pods-linger': '0s' } });
  t.teardown(() => running.stop());
  const scrape = async (): Promise<string> => {
    const { host, port } = await until(running.agent.http, (address) => address !== undefined).then(
      () => running.agent.http.value ?? { host: '', port: 0 },
    );
    return await (await fetch(`http://${host}:${port}/metrics`)).text();
  };
  await followUntil(running, idOf('cart'), (secret) => secret !== undefined);
  await serialOf(running, idOf('checkout'));
  t.match(await scrape(), /signet_identities\{state="issued"\} 2\n/);
  running.writePods('');
  await followUntil(running, idOf('cart'), (secret) => secret === undefined);
  await until(running.agent.identities, (identities) => identities.size === 0);
  const text = await scrape();
  for (const state of ['pending', 'issued', 'retained', 'unavailable']) t.match(text, `signet_identities{state="${state}"} 0\n`);
  t.notMatch(text, /signet_identities_with_reason\{/);
  t.match(text, /signet_svid_earliest_expiry_timestamp_seconds 0\n/);
  t.notMatch(text, /cart|checkout/);
});

t.test('F137: pods that are there before the agent starts are all served', async (t) => {
  const accounts = Array.from({ length: 110 }, (_, index) => `a${index}`);
  const running = await startTestAgent({ pods: podsOf(...accounts), flags: { 'sds-hold': '20s' } });
  t.teardown(() => running.stop());
  const secrets = await running.sds.fetchOnce(accounts.map(idOf), { deadlineMs: 20_000, signal: new AbortController().signal });
  t.same(
    secrets.map(({ kind, name }) => [kind, name]),
    accounts.map((account) => ['certificate', idOf(account)]),
  );
});

t.test(
  'a client with the whole node on one stream: certificates are there before it asks, and a new pod is told as it comes',
  async (t) => {
    const accounts = Array.from({ length: 250 }, (_, index) => `a${index}`);
    const running = await startTestAgent({ pods: podsOf(...accounts) });
    t.teardown(() => running.stop());
    const requests = async (): Promise<string | undefined> => {
      const { host, port } = running.agent.http.value ?? { host: '', port: 0 };
      const text = await (await fetch(`http://${host}:${port}/metrics`)).text();
      return /^signet_svid_requests_total\{result="ok"\} (\d+)$/m.exec(text)?.[1];
    };
    await statusWhere(running, ({ identities }) => identities.filter(({ state }) => state === 'issued').length === accounts.length);
    t.equal(await requests(), '250');

    const client = connect(running.agent.addresses.sds);
    t.teardown(() => client.close());
    const stream = client.delta();
    stream.send({ node, typeUrl, resourceNamesSubscribe: [...accounts, 'later'].map(idOf) });
    const first = await stream.next();
    t.same([namesOf(first).sort(), first.removedResources], [accounts.map(idOf).sort(), [idOf('later')]]);
    stream.send({ typeUrl, responseNonce: first.nonce });
    t.equal(await requests(), '250', 'no CA was asked for it');

    running.writePods(podsOf(...accounts, 'later'));
    t.same(namesOf(await stream.next()), [idOf('later')]);
    t.equal(await requests(), '251');
  },
);

t.test('what stops leaves nothing behind, and the issuer is found again', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const first = await startTestAgent({ pods: podsOf('cart'), directory });
  const root = await serialOf(first, 'ROOTCA');
  await first.stop();
  t.notOk(existsSync(first.agent.addresses.sds) || existsSync(first.agent.addresses.admin), 'both sockets are gone');
  const second = await startTestAgent({ pods: podsOf('cart'), directory });
  t.teardown(() => second.stop());
  t.equal(await serialOf(second, 'ROOTCA'), root);
});

t.test('a second agent is refused, unless it may take over', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const first = await startTestAgent({ pods: podsOf('cart'), directory });
  await t.rejects(startTestAgent({ pods: podsOf('cart'), directory }), {
    message: 'another process listens on the socket',
    kind: 'conflict',
  });
  t.ok(await serialOf(first, idOf('cart')), 'the other is untouched');
  const takeover = { 'sds-socket-takeover': 'true' };
  const stranger = startTestAgent({ pods: podsOf('cart'), directory, flags: { ...takeover, node: 'other' } });
  await t.rejects(stranger, { message: 'another process listens on the socket' }, 'of another node');
  const second = await startTestAgent({ pods: podsOf('cart', 'checkout'), directory, flags: takeover });
  t.teardown(() => second.stop());
  t.ok(await serialOf(second, idOf('checkout')));
  await first.stop();
  t.ok(await serialOf(second, idOf('checkout')), 'the end of the first does not take the socket of the second');
});

t.test('a start that fails at the control socket leaves no SDS socket behind', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const settings = { 'admin.group': 'no-such-group' };
  await t.rejects(startTestAgent({ pods: podsOf('cart'), directory, settings }), { kind: 'invalid', message: /no such group/ });
  t.notOk(existsSync(join(directory, `signet-${process.getuid?.()}`, 'sds/sds.sock')));
});

t.test('an expired root in the bundle file is told and keeps nobody from becoming ready', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const day = 86_400_000;
  const bundle = join(directory, 'bundle.pem');
  const root = createRoot({ notBefore: Date.now() - day, notAfter: Date.now() + day });
  writeFileSync(bundle, pemOf(root, createRoot({ notBefore: Date.now() - 2 * day, notAfter: Date.now() - day })));
  const running = await startTestAgent({ pods: podsOf('cart'), settings: { 'trustBundle.sources': [{ kind: 'file', path: bundle }] } });
  t.teardown(() => running.stop());
  const status = await statusWhere(running, ({ ready }) => ready);
  t.same(
    status.reasons.map(({ gate, code }) => [gate, code]),
    [['roots', 'root-expired']],
  );
});

t.test('a taken HTTP port stops nothing and is told', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const running = await startTestAgent({ pods: podsOf('cart'), flags: { 'http-address': `127.0.0.1:${port}` } });
  t.teardown(() => running.stop());
  t.ok(await serialOf(running, idOf('cart')));
  const status = await statusWhere(running, ({ reasons }) => reasons.length > 0);
  t.same(
    status.reasons.map(({ gate, code }) => [gate, code]),
    [['http', 'http-port-taken']],
  );
});

t.test('a broken pods file keeps what was and names document and line', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart') });
  t.teardown(() => running.stop());
  t.ok(await serialOf(running, idOf('cart')));
  running.writePods(`${podsOf('cart')}---\nkind: Pod\nmetadata: {name: 7up}\nspec: [\n`);
  const status = await statusWhere(running, ({ reasons }) => reasons.length > 0);
  t.match(status.reasons[0]?.detail, /document 2, line \d+/);
  t.equal(status.reasons[0]?.code, 'pods-file-invalid');
  t.ok(await serialOf(running, idOf('cart')));
  running.writePods(podsOf('cart', 'checkout'));
  t.ok((await statusWhere(running, ({ reasons }) => reasons.length === 0)).identities.length, 'it heals');
});

t.test('an issuer that proxies would not believe is refused, and rotation heals without restart', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const day = 86_400_000;
  const times = { notBefore: Date.now() - day, notAfter: Date.now() + 30 * day };
  const [rootA, rootB] = [createRoot(times), createRoot(times)];
  const issuer = createIntermediate(rootA, times);
  const [certificate, privateKey, bundle] = ['issuer.pem', 'issuer.key', 'bundle.pem'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(certificate, pemOf(issuer, rootA));
  writeFileSync(privateKey, keyPem(issuer));
  writeFileSync(bundle, pemOf(rootB));
  const settings = {
    'upstreams': [{ kind: 'built-in', issuer: { certificate, privateKey } }],
    'trustBundle.sources': [{ kind: 'file', path: bundle }],
  };
  const running = await startTestAgent({ pods: podsOf('cart'), settings });
  t.teardown(() => running.stop());
  const status = await statusWhere(running, ({ identities }) => identities[0]?.state === 'unavailable');
  t.equal(status.identities[0]?.reason?.code, 'trust-anchor-unknown');
  const appears = followUntil(running, idOf('cart'), (secret) => secret !== undefined);
  writeFileSync(bundle, pemOf(rootA, rootB));
  await appears;
  t.equal((await running.admin.status(never)).bundle?.roots, 2);
});

t.test('clients get the roots of the bundle file, all of them, and no root in a chain', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const day = 86_400_000;
  const times = { notBefore: Date.now() - day, notAfter: Date.now() + 30 * day };
  const [rootA, rootB] = [createRoot(times), createRoot(times)];
  const middle = createIntermediate(rootA, times);
  const bundle = join(directory, 'bundle.pem');
  const fingerprints = (pem: Buffer): string[] => readCertificates(pem, { source: 'test' }).map(({ fingerprint }) => fingerprint);
  // The issuer is the root itself, or an intermediate that comes with more roots than its own.
  for (const [name, issuer, chain, roots] of [
    ['root', rootA, [rootA], [rootA]],
    ['middle', middle, [middle, rootA, rootB], [rootA, rootB]],
  ] as const) {
    const [certificate, privateKey] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)];
    const rootsFile = join(directory, `${name}-roots.pem`);
    writeFileSync(certificate, pemOf(...chain));
    writeFileSync(privateKey, keyPem(issuer));
    writeFileSync(rootsFile, pemOf(rootA));
    // Twice in the file, once in the bundle.
    writeFileSync(bundle, pemOf(...roots, rootA));
    const settings = {
      'upstreams': [{ kind: 'built-in', issuer: { certificate, privateKey, roots: rootsFile } }],
      'trustBundle.sources': [{ kind: 'file', path: bundle }],
    };
    const running = await startTestAgent({ pods: podsOf('cart'), settings });
    const [leaf, root] = [await fetchOne(running, idOf('cart')), await fetchOne(running, 'ROOTCA')];
    if (leaf.kind !== 'certificate' || root.kind !== 'roots') throw new Error('wrong kinds');
    t.same(fingerprints(leaf.chainPem).slice(1), issuer === rootA ? [] : [middle.certificate.fingerprint], name);
    t.same(fingerprints(root.rootsPem).sort(), roots.map((each) => each.certificate.fingerprint).sort(), name);
    await running.stop();
  }
});

t.test('an issuer that is none stops the start and names the check', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const root = createRoot();
  const leaf = createLeaf(root, idOf('cart'));
  const [certificate, privateKey] = [join(directory, 'issuer.pem'), join(directory, 'issuer.key')] as const;
  writeFileSync(certificate, pemOf(leaf, root));
  writeFileSync(privateKey, keyPem(leaf));
  const settings = { upstreams: [{ kind: 'built-in', issuer: { certificate, privateKey } }] };
  await t.rejects(startTestAgent({ pods: podsOf('cart'), settings }), {
    message: 'issuer certificate is no ca certificate',
    reason: 'issuer-not-ca',
  });
});

t.test('the self-check tells of a CA that nobody has asked yet, and keeps nobody from becoming ready', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'sa-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const now = Date.now();
  const roots = join(directory, 'roots.pem');
  writeFileSync(roots, pemOf(createRoot({ notBefore: now - 3_600_000, notAfter: now + 86_400_000 })));
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, createTestToken());
  const upstream = { kind: 'istio', endpoints: ['127.0.0.1:1'], tls: { roots: { kind: 'file', path: roots } }, tokenFile };
  const settings = { 'upstreams': [upstream], 'trustBundle.sources': [{ kind: 'file', path: roots }] };
  const running = await startTestAgent({ pods: '', settings });
  t.teardown(() => running.stop());
  const status = await statusWhere(running, ({ selfCheck }) => selfCheck.lookedAt !== undefined);
  t.match(status, {
    ready: true,
    reasons: [{ gate: 'check istio 127.0.0.1:1', code: 'ca-unavailable', detail: /ECONNREFUSED/ }],
    selfCheck: { checks: [{ name: 'istio 127.0.0.1:1', reason: { code: 'ca-unavailable', action: /this node reaches it/ } }] },
  });
  const told = running.logs.filter((line) => line.includes('self-check found a fault'));
  t.equal(told.length, 1, 'one line');
});
