// What a peer may ask for. The peer policy makes grants at accept; the SDS service asks them about each name.
// Pure; a grant says nothing about what exists on the node, so a refusal tells a peer nothing about others.

import { matchesPattern } from '../identity/pattern.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Fields } from '../runtime/errors.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';

export type Grant =
  /** Any identity of this node: a delegate, such as a node proxy. */
  | { readonly kind: 'node' }
  /** Its own pod's identity and nothing else. */
  | { readonly kind: 'own'; readonly id: SpiffeId }
  /** The identities whose URI matches one of the patterns; `*` stands for any characters except `/`. */
  | { readonly kind: 'patterns'; readonly patterns: readonly string[] }
  /** Nothing at all, and why. */
  | { readonly kind: 'none'; readonly reason: Reason };

/** A process at the other end of our socket. */
export interface Peer {
  /** Unique per connection; `call.getPeer()` returns it. */
  readonly key: string;
  /** What limits are counted by: the pod UID, or `uid:<n>` for a host process. */
  readonly owner: string;
  /** Becomes `none` when the pod of the peer ends. */
  readonly grant: Watched<Grant>;
  /** Process, user, pod or unit, for log lines. */
  readonly fields: Fields;
}

/** Whether the grant covers the identity. */
export function covers(grant: Grant, id: SpiffeId): boolean {
  switch (grant.kind) {
    case 'node':
      return true;
    case 'own':
      return grant.id.uri === id.uri;
    case 'patterns':
      return grant.patterns.some((pattern) => matchesPattern(pattern, id.uri));
    case 'none':
      return false;
  }
}

/** Whether keys handed out under this grant belong to somebody else than the peer: such a hand-out is audited. */
export function isDelegate(grant: Grant): boolean {
  return grant.kind === 'node' || grant.kind === 'patterns';
}
