// A certificate for a key that is of no other identity. Called once the identity is granted, by the service and by the signers of
// request objects.

import { SignetError } from '../runtime/errors.js';
import type { CheckedCsr } from '../x509/csr-policy.js';
import type { AuditDraft } from './audit.js';
import type { CertificateOrder, Issue, Issued } from './issue.js';
import type { RecentKeys } from './recent-keys.js';

/** Signs a key that is of no other identity; else throws `invalid`. */
export async function certify(
  { keys, issue }: { readonly keys: RecentKeys; readonly issue: Issue },
  { spkiSha256, publicKeySpki }: CheckedCsr,
  order: Omit<CertificateOrder, 'publicKeySpki'>,
  draft: AuditDraft,
): Promise<Issued> {
  claimKey(keys, spkiSha256, order.uri, draft);
  return await issue({ ...order, publicKeySpki });
}

/** Notes the key. Throws `invalid` when it was certified for another identity. */
export function claimKey(keys: RecentKeys, spkiSha256: string, uri: string, draft: AuditDraft): void {
  draft.spkiSha256 = spkiSha256;
  if (!keys.claim(spkiSha256, uri)) throw new SignetError('invalid', 'certificate request is refused', { reason: 'csr-key-reused' });
}
