import t from 'tap';
import { certifiedKeyTypes } from '../../../agent/x509/csr-policy.js';
import * as der from '../../../agent/x509/der.js';
import { readCertificates } from '../../../agent/x509/pem.js';
import { extension } from '../../../agent/x509/sign.js';
import { until } from '../../fixtures/clock.js';
import { agentPod, caIdOf, clusterPod } from '../../fixtures/cluster-pods.js';
import { createTestCsr, otherExtensionRequest } from '../../fixtures/csrs.js';
import { createTestKey, dayMs, hourMs } from '../../fixtures/pki.js';
import type { RequestScene } from '../../fixtures/request-scene.js';
import { agentUser, createRequestScene, csrPath } from '../../fixtures/request-scene.js';

const web = caIdOf('shop/web');
const requestFor = (...args: Parameters<typeof createTestCsr>): string => Buffer.from(createTestCsr(...args)).toString('base64');
const typesIn = ({ status }: RequestScene, name: string): readonly string[] =>
  (status(csrPath(name)).conditions ?? []).map(({ type }) => type);
const certificateIn = ({ status }: RequestScene, name: string): string => String(status(csrPath(name))['certificate'] ?? '');
const answered = (scene: RequestScene, name: string): Promise<void> =>
  until(() => certificateIn(scene, name) !== '' || typesIn(scene, name).some((type) => type !== 'Approved'), `the answer to ${name}`);

t.test('a request of a node agent is approved and signed, and its line is written first', async (t) => {
  const scene = await createRequestScene(t);
  const key = createTestKey();
  scene.addCsr('one', { request: requestFor({ uris: [web], key }) });
  const linesAtWrite: number[] = [];
  scene.store.refuse = ({ method }) => {
    if (method !== 'GET') linesAtWrite.push(scene.audit.length);
    return undefined;
  };
  scene.run();
  await answered(scene, 'one');
  t.same(typesIn(scene, 'one'), ['Approved']);
  const [leaf, ...rest] = readCertificates(Buffer.from(certificateIn(scene, 'one'), 'base64').toString(), { source: 'status' });
  t.same(rest, [], 'without a root');
  t.same(leaf?.uriSans, [web]);
  t.ok(leaf?.isSignedBy(scene.root.certificate));
  t.ok(leaf?.publicKeySpki.equals(key.publicKeySpki));
  t.equal(leaf?.notAfter, Math.floor((scene.clock.now() + hourMs) / 1_000) * 1_000, 'as long as it asks for');
  t.same(linesAtWrite, [1, 1]);
  t.match(scene.audit, [
    {
      requestId: `uid-${csrPath('one')}`,
      peer: csrPath('one'),
      cluster: 'Kubernetes',
      authMode: 'request-object',
      caller: { namespace: 'signet-system', serviceAccount: 'signet-agent', pod: { uid: agentPod.uid }, node: { name: 'node-a' } },
      credentialId: 'JTI=1',
      identity: web,
      decision: 'grant',
      reason: 'node',
      through: { name: 'web' },
      issued: { notAfter: /Z$/ },
    },
  ]);
});

t.test('a lifetime is no longer than ours, and ours where none is asked for', async (t) => {
  const scene = await createRequestScene(t);
  scene.addCsr('long', { expirationSeconds: 30 * 86_400 });
  scene.addCsr('any', { expirationSeconds: undefined });
  scene.run();
  for (const [name, lifetimeMs] of [
    ['long', dayMs],
    ['any', hourMs],
  ] as const) {
    await answered(scene, name);
    const [leaf] = readCertificates(Buffer.from(certificateIn(scene, name), 'base64').toString(), { source: name });
    t.equal(leaf?.notAfter, Math.floor((scene.clock.now() + lifetimeMs) / 1_000) * 1_000, name);
  }
});

const own = caIdOf('signet-system/signet-agent');
const refusals: readonly (readonly [reason: string, spec: object, prepare?: (scene: RequestScene) => void])[] = [
  ['caller-no-node-agent', { ...agentUser(clusterPod('shop/web')) }],
  ['caller-no-account', { username: 'system:node:node-a', groups: ['system:nodes'], extra: {} }],
  ['caller-no-account', { username: 'system:serviceaccount:signet-system:signet-agent', groups: ['system:masters'] }],
  ['token-unbound', { extra: {} }],
  ['caller-pod-gone', {}, ({ pods }) => pods.remove(agentPod.uid)],
  ['caller-pod-replaced', {}, ({ pods }) => pods.put({ ...agentPod, uid: 'other' })],
  ['caller-pod-differs', {}, ({ pods }) => pods.put({ ...agentPod, node: 'node-b' })],
  ['caller-pod-finished', {}, ({ pods }) => pods.put({ ...agentPod, phase: 'Failed' })],
  ['identity-not-on-node', {}, ({ pods }) => pods.put(clusterPod('shop/web', { node: 'node-b' }))],
  ['identity-finished', {}, ({ pods }) => pods.put(clusterPod('shop/web', { phase: 'Succeeded' }))],
  ['identity-denied', { request: requestFor({ uris: [caIdOf('kube-system/dns')] }) }],
  ['identity-foreign', { request: requestFor({ uris: ['spiffe://example.com/ns/shop/sa/web'] }) }],
  ['csr-extra-name', { request: requestFor({ uris: [web, own] }) }],
  ['csr-extra-name', { request: requestFor({ uris: [web], dnsNames: ['web'] }) }],
  ['csr-other-name', { request: requestFor({}) }],
  ['csr-malformed', { request: 'AAAA' }],
  ['csr-key', { request: requestFor({ uris: [web], key: createTestKey('rsa-1024') }) }],
  ['csr-signature', { request: requestFor({ uris: [web], signedBy: createTestKey() }) }],
  ['csr-usages', { usages: ['digital signature', 'client auth', 'server auth', 'cert sign'] }],
  ['csr-usages', { usages: ['digital signature'] }],
  ['lifetime-refused', { expirationSeconds: 1 }],
];

for (const [reason, spec, prepare = () => {}] of refusals) {
  t.test(`denied, and told no more: ${reason} ${JSON.stringify(spec).slice(0, 60)}`, async (t) => {
    const scene = await createRequestScene(t);
    prepare(scene);
    scene.addCsr('bad', spec);
    scene.run();
    await answered(scene, 'bad');
    const { conditions, certificate } = scene.status(csrPath('bad'));
    t.match(conditions, [{ type: 'Denied', status: 'True', reason: 'Refused', message: /audit log of signet ca/ }]);
    t.notMatch(JSON.stringify(conditions), new RegExp(reason));
    t.equal(certificate, undefined);
    t.match(scene.audit, [{ decision: 'refuse', reason, peer: csrPath('bad') }]);
  });
}

t.test('a key of another identity is refused', async (t) => {
  const scene = await createRequestScene(t);
  const key = createTestKey();
  scene.run();
  scene.addCsr('web', { request: requestFor({ uris: [web], key }) });
  await answered(scene, 'web');
  scene.addCsr('own', { request: requestFor({ uris: [own], key }) });
  await answered(scene, 'own');
  t.same(
    scene.audit.map(({ reason }) => reason),
    ['node', 'csr-key-reused'],
  );
});

t.test('a pod that the index does not have yet is looked up', async (t) => {
  const scene = await createRequestScene(t);
  scene.pods.remove(clusterPod('shop/web').uid);
  scene.live.push(clusterPod('shop/web'));
  scene.addCsr('new');
  scene.run();
  await answered(scene, 'new');
  t.same(typesIn(scene, 'new'), ['Approved']);
});

t.test('what others decided stands: denied and failed ones are left alone, approved ones checked and signed, or failed', async (t) => {
  const scene = await createRequestScene(t);
  const approved = { conditions: [{ type: 'Approved', status: 'True', reason: 'Person', message: '' }] };
  for (const type of ['Denied', 'Failed'])
    scene.addCsr(type, {}, { conditions: [{ type, status: 'True', reason: 'Person', message: '' }] });
  scene.addCsr('signed', {}, { ...approved, certificate: 'AAAA' });
  scene.addCsr('good', {}, approved);
  scene.addCsr('bad', agentUser(clusterPod('shop/web')), approved);
  scene.run();
  await answered(scene, 'good');
  await answered(scene, 'bad');
  t.match(scene.status(csrPath('good')).conditions, [{ type: 'Approved', reason: 'Person' }]);
  t.match(scene.status(csrPath('bad')), { conditions: [{ type: 'Approved' }, { type: 'Failed', reason: 'Refused' }] });
  t.equal(scene.status(csrPath('bad'))['certificate'], undefined);
  t.same(
    scene.store.writes.map((write) => write.split('/').slice(-2).join('/')).sort(),
    ['bad/status', 'good/status'],
    'and nothing else was written',
  );
});

t.test('for another signer: approved by the same check and not signed, or denied', async (t) => {
  const foreign = 'example.org/other';
  const scene = await createRequestScene(t, { csrSigner: undefined, csrApproved: [foreign] });
  scene.addCsr('good', { signerName: foreign });
  scene.addCsr('bad', { signerName: foreign, usages: ['cert sign'] });
  scene.addCsr('long', { signerName: foreign, expirationSeconds: 30 * 86_400 });
  scene.addCsr('ours');
  scene.run();
  await until(() => ['good', 'bad', 'long'].every((name) => typesIn(scene, name).length > 0));
  t.same(
    ['good', 'bad', 'long', 'ours'].map((name) => typesIn(scene, name)),
    [['Approved'], ['Denied'], ['Denied'], []],
  );
  t.equal(certificateIn(scene, 'good'), '');
  const grants = scene.audit.filter(({ decision }) => decision === 'grant');
  t.match(grants, [{ identity: web, approvedFor: foreign, issued: undefined }]);
});

t.test('what another signer would take into its certificate is denied, also where we would leave it out', async (t) => {
  const foreign = 'example.org/other';
  const authority = { csr: { extras: 'ignore', keyTypes: certifiedKeyTypes } } as const;
  const isCa = extension(der.oid('2.5.29.19'), true, der.sequence(der.boolean(true)));
  for (const [spec, reason] of [
    [{ dnsNames: ['kubernetes.default.svc'] }, 'csr-extra-name'],
    [{ extensions: [isCa] }, 'csr-extra-extension'],
    [{ attributes: [otherExtensionRequest(isCa)] }, 'csr-extra-attribute'],
  ] as const) {
    const scene = await createRequestScene(t, { csrApproved: [foreign], authority });
    const request = requestFor({ uris: [web], ...spec });
    scene.addCsr('theirs', { signerName: foreign, request });
    scene.addCsr('ours', { request });
    scene.run();
    await answered(scene, 'theirs');
    await answered(scene, 'ours');
    t.same(typesIn(scene, 'theirs'), ['Denied']);
    const [leaf] = readCertificates(Buffer.from(certificateIn(scene, 'ours'), 'base64').toString(), { source: 'status' });
    t.same([leaf?.uriSans, leaf?.otherSans, leaf?.isCa], [[web], 0, false]);
    t.match(
      scene.audit.filter(({ decision }) => decision === 'refuse'),
      [{ reason, peer: csrPath('theirs') }],
    );
  }
});
