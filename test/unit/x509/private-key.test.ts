import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import t from 'tap';
import { generateKey, keyTypes, publicKeyOf } from '../../../agent/x509/private-key.js';
import { weaknessOf } from '../../../agent/x509/signature-algorithms.js';
import { createTestKey } from '../../fixtures/pki.js';

for (const keyType of keyTypes) {
  t.test(`${keyType}: what is exported is what openssl exports`, async (t) => {
    const key = await generateKey(keyType);
    const pem = key.pkcs8Pem();
    const other = createPrivateKey(pem);
    t.equal(pem.toString(), other.export({ type: 'pkcs8', format: 'pem' }));
    t.same(key.publicKeySpki, createPublicKey(other).export({ type: 'spki', format: 'der' }));
    const data = Buffer.from('to be signed');
    const signature = await key.sign(data);
    t.ok(await key.verify(data, signature));
    t.notOk(await key.verify(Buffer.from('something else'), signature));
    t.equal(key.algorithm.digest, keyType === 'ec-p384' ? 'sha384' : 'sha256');
  });
}

t.test('scalars that begin with zeros keep their length', async (t) => {
  // One key in 256 has one; openssl must read each of them.
  for (let count = 0; count < 300; count += 1) {
    const key = await generateKey('ec-p256');
    const pem = key.pkcs8Pem();
    if (pem.length !== 241) t.fail('length differs');
    if (count % 50 === 0) t.ok(createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).equals(key.publicKeySpki));
  }
});

t.test('the public key is found again from the PEM alone', async (t) => {
  for (const keyType of keyTypes) {
    // The base64 of RSA keys ends with and without padding.
    for (let count = 0; count < (keyType.startsWith('rsa') ? 3 : 20); count += 1) {
      const key = await generateKey(keyType);
      const pem = key.pkcs8Pem();
      t.ok(publicKeyOf(pem).equals(key.publicKeySpki), keyType);
    }
  }
  const other = await generateKey('ec-p256');
  const pem = other.pkcs8Pem();
  pem.writeUInt8(pem.readUInt8(100) === 0x41 ? 0x42 : 0x41, 100);
  t.notOk(publicKeyOf(pem).equals(other.publicKeySpki), 'a scalar that is changed is another key');
  for (const text of ['', 'no pem', 'x'.repeat(500)]) t.throws(() => publicKeyOf(Buffer.from(text)), text);
});

t.test('each key is new', async (t) => {
  const [a, b] = await Promise.all([generateKey('ec-p256'), generateKey('ec-p256')]);
  t.notOk(a.publicKeySpki.equals(b.publicKeySpki));
});

t.test('the key shows nowhere and is gone after wipe', async (t) => {
  const key = await generateKey('ec-p256');
  const secret = key.pkcs8Pem().toString().split('\n')[1] ?? '';
  const shown = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key);
  t.notMatch(shown, secret);
  t.notMatch(shown, Buffer.from(secret, 'base64').toString('hex'));
  t.notMatch(shown, 'pkcs8');
  const pem = key.pkcs8Pem();
  key.wipe();
  t.match(pem.toString(), /BEGIN PRIVATE KEY/, 'what was given out stays');
  t.throws(() => key.pkcs8Pem(), { message: /bug: private key used after it was wiped/ });
  await t.rejects(key.sign(Buffer.alloc(1)), { message: /bug: private key used after it was wiped/ });
  await t.rejects(key.prove(Buffer.alloc(1)), { message: /bug: private key used after it was wiped/ });
});

t.test('weak keys are told', async (t) => {
  for (const [type, weakness] of [
    ['ec-p256', undefined],
    ['ec-p384', undefined],
    ['ec-p521', undefined],
    ['rsa-2048', undefined],
    ['rsa-1024', 'rsa 1024 bits'],
    ['ec-k256', 'ec curve secp256k1'],
    ['ed25519', 'key type ed25519'],
  ] as const) {
    t.equal(weaknessOf(createTestKey(type).publicKey), weakness, type);
  }
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  t.equal(weaknessOf(pss.publicKey), 'key type rsa-pss');
});
