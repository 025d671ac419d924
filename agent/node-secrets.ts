// What SDS may hand out, put together from the certificate cache, the identity index and the trust bundle.
// Made by agent.ts; pure views, nothing is kept here.

import type { SvidCache, SvidState } from './cache/svid-cache.js';
import type { IdentityIndex } from './pods/identity-index.js';
import type { ReasonCode } from './runtime/reasons.js';
import type { Watched } from './runtime/watched.js';
import { mapWatched } from './runtime/watched.js';
import type { SecretState, Secrets } from './sds/service.js';
import type { TrustBundle } from './trust-bundle.js';

export interface NodeSecretsOptions {
  readonly trustDomain: string;
  readonly index: Pick<IdentityIndex, 'identities' | 'explain'>;
  readonly cache: Pick<SvidCache, 'watch' | 'urgent'>;
  readonly bundle: Watched<TrustBundle | undefined>;
}

// The pods were read and this name is not among their identities. With any other reason nobody can tell yet: a client that
// comes back right after a restart must not be told that its identity is gone.
const absences: ReadonlySet<ReasonCode> = new Set(['not-on-node', 'not-selected', 'trust-domain-foreign', 'name-invalid']);

export function createNodeSecrets({ trustDomain, index, cache, bundle }: NodeSecretsOptions): Secrets {
  const toSecretState = (uri: string, state: SvidState | undefined): SecretState => {
    if (state === undefined) {
      const reason = index.explain(uri);
      return { status: absences.has(reason.code) ? 'absent' : 'waiting', reason };
    }
    if (state.status === 'issued' || state.status === 'retained') return { status: 'ready', svid: state.svid };
    return { status: 'waiting', reason: state.reason };
  };
  return {
    trustDomain,
    bundle,
    identities: mapWatched(index.identities, (identities) => new Set(identities.keys())),
    identity: (uri) => mapWatched(cache.watch(uri), (state) => toSecretState(uri, state)),
    urgent: (uri) => cache.urgent(uri),
  };
}
