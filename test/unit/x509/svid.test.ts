import { inspect } from 'node:util';
import t from 'tap';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { Svid } from '../../../agent/x509/svid.js';
import { createIntermediate, createLeaf, createRoot, hourMs, keyPem, pemOf, testTime } from '../../fixtures/pki.js';

const id = createSpiffeId('example.org', 'a', 'b');
const root = createRoot();
const middle = createIntermediate(root, { notAfter: testTime + hourMs });
const leaf = createLeaf(middle, id.uri);

const create = (): Svid =>
  new Svid({
    id,
    chain: [leaf.certificate, middle.certificate],
    root: root.certificate,
    privateKeyPem: Buffer.from(keyPem(leaf)),
    receivedAt: testTime,
  });

t.test('what it says of its chain', async (t) => {
  const svid = create();
  t.match(svid, { id, serial: leaf.certificate.serial, fingerprint: leaf.certificate.fingerprint, receivedAt: testTime });
  t.equal(svid.notAfter, leaf.certificate.notAfter);
  t.equal(svid.notBefore, leaf.certificate.notBefore);
  t.equal(svid.expiresAt, testTime + hourMs, 'an intermediate ends first');
  t.same(svid.chainPem(), pemOf(leaf, middle));
});

t.test('the key is given out in copies and wiped for good', async (t) => {
  const svid = create();
  const copy = svid.privateKeyPem();
  t.same(copy, keyPem(leaf));
  copy.fill(0);
  t.same(svid.privateKeyPem(), keyPem(leaf));
  svid.wipe();
  t.throws(() => svid.privateKeyPem(), { message: /bug: svid used after its key was wiped/ });
  svid.wipe();
});

t.test('wiping zeroes the very bytes', async (t) => {
  const bytes = Buffer.from(keyPem(leaf));
  new Svid({ id, chain: [leaf.certificate], root: root.certificate, privateKeyPem: bytes, receivedAt: 0 }).wipe();
  t.ok(bytes.every((byte) => byte === 0));
});

t.test('the key shows nowhere', async (t) => {
  const svid = create();
  const shown = inspect(svid, { depth: 9, showHidden: true, maxArrayLength: null, maxStringLength: null }) + JSON.stringify(svid);
  const secret = keyPem(leaf);
  t.notMatch(shown, secret.toString().split('\n')[1]);
  t.notMatch(shown, secret.toString('hex').slice(60, 120));
  t.notMatch(shown, secret.toString('base64').slice(60, 120));
  t.notMatch(shown, /privateKeyPem["':]/);
});

t.test('an svid has a certificate', async (t) => {
  t.throws(() => new Svid({ id, chain: [], root: root.certificate, privateKeyPem: Buffer.alloc(1), receivedAt: 0 }), { message: /bug/ });
});
