// Which of the certificates that are served the published roots verify. Called by the certificate cache when the roots change.
// Promise: where the root of a certificate is still there, or one with its key is, no signature that was found good is verified
// again.

import { SignetError } from '../runtime/errors.js';
import type { Certificate } from '../x509/certificate.js';
import { findChain } from '../x509/chain.js';
import type { Svid } from '../x509/svid.js';

/** Whether peers that know the roots and nothing else take a certificate that passed all checks before. */
export type Verifier = (svid: Svid) => boolean;

export function createVerifier(roots: readonly Certificate[], now: number): Verifier {
  const known = new Set(roots.map(({ fingerprint }) => fingerprint));
  // A chain that no root is named in by its key (RFC 5280 §4.2.1.1) has no other path, and need not be searched.
  const keyIds = new Set(roots.map(({ subjectKeyId }) => subjectKeyId));
  const isNamed = ({ chain }: Svid): boolean => chain.some(({ authorityKeyId }) => keyIds.has(authorityKeyId));
  return (svid) => known.has(svid.root.fingerprint) || (isNamed(svid) && hasOtherPath(svid, roots, now));
}

/** A root may have been made anew with the same key, or be one of the chain by now. */
function hasOtherPath({ chain }: Svid, roots: readonly Certificate[], now: number): boolean {
  const [leaf] = chain;
  if (leaf === undefined) return false;
  try {
    findChain(leaf, { candidates: chain, roots, now, toleranceMs: Infinity, from: 'leaf' });
    return true;
  } catch (error) {
    if (error instanceof SignetError) return false;
    throw error;
  }
}
