// The owner of every SVID of this node: one scheduler decides when each identity gets its next certificate and keeps
// the last valid one meanwhile. Fed by the identity index, read by SDS, status and admin.
// Promises: an expired certificate is never served; one identity is never requested twice at once; one that fails does not
// slow the others; one alarm, whatever the number of identities; keys are wiped once nobody can use them; an identity that is
// known from before a restart alone is never a reason to ask.

import type { CaClient } from '../ca/ca-client.js';
import type { Call, CallQueue } from '../ca/call-queue.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Alarm, Clock } from '../runtime/time.js';
import { aborted, nextTurn } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedByKey, WatchedValue } from '../runtime/watched.js';
import type { KeyType } from '../x509/csr.js';
import type { Svid } from '../x509/svid.js';
import type { Issue } from './issue.js';
import { AttemptKey, createIssue } from './issue.js';
import { clockStepMs, hastenedMs, lookEveryMs, priorityOf, renewAt, retryAt } from './schedule.js';
import { commonReasons, logChange, rootReasons, toReason } from './svid-report.js';
import type { SvidEvent, SvidState, Unserved } from './svid-state.js';
import { failuresOf, firstState, isChange, nextState, svidOf } from './svid-state.js';

export type { SvidState } from './svid-state.js';

/** What the cache needs to know of an identity of this node. */
export interface WantedIdentity {
  readonly id: SpiffeId;
  /** When its first pod was seen, by the wall clock. */
  readonly since: number;
  /** Known from before a restart alone: what it has is served, nothing new is asked for. */
  readonly restored?: true;
}

export interface SvidCacheOptions {
  /** The identities to keep a certificate for, by URI; what leaves is gone at once. */
  readonly identities: Watched<ReadonlyMap<string, WantedIdentity>>;
  /** Certificates from before a restart, by URI; the cache owns them. Those of other identities are wiped. Default: none. */
  readonly restored?: ReadonlyMap<string, Svid>;
  readonly ca: CaClient;
  /** Where its requests to the CA wait for their turn. */
  readonly queue: CallQueue;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly keyType: KeyType;
  /** When an identity gets its first certificate: at once, or when somebody waits for it. Default `ahead`. */
  readonly issue?: 'ahead' | 'on-demand';
  /** Lifetime to ask the CA for, ms. */
  readonly lifetimeMs: number;
  /** For one request to the CA, ms. Default 10 s. */
  readonly deadlineMs?: number;
  /** Source of jitter, 0 ≤ x < 1. Default Math.random. */
  readonly random?: () => number;
}

export interface SvidCache {
  /** The state of a name; undefined while it is no identity of this node. Costs memory only while subscribed to. */
  watch(uri: string): Watched<SvidState | undefined>;
  /** A snapshot of all identities. */
  states(): ReadonlyMap<string, SvidState>;
  /** Another value whenever a state changed. */
  readonly changes: Watched<number>;
  /** Somebody waits for the certificate of this name: it goes to the front, and a back-off is cut. */
  urgent(uri: string): void;
  /** A new certificate at once; the one there is stays until then. */
  renew(uri: string): void;
  /** Settles when all requests have ended and all keys are wiped. */
  run(signal: AbortSignal): Promise<void>;
}

export function createSvidCache(options: SvidCacheOptions): SvidCache {
  return new Cache(options);
}

interface Entry {
  wanted: WantedIdentity;
  state: SvidState;
  /** When the next attempt is due; of no meaning while one is under way. */
  dueAt: number;
  /** Of the last failure, by the monotonic clock. */
  failedAt: number;
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

/** After as many failures in a row an identity shares some of the slots with its like, so that calls which hang leave room. */
const strugglingAfter = 3;

class Cache implements SvidCache {
  readonly #options: SvidCacheOptions;
  readonly #clock: Clock;
  readonly #issue: Issue;
  readonly #entries = new Map<string, Entry>();
  readonly #watched = new WatchedByKey((uri) => this.#current(uri));
  readonly #changes = new WatchedValue(0);
  /** Attempts, and keys that are about to be wiped. */
  readonly #unfinished = new Set<Promise<void>>();
  /** Whether a request failed for a common reason since the last success. */
  #outage = false;
  #running = false;
  #alarm: Alarm | undefined;
  /** By the monotonic clock, as a step of the wall clock does not move it. */
  #alarmAt = Infinity;
  /** Wall clock minus monotonic clock at the last look. */
  #offset: number;

  constructor(options: SvidCacheOptions) {
    const { clock, deadlineMs = 10_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#issue = createIssue({ ...options, deadlineMs });
    this.#offset = clock.now() - clock.monotonic();
    const { restored = new Map<string, Svid>(), identities } = options;
    for (const [uri, svid] of restored) {
      const wanted = identities.value.get(uri);
      if (wanted === undefined) svid.wipe();
      else this.#add(uri, wanted, svid);
    }
  }

  get changes(): Watched<number> {
    return this.#changes;
  }

  watch(uri: string): Watched<SvidState | undefined> {
    return this.#watched.watch(uri);
  }

  states(): ReadonlyMap<string, SvidState> {
    for (const entry of this.#entries.values()) this.#expireIfDue(entry);
    return new Map([...this.#entries].map(([uri, entry]) => [uri, entry.state]));
  }

  urgent(uri: string): void {
    const entry = this.#entries.get(uri);
    if (entry !== undefined && svidOf(entry.state) === undefined) this.#hasten(entry);
  }

  renew(uri: string): void {
    const entry = this.#entries.get(uri);
    if (entry !== undefined) this.#hasten(entry);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#running = true;
    this.#look();
    this.#options.identities.subscribe((wanted) => this.#want(wanted), signal);
    this.#options.ca.roots.subscribe(() => this.#retryAfterNewRoots(), signal);
    await aborted(signal);
    this.#running = false;
    this.#alarm?.cancel();
    for (const { call, attempt } of this.#entries.values()) {
      this.#options.queue.delete(call);
      attempt?.abort();
    }
    await Promise.all(this.#unfinished);
    for (const entry of this.#entries.values()) {
      svidOf(entry.state)?.wipe();
      entry.attemptKey.drop();
    }
  }

  /** The run ends after it. */
  async #finish(work: Promise<void>): Promise<void> {
    this.#unfinished.add(work);
    await work;
    this.#unfinished.delete(work);
  }

  // Identities

  #want(wanted: ReadonlyMap<string, WantedIdentity>): void {
    for (const [uri, entry] of this.#entries) {
      const still = wanted.get(uri);
      if (still === undefined) this.#forget(entry);
      else this.#keep(entry, still);
    }
    for (const [uri, identity] of wanted) if (!this.#entries.has(uri)) this.#add(uri, identity);
  }

  #add(uri: string, wanted: WantedIdentity, svid?: Svid): void {
    // Who subscribed to the name before it was an identity waits for it.
    const waitedFor = this.#watched.has(uri);
    const entry: Entry = {
      wanted,
      state: firstState(this.#unserved(wanted, waitedFor), svid),
      dueAt: svid === undefined ? this.#clock.now() : renewAt(svid),
      failedAt: -Infinity,
      waitedFor,
      wantedSince: wanted.since,
      served: svid !== undefined,
      attempt: undefined,
      attemptKey: new AttemptKey(),
      call: () => this.#finish(this.#attempt(entry)),
    };
    this.#entries.set(uri, entry);
    if (svid === undefined) this.#enqueue(entry);
    this.#watched.changed(uri);
  }

  #unserved({ restored }: WantedIdentity, waitedFor: boolean): Unserved {
    if (restored === true) return 'pods-restored';
    return this.#options.issue === 'on-demand' && !waitedFor ? 'issued-on-demand' : 'issuing';
  }

  #keep(entry: Entry, wanted: WantedIdentity): void {
    const isConfirmed = entry.wanted.restored === true && wanted.restored !== true;
    entry.wanted = wanted;
    if (!isConfirmed) return;
    this.#apply(entry, { kind: 'confirmed', wanted: this.#unserved(wanted, entry.waitedFor) });
    if (entry.dueAt <= this.#clock.now()) this.#enqueue(entry);
  }

  #forget(entry: Entry): void {
    this.#options.queue.delete(entry.call);
    entry.attempt?.abort();
    entry.attemptKey.drop();
    this.#apply(entry, { kind: 'gone' });
  }

  #retryAfterNewRoots(): void {
    for (const { state, entry } of this.#failing()) if (rootReasons.has(state.reason.code)) this.#plan(entry, this.#clock.now());
  }

  // Nobody has to wait out a back-off that grew while the CA was away; the queue and its bound keep this from being a storm.
  #retryAfterOutage(): void {
    if (!this.#outage) return;
    this.#outage = false;
    const now = this.#clock.now();
    for (const { state, entry } of this.#failing()) {
      if (!commonReasons.has(state.reason.code)) continue;
      this.#plan(entry, Math.min(entry.dueAt, now + hastenedMs(this.#clock.monotonic() - entry.failedAt)));
    }
  }

  *#failing() {
    for (const entry of this.#entries.values()) {
      const { state } = entry;
      if (state.status === 'retained' || state.status === 'unavailable') yield { entry, state };
    }
  }

  // State: every move passes here

  #apply(entry: Entry, event: SvidEvent): void {
    const before = entry.state;
    const after = nextState(before, event);
    const { uri } = entry.wanted.id;
    if (after === undefined) this.#entries.delete(uri);
    else entry.state = after;
    if (isChange(before, after)) {
      logChange(this.#options.log, uri, before, after);
      this.#watched.changed(uri);
      this.#changes.set(this.#changes.value + 1);
    }
    const replaced = svidOf(before);
    if (replaced !== undefined && replaced !== svidOf(after)) this.#wipeLater(replaced);
  }

  // Subscribers are told in a microtask and copy what they need then; in the next turn nobody can use the old key.
  #wipeLater(svid: Svid): void {
    void this.#finish(nextTurn().then(() => svid.wipe()));
  }

  // A reader may come before the alarm when the clock stepped, so each one looks for itself.
  #current(uri: string): SvidState | undefined {
    const entry = this.#entries.get(uri);
    if (entry !== undefined) this.#expireIfDue(entry);
    return entry?.state;
  }

  #expireIfDue(entry: Entry): void {
    const svid = svidOf(entry.state);
    if (svid === undefined || svid.expiresAt > this.#clock.now()) return;
    this.#apply(entry, { kind: 'expired', retryAt: entry.dueAt });
    this.#arm(entry.dueAt);
  }

  // Time

  #look(): void {
    this.#alarm = undefined;
    this.#alarmAt = Infinity;
    this.#noticeClockStep();
    const now = this.#clock.now();
    let next = now + lookEveryMs;
    for (const entry of this.#entries.values()) {
      this.#expireIfDue(entry);
      next = Math.min(next, svidOf(entry.state)?.expiresAt ?? Infinity);
      if (entry.attempt !== undefined) continue;
      if (entry.dueAt > now) next = Math.min(next, entry.dueAt);
      else this.#enqueue(entry);
    }
    this.#arm(next);
  }

  #arm(at: number): void {
    const delayMs = Math.min(Math.max(at - this.#clock.now(), 0), lookEveryMs);
    const fireAt = this.#clock.monotonic() + delayMs;
    if (!this.#running || fireAt >= this.#alarmAt) return;
    this.#alarm?.cancel();
    this.#alarmAt = fireAt;
    this.#alarm = this.#clock.alarm(delayMs, () => this.#look());
  }

  /** Moves the next attempt of an entry to an earlier time. */
  #plan(entry: Entry, at: number): void {
    if (entry.attempt !== undefined || at > entry.dueAt) return;
    entry.dueAt = at;
    this.#apply(entry, { kind: 'hastened', retryAt: at });
    if (at <= this.#clock.now()) this.#enqueue(entry);
    else this.#arm(at);
  }

  #hasten(entry: Entry): void {
    entry.waitedFor = true;
    if (entry.state.status === 'idle') entry.wantedSince = this.#clock.now();
    this.#apply(entry, { kind: 'asked' });
    const wait = hastenedMs(this.#clock.monotonic() - entry.failedAt);
    this.#plan(entry, Math.min(entry.dueAt, this.#clock.now() + wait));
  }

  // After a step no instant of before can be trusted: retries go at once (a few at a time, as always), and so do certificates
  // that were received in what is now the future, as peers may not take them yet. All others keep their due time.
  #noticeClockStep(): void {
    const now = this.#clock.now();
    const offset = now - this.#clock.monotonic();
    const stepMs = Math.round(offset - this.#offset);
    this.#offset = offset;
    if (Math.abs(stepMs) <= clockStepMs) return;
    this.#options.metrics.clockSteps.inc();
    this.#options.log.warn('wall clock stepped', { reason: 'clock-stepped', stepMs });
    for (const { entry } of this.#failing()) this.#plan(entry, Math.min(now, entry.dueAt));
    for (const entry of this.#entries.values()) if ((svidOf(entry.state)?.receivedAt ?? now) > now) this.#plan(entry, now);
  }

  // Requests

  #enqueue(entry: Entry): void {
    if (!this.#running || entry.wanted.restored === true || entry.state.status === 'idle') return;
    const priority = priorityOf(entry.waitedFor, svidOf(entry.state), this.#clock.now());
    this.#options.queue.add(entry.call, priority, failuresOf(entry.state) >= strugglingAfter ? 'struggling' : 'own');
  }

  async #attempt(entry: Entry): Promise<void> {
    const { signal } = (entry.attempt = new AbortController());
    try {
      const svid = await this.#issue(entry.wanted.id, entry.attemptKey, signal);
      if (signal.aborted) svid.wipe();
      else this.#succeeded(entry, svid);
    } catch (error) {
      if (!signal.aborted) this.#failed(entry, error);
    }
  }

  #succeeded(entry: Entry, svid: Svid): void {
    entry.attempt = undefined;
    entry.waitedFor = false;
    entry.dueAt = renewAt(svid);
    if (!entry.served) this.#options.metrics.firstCertificateSeconds.observe(Math.max(0, svid.receivedAt - entry.wantedSince) / 1_000);
    entry.served = true;
    this.#apply(entry, { kind: 'issued', svid });
    this.#arm(Math.min(entry.dueAt, svid.expiresAt));
    this.#retryAfterOutage();
  }

  #failed(entry: Entry, error: unknown): void {
    entry.attempt = undefined;
    entry.failedAt = this.#clock.monotonic();
    this.#expireIfDue(entry);
    const failures = failuresOf(entry.state) + 1;
    const { lifetimeMs, random = Math.random } = this.#options;
    const failure = { failures, since: entry.wantedSince, served: svidOf(entry.state), lifetimeMs };
    entry.dueAt = retryAt(failure, this.#clock.now(), random);
    const reason = toReason(error);
    if (commonReasons.has(reason.code)) this.#outage = true;
    this.#apply(entry, { kind: 'failed', reason, retryAt: entry.dueAt });
    this.#arm(entry.dueAt);
  }
}
