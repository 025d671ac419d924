// Certificates from before a restart, after the same checks as when they came from the CA. Called by the wiring at start.
// Promises: what comes back is what was served, byte for byte, and as old as it is; the key of what fails a check is wiped.

import { acceptCertificates } from '../ca/ca-client.js';
import { parseSpiffeId } from '../identity/spiffe-id.js';
import { reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Certificate } from '../x509/certificate.js';
import { publicKeyOf } from '../x509/csr.js';
import type { Svid } from '../x509/svid.js';
import type { SealedSvid } from './sealed-content.js';

export interface RestoreOptions {
  /** What their chains may end in. */
  readonly roots: readonly Certificate[];
  /** ms since the epoch. */
  readonly now: number;
  readonly log: Logger;
}

/** Those that are good still, by URI. One line for each reason why others are not. */
export function restoreSvids(sealed: readonly SealedSvid[], { roots, now, log }: RestoreOptions): ReadonlyMap<string, Svid> {
  const restored = new Map<string, Svid>();
  const left = new Map<ReasonCode | undefined, { readonly id: string; readonly error: unknown; count: number }>();
  for (const each of sealed) {
    try {
      restored.set(each.uri, restore(each, roots, now));
    } catch (error) {
      each.privateKeyPem.fill(0);
      const reason = reasonOf(error);
      const found = left.get(reason) ?? { id: each.uri, error, count: 0 };
      found.count += 1;
      left.set(reason, found);
    }
  }
  for (const { id, error, count } of left.values()) {
    log.warn('sealed certificates are left out', { certificates: count, id, ...errorFields(error) });
  }
  return restored;
}

function restore({ uri, receivedAt, refreshAt, chain, privateKeyPem }: SealedSvid, roots: readonly Certificate[], now: number): Svid {
  const key = { publicKeySpki: publicKeyOf(privateKeyPem), pkcs8Pem: () => privateKeyPem };
  return acceptCertificates(chain, { id: parseSpiffeId(uri), key, roots, now, receivedAt, refreshAt });
}
