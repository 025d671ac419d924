// What the certificate cache knows of one identity. Its own, nobody else sees it.

import type { Call } from '../ca/call-queue.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { AttemptKey } from './issue.js';
import type { RootsPace } from './roots-pace.js';
import type { SvidState } from './svid-state.js';

/** What the cache needs to know of an identity of this node. */
export interface WantedIdentity {
  readonly id: SpiffeId;
  /** When its first pod was seen, by the wall clock. */
  readonly since: number;
  /** Known from before a restart alone: what it has is served, nothing new is asked for. */
  readonly restored?: true;
}

export interface Entry {
  wanted: WantedIdentity;
  state: SvidState;
  /** When the next attempt is due; of no meaning while one is under way. */
  dueAt: number;
  /** Of the last failure, by the monotonic clock. */
  failedAt: number;
  /** Failed attempts since the last certificate came: a root that comes back, or a certificate that expires, ends no back-off. */
  failures: number;
  /** When changed roots may bring the next attempt forward. */
  readonly rootsPace: RootsPace;
  waitedFor: boolean;
  /** When its certificate was wanted first, by the wall clock: its first pod was seen or, issued on demand, somebody asked. */
  wantedSince: number;
  /** Whether it ever had a certificate. */
  served: boolean;
  /** Present while an attempt is under way; aborted when the identity leaves. */
  attempt: AbortController | undefined;
  readonly attemptKey: AttemptKey;
  /** One attempt, as it waits for its turn. */
  readonly call: Call;
}
