// A certificate for a server, with a key made here, by the issuer that is current: for the CA itself and for servers beside it.
// Used by the owners of such certificates, who keep them and say when another is due.

import { generateKey } from './csr.js';
import type { Issuer } from './issuer.js';
import { formatCertificates, formatPem } from './pem.js';
import { backdated, emptyName, signCertificate } from './sign.js';

export interface ServerLeaf {
  /** PEM: the leaf first, without the root. */
  readonly chain: string;
  /** PKCS#8, PEM. Belongs to the receiver, who wipes it. */
  readonly privateKey: Buffer;
  /** ms since the epoch; never above that of the issuer. */
  readonly notAfter: number;
}

/** `hosts`: DNS names and addresses of the server. */
export async function createServerLeaf(issuer: Issuer, hosts: readonly string[], now: number, lifetimeMs: number): Promise<ServerLeaf> {
  const key = await generateKey('ec-p256');
  try {
    const notAfter = Math.min(now + lifetimeMs, issuer.notAfter);
    const leaf = await signCertificate(issuer, issuer.name, {
      profile: 'leaf',
      subject: emptyName,
      publicKeySpki: key.publicKeySpki,
      hosts,
      notBefore: backdated(now, lifetimeMs),
      notAfter,
    });
    return { chain: formatPem('CERTIFICATE', leaf) + formatCertificates(issuer.chain), privateKey: key.pkcs8Pem(), notAfter };
  } finally {
    key.wipe();
  }
}
