import { constants, createPublicKey, verify } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import { createPodCertificate } from '../../../agent/ca/pod-certificate.js';
import type { KeyType } from '../../../agent/x509/csr.js';
import { createCsr, generateKey, parseCsr } from '../../../agent/x509/csr.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { createKubeScene, never } from '../../fixtures/kube.js';
import { id } from '../../fixtures/request-objects.js';

const metadata = { name: 'signet-1', labels: {}, annotations: {} };
const day = 86_400_000;

/** An API server with these versions of the kind; what else it answers may be given. */
async function scene(t: Test, served: readonly string[], answer: (call: ApiCall) => boolean = () => false) {
  const { client, server } = await createKubeScene(t, (call) => {
    if (answer(call)) return;
    const version = /^\/apis\/certificates\.k8s\.io\/([a-z0-9]+)$/.exec(call.path)?.[1];
    if (version !== undefined && !served.includes(version)) call.status(404, 'the server could not find the requested resource');
    else if (version !== undefined) call.json({ resources: [{ name: 'podcertificaterequests' }] });
    else if (call.method === 'GET') call.json({ metadata: { uid: `uid-of-${call.path.split('/').at(-1) ?? ''}` } });
    else call.json(call.body, 201);
  });
  const podOf = () => ({ name: 'cart-1', uid: 'uid-cart-1' });
  const kind = createPodCertificate({ client, own: client, node: 'node-a', signerName: 'example.com/workload', podOf });
  const create = async (keyType: KeyType = 'ec-p256', lifetimeMs = day) => {
    const key = await generateKey(keyType);
    const path = `${await kind.group(never)}/namespaces/shop/podcertificaterequests`;
    return (await kind.create({ id, csr: await createCsr(key, id, 'none'), key, lifetimeMs }, path, metadata, never)) as {
      readonly apiVersion: string;
      readonly spec: Readonly<Record<string, string>>;
    };
  };
  return { kind, server, create };
}

t.test('R110 v1: the pod, its account and its node by UID, and a request that says nothing else', async (t) => {
  const { create, server, kind } = await scene(t, ['v1', 'v1beta1']);
  const { apiVersion, spec } = await create();
  t.equal(apiVersion, 'certificates.k8s.io/v1');
  const { stubPKCS10Request = '', ...rest } = spec;
  t.same(rest, {
    signerName: 'example.com/workload',
    podName: 'cart-1',
    podUID: 'uid-cart-1',
    serviceAccountName: 'cart',
    serviceAccountUID: 'uid-of-cart',
    nodeName: 'node-a',
    nodeUID: 'uid-of-node-a',
    maxExpirationSeconds: 86_400,
  });
  const csr = parseCsr(Buffer.from(stubPKCS10Request, 'base64'));
  const key = createPublicKey({ key: csr.publicKeySpki, format: 'der', type: 'spki' });
  t.ok(verify('sha256', csr.signed, key, csr.signature));
  t.same([csr.subject.toString('hex'), csr.extensions.subjectAltName], ['3000', undefined]);
  t.equal(kind.fieldSelector, 'spec.nodeName=node-a');
  await create();
  t.equal(server.calls.filter(({ path }) => path.endsWith('/v1')).length, 1, 'the version is looked for once');
});

t.test('a version that is served no more is looked for again', async (t) => {
  const versions = ['v1beta1'];
  const { create } = await scene(t, versions, (call) => {
    const isGone = call.method === 'POST' && !versions.some((version) => call.path.includes(`/${version}/`));
    if (isGone) call.status(404, 'the server could not find the requested resource');
    return isGone;
  });
  t.equal((await create()).apiVersion, 'certificates.k8s.io/v1beta1');
  versions.splice(0, 1, 'v1');
  await t.rejects(create(), { name: 'SignetError', kind: 'notFound' });
  t.equal((await create()).apiVersion, 'certificates.k8s.io/v1');
});

t.test('R110 before v1: the key, and a signature of the pod over SHA-256 whatever the key', async (t) => {
  for (const version of ['v1beta1', 'v1alpha1']) {
    const { create } = await scene(t, [version]);
    for (const keyType of ['ec-p256', 'ec-p384', 'rsa-3072'] as const) {
      const { apiVersion, spec } = await create(keyType);
      t.equal(apiVersion, `certificates.k8s.io/${version}`);
      t.equal(spec['stubPKCS10Request'], undefined);
      const key = createPublicKey({ key: Buffer.from(spec['pkixPublicKey'] ?? '', 'base64'), format: 'der', type: 'spki' });
      const padding = keyType === 'rsa-3072' ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
      const proof = Buffer.from(spec['proofOfPossession'] ?? '', 'base64');
      t.ok(verify('sha256', Buffer.from('uid-cart-1'), { key, ...padding }, proof), keyType);
    }
  }
});

t.test('a request of somebody else is none for it: a request that says nothing, and any proof, take the key', async (t) => {
  const key = await generateKey('ec-p256');
  const csr = await createCsr(key, id, 'none');
  const foreign = { id, csr, key: { publicKeySpki: key.publicKeySpki }, lifetimeMs: day };
  for (const version of ['v1', 'v1beta1']) {
    const { kind } = await scene(t, [version]);
    t.equal(kind.takesAnyCsr, false);
    await t.rejects(kind.create(foreign, '/path', metadata, never), { name: 'SignetError', reason: 'forward-unserved' });
  }
});

t.test('no more than the API takes is asked for', async (t) => {
  const { create } = await scene(t, ['v1']);
  t.equal((await create('ec-p256', 120 * day)).spec['maxExpirationSeconds'], 7_862_400);
});

t.test('what cannot be', async (t) => {
  await t.rejects((await scene(t, [])).create(), { name: 'SignetError', reason: 'request-unserved' });
  const refuses = (status: number, message: string) => (call: ApiCall) => {
    if (call.method !== 'POST') return false;
    call.status(status, message);
    return true;
  };
  for (const message of [
    'pod "shop/cart-1" does not mount a podCertificate projected volume for signer "example.com/workload"',
    'error authorizing system:node:node-a to request podcertificaterequests for signer "example.com/workload": x',
  ]) {
    const { create } = await scene(t, ['v1'], refuses(403, message));
    await t.rejects(create(), { name: 'SignetError', kind: 'denied', reason: 'request-signer-denied' }, message);
  }
  const other = await scene(t, ['v1'], refuses(403, 'cannot create resource'));
  await t.rejects(other.create(), { name: 'SignetError', reason: 'kube-denied' });
  const lag = await scene(t, ['v1'], refuses(500, 'names service account UID "a", which differs from the running service account ("b")'));
  await t.rejects(lag.create(), { name: 'SignetError', kind: 'unavailable' }, 'is tried again');
  const blank = await scene(t, ['v1'], (call) => {
    if (!call.path.endsWith('/nodes/node-a')) return false;
    call.json({ metadata: {} });
    return true;
  });
  await t.rejects(blank.create(), { name: 'SignetError', reason: 'kube-answer-invalid' });
});

t.test('what its status says', async (t) => {
  const { kind } = await scene(t, ['v1']);
  const condition = (type: string, status = 'True') => ({ type, status, reason: 'R', message: 'words' });
  const cases: readonly [status: unknown, verdict: object][] = [
    [undefined, { state: 'pending' }],
    [{ conditions: [condition('Denied', 'False'), condition('Other')] }, { state: 'pending' }],
    [
      { conditions: [condition('Issued')], certificateChain: 'PEM', beginRefreshAt: '2026-01-01T12:00:00Z' },
      { state: 'issued', elements: [Buffer.from('PEM')], refreshAt: Date.UTC(2026, 0, 1, 12) },
    ],
    [
      { conditions: [condition('Issued')], beginRefreshAt: 'soon' },
      { state: 'issued', elements: [Buffer.alloc(0)], refreshAt: undefined },
    ],
    [{ conditions: [condition('Denied')] }, { state: 'denied', detail: 'R: words' }],
    [{ conditions: [condition('Failed')] }, { state: 'failed', detail: 'R: words' }],
  ];
  for (const [status, verdict] of cases) t.same(kind.read({ status }), verdict);
});
