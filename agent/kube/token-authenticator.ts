// Who calls with a service account token: by a token review, or, where that is set, by the keys of the issuer while the API server
// is away. Used by the servers of Istio's certificate service.

import type { AuthorityMetrics } from '../metrics.js';
import { reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { aborted } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { createIssuerKeys } from './issuer-keys.js';
import type { TokenHolder } from './token-review.js';
import { createTokenReviewer } from './token-review.js';

/** How the caller was known: the API server reviewed its token, or the token was checked against the keys of the issuer. */
export type AuthMode = 'token-review' | 'jwks';

export interface Authenticated {
  readonly holder: TokenHolder;
  readonly mode: AuthMode;
}

export interface TokenAuthenticator {
  /** Who holds the token, and how that is known. Throws like `TokenReviewer.review`. */
  authenticate(this: void, token: string): Promise<Authenticated>;
  /** Nothing that is kept counts any more for tokens bound to this pod. */
  forgetPod(uid: string): void;
  /** Keeps the keys of the issuer, where they are wanted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface TokenAuthenticatorOptions {
  readonly client: KubeClient;
  /** A token must be for one of these. */
  readonly audiences: readonly string[];
  /** What happens to calls while the API server cannot be asked. */
  readonly whenApiServerAway: 'unavailable' | 'jwks';
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<AuthorityMetrics, 'tokenReviews'>;
}

const away: ReadonlySet<string | undefined> = new Set(['kube-unavailable', 'kube-deadline']);

export function createTokenAuthenticator(options: TokenAuthenticatorOptions): TokenAuthenticator {
  const reviewer = createTokenReviewer(options);
  const keys = options.whenApiServerAway === 'jwks' ? createIssuerKeys(options) : undefined;
  return {
    async authenticate(token) {
      try {
        return { holder: await reviewer.review(token), mode: 'token-review' };
      } catch (error) {
        if (keys === undefined || !away.has(reasonOf(error))) throw error;
        return { holder: keys.verify(token), mode: 'jwks' };
      }
    },
    forgetPod: (uid) => reviewer.forgetPod(uid),
    run: (signal) => keys?.run(signal) ?? aborted(signal),
  };
}
