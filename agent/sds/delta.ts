// The reducer of a DeltaSecrets stream: incremental xDS ("Incremental xDS", DeltaDiscoveryRequest). Called by stream.ts with
// each event; pure in the sense of subscriptions.ts. Every explicit subscription is answered, by the resource or by its name
// in removed_resources; an identity that is being issued is neither, and its answer is held for a while, or, for a client that
// has a certificate of it from an earlier stream, until there is news: it is not to lose that because nobody can tell yet.

import type { Demand, Output, Step, StreamState, Subscription } from './subscriptions.js';
import { offerSecret, settle, subscribe, takeNext, unsubscribe } from './subscriptions.js';

export interface DeltaRequest {
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** The names in `initial_resource_versions`; they count in the first request of a stream. */
  readonly brought: readonly string[];
  /** Empty in a request that acknowledges nothing. */
  readonly nonce: string;
  /** What the client said is wrong with the response of the nonce; undefined = nothing. */
  readonly error: string | undefined;
}

/**
 * Event: a request, any mix of ACK or NACK, subscribe and unsubscribe. Subscriptions count whatever the nonce is. A name in
 * both lists stays subscribed. What is subscribed is answered whatever version of it the client brought.
 */
export function deltaRequest(state: StreamState, request: DeltaRequest, now: number): Demand {
  const brought = new Set(state.started ? [] : request.brought);
  state.started = true;
  const refused = settle(state, request.nonce, request.error, now);
  const asked = new Set(request.subscribe);
  const unwatch = request.unsubscribe.filter((name) => !asked.has(name) && unsubscribe(state, name));
  const watch: string[] = [];
  for (const name of asked) {
    const subscription = state.subscriptions.get(name);
    if (subscription === undefined) {
      subscribe(state, name, now, brought.has(name));
      watch.push(name);
    } else {
      // Believed known or not: the client may have forgotten it.
      subscription.askedAt ??= now;
      state.dirty.add(subscription);
    }
  }
  const changed = asked.size > 0 || unwatch.length > 0;
  const kind = refused !== undefined ? 'nack' : changed ? 'subscribe' : request.nonce === '' ? 'empty' : 'ack';
  return { kind, watch, unwatch, refused };
}

/** What to send now. `holdMs`: how long the answer for an identity that is being issued is held. */
export function deltaNext(state: StreamState, now: number, holdMs: number): Output {
  return takeNext(state, now, (subscription) => deltaStep(subscription, holdMs));
}

function deltaStep(subscription: Subscription, holdMs: number): Step | undefined {
  const { offer, askedAt, brought, sent } = subscription;
  if (offer === undefined) return undefined;
  if (offer.status === 'ready') return offerSecret(subscription, offer.secret);
  if (offer.status === 'waiting') return askedAt === undefined || brought ? undefined : { kind: 'remove', at: askedAt + holdMs };
  return askedAt === undefined && sent === '' ? undefined : { kind: 'remove', at: 0 };
}
