// Certificates for keys that are not ours: a CSR that somebody else made goes to the upstreams, and what comes back passes the
// checks of every answer. Called by the local CA, which has checked the caller, what it may ask for and the CSR.

import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Certificate } from '../x509/certificate.js';

/** Has a CSR that somebody else's key made signed by the upstreams. */
export interface CsrForwarder {
  /** Settles within its deadline. Rejects with a SignetError that has a reason, or with `cancelled` when the signal aborts. */
  forward(request: ForwardRequest, signal: AbortSignal): Promise<ForwardAnswer>;
}

export interface ForwardRequest {
  /** One of this node's, which the caller may ask for. */
  readonly id: SpiffeId;
  /** DER; signed by its own key, with exactly one name, the URI of `id`. */
  readonly csr: Buffer;
  /** SubjectPublicKeyInfo of the CSR, DER. */
  readonly publicKeySpki: Buffer;
  /** What is asked for, in ms; 0 leaves it to the CA, which may give less in any case. */
  readonly lifetimeMs: number;
  readonly caller: ForwardCaller;
  /** `waiting`: a connection waits for the certificate; `routine`: a renewal in time. */
  readonly priority: 'waiting' | 'routine';
}

/** Who asks, as the upstream would see it if it were asked directly. */
export interface ForwardCaller {
  /** Of the `authorization` header, without `Bearer`. Used for this one request and nothing else. */
  readonly token: string;
  /** Whether the request names the identity; otherwise the CA takes it from the token. */
  readonly impersonates: boolean;
  /** Of the header `clusterid`; undefined: there was none. */
  readonly clusterId: string | undefined;
}

export interface ForwardAnswer {
  /** Leaf first, each followed by its issuer, without the root. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  /** Of the leaf, ms since the epoch. Half of its lifetime is still to come. */
  readonly notAfter: number;
  /** The upstream that gave it, for logs. */
  readonly upstream: string;
}
