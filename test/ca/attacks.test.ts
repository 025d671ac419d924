// The attack suite of `signet ca`, against a real API server: each try is refused, each with an audit reason of its own, and the
// caller is told nothing of why.

import t from 'tap';
import { X509Certificate, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../agent/authority/audit.js';
import * as der from '../../agent/x509/der.js';
import { keyUsage, extension } from '../../agent/x509/sign.js';
import type { CaAnswer, CaCall } from '../fixtures/authority.js';
import { caAudience, caTrustDomain, createRawCaClient, csrFor, startTestAuthority } from '../fixtures/authority.js';
import type { TestPod } from '../fixtures/cluster-objects.js';
import {
  createAccount,
  createNamespace,
  createNode,
  createObjects,
  createPod,
  createToken,
  deletePod,
  setPhase,
} from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { commonName, createTestCsr, emptyOrganization } from '../fixtures/csrs.js';
import { createTestKey } from '../fixtures/pki.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'attacks');
for (const account of ['agent', 'web', 'orders', 'job', 'static', 'stranger', 'secret']) await createAccount(cluster, namespace, account);
const [own, other] = [await createNode(cluster), await createNode(cluster)];
const podFor = (account: string, node = own, name?: string): Promise<TestPod> =>
  createPod(cluster, { namespace, account, node: node.name, phase: 'Running', ...(name === undefined ? {} : { name }) });
const agent = await podFor('agent');
const stranger = await podFor('stranger');
await podFor('web');
await podFor('secret');
await podFor('orders', other);
await setPhase(cluster, await podFor('job'), 'Succeeded');
await setPhase(cluster, await podFor('job'), 'Failed');
const idOf = (account: string): string => `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
const web = idOf('web');
const tokenOf = (account: string, pod?: TestPod, audience = caAudience): Promise<string> =>
  createToken(cluster, { namespace, account, audience, ...(pod === undefined ? {} : { pod }) });
const token = await tokenOf('agent', agent);
const endedPod = await podFor('agent');
const ended = await tokenOf('agent', endedPod);
await setPhase(cluster, endedPod, 'Failed');

const scene = await createScene(t);
const ca = await startTestAuthority(scene, cluster, {
  nodeAgents: [`${namespace}/agent`],
  settings: { deny: [`${namespace}/sec*`], limits: { calls: '500' } },
});
const address = `localhost:${ca.authority.address.port}`;
const client = createRawCaClient(address, ca.rootsFile);
t.teardown(() => client.close());

const texts: Readonly<Record<number, RegExp>> = {
  3: /^certificate request is refused$|^the requested TTL is /,
  8: /^too many calls are under way$|larger than/,
  14: /^/,
  16: /^request (?:impersonation authentication|authenticate) failure$/,
};

/** Makes the call and gives its audit line, which must be the only new one. */
async function tryCall(call: CaCall): Promise<{ readonly answer: CaAnswer; readonly line: AuditRecord | undefined }> {
  const before = ca.audit().length;
  const answer = await client.call(call);
  const lines = await until('the audit line', 60_000, async () => (ca.audit().length > before ? ca.audit().slice(before) : undefined));
  return { answer, line: lines.length === 1 ? lines[0] : undefined };
}

interface Attack {
  readonly call: CaCall;
  readonly reason: string;
  /** gRPC. Default UNAUTHENTICATED. */
  readonly code?: number;
}

async function refuseAll(t: Tap, attacks: Readonly<Record<string, Attack>>): Promise<void> {
  for (const [name, { call, reason, code = 16 }] of Object.entries(attacks)) {
    const { answer, line } = await tryCall(call);
    t.equal(answer.code, code, `${name}: status`);
    t.match(answer.details, texts[code] ?? /^$/, `${name}: nothing of why`);
    t.equal(answer.elements.length, 0);
    t.match(line, { decision: 'refuse', reason }, `${name}: audit line`);
    t.notMatch(JSON.stringify(line ?? {}), /eyJ/, 'no token in it');
  }
}
type Tap = Pick<typeof t, 'equal' | 'match' | 'notMatch'>;

/** A token that the API server's own key has signed, with these claims. */
function forgeToken(claims: Readonly<Record<string, unknown>>): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256' })}.${part(claims)}`;
  const key = createPrivateKey(readFileSync(join(cluster.pkiDirectory, 'sa.key')));
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

const claimsOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

await t.test('who is not who they say', async (t) => {
  const claims = claimsOf(token);
  const [head, , signature] = token.split('.');
  const withClaims = (more: object): string =>
    [head, Buffer.from(JSON.stringify({ ...claims, ...more })).toString('base64url'), signature].join('.');
  const foreignAudience = await tokenOf('agent', agent, 'istio-ca');
  await refuseAll(t, {
    'no token': { call: { identity: web }, reason: 'token-missing' },
    'garbage': { call: { token: 'garbage', identity: web }, reason: 'token-malformed' },
    'token of another audience': { call: { token: foreignAudience, identity: web }, reason: 'token-audience' },
    'its audience forged': { call: { token: withClaims({ jti: randomUUID() }), identity: web }, reason: 'token-refused' },
    'expired token': { call: { token: forgeToken({ ...claims, exp: 1_700_000_000 }), identity: web }, reason: 'token-expired' },
    'expired token, its end forged': {
      call: { token: withClaims({ exp: Number(claims['exp']) + 600 }), identity: web },
      reason: 'token-refused',
    },
    'unbound token': { call: { token: await tokenOf('agent'), identity: web }, reason: 'token-unbound' },
    'unbound token, own identity': { call: { token: await tokenOf('web'), csrIdentity: web }, reason: 'token-unbound' },
    'account that is no node agent': {
      call: { token: await tokenOf('stranger', stranger), identity: web },
      reason: 'caller-no-node-agent',
    },
    'agent whose pod has ended': { call: { token: ended, identity: web }, reason: 'caller-pod-finished' },
    'cluster that is not known': { call: { token, identity: web, clusterId: 'elsewhere' }, reason: 'cluster-unknown' },
  });
});

await t.test('R039 a token ends with its pod, long before it would be reviewed again, also when another has its name', async (t) => {
  for (const again of [false, true]) {
    const name = `short-${again}`;
    const pod = await podFor('agent', own, name);
    const short = await tokenOf('agent', pod);
    t.equal((await client.call({ token: short, identity: web })).code, 0);
    const elapsed = stopwatch();
    await deletePod(cluster, pod);
    const successor = again ? await podFor('agent', own, name) : undefined;
    const refused = await until('the refusal', 60_000, async () => {
      const { answer, line } = await tryCall({ token: short, identity: web });
      return answer.code === 16 ? line : undefined;
    });
    const tookMs = Math.round(elapsed());
    t.comment(`refused after ${tookMs} ms as ${refused.reason}; to be within a second`);
    t.ok(tookMs < 10_000, 'by the index of pods, that is: a good review counts for ten seconds');
    t.ok(['token-refused', again ? 'caller-pod-replaced' : 'caller-pod-gone'].includes(refused.reason), refused.reason);
    if (successor !== undefined)
      t.equal((await client.call({ token: await tokenOf('agent', successor), identity: web })).code, 0, 'its successor is not');
  }
});

await t.test('identities that are not on the node', async (t) => {
  const mirror = {
    kind: 'Pod',
    metadata: { namespace, name: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'a', 'kubernetes.io/config.source': 'file' } },
    spec: { nodeName: own.name, serviceAccountName: 'static', containers: [{ name: 'app', image: 'none' }] },
  };
  await t.rejects(createObjects(cluster, [mirror]), /mirror pod may not reference service accounts/, 'the API server takes no such pod');
  await refuseAll(t, {
    'R038 on another node only': { call: { token, identity: idOf('orders') }, reason: 'identity-not-on-node' },
    'nowhere': { call: { token, identity: idOf('nobody') }, reason: 'identity-not-on-node' },
    'R037 finished pods only': { call: { token, identity: idOf('job') }, reason: 'identity-finished' },
    'of a static pod, which has none': { call: { token, identity: idOf('static') }, reason: 'identity-not-on-node' },
    'denied': { call: { token, identity: idOf('secret') }, reason: 'identity-denied' },
  });
});

await t.test('names that are none', async (t) => {
  const csr = await csrFor(web);
  const named = (uri: string, reason = 'identity-invalid'): Attack => ({ call: { token, identity: uri, csr }, reason });
  const of = (domain: string): string => `spiffe://${domain}/ns/${namespace}/sa/web`;
  await refuseAll(t, {
    'foreign trust domain': named(of('other.domain'), 'identity-foreign'),
    'empty trust domain': named(of('')),
    'upper-case trust domain': named(of('CLUSTER.LOCAL')),
    'upper-case scheme': named(web.replace('spiffe', 'SPIFFE')),
    'port': named(of(`${caTrustDomain}:443`)),
    'user': named(of(`root@${caTrustDomain}`)),
    'comma': named(`${web},spiffe://${caTrustDomain}/ns/${namespace}/sa/secret`),
    'comma in the trust domain': named(of(`${caTrustDomain},evil.example`)),
    'at sign': named(of('cluster@local')),
    'encoded slash': named(`spiffe://${caTrustDomain}/ns/${namespace}%2fsa/web`),
    'dots': named(`spiffe://${caTrustDomain}/ns/../sa/web`),
    'dot in a namespace': named(`spiffe://${caTrustDomain}/ns/a.b/sa/web`),
    'NUL': named(`${web}\0`),
    'line feed': named(`${web}\n`),
    'slash at the end': named(`${web}/`),
    'query': named(`${web}?a=b`),
    'fragment': named(`${web}#a`),
    '257 bytes of account': named(`spiffe://${caTrustDomain}/ns/${namespace}/sa/${'a'.repeat(257)}`),
    '64 bytes of namespace': named(`spiffe://${caTrustDomain}/ns/${'a'.repeat(64)}/sa/web`),
    '4,000 bytes': named(`spiffe://${caTrustDomain}/ns/${namespace}/sa/${'a'.repeat(4_000)}`),
    'not ASCII': named(`spiffe://${caTrustDomain}/ns/${namespace}/sa/wéb`),
    'other path': named(`spiffe://${caTrustDomain}/web`),
  });
});

await t.test('requests that ask for more, or prove nothing', async (t) => {
  const asks = (csr: string, reason: string): Attack => ({ call: { token, identity: web, csr }, reason, code: 3 });
  const uris = [web];
  const shared = createTestKey();
  t.equal((await client.call({ token, identity: web, csr: createTestCsr({ uris, key: shared }) })).code, 0);
  t.equal((await client.call({ token, identity: web, csr: createTestCsr({ uris, key: shared }) })).code, 0, 'a key again for its identity');
  t.equal(
    (await client.call({ token, identity: web, csr: createTestCsr({ uris, subject: emptyOrganization }) })).code,
    0,
    'an empty organisation',
  );
  const reused: Attack = {
    call: { token, identity: idOf('agent'), csr: createTestCsr({ uris: [idOf('agent')], key: shared }) },
    reason: 'csr-key-reused',
    code: 3,
  };
  const isCa = extension(der.oid('2.5.29.19'), true, der.sequence(der.boolean(true)));
  await refuseAll(t, {
    'two URI SANs': asks(createTestCsr({ uris: [web, idOf('secret')] }), 'csr-extra-name'),
    'DNS SAN': asks(createTestCsr({ uris, dnsNames: ['kubernetes.default.svc'] }), 'csr-extra-name'),
    'IP SAN': asks(createTestCsr({ uris, ips: [Buffer.of(10, 0, 0, 1)] }), 'csr-extra-name'),
    'e-mail SAN': asks(createTestCsr({ uris, emails: ['root@example.org'] }), 'csr-extra-name'),
    'common name': asks(createTestCsr({ uris, subject: commonName('kubernetes-admin') }), 'csr-extra-name'),
    'another URI': asks(createTestCsr({ uris: [idOf('secret')] }), 'csr-other-name'),
    'no SAN': asks(createTestCsr({}), 'csr-other-name'),
    'CA flag': asks(createTestCsr({ uris, extensions: [isCa] }), 'csr-extra-extension'),
    'key usage': asks(
      createTestCsr({ uris, extensions: [extension(der.oid('2.5.29.15'), true, keyUsage(['keyCertSign']))] }),
      'csr-extra-extension',
    ),
    'RSA of 1024 bits': asks(createTestCsr({ uris, key: createTestKey('rsa-1024') }), 'csr-key'),
    'secp256k1': asks(createTestCsr({ uris, key: createTestKey('ec-k256') }), 'csr-key'),
    'Ed25519': asks(createTestCsr({ uris, key: createTestKey('ed25519') }), 'csr-key'),
    'key of another identity': reused,
    'signature of another key': asks(createTestCsr({ uris, signedBy: createTestKey() }), 'csr-signature'),
    'no PEM': asks('x', 'csr-malformed'),
    'a certificate': asks(readFileSync(ca.rootsFile, 'utf8'), 'csr-malformed'),
    'two requests': asks(createTestCsr({ uris }) + createTestCsr({ uris }), 'csr-malformed'),
    'cut short': asks(createTestCsr({ uris }).replace(/[A-Za-z0-9+/=]{40}\n-----END/, '\n-----END'), 'csr-malformed'),
    '20 KiB': asks('x'.repeat(20_000), 'csr-malformed'),
    '5 MiB': { call: { token, identity: web, csr: 'x'.repeat(5 * 1024 * 1024) }, reason: 'message-too-large', code: 8 },
  });
});

await t.test('lifetimes', async (t) => {
  const csr = await csrFor(web);
  await refuseAll(t, {
    '-1 s': { call: { token, identity: web, csr, seconds: -1 }, reason: 'lifetime-refused', code: 3 },
    'least number': { call: { token, identity: web, csr, seconds: -(2 ** 63) }, reason: 'lifetime-refused', code: 3 },
    'greatest number': { call: { token, identity: web, csr, seconds: 2 ** 63 - 1 }, reason: 'lifetime-refused', code: 3 },
    'a day and a second': { call: { token, identity: web, csr, seconds: 86_401 }, reason: 'lifetime-refused', code: 3 },
    'a second': { call: { token, identity: web, csr, seconds: 1 }, reason: 'lifetime-refused', code: 3 },
  });
  // On the wire 0 and no lifetime at all are the same.
  const { elements } = await client.call({ token, identity: web, seconds: 0 });
  const { validFrom, validTo } = new X509Certificate(elements[0] ?? '');
  t.equal(Date.parse(validTo) - Date.parse(validFrom), 86_400_000 + 120_000, '0 s means the usual day');
});

await t.test('10,000 calls at once: each is answered, and the next ones too', async (t) => {
  const csr = await csrFor(web);
  const clients = Array.from({ length: 20 }, () => createRawCaClient(address, ca.rootsFile));
  // Connected before: while this process makes its calls a handshake could take longer than the CA waits for one.
  for (const each of clients) t.equal((await each.call({ token, identity: web, csr })).code, 0);
  const before = ca.audit().length;
  const elapsed = stopwatch();
  const answers = await Promise.all(clients.flatMap((each) => Array.from({ length: 500 }, () => each.call({ token, identity: web, csr }))));
  const count = (code: number): number => answers.filter((answer) => answer.code === code).length;
  t.comment(`${count(0)} granted, ${count(8)} told to try again, in ${Math.round(elapsed())} ms`);
  const others = answers.filter(({ code }) => code !== 0 && code !== 8);
  t.same([...new Set(others.map(({ code, details }) => `${code} ${details}`))], []);
  t.ok(count(0) >= 500);
  const lines = ca.audit().slice(before);
  t.equal(lines.length, 10_000, 'an audit line for each');
  t.equal(lines.filter(({ reason }) => reason === 'busy').length, count(8));
  for (const each of clients) each.close();
  t.equal((await client.call({ token, identity: web })).code, 0);
});
