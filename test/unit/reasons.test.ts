// The catalogue of reasons is closed, and each entry is the answer of some part of the agent to a real situation.

import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { ConfigInput } from '../../agent/config.js';
import { loadConfig } from '../../agent/config.js';
import { createFollowedSettings } from '../../agent/config/followed.js';
import { createHttpDoor } from '../../agent/http.js';
import { SignetError } from '../../agent/runtime/errors.js';
import { createReadiness } from '../../agent/runtime/lifecycle.js';
import type { ReasonCode, ReasonText } from '../../agent/runtime/reasons.js';
import { formatReason, reasons } from '../../agent/runtime/reasons.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createFileSource } from '../../agent/pods/file-source.js';
import type { Selection } from '../../agent/pods/selection.js';
import { whyLeftOut } from '../../agent/pods/selection.js';
import { createWatchedRootSource } from '../../agent/trust-bundle.js';
import { openIssuer } from '../../agent/x509/self-signed.js';
import { authorityScenes } from '../fixtures/authority-reasons.js';
import { caScenes } from '../fixtures/ca-reasons.js';
import { issuerSecretScenes } from '../fixtures/issuer-scene.js';
import { kubeScenes } from '../fixtures/kube-reasons.js';
import { localCaScenes } from '../fixtures/local-ca-reasons.js';
import { restartScenes } from '../fixtures/restart-reasons.js';
import { createRoot, createTestKey, keyPem, pemOf, testTime } from '../fixtures/pki.js';
import { createPod } from '../fixtures/pods.js';
import type { Scene } from '../fixtures/reasons.js';
import * as given from '../fixtures/reasons.js';
import { requestScenes } from '../fixtures/request-reasons.js';
import { createCacheScene } from '../fixtures/svid-cache.js';

const { answer, answerUnder, attempt, codeInLog, codeOfRefusal, createServices, explain, issuerFrom, middle, root, settledCode, start } =
  given;

const expired = createRoot({ notAfter: testTime - 1 });
const weak = createRoot({ key: createTestKey('rsa-1024') });
const fails = (error: SignetError): Scene => attempt(({ ca }) => (ca.outcome = () => error));

// The type demands a scene for each code.
const scenes: Readonly<Record<ReasonCode, Scene>> = {
  // Identities
  'issuing': async (t) => {
    const { want, ca, state } = createCacheScene(t);
    ca.outcome = () => 'hang';
    await want('cart');
    const now = state('cart');
    return now?.status === 'pending' ? now.reason.code : undefined;
  },
  'issued-on-demand': async (t) => {
    const { want, state } = createCacheScene(t, { issue: 'on-demand' });
    await want('cart');
    const now = state('cart');
    return now?.status === 'idle' ? now.reason.code : undefined;
  },
  'not-on-node': explain('spiffe://example.org/ns/shop/sa/cart'),
  'not-selected': explain('spiffe://example.org/ns/shop/sa/proxy'),
  'name-invalid': explain('cart'),
  'trust-domain-foreign': explain('spiffe://example.com/ns/shop/sa/cart'),
  // Upstream CA
  'ca-unavailable': fails(new SignetError('unavailable', 'connect')),
  'ca-deadline': attempt(({ ca }) => (ca.outcome = () => 'hang')),
  'ca-denied': fails(new SignetError('denied', 'not for this node')),
  'ca-refused-request': fails(new SignetError('invalid', 'lifetime over the maximum')),
  ...caScenes,
  // Request objects at the API server
  ...requestScenes,
  ...authorityScenes,
  ...localCaScenes,
  // Answers of a CA
  'answer-empty': answer(() => []),
  'answer-too-large': answer((leaf) => [leaf(), Buffer.alloc(5 * 1024 * 1024)]),
  'pem-invalid': answer((leaf) => [leaf(), keyPem(middle)]),
  'key-mismatch': answer((leaf) => [leaf({ key: createTestKey() }), middle.pem]),
  'san-mismatch': answer((leaf) => [leaf({ dnsNames: ['cart'] }), middle.pem]),
  'trust-anchor-unknown': answer((leaf) => [leaf(), middle.pem, root.pem], { roots: [createRoot().certificate] }),
  'signature-invalid': answer((leaf) => [leaf({ damaged: true }), middle.pem]),
  'issuer-not-allowed': answerUnder({ keyUsage: ['cRLSign'] }),
  'certificate-expired': answerUnder({ notAfter: testTime - 1 }),
  'certificate-not-yet-valid': answerUnder({ notBefore: testTime + 61_000 }),
  'leaf-not-allowed': answer((leaf) => [leaf({ extendedKeyUsage: null }), middle.pem]),
  'key-weak': answerUnder({ key: createTestKey('rsa-1024') }),
  // Issuer of our own
  'issuer-unreadable': issuerFrom('nothing', keyPem(root)),
  'issuer-not-ca': issuerFrom(...ofIssuer(createRoot({ keyUsage: ['cRLSign'] }))),
  'issuer-key-mismatch': issuerFrom(root.pem, keyPem(middle)),
  'issuer-expired': issuerFrom(...ofIssuer(expired)),
  'issuer-weak': issuerFrom(...ofIssuer(weak)),
  'issuer-chain-invalid': issuerFrom(pemOf(middle, createRoot()), keyPem(middle)),
  'issuer-directory-unsafe': (t) => {
    const directory = t.testdir({});
    chmodSync(directory, 0o755);
    return codeOfRefusal(() => openIssuer({ directory, trustDomain: 'example.org', clock: createServices().clock }));
  },
  'issuer-unwritable': (t) => {
    const directory = join(t.testdir({ file: '' }), 'file', 'state');
    return codeOfRefusal(() => openIssuer({ directory, trustDomain: 'example.org', clock: createServices().clock }));
  },
  ...issuerSecretScenes,
  // Sources
  'pods-unread': () => createFileSource({ path: '/pods.yaml', node: 'node-a', ...createServices() }).view.value.reason?.code,
  'namespaces-unread': () => {
    const selection: Selection = { ambient: true, ambientNamespaces: 'unread' };
    return whyLeftOut(createPod('cart'), selection)?.code;
  },
  'pods-file-missing': given.podsFile(undefined),
  'pods-file-invalid': given.podsFile('kind: Pod\n'),
  'bundle-missing': given.rootsFile(undefined),
  'bundle-invalid': given.rootsFile(pemOf(middle)),
  'root-expired': given.bundleOf(() => createWatchedRootSource('issuer', new WatchedValue([root.certificate, expired.certificate]))),
  'root-withdrawn': async (t) => {
    const { want, ca, settled, state } = createCacheScene(t);
    await want('cart');
    ca.roots.set([root.certificate]);
    await settled();
    const now = state('cart');
    return now?.status === 'retained' ? now.reason.code : undefined;
  },
  // What survives a restart
  ...restartScenes,
  // API server and kubelet
  ...kubeScenes,
  // Peers
  'peer-unknown': () => {
    const { connect, log } = given.peers();
    connect({ kind: 'container' });
    return codeInLog(log, 'connection refused');
  },
  'peer-denied': () => {
    const { connect, log } = given.peers({ rules: [{ host: { unit: 'sshd.service' }, grant: 'none' }] });
    connect({ kind: 'host', unit: 'sshd.service' });
    return codeInLog(log, 'connection refused');
  },
  'peer-no-identity': () => {
    const grant = given.peers().connect({ kind: 'pod', uid: 'uid-static' })?.grant.value;
    return grant?.kind === 'none' ? grant.reason.code : undefined;
  },
  'peer-limit': () => {
    const { connect, log } = given.peers({ limits: { connectionsPerOwner: 1 } });
    connect({ kind: 'pod', uid: 'uid-cart' });
    connect({ kind: 'pod', uid: 'uid-cart' });
    return codeInLog(log, 'connection refused');
  },
  'peer-rules-invalid': async (t) => {
    const sources = 'trustDomain: example.org\nnode: n\npods: {sources: [{kind: file, path: /pods.yaml}]}\nupstreams: [{kind: built-in}]\n';
    const file = join(t.testdir({ 'agent.yaml': sources }), 'agent.yaml');
    const input: ConfigInput = { defaults: 'agent', env: {}, file };
    const settings = createFollowedSettings({ loaded: loadConfig(input), input, ...createServices() });
    start(t, settings);
    writeFileSync(file, `${sources}peers: [{host: {}, grant: node}]\n`);
    return settledCode(settings.reason, (reason) => reason !== undefined);
  },
  // Process
  'http-port-taken': async (t) => {
    const blocker = createServer().listen(0, '127.0.0.1');
    t.teardown(() => blocker.close());
    await once(blocker, 'listening');
    const registry = { contentType: '', metrics: () => Promise.resolve('') };
    const address = { host: '127.0.0.1', port: (blocker.address() as AddressInfo).port };
    const door = createHttpDoor({
      place: { address },
      readiness: createReadiness().state,
      registry,
      beforeScrape: () => {},
      ...createServices(),
    });
    start(t, door);
    return settledCode(door.reason, (reason) => reason !== undefined);
  },
  'clock-stepped': async (t) => {
    const { clock, log, want } = createCacheScene(t);
    await want('cart');
    clock.step(3_600_000);
    await clock.advance(30_000);
    return codeInLog(log, 'wall clock stepped');
  },
  'draining': () => {
    const readiness = createReadiness();
    readiness.drain();
    return readiness.state.value.reasons.get('process')?.code;
  },
};

function ofIssuer(issuer: typeof root): [certificate: Buffer, privateKey: Buffer] {
  return [issuer.pem, keyPem(issuer)];
}

const catalogue = Object.entries(reasons) as [ReasonCode, ReasonText][];

t.test('each reason is given by a part of the agent', async (t) => {
  for (const [code] of catalogue) await t.test(code, async (t) => void t.equal(await scenes[code](t), code));
});

t.test('texts are one sentence each', async (t) => {
  for (const [code, { sentence, action }] of catalogue) {
    // A full stop within a sentence stands inside a name, as in trustBundle.sources.
    for (const text of [sentence, action]) t.match(text, /^[A-Z](?:[^.!?\n]|\.(?=\w))*\.$/, code);
    t.match(code, /^[a-z]+(-[a-z]+)*$/);
  }
});

t.test('a reason for people is sentence, detail and what to change', async (t) => {
  const { sentence, action } = reasons['ca-denied'];
  t.equal(formatReason({ code: 'ca-denied', detail: '' }), `${sentence} ${action}`);
  t.equal(formatReason({ code: 'ca-denied', detail: 'not for this node' }), `${sentence} (not for this node) ${action}`);
});

t.test('the page of reasons lists them all, and no other', async (t) => {
  const page = readFileSync(new URL('../../../docs/reasons.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  t.same(
    rows,
    catalogue.map(([code, { sentence, action }]) => `| \`${code}\` | ${sentence} | ${action} |`),
  );
});
