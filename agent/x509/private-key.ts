// The private key of one certificate, from its generation to the SVID. Made by the certificate cache for each request.
// Key bytes never become a string, which could not be wiped; exports are by SEC 1, as the encoders of OpenSSL 3.0 are slow
// (and JWK export can hang on Node 20).

import type { KeyObject } from 'node:crypto';
import { constants, createECDH, createPrivateKey, createPublicKey, generateKeyPair, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { SignetError } from '../runtime/errors.js';
import { headerLength } from './der.js';
import type { SignatureAlgorithm } from './signature-algorithms.js';
import { signatureAlgorithmOf } from './signature-algorithms.js';

export const keyTypes = ['ec-p256', 'ec-p384', 'rsa-2048', 'rsa-3072'] as const;
export type KeyType = (typeof keyTypes)[number];

interface Curve {
  readonly namedCurve: string;
  /** Octets of the private scalar. */
  readonly scalarBytes: number;
  /** DER before the scalar in a PKCS#8 key, and between it and the public point. */
  readonly pkcs8Head: Buffer;
  readonly pkcs8Middle: Buffer;
  /** DER before the public point in a SubjectPublicKeyInfo. */
  readonly spkiHead: Buffer;
}

// RFC 5208 around RFC 5915 without parameters, and RFC 5480: for one curve everything but scalar and point is fixed.
const curves: Readonly<Record<'ec-p256' | 'ec-p384', Curve>> = {
  'ec-p256': {
    namedCurve: 'prime256v1',
    scalarBytes: 32,
    pkcs8Head: Buffer.from('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420', 'hex'),
    pkcs8Middle: Buffer.from('a144034200', 'hex'),
    spkiHead: Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex'),
  },
  'ec-p384': {
    namedCurve: 'secp384r1',
    scalarBytes: 48,
    pkcs8Head: Buffer.from('3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430', 'hex'),
    pkcs8Middle: Buffer.from('a164036200', 'hex'),
    spkiHead: Buffer.from('3076301006072a8648ce3d020106052b81040022036200', 'hex'),
  },
};

const generate = promisify(generateKeyPair);

/** A new key pair, made in the thread pool. RSA takes 40 to 200 ms. */
export async function generateKey(keyType: KeyType): Promise<PrivateKey> {
  if (keyType === 'ec-p256' || keyType === 'ec-p384') {
    const curve = curves[keyType];
    const { publicKey, privateKey } = await generate('ec', { namedCurve: curve.namedCurve });
    const sec1 = privateKey.export({ type: 'sec1', format: 'der' });
    // RFC 5915: SEQUENCE { INTEGER 1, OCTET STRING scalar, … point }. The scalar follows the outer header and five octets.
    const start = headerLength(sec1) + 5;
    const scalar = sec1.subarray(start, start + curve.scalarBytes);
    const point = sec1.subarray(sec1.length - 2 * curve.scalarBytes - 1);
    const pkcs8 = concat([curve.pkcs8Head, scalar, curve.pkcs8Middle, point]);
    const publicKeySpki = concat([curve.spkiHead, point]);
    sec1.fill(0);
    return new PrivateKey({ keyType, publicKeySpki, pkcs8, publicKey, privateKey });
  }
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: keyType === 'rsa-2048' ? 2048 : 3072 });
  const publicKeySpki = publicKey.export({ type: 'spki', format: 'der' });
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  return new PrivateKey({ keyType, publicKeySpki, pkcs8, publicKey, privateKey });
}

interface KeyParts {
  readonly keyType: KeyType;
  readonly publicKeySpki: Buffer;
  readonly pkcs8: Buffer;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export class PrivateKey {
  readonly keyType: KeyType;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeySpki: Buffer;
  readonly algorithm: SignatureAlgorithm;
  readonly #publicKey: KeyObject;
  readonly #pkcs8: Buffer;
  #privateKey: KeyObject | undefined;

  constructor(parts: KeyParts) {
    this.keyType = parts.keyType;
    this.publicKeySpki = parts.publicKeySpki;
    this.algorithm = signatureAlgorithmOf(parts.publicKey);
    this.#publicKey = parts.publicKey;
    this.#pkcs8 = parts.pkcs8;
    this.#privateKey = parts.privateKey;
  }

  /** DER-encoded ECDSA or RSASSA-PKCS1-v1_5, by `algorithm`; in the thread pool. */
  async sign(data: Buffer): Promise<Buffer> {
    const key = this.#unwiped();
    return await new Promise((resolve, reject) => {
      sign(this.algorithm.digest, data, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
    });
  }

  /**
   * Proof of possession as PodCertificateRequests before v1 want it: over SHA-256, whatever the curve, and RSASSA-PSS for RSA.
   */
  async prove(data: Buffer): Promise<Buffer> {
    const key = { key: this.#unwiped(), padding: constants.RSA_PKCS1_PSS_PADDING };
    return await new Promise((resolve, reject) => {
      sign('sha256', data, this.algorithm.keyType === 'rsa' ? key : key.key, (error, signature) =>
        error === null ? resolve(signature) : reject(error),
      );
    });
  }

  async verify(data: Buffer, signature: Buffer): Promise<boolean> {
    return await new Promise((resolve, reject) => {
      verify(this.algorithm.digest, data, this.#publicKey, signature, (error, valid) => (error === null ? resolve(valid) : reject(error)));
    });
  }

  /** PKCS#8 PEM in a buffer that the caller owns and wipes. */
  pkcs8Pem(): Buffer {
    this.#unwiped();
    return toPem(this.#pkcs8);
  }

  /** Zeroes the key bytes and lets go of OpenSSL's copy, which clears its memory when it is freed. Later use throws. */
  wipe(): void {
    this.#pkcs8.fill(0);
    this.#privateKey = undefined;
  }

  #unwiped(): KeyObject {
    if (this.#privateKey === undefined) throw new SignetError('internal', 'bug: private key used after it was wiped');
    return this.#privateKey;
  }
}

/**
 * The public key (SubjectPublicKeyInfo, DER) that belongs to a private key of ours in PKCS#8 PEM. Throws for what is none. On a
 * curve it is computed from the scalar, in a thirtieth of the time that the decoder of OpenSSL 3.0 takes.
 */
export function publicKeyOf(pkcs8Pem: Buffer): Buffer {
  const pkcs8 = fromPem(pkcs8Pem);
  try {
    for (const { namedCurve, pkcs8Head, spkiHead, scalarBytes } of Object.values(curves)) {
      if (!pkcs8.subarray(0, pkcs8Head.length).equals(pkcs8Head)) continue;
      const pair = createECDH(namedCurve);
      pair.setPrivateKey(pkcs8.subarray(pkcs8Head.length, pkcs8Head.length + scalarBytes));
      return concat([spkiHead, pair.getPublicKey()]);
    }
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    return createPublicKey(key).export({ type: 'spki', format: 'der' });
  } finally {
    pkcs8.fill(0);
  }
}

// Not Buffer.concat, whose small results lie in a pool that other code gets pieces of.
function concat(parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) end += part.copy(whole, end);
  return whole;
}

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const begin = Buffer.from('-----BEGIN PRIVATE KEY-----\n');
const end = Buffer.from('\n-----END PRIVATE KEY-----\n');

/** PEM from buffer to buffer: `toString('base64')` would leave the key in a string on the heap. */
function toPem(der: Buffer): Buffer {
  const digits = Math.ceil(der.length / 3) * 4;
  const pem = Buffer.allocUnsafeSlow(begin.length + digits + Math.floor((digits - 1) / 64) + end.length);
  let at = begin.copy(pem);
  for (let index = 0; index < der.length; index += 3) {
    if (index > 0 && index % 48 === 0) pem[at++] = 0x0a;
    const left = der.length - index;
    const bits = ((der[index] ?? 0) << 16) | ((der[index + 1] ?? 0) << 8) | (der[index + 2] ?? 0);
    pem[at++] = alphabet[bits >> 18] ?? 0;
    pem[at++] = alphabet[(bits >> 12) & 63] ?? 0;
    pem[at++] = left > 1 ? (alphabet[(bits >> 6) & 63] ?? 0) : 0x3d;
    pem[at++] = left > 2 ? (alphabet[bits & 63] ?? 0) : 0x3d;
  }
  end.copy(pem, at);
  return pem;
}

/** The way back, for what `toPem` made. */
function fromPem(pem: Buffer): Buffer {
  const body = pem.subarray(begin.length, Math.max(begin.length, pem.length - end.length));
  const der = Buffer.allocUnsafeSlow(Math.ceil(body.length / 4) * 3);
  let length = 0;
  let bits = 0;
  let digits = 0;
  for (const byte of body) {
    if (byte === 0x0a) continue;
    // Padding counts as zeros, which the DER does not reach to.
    bits = (bits << 6) | Math.max(0, alphabet.indexOf(byte));
    digits += 1;
    if (digits % 4 === 0) length = der.writeUIntBE(bits & 0xffffff, length, 3);
  }
  return der.subarray(0, length);
}
