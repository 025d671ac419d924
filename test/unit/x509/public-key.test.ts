// Public keys from outside: every type comes out as OpenSSL has it, and what is no key is none.

import t from 'tap';
import { readPublicKey } from '../../../agent/x509/public-key.js';
import { createTestKey, unknownSpki } from '../../fixtures/pki.js';

t.test('a key is what its DER says', async (t) => {
  for (const type of ['ec-p256', 'ec-p384', 'ec-p521', 'ec-k256', 'rsa-2048', 'ed25519'] as const) {
    const { publicKey, publicKeySpki } = createTestKey(type);
    const read = await readPublicKey(publicKeySpki);
    t.ok(read?.equals(publicKey), type);
    t.same(read?.asymmetricKeyDetails, publicKey.asymmetricKeyDetails, type);
  }
});

t.test('a point in the compressed form is the same point', async (t) => {
  const { publicKey, publicKeySpki } = createTestKey('ec-p256');
  const [x, y] = [publicKeySpki.subarray(27, 59), publicKeySpki.subarray(59)];
  // RFC 5480 §2.2: the octet before x says whether y is odd; both lengths are 32 less.
  const head = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
  const compressed = Buffer.concat([head, Buffer.of((y[31] ?? 0) % 2 === 0 ? 2 : 3), x]);
  t.ok((await readPublicKey(compressed))?.equals(publicKey));
});

t.test('what is no public key', async (t) => {
  const { publicKeySpki } = createTestKey('ec-p256');
  const beside = Buffer.from(publicKeySpki);
  beside[90] = (beside[90] ?? 0) ^ 1;
  const head = publicKeySpki.subarray(0, 27);
  const table: readonly (readonly [string, Buffer])[] = [
    ['a point beside the curve', beside],
    ['coordinates above the prime', Buffer.concat([head, Buffer.alloc(64, 0xff)])],
    ['zeros', Buffer.concat([head, Buffer.alloc(64)])],
    ['cut', publicKeySpki.subarray(0, 90)],
    ['an unknown algorithm', unknownSpki],
    ['nothing', Buffer.alloc(0)],
  ];
  for (const [what, der] of table) t.equal(await readPublicKey(der), undefined, what);
  t.ok(await readPublicKey(publicKeySpki), 'and the next one is read all the same');
});
