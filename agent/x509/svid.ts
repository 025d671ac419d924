// An SVID: private key, chain and SPIFFE ID that belong together (SPIFFE X.509-SVID). Made only from answers that passed
// every check, owned by the certificate cache, handed to SDS. The key is in a private field alone.

import type { SpiffeId } from '../identity/spiffe-id.js';
import { SignetError } from '../runtime/errors.js';
import type { Certificate } from './certificate.js';
import { formatCertificates } from './pem.js';

export interface SvidParts {
  readonly id: SpiffeId;
  /** Leaf first, each followed by its issuer, without the root. */
  readonly chain: readonly Certificate[];
  /** What the chain ended in when it was checked. */
  readonly root: Certificate;
  /** PKCS#8 PEM; the Svid owns these bytes from here on. */
  readonly privateKeyPem: Buffer;
  /** When the answer came, ms since the epoch. */
  readonly receivedAt: number;
  /** When whoever signed it wants it renewed, ms since the epoch. */
  readonly refreshAt?: number | undefined;
}

export class Svid {
  readonly id: SpiffeId;
  readonly chain: readonly Certificate[];
  readonly root: Certificate;
  /** Of the leaf, ms since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The earliest notAfter in the chain: no longer of use from then on. */
  readonly expiresAt: number;
  /** Of the leaf, lower-case hex. */
  readonly serial: string;
  readonly receivedAt: number;
  readonly refreshAt: number | undefined;
  /** SHA-256 over the leaf's DER, hex. */
  readonly fingerprint: string;
  readonly #privateKeyPem: Buffer;
  #wiped = false;

  constructor(parts: SvidParts) {
    const leaf = parts.chain[0];
    if (leaf === undefined) throw new SignetError('internal', 'bug: svid without a certificate');
    this.id = parts.id;
    this.chain = parts.chain;
    this.root = parts.root;
    this.notBefore = leaf.notBefore;
    this.notAfter = leaf.notAfter;
    this.expiresAt = Math.min(...parts.chain.map((certificate) => certificate.notAfter));
    this.serial = leaf.serial;
    this.receivedAt = parts.receivedAt;
    this.refreshAt = parts.refreshAt;
    this.fingerprint = leaf.fingerprint;
    this.#privateKeyPem = parts.privateKeyPem;
  }

  chainPem(): Buffer {
    return Buffer.from(formatCertificates(this.chain));
  }

  /** PKCS#8 PEM in a fresh buffer that the caller wipes. Throws after `wipe`. */
  privateKeyPem(): Buffer {
    if (this.#wiped) throw new SignetError('internal', 'bug: svid used after its key was wiped');
    const copy = Buffer.allocUnsafeSlow(this.#privateKeyPem.length);
    this.#privateKeyPem.copy(copy);
    return copy;
  }

  /** Zeroes the key; for the owner, when the SVID is replaced. */
  wipe(): void {
    this.#wiped = true;
    this.#privateKeyPem.fill(0);
  }
}
