// Which secret a name on the wire means for a given peer. Pure. Names come from TLS SNI, so they are attacker input: they are
// compared and parsed, never put into a path, a pattern or a status message. One name always has one type of secret: an
// identity is a certificate, the fixed names are roots (a client that got the wrong type might verify nobody).

import type { SpiffeId } from '../identity/spiffe-id.js';
import { parseSpiffeId } from '../identity/spiffe-id.js';
import type { Reason } from '../runtime/reasons.js';
import type { Grant } from './grant.js';
import { covers } from './grant.js';
import type { Secrets } from './offer.js';

/** Longer names are refused with their stream; a SPIFFE ID of ours is shorter. In UTF-16 units. */
export const maxNameLength = 1024;

export type Target =
  | { readonly kind: 'identity'; readonly uri: string }
  /** The roots as one PEM in `trusted_ca`. */
  | { readonly kind: 'roots' }
  /** The roots by trust domain, for Envoy's SPIFFE validator. */
  | { readonly kind: 'spiffe-roots' }
  /** `default` of a delegate on a node that has no identity yet. */
  | { readonly kind: 'undecided'; readonly reason: Reason }
  | { readonly kind: 'unknown'; readonly reason: Reason }
  | { readonly kind: 'denied'; readonly reason: Reason };

/** What of the node a name depends on. The identities are looked at for `default` and refusals alone: a look may cost. */
export type NodeView = Pick<Secrets, 'trustDomain' | 'identities'>;

/** What `name` means for a peer with this grant. */
export function resolveName(name: string, grant: Grant, view: NodeView): Target {
  if (grant.kind === 'none') return { kind: 'denied', reason: grant.reason };
  if (name === 'ROOTCA' || name === `spiffe://${view.trustDomain}`) return { kind: 'roots' };
  if (name === 'ALL') return { kind: 'spiffe-roots' };
  if (name === 'default') return resolveDefault(grant, view);
  const id = parseName(name);
  if (id === undefined) return { kind: 'unknown', reason: { code: 'name-invalid', detail: '' } };
  if (id.trustDomain !== view.trustDomain) return { kind: 'unknown', reason: { code: 'trust-domain-foreign', detail: '' } };
  if (!covers(grant, id)) return { kind: 'denied', reason: { code: 'peer-denied', detail: allowedNames(grant, view) } };
  return { kind: 'identity', uri: id.uri };
}

function parseName(name: string): SpiffeId | undefined {
  try {
    return parseSpiffeId(name);
  } catch {
    return undefined; // the only failure is a name that is no SPIFFE ID, which is an answer here
  }
}

// A delegate has no identity of its own; where only one runs, as on a developer's machine, that one is meant.
function resolveDefault(grant: Exclude<Grant, { kind: 'none' }>, view: NodeView): Target {
  if (grant.kind === 'own') return { kind: 'identity', uri: grant.id.uri };
  const reason: Reason = { code: 'peer-no-identity', detail: allowedNames(grant, view) };
  if (grant.kind === 'patterns') return { kind: 'denied', reason };
  const [only, ...others] = view.identities.value;
  if (only === undefined) return { kind: 'undecided', reason };
  return others.length === 0 ? { kind: 'identity', uri: only } : { kind: 'denied', reason };
}

const namesShown = 8;

function allowedNames(grant: Exclude<Grant, { kind: 'none' }>, view: NodeView): string {
  const names = grant.kind === 'own' ? [grant.id.uri] : grant.kind === 'patterns' ? grant.patterns : [...view.identities.value].sort();
  const shown = names.slice(0, namesShown).join(', ');
  return `may ask for ${names.length > namesShown ? `${shown} and ${names.length - namesShown} more` : shown === '' ? 'roots only' : shown}`;
}
