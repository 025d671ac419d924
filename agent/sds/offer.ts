// What the SDS service needs from the layers below, and what it makes of it for the names of a stream.

import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import type { TrustBundle } from '../trust-bundle.js';
import type { Svid } from '../x509/svid.js';
import type { EncodedSecret } from './secret.js';

/** What is known about the certificate of one identity. */
export type SecretState =
  /** Not an identity of this node, for now. */
  | { readonly status: 'absent'; readonly reason: Reason }
  /** An identity of this node without a valid certificate: being issued, or the CA fails. */
  | { readonly status: 'waiting'; readonly reason: Reason }
  | { readonly status: 'ready'; readonly svid: Svid };

/** Where secrets come from; the wiring proves that cache and trust bundle fit. */
export interface Secrets {
  /** Follows an identity, also one that does not exist yet. */
  identity(uri: string): Watched<SecretState>;
  /** Undefined as long as there is no root. */
  readonly bundle: Watched<TrustBundle | undefined>;
  readonly trustDomain: string;
  /** The URIs of all identities of this node. */
  readonly identities: Watched<ReadonlySet<string>>;
  /** Somebody waits for this identity: issue it before others. */
  urgent(uri: string): void;
}

/** What a stream can be given for one of its names at this moment. */
export type Offer =
  | { readonly status: 'ready'; readonly secret: EncodedSecret }
  /** It will come: the certificate is being issued, or there is no root yet. */
  | { readonly status: 'waiting'; readonly reason: Reason }
  /** It does not exist now and may exist later. */
  | { readonly status: 'absent'; readonly reason: Reason }
  /** Not a name that Signet serves. */
  | { readonly status: 'unknown'; readonly reason: Reason }
  /** Never for this peer. */
  | { readonly status: 'denied'; readonly reason: Reason };
