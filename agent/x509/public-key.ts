// Public keys as others send them. Read by our CAs from certificate requests.

import type { KeyObject as Key } from 'node:crypto';
import { KeyObject, createPublicKey, webcrypto } from 'node:crypto';

/** DER of a SubjectPublicKeyInfo on P-256 before the coordinates of its point, which is not compressed (RFC 5480 §2). */
const p256Head = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');
const p256Length = p256Head.length + 64;

/** The decoder of OpenSSL 3.0 (Node 20) takes 140 µs for a key, longer than a signature; that of 3.5 (Node 24) takes 15. */
const isDecoderSlow = process.versions.openssl.startsWith('3.0.');

/**
 * From a SubjectPublicKeyInfo in DER; undefined for what OpenSSL does not take, such as a point that is not on its curve. Where the
 * decoder is slow, a key on P-256 is read by WebCrypto, which needs nothing but the point.
 */
export async function readPublicKey(publicKeySpki: Buffer): Promise<Key | undefined> {
  try {
    const isPointEnough =
      isDecoderSlow && publicKeySpki.length === p256Length && publicKeySpki.subarray(0, p256Head.length).equals(p256Head);
    if (!isPointEnough) return createPublicKey({ key: publicKeySpki, format: 'der', type: 'spki' });
    const point = publicKeySpki.subarray(p256Head.length - 1);
    return KeyObject.from(await webcrypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']));
  } catch {
    return undefined;
  }
}
