import { inspect } from 'node:util';
import t from 'tap';
import { EncodedSecret, encodeResponse, rootsContent, spiffeRootsContent, svidContent } from '../../../agent/sds/secret.js';
import { DeltaDiscoveryResponse, DiscoveryResponse } from '../../../agent/sds/wire.js';
import { createIntermediate, createRoot } from '../../fixtures/pki.js';
import { bundleOf, createSvid, uri } from '../../fixtures/secrets.js';

const a = uri('a');
const root = createRoot();

void t.test('is encoded once: the same buffer at each call, in memory of its own', async (t) => {
  const secret = new EncodedSecret(a, 7, svidContent(createSvid(root, a)));
  for (const protocol of ['sotw', 'delta'] as const) {
    const bytes = secret.response(protocol);
    t.equal(secret.response(protocol), bytes);
    t.equal(bytes.buffer.byteLength, bytes.length, 'not a slice of a pool');
  }
  t.match(DiscoveryResponse.decode(secret.response('sotw')), { nonce: '7', versionInfo: secret.version });
  t.match(DeltaDiscoveryResponse.decode(secret.response('delta')), { nonce: '7', systemVersionInfo: secret.version });
});

void t.test('the version is a hash of the content: equal for equal content, whatever name or moment', async (t) => {
  const svid = createSvid(root, a);
  const first = new EncodedSecret(a, 1, svidContent(svid));
  t.equal(new EncodedSecret('default', 9, svidContent(svid)).version, first.version);
  t.not(new EncodedSecret(a, 1, svidContent(createSvid(root, a))).version, first.version);
  const [one, two] = [bundleOf([root]), bundleOf([root, createRoot()])];
  if (one === undefined || two === undefined) throw new Error('unreachable');
  const versions = [rootsContent(one), rootsContent(two), spiffeRootsContent(one, 'a'), spiffeRootsContent(one, 'b')].map(
    (content) => content?.version,
  );
  t.equal(new Set(versions).size, 4);
  t.equal(rootsContent(one)?.version, versions[0]);
});

void t.test('the version of a response names all it says', async (t) => {
  const secrets = ['a', 'b'].map(
    (account, index) => new EncodedSecret(uri(account), index + 1, svidContent(createSvid(root, uri(account)))),
  );
  const version = (which: readonly EncodedSecret[], removed: readonly string[]) =>
    DeltaDiscoveryResponse.decode(encodeResponse('delta', 'x', which, removed)).systemVersionInfo;
  t.equal(version(secrets.slice(0, 1), []), secrets[0]?.version);
  t.equal(version(secrets, []), version([...secrets].reverse(), []), 'the order does not matter');
  t.equal(new Set([version(secrets, []), version(secrets, ['c']), version(secrets.slice(0, 1), ['c']), version([], ['c'])]).size, 4);
});

void t.test('no roots make no secret: an empty context would trust anybody', async (t) => {
  const nothing = { roots: [], pem: Buffer.alloc(0), version: '' };
  t.equal(rootsContent(nothing), undefined);
  t.equal(spiffeRootsContent(nothing, 'example.org'), undefined);
  const intermediates = bundleOf([createIntermediate(root)]);
  t.equal(intermediates === undefined ? 0 : spiffeRootsContent(intermediates, 'example.org'), undefined);
});

void t.test('a retired secret is wiped as soon as no write needs it', async (t) => {
  const svid = createSvid(root, a);
  const secret = new EncodedSecret(a, 1, svidContent(svid));
  const held = [secret.response('sotw'), secret.response('delta'), secret.resource().value];
  const key = svid.privateKeyPem();
  t.ok(held.every((bytes) => bytes.includes(key)));
  secret.use();
  secret.retire();
  t.ok(secret.retired);
  t.ok(
    held.every((bytes) => bytes.includes(key)),
    'a write is under way',
  );
  secret.release();
  t.ok(held.every((bytes) => bytes.every((byte) => byte === 0)));
});

void t.test('the copy of the key that was encoded is wiped', async (t) => {
  const content = svidContent(createSvid(root, a));
  t.ok(content.privateKey?.includes('PRIVATE KEY'));
  new EncodedSecret(a, 1, content);
  t.ok(content.privateKey?.every((byte) => byte === 0));
});

void t.test('shows no key', async (t) => {
  const svid = createSvid(root, a);
  const secret = new EncodedSecret(a, 1, svidContent(svid));
  secret.response('sotw');
  const key = svid.privateKeyPem().toString().split('\n')[1] ?? 'missing';
  const shown = inspect(secret, { depth: 9, showHidden: true }) + JSON.stringify(secret);
  t.notMatch(shown, key);
  t.notMatch(shown, Buffer.from(key).toString('hex').slice(0, 40));
  t.match(secret.certificate, { id: a, serial: svid.serial, notAfter: /^2026-01-02T/, p384: false });
  t.match(svidContent(createSvid(root, a, 'ec-p384')).certificate, { p384: true });
});
