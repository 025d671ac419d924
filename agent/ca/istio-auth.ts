// Who an istio upstream sees: this agent, which names the pod's identity, or the workload itself, by a token made for it; of a
// request that was forwarded, whoever sent it. Used by ca/istio.ts, shared by the endpoints of one upstream.

import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Clock } from '../runtime/time.js';
import type { Caller } from './ca-client.js';
import { Token } from './token.js';
import type { TokenFile } from './token-file.js';

export interface IstioAuth {
  /** Whether the request names the identity; otherwise the CA takes it from the token. */
  readonly impersonates: boolean;
  /** The token to ask with; it may still turn out to be for another audience. */
  tokenFor(id: SpiffeId, signal: AbortSignal): Promise<Token>;
  /** What may be tried once when the CA does not accept this token; undefined when there is nothing. */
  formerOf(refused: Token): Token | undefined;
  /** The CA took the token or refused it; not called when it could not be reached. */
  settled(id: SpiffeId): void;
}

/** Asks as this agent: the CA checks again that the pod is on the node of our own. */
export function createNodeAuth(token: TokenFile): IstioAuth {
  return {
    impersonates: true,
    tokenFor: async () => token.usable(),
    formerOf: (refused) => token.formerOf(refused),
    settled: () => {},
  };
}

/** Asks as whoever sent the request: with their token, and once. */
export function createCallerAuth({ token, impersonates }: Caller): IstioAuth {
  return { impersonates, tokenFor: async () => token, formerOf: () => undefined, settled: () => {} };
}

export interface WorkloadAuthOptions {
  /** A token of the identity's service account, bound to one of its pods on this node. */
  readonly createToken: (id: SpiffeId, signal: AbortSignal) => Promise<string>;
  readonly clock: Clock;
}

/** A token with less than this left, in ms, is not worth another try. */
const minLeftMs = 60_000;

/**
 * Asks as the workload. A token is made when a certificate is due, serves the retries while the CA cannot be reached, and is
 * forgotten as soon as the CA has seen it.
 */
export function createWorkloadAuth({ createToken, clock }: WorkloadAuthOptions): IstioAuth {
  const kept = new Map<string, Token>();
  const dropOld = (): void => {
    for (const [uri, { claims }] of kept) if (claims.expiresAt - clock.now() < minLeftMs) kept.delete(uri);
  };
  return {
    impersonates: false,
    async tokenFor(id, signal) {
      dropOld();
      const token = kept.get(id.uri) ?? new Token(await createToken(id, signal));
      kept.set(id.uri, token);
      return token;
    },
    // A token that was just made took the place of none.
    formerOf: () => undefined,
    settled: ({ uri }) => void kept.delete(uri),
  };
}
