// What one stream knows of its client: the names, what was sent under each, and which responses are unacknowledged. Common
// to the reducers in sotw.ts and delta.ts, which are the only callers. No I/O, no clock, no timer: an event changes the state
// in place (a copy would cost O(names) an event), and `next…` says what is to be sent now, or until when there is nothing.

import type { Reason } from '../runtime/reasons.js';
import type { Offer } from './offer.js';
import type { EncodedSecret } from './secret.js';

/** A push waits this long for the acknowledgement of the response before it; answers to requests do not wait. */
const ackPatienceMs = 5_000;
/** Bytes that a client refused are not sent to it again for this long, and then only when it asks anew. */
export const refusalMs = 10_000;
/** A response is cut at this size; the rest follows in the next one. */
const maxResponseBytes = 1024 * 1024;
/** More than a response has beside its resources: version, type URL and nonce. */
const envelopeBytes = 256;
const maxUnacknowledged = 16;
const maxMessageLength = 1024;

/** A version the client refused (NACK), not to be sent again before `until` (monotonic ms). */
export interface Refusal {
  readonly version: string;
  readonly until: number;
}

export interface Subscription {
  readonly name: string;
  /** Undefined until the first one came. */
  offer: Offer | undefined;
  /** Since when (monotonic ms) a request for the name is unanswered; undefined when it is answered. */
  askedAt: number | undefined;
  /** The client came to this stream with a version of it, and was told nothing of it since. */
  brought: boolean;
  /** The version that the client holds, as far as it was told; empty = none. */
  sent: string;
  answer: 'none' | 'acked' | 'nacked';
  refusal: Refusal | undefined;
  /** What the client said at its last refusal. */
  message: string;
}

interface Sent {
  readonly subscription: Subscription;
  readonly version: string;
}

export interface StreamState {
  /** False until the first request. */
  started: boolean;
  readonly subscriptions: Map<string, Subscription>;
  /** Those that may have something to send. */
  readonly dirty: Set<Subscription>;
  /** How many subscriptions are to names that the peer may never have. */
  denied: number;
  /** What each unacknowledged response carried, by nonce, oldest first. */
  readonly unacknowledged: Map<string, readonly Sent[]>;
  lastNonce: string;
  /** Until then (monotonic ms) pushes wait for the acknowledgement of secrets sent before. */
  pushesFrom: number;
  /** The newest edition whose own nonce was used on this stream. */
  lastEdition: number;
  /** Responses that needed a nonce of this stream alone. */
  ownNonces: number;
}

export function createStreamState(): StreamState {
  return {
    started: false,
    subscriptions: new Map(),
    dirty: new Set(),
    denied: 0,
    unacknowledged: new Map(),
    lastNonce: '',
    pushesFrom: 0,
    lastEdition: 0,
    ownNonces: 0,
  };
}

/** What a request changed. */
export interface Demand {
  readonly kind: 'subscribe' | 'ack' | 'nack' | 'stale' | 'empty';
  /** Names that are new on this stream: each needs an offer. */
  readonly watch: readonly string[];
  readonly unwatch: readonly string[];
  readonly refused: Refused | undefined;
}

/** A NACK: what the refused response carried, and why the client refused it. */
export interface Refused {
  readonly secrets: readonly { readonly name: string; readonly version: string }[];
  readonly message: string;
}

/** What the stream has to do. */
export type Output =
  | { readonly kind: 'send'; readonly nonce: string; readonly secrets: readonly EncodedSecret[]; readonly removed: readonly string[] }
  /** All its names are denied. */
  | { readonly kind: 'end'; readonly reason: Reason }
  /** Nothing before `until` (monotonic ms; Infinity = before the next event). */
  | { readonly kind: 'wait'; readonly until: number };

/** What a protocol wants to tell about one name, and from when on. */
export type Step =
  { readonly kind: 'send'; readonly at: number; readonly secret: EncodedSecret } | { readonly kind: 'remove'; readonly at: number };

export function subscribe(state: StreamState, name: string, now: number, brought = false): void {
  const subscription: Subscription = {
    name,
    offer: undefined,
    askedAt: now,
    brought,
    sent: '',
    answer: 'none',
    refusal: undefined,
    message: '',
  };
  state.subscriptions.set(name, subscription);
}

export function unsubscribe(state: StreamState, name: string): boolean {
  const subscription = state.subscriptions.get(name);
  if (subscription === undefined) return false;
  if (subscription.offer?.status === 'denied') state.denied -= 1;
  state.dirty.delete(subscription);
  return state.subscriptions.delete(name);
}

/** Event: what the name can be given changed. `refusal`: the peer refused this version on an earlier stream. */
export function setOffer(state: StreamState, name: string, offer: Offer, refusal?: Refusal): void {
  const subscription = state.subscriptions.get(name);
  if (subscription === undefined) return;
  state.denied += Number(offer.status === 'denied') - Number(subscription.offer?.status === 'denied');
  subscription.offer = offer;
  subscription.refusal ??= refusal;
  state.dirty.add(subscription);
}

/** Event: an ACK, or with `error` a NACK, of the response with this nonce. A nonce that is not outstanding changes nothing. */
export function settle(state: StreamState, nonce: string, error: string | undefined, now: number): Refused | undefined {
  const sent = state.unacknowledged.get(nonce);
  if (sent === undefined) return undefined;
  state.unacknowledged.delete(nonce);
  if (state.unacknowledged.size === 0) state.pushesFrom = 0;
  const message = error?.slice(0, maxMessageLength);
  for (const { subscription, version } of sent) {
    if (subscription.sent !== version) continue;
    subscription.answer = message === undefined ? 'acked' : 'nacked';
    if (message === undefined) continue;
    subscription.refusal = { version, until: now + refusalMs };
    subscription.message = message;
  }
  if (message === undefined) return undefined;
  return { secrets: sent.map(({ subscription, version }) => ({ name: subscription.name, version })), message };
}

/** A secret is sent when it was asked for, or when it differs from what the client holds; never again once it was refused. */
export function offerSecret(subscription: Subscription, secret: EncodedSecret): Step | undefined {
  if (secret.retired) return undefined; // the offer that replaced it is on its way
  const refused = subscription.refusal?.version === secret.version ? subscription.refusal : undefined;
  if (subscription.askedAt !== undefined) return { kind: 'send', at: refused?.until ?? 0, secret };
  return secret.version === subscription.sent || refused !== undefined ? undefined : { kind: 'send', at: 0, secret };
}

/** The next thing to do at `now`; what it says to send counts as sent. `decide` is the rule of the protocol. */
export function takeNext(state: StreamState, now: number, decide: (subscription: Subscription) => Step | undefined): Output {
  const denial = denialOfAll(state, decide);
  if (denial !== undefined) return { kind: 'end', reason: denial };
  const secrets: EncodedSecret[] = [];
  const sent: Sent[] = [];
  const removed: string[] = [];
  let size = envelopeBytes;
  let until = Infinity;
  for (const subscription of state.dirty) {
    const step = decide(subscription);
    if (step === undefined) {
      state.dirty.delete(subscription);
      continue;
    }
    const at = step.kind === 'send' && subscription.askedAt === undefined ? Math.max(step.at, state.pushesFrom) : step.at;
    if (at > now) {
      until = Math.min(until, at);
      continue;
    }
    // A removed name has a tag and a length of at most two bytes before it.
    const added = step.kind === 'send' ? step.secret.size : Buffer.byteLength(subscription.name) + 3;
    if (sent.length > 0 && size + added > maxResponseBytes) break;
    size += added;
    if (step.kind === 'send') secrets.push(step.secret);
    else removed.push(subscription.name);
    markTold(state, subscription, step);
    sent.push({ subscription, version: subscription.sent });
  }
  if (sent.length === 0) return { kind: 'wait', until };
  const nonce = chooseNonce(state, secrets, removed);
  remember(state, nonce, sent);
  if (secrets.length > 0) state.pushesFrom = now + ackPatienceMs;
  return { kind: 'send', nonce, secrets, removed };
}

// A stream none of whose names can ever be served ends, so that its client says so instead of waiting; what the client
// still holds is taken back first where the protocol can say it.
function denialOfAll(state: StreamState, decide: (subscription: Subscription) => Step | undefined): Reason | undefined {
  if (state.denied === 0 || state.denied < state.subscriptions.size) return undefined;
  for (const subscription of state.dirty) {
    if (subscription.sent !== '' && decide(subscription)?.kind === 'remove') return undefined;
  }
  const [subscription] = state.subscriptions.values();
  return subscription?.offer?.status === 'denied' ? subscription.offer.reason : undefined;
}

function markTold(state: StreamState, subscription: Subscription, step: Step): void {
  subscription.sent = step.kind === 'send' ? step.secret.version : '';
  subscription.answer = 'none';
  subscription.askedAt = undefined;
  subscription.brought = false;
  state.dirty.delete(subscription);
}

// Unique on the stream, as xDS wants it: editions only grow, so the first use of one needs no more than its number, and its
// response is the buffer that all streams share. Everything else gets a second number that only this stream counts.
function chooseNonce(state: StreamState, secrets: readonly EncodedSecret[], removed: readonly string[]): string {
  const [only] = secrets;
  if (only !== undefined && secrets.length === 1 && removed.length === 0 && only.edition > state.lastEdition) {
    state.lastEdition = only.edition;
    return String(only.edition);
  }
  state.ownNonces += 1;
  return `${state.lastEdition}.${state.ownNonces}`;
}

function remember(state: StreamState, nonce: string, sent: readonly Sent[]): void {
  state.unacknowledged.set(nonce, sent);
  if (state.unacknowledged.size > maxUnacknowledged) {
    const [oldest] = state.unacknowledged.keys();
    if (oldest !== undefined) state.unacknowledged.delete(oldest);
  }
  state.lastNonce = nonce;
}
