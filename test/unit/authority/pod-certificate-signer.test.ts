import t from 'tap';
import { constants, sign } from 'node:crypto';
import { findRequesters } from '../../../agent/authority/pod-certificate-requesters.js';
import { parseInstant } from '../../../agent/runtime/time.js';
import * as der from '../../../agent/x509/der.js';
import { readCertificates } from '../../../agent/x509/pem.js';
import { emptyName, extension } from '../../../agent/x509/sign.js';
import { until } from '../../fixtures/clock.js';
import { agentPod, caIdOf, clusterPod } from '../../fixtures/cluster-pods.js';
import { commonName } from '../../fixtures/csrs.js';
import { createTestKey, dayMs, hourMs } from '../../fixtures/pki.js';
import type { TestKey } from '../../fixtures/pki.js';
import type { RequestScene } from '../../fixtures/request-scene.js';
import { createRequestScene, podCertificatePath, requestSigner, stubRequest } from '../../fixtures/request-scene.js';

const web = caIdOf('shop/web');
const pod = clusterPod('shop/web');
const resource = 'podcertificaterequests';
const served = (version: string) => ({ [`/apis/certificates.k8s.io/${version}`]: [resource] });
const createScene = (t: Parameters<typeof createRequestScene>[0], more: Parameters<typeof createRequestScene>[1] = {}) =>
  createRequestScene(t, { csrSigner: undefined, podCertificateSigner: requestSigner, discovery: served('v1'), ...more });

interface Issued {
  readonly certificateChain: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly beginRefreshAt: string;
}

async function answerOf(scene: RequestScene, name: string, version?: string) {
  const path = podCertificatePath(name, version);
  await until(() => scene.status(path).conditions !== undefined, `the answer to ${name}`);
  const { conditions, ...rest } = scene.status(path);
  return { condition: conditions?.[0], count: conditions?.length, ...(rest as unknown as Issued) };
}

for (const seconds of [3_600, 7_200, 86_400, 7_862_400]) {
  t.test(`issued as the API server takes it, when at most ${seconds} s are asked for`, async (t) => {
    const scene = await createScene(t);
    const key = createTestKey();
    scene.addPodCertificate('one', { stubPKCS10Request: stubRequest({ key }), maxExpirationSeconds: seconds });
    scene.run();
    const { condition, count, certificateChain, ...times } = await answerOf(scene, 'one');
    t.match(condition, { type: 'Issued', status: 'True' });
    t.equal(count, 1);
    const [leaf, ...rest] = readCertificates(certificateChain, { source: 'status' });
    t.same(rest, [], 'without a root');
    t.same(leaf?.uriSans, [web]);
    t.ok(leaf?.isSignedBy(scene.root.certificate));
    t.ok(leaf?.publicKeySpki.equals(key.publicKeySpki));
    const [notBefore = 0, notAfter = 0, refresh = 0] = [times.notBefore, times.notAfter, times.beginRefreshAt].map(parseInstant);
    t.equal(notBefore, leaf?.notBefore);
    t.equal(notAfter, leaf?.notAfter);
    t.equal(notAfter - notBefore, Math.min(seconds * 1_000, dayMs));
    t.ok(Math.abs(scene.clock.now() - notBefore) <= 300_000);
    t.ok(refresh >= notBefore + 600_000 && refresh <= notAfter - 600_000);
    t.match(scene.audit, [{ decision: 'grant', reason: 'own', identity: web, authMode: 'request-object', through: { uid: pod.uid } }]);
  });
}

t.test('R110 a request before v1: with a key and its proof, or with a stub, in the version that is served', async (t) => {
  for (const version of ['v1beta1', 'v1alpha1']) {
    const scene = await createScene(t, { discovery: served(version) });
    const ec = createTestKey();
    const rsa = createTestKey('rsa-2048');
    scene.addPodCertificate('stub', {}, version);
    scene.addPodCertificate('ec', withProof(ec), version);
    scene.addPodCertificate('rsa', withProof(rsa), version);
    scene.addPodCertificate('stolen', { ...withProof(ec), ...proofOf(createTestKey()) }, version);
    scene.run();
    for (const [name, key] of [
      ['stub', undefined],
      ['ec', ec],
      ['rsa', rsa],
    ] as const) {
      const { condition, certificateChain } = await answerOf(scene, name, version);
      t.match(condition, { type: 'Issued' }, `${version} ${name}`);
      const [leaf] = readCertificates(certificateChain, { source: name });
      if (key !== undefined) t.ok(leaf?.publicKeySpki.equals(key.publicKeySpki));
    }
    t.match((await answerOf(scene, 'stolen', version)).condition, { type: 'Denied', reason: 'Refused' });
    t.equal(scene.audit.find(({ decision }) => decision === 'refuse')?.reason, 'csr-signature');
  }
});

/** The proof of a node: over the UID of the pod, RSASSA-PSS for RSA. */
function proofOf({ privateKey }: TestKey) {
  const key = privateKey.asymmetricKeyType === 'rsa' ? { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING } : privateKey;
  return { proofOfPossession: sign('sha256', Buffer.from(pod.uid), key).toString('base64') };
}

function withProof(key: TestKey) {
  return { stubPKCS10Request: undefined, pkixPublicKey: key.publicKeySpki.toString('base64'), ...proofOf(key) };
}

const subjectOnly = stubRequest({ subject: commonName('somebody') });

t.test('the subject of a stub says nothing', async (t) => {
  const scene = await createScene(t);
  scene.addPodCertificate('named', { stubPKCS10Request: subjectOnly });
  scene.run();
  const [leaf] = readCertificates((await answerOf(scene, 'named')).certificateChain, { source: 'status' });
  t.same(leaf?.uriSans, [web]);
  t.ok(leaf?.subject.equals(emptyName));
});

const refusals: readonly (readonly [audit: string, told: string, spec: object, prepare?: (scene: RequestScene) => void])[] = [
  ['request-annotations', 'InvalidUnverifiedUserAnnotations', { unverifiedUserAnnotations: { 'example.com/san': 'orders' } }],
  ['csr-key', 'UnsupportedKeyType', { stubPKCS10Request: stubRequest({ key: createTestKey('rsa-1024') }) }],
  ['csr-extra-name', 'Refused', { stubPKCS10Request: stubRequest({ uris: [caIdOf('shop/orders')] }) }],
  [
    'csr-extra-extension',
    'Refused',
    { stubPKCS10Request: stubRequest({ extensions: [extension(der.oid('1.2.3'), false, der.nullValue())] }) },
  ],
  ['csr-signature', 'Refused', { stubPKCS10Request: stubRequest({ signedBy: createTestKey() }) }],
  ['csr-malformed', 'Refused', { stubPKCS10Request: 'AAAA' }],
  ['csr-malformed', 'Refused', { stubPKCS10Request: undefined }],
  ['caller-pod-finished', 'Refused', {}, ({ pods }) => pods.put({ ...pod, phase: 'Succeeded' })],
  ['caller-pod-finished', 'Refused', {}, ({ pods }) => pods.put({ ...pod, phase: 'Failed' })],
  ['caller-pod-finished', 'Refused', {}, ({ pods }) => pods.put({ ...pod, phase: 'Unknown' })],
  ['caller-pod-finished', 'Refused', {}, ({ pods }) => pods.put({ ...pod, mirror: true })],
  ['caller-pod-gone', 'Refused', {}, ({ pods }) => pods.remove(pod.uid)],
  ['caller-pod-replaced', 'Refused', { podUID: 'other' }],
  ['caller-pod-differs', 'Refused', { nodeName: 'node-b' }],
  ['caller-pod-differs', 'Refused', { serviceAccountName: 'orders' }],
  ['caller-pod-gone', 'Refused', { podName: agentPod.name, podUID: agentPod.uid }],
];

for (const [reason, told, spec, prepare = () => {}] of refusals) {
  t.test(`denied: ${reason} ${JSON.stringify(spec).slice(0, 60)}`, async (t) => {
    const scene = await createScene(t);
    prepare(scene);
    scene.addPodCertificate('bad', spec);
    scene.run();
    const { condition, certificateChain } = await answerOf(scene, 'bad');
    t.match(condition, { type: 'Denied', status: 'True', reason: told, message: /audit log of signet ca/ });
    t.equal(certificateChain, undefined);
    t.match(scene.audit, [{ decision: 'refuse', reason, caller: { namespace: 'shop' } }]);
  });
}

t.test('a pod that is Pending gets its certificate, as a volume needs it', async (t) => {
  const scene = await createScene(t);
  scene.pods.put({ ...pod, phase: 'Pending' });
  scene.addPodCertificate('pending');
  scene.run();
  t.match((await answerOf(scene, 'pending')).condition, { type: 'Issued' });
});

t.test('failed, and no shorter certificate, when the issuer ends within the hour', async (t) => {
  const scene = await createScene(t, { issuerLifeMs: hourMs / 2 });
  scene.addPodCertificate('late');
  scene.run();
  const { condition, certificateChain } = await answerOf(scene, 'late');
  t.match(condition, { type: 'Failed', reason: 'Refused' });
  t.equal(certificateChain, undefined);
  t.match(scene.audit, [{ decision: 'refuse', reason: 'lifetime-refused' }]);
});

t.test('requests of other signers and answered ones are left alone', async (t) => {
  const scene = await createScene(t);
  scene.addPodCertificate('foreign', { signerName: 'example.com/other' });
  scene.addPodCertificate('ours');
  scene.run();
  await answerOf(scene, 'ours');
  t.same(
    scene.store.writes.map((write) => write.split('/').slice(-2).join('/')),
    ['ours/status'],
  );
});

t.test('an API server that serves no such objects is asked again, and the reason says so', async (t) => {
  const scene = await createScene(t, { discovery: {} });
  scene.run();
  const [reason] = scene.signers.degradations.values();
  await until(() => reason?.value?.code === 'request-unserved');
  t.match(reason?.value, { detail: resource });
});

t.test('who may create requests besides nodes is told at the start, or that it cannot be', async (t) => {
  const scene = await createScene(t);
  scene.run();
  const told = (message: string): boolean => scene.log.lines.some((line) => line.message === message);
  await until(() => told('cannot tell who besides nodes may create podcertificaterequests'));
  const role = (name: string, rule: object, namespace?: string) => ({
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }, rule],
  });
  const bind = (kind: string, name: string, subjects: readonly object[], namespace?: string) => ({
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { kind, name },
    subjects,
  });
  const right = { apiGroups: ['certificates.k8s.io'], resources: [resource], verbs: ['create'] };
  const roles = [
    role('all', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
    role('reader', { ...right, verbs: ['get', 'list'] }),
    role('maker', right),
    role('maker', right, 'shop'),
    role('maker', { ...right, resources: [`${resource}/status`] }, 'bank'),
  ];
  const account = { kind: 'ServiceAccount', namespace: 'shop', name: 'web' };
  const subjects = findRequesters(roles, [
    bind('ClusterRole', 'all', [{ kind: 'Group', name: 'system:masters' }]),
    bind('ClusterRole', 'reader', [{ kind: 'User', name: 'reader' }]),
    bind('ClusterRole', 'maker', [account], 'bank'),
    bind('Role', 'maker', [account, { kind: 'User', name: 'ann' }], 'shop'),
    bind('Role', 'maker', [{ kind: 'User', name: 'bob' }], 'bank'),
    bind('ClusterRole', 'none', [{ kind: 'User', name: 'eve' }]),
  ]);
  t.same(subjects, ['Group system:masters', 'ServiceAccount shop/web in bank', 'ServiceAccount shop/web in shop', 'User ann in shop']);
});
