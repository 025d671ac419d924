import { createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { Binding } from '../../../agent/cache/sealed-format.js';
import { deriveKey, isOlder, seal, unseal } from '../../../agent/cache/sealed-format.js';
import { reasonOf } from '../../../agent/runtime/errors.js';

const binding: Binding = {
  bootId: 'c0a8f0d2-1f2e-4a53-9c1f-7a3c1f6b2d10',
  nodeUid: '7f0cbe5e-2f7b-44d5-8f34-3e7f5a6f0c11',
  node: 'node-a',
  trustDomain: 'example.org',
};
const secret = randomBytes(32);
const key = deriveKey(secret, binding);
const generation = { start: 3, write: 17 };
const content = Buffer.from('pods, roots and keys');
const sealed = seal(content, binding, generation, key);

function reasonFor(bytes: Buffer, given: Binding = binding, by = key): string | undefined {
  try {
    unseal(bytes, given, by);
  } catch (error) {
    return reasonOf(error);
  }
  return undefined;
}

t.test('what is sealed opens again, whatever it is', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.nat(), fc.nat(), (bytes, start, write) => {
      const opened = unseal(seal(Buffer.from(bytes), binding, { start, write }, key), binding, key);
      return opened.content.equals(bytes) && opened.generation.start === start && opened.generation.write === write;
    }),
  );
});

t.test('torn at any length it does not open', async (t) => {
  for (let length = 0; length < sealed.length; length += 1) {
    if (reasonFor(sealed.subarray(0, length)) !== 'state-damaged') t.fail(`${length} of ${sealed.length} bytes`);
  }
  t.equal(reasonFor(Buffer.concat([sealed, Buffer.of(0)])), 'state-damaged', 'nor with something behind it');
});

t.test('with any bit flipped it does not open', async (t) => {
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const flipped = Buffer.from(sealed);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    if (reasonFor(flipped) === undefined) t.fail(`bit ${bit}`);
  }
});

t.test('it belongs to one boot, one node and one trust domain', async (t) => {
  const others: readonly [Partial<Binding>, string][] = [
    [{ bootId: 'another' }, 'boot'],
    [{ nodeUid: '' }, 'node uid'],
    [{ node: 'node-b' }, 'node'],
    [{ trustDomain: 'example.com' }, 'trust domain'],
  ];
  for (const [other, differs] of others) {
    const elsewhere = { ...binding, ...other };
    t.throws(
      () => unseal(sealed, elsewhere, deriveKey(secret, elsewhere)),
      { name: 'SignetError', reason: 'state-foreign', fields: { differs } },
      differs,
    );
  }
  const later = Buffer.from(sealed.toString('latin1').replace('"format":1', '"format":2'), 'latin1');
  t.throws(() => unseal(later, binding, key), { name: 'SignetError', reason: 'state-foreign', fields: { differs: 'format' } });
});

t.test('the key does too: labels that were made to fit do not help', async (t) => {
  for (const other of [{ bootId: 'another' }, { nodeUid: 'another' }]) {
    t.equal(reasonFor(sealed, binding, deriveKey(secret, { ...binding, ...other })), 'state-damaged', Object.keys(other).join());
  }
  t.equal(reasonFor(sealed, binding, deriveKey(randomBytes(32), binding)), 'state-damaged', 'another secret');
  t.equal(reasonFor(sealed, binding, createSecretKey(secret)), 'state-damaged', 'the secret itself');
});

t.test('a copy of the file tells neither the boot nor the content', async (t) => {
  for (const hidden of [binding.bootId, binding.nodeUid, content]) t.notOk(sealed.includes(hidden));
  t.ok(sealed.includes('"node":"node-a"'), 'but whose it is');
});

t.test('each seal has a nonce of its own', async (t) => {
  const nonces = Array.from({ length: 50 }, () => seal(content, binding, generation, key).toString('hex').split('0a').at(-1));
  t.equal(new Set(nonces).size, 50);
});

t.test('of two generations the start counts before the write', async (t) => {
  const at = (start: number, write: number) => ({ start, write });
  t.ok(isOlder(at(1, 9), at(2, 1)));
  t.ok(isOlder(at(2, 1), at(2, 2)));
  t.notOk(isOlder(at(2, 2), at(2, 2)));
  t.notOk(isOlder(at(2, 1), at(1, 9)));
});
