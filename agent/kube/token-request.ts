// Tokens of service accounts that are bound to a pod (TokenRequest, authentication.k8s.io/v1). Used by CA clients that speak
// for a workload: as the node, the API server gives only tokens for pods that run on it.

import type { KubeClient } from './client.js';

export interface TokenOptions {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly audience: string;
  /** Asked for; the server gives at least 600 s, and may give less or more. */
  readonly lifetimeSeconds: number;
}

export interface IssuedToken {
  readonly token: string;
  /** Wall clock, in ms. */
  readonly expiresAt: number;
}

/** Throws a SignetError whose reason says what the API server refused. */
export type CreateToken = (options: TokenOptions, signal: AbortSignal) => Promise<IssuedToken>;

export type CreateTokenWith = (client: KubeClient) => CreateToken;
