// What can be told about a service account token without the key that signed it (RFC 7519): for whom it is and until when.
// Used by the sources of tokens. Promise: a token that is for somebody else, or over, is refused here, before it can leave
// this node. Its text is never in an error.

import { readJwtClaims } from '../kube/jwt.js';
import { SignetError } from '../runtime/errors.js';
import type { Fields } from '../runtime/errors.js';
import { formatInstant } from '../runtime/time.js';

export interface TokenClaims {
  /** `aud`: who is meant to take it. */
  readonly audiences: readonly string[];
  /** `exp` in ms since the epoch; Infinity when there is none. */
  readonly expiresAt: number;
  /** `sub`: whose it is, as `<namespace>/<service account>` where it is one. */
  readonly account: string;
}

/** A token with what it says of itself. The text belongs into one header and nowhere else. */
export class Token {
  readonly #text: string;
  readonly claims: TokenClaims;

  /** White space around the text does not count. Throws `invalid`, reason `ca-token-invalid`, for what is no JWT. */
  constructor(text: string) {
    this.#text = text.trim();
    this.claims = readClaims(this.#text);
  }

  /** The text for the `authorization` header. Throws when the token is not for this audience, or expired. */
  authorization(audience: string, now: number): string {
    const { audiences, expiresAt } = this.claims;
    if (!audiences.includes(audience)) {
      throw refuse('ca-token-audience', 'token is for another audience', { audience, tokenAudiences: audiences.slice(0, 8) });
    }
    if (now >= expiresAt) throw refuse('ca-token-expired', 'token is expired', { expiredAt: formatInstant(expiresAt) });
    return `Bearer ${this.#text}`;
  }
}

function refuse(reason: 'ca-token-audience' | 'ca-token-expired', message: string, fields: Fields): SignetError {
  return new SignetError('unauthenticated', message, { reason, fields });
}

function readClaims(text: string): TokenClaims {
  const claims = readJwtClaims(text);
  // It is not quoted: it may be a token all the same.
  if (claims === undefined) throw new SignetError('invalid', 'not a token', { reason: 'ca-token-invalid' });
  const { aud, exp, sub } = claims;
  return {
    audiences: [aud].flat().filter((audience) => typeof audience === 'string'),
    expiresAt: typeof exp === 'number' ? exp * 1_000 : Infinity,
    account: typeof sub === 'string' ? sub.replace(/^system:serviceaccount:([^:]+):([^:]+)$/, '$1/$2') : '',
  };
}
