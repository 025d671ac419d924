// The reducer of a StreamSecrets stream: state of the world (xDS "Basic Protocol Overview", "ACK/NACK and resource type
// instance version"). Called by stream.ts with each event; pure in the sense of subscriptions.ts.
// The protocol cannot say "does not exist" or "deleted": such names are silent until they exist.

import type { Demand, Output, Step, StreamState, Subscription } from './subscriptions.js';
import { offerSecret, settle, subscribe, takeNext, unsubscribe } from './subscriptions.js';

export interface SotwRequest {
  /** All names the client wants from now on; duplicates count once. None at first: nothing, SDS has no wildcard. */
  readonly names: readonly string[];
  readonly nonce: string;
  /** What the client said is wrong with the response of the nonce; undefined = nothing. */
  readonly error: string | undefined;
}

/** Event: a request. The newest one replaces the names of those before; new names are answered, kept ones need no answer. */
export function sotwRequest(state: StreamState, request: SotwRequest, now: number): Demand {
  const first = !state.started;
  state.started = true;
  // The first nonce of a stream may be one of an earlier stream (Envoy before 1.28) and means nothing here.
  const stale = !first && request.nonce !== '' && request.nonce !== state.lastNonce;
  if (stale) return { kind: 'stale', watch: [], unwatch: [], refused: undefined };

  const refused = first ? undefined : settle(state, request.nonce, request.error, now);
  const wanted = new Set(request.names);
  const unwatch = [...state.subscriptions.keys()].filter((name) => !wanted.has(name));
  const watch = [...wanted].filter((name) => !state.subscriptions.has(name));
  for (const name of unwatch) unsubscribe(state, name);
  for (const name of watch) subscribe(state, name, now);
  const changed = watch.length > 0 || unwatch.length > 0;
  const kind = refused !== undefined ? 'nack' : changed ? 'subscribe' : request.nonce === '' ? 'empty' : 'ack';
  return { kind, watch, unwatch, refused };
}

/** What to send now. Only the last response counts, those before need no acknowledgement any more. */
export function sotwNext(state: StreamState, now: number): Output {
  const output = takeNext(state, now, sotwStep);
  if (output.kind === 'send') {
    for (const nonce of state.unacknowledged.keys()) if (nonce !== output.nonce) state.unacknowledged.delete(nonce);
  }
  return output;
}

function sotwStep(subscription: Subscription): Step | undefined {
  return subscription.offer?.status === 'ready' ? offerSecret(subscription, subscription.offer.secret) : undefined;
}
