// The owner of every SVID of this node: one scheduler decides when each identity gets its next certificate and keeps
// the last valid one meanwhile. Fed by the identity index, read by SDS, status and admin.
// Promises: an expired certificate is never served; one identity is never requested twice at once; one that fails does not
// slow the others; one alarm, whatever the number of identities; keys are wiped once nobody can use them; an identity that is
// known from before a restart alone is never a reason to ask.

import type { Alarm, Clock } from '../runtime/time.js';
import { aborted, nextTurn } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedByKey, WatchedValue } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { Svid } from '../x509/svid.js';
import type { Entry, WantedIdentity } from './entry.js';
import type { Issue } from './issue.js';
import { AttemptKey, createIssue } from './issue.js';
import type { SvidCacheOptions } from './options.js';
import type { Verifier } from './published-roots.js';
import { createVerifier } from './published-roots.js';
import { RootsPace } from './roots-pace.js';
import * as schedule from './schedule.js';
import { commonReasons, logChange, logVerification, rootReasons, rootWithdrawn, toReason } from './svid-report.js';
import type { SvidEvent, SvidState, Unserved } from './svid-state.js';
import { firstState, isChange, nextState, svidOf, unverifiedOf } from './svid-state.js';

export type { WantedIdentity } from './entry.js';
export type { SvidCacheOptions } from './options.js';
export type { SvidState } from './svid-state.js';

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
  /** By the roots that are published; before there are any nothing is known of what peers take. */
  #verifies: Verifier = () => true;
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
    // In this order: a certificate that a root verifies again needs no other attempt.
    this.#options.roots.subscribe((roots) => this.#verifyAll(roots), signal);
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
      dueAt: svid === undefined ? this.#clock.now() : schedule.renewAt(svid),
      failedAt: -Infinity,
      failures: 0,
      rootsPace: new RootsPace(),
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
    for (const { state, entry } of this.#failing()) {
      if (!rootReasons.has(state.reason.code)) continue;
      this.#planByRoots(entry, entry.rootsPace.retryAt(svidOf(state), this.#clock.now()));
    }
  }

  #verifyAll(roots: readonly Certificate[]): void {
    if (roots.length === 0) return;
    this.#verifies = createVerifier(roots, this.#clock.now());
    const changed = [...this.#entries.values()].filter((entry) => this.#verify(entry));
    logVerification(
      this.#options.log,
      changed.map(({ state }) => state),
    );
  }

  /** Whether the published roots verify the certificate is another answer than before. */
  #verify(entry: Entry): boolean {
    const { state } = entry;
    const svid = svidOf(state);
    if (svid === undefined || this.#verifies(svid) === (unverifiedOf(state) === undefined)) return false;
    const now = this.#clock.now();
    if (unverifiedOf(state) === undefined) {
      const at = entry.attempt === undefined ? Math.min(entry.rootsPace.renewalAt(svid, now), entry.dueAt) : now;
      this.#apply(entry, { kind: 'root-withdrawn', reason: rootWithdrawn(svid), retryAt: at });
      this.#planByRoots(entry, at);
    } else {
      this.#apply(entry, { kind: 'root-published', isDue: entry.waitedFor || schedule.renewAt(svid) <= now });
      if (entry.state.status === 'issued') this.#unplan(entry, entry.state.renewAt);
    }
    return true;
  }

  /** Puts the next attempt back to where it was, unless somebody waits for it. */
  #unplan(entry: Entry, at: number): void {
    if (entry.attempt !== undefined || entry.waitedFor) return;
    entry.dueAt = at;
    entry.rootsPace.putBack();
    this.#options.queue.delete(entry.call);
    this.#arm(at);
  }

  // Nobody has to wait out a back-off that grew while the CA was away; the queue and its bound keep this from being a storm.
  #retryAfterOutage(): void {
    if (!this.#outage) return;
    this.#outage = false;
    const now = this.#clock.now();
    for (const { state, entry } of this.#failing()) {
      if (!commonReasons.has(state.reason.code)) continue;
      this.#plan(entry, Math.min(entry.dueAt, now + schedule.hastenedMs(this.#clock.monotonic() - entry.failedAt)));
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
    let next = now + schedule.lookEveryMs;
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
    const delayMs = Math.min(Math.max(at - this.#clock.now(), 0), schedule.lookEveryMs);
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

  /** The same, as the roots changed. */
  #planByRoots(entry: Entry, at: number): void {
    if (entry.attempt === undefined && at < entry.dueAt) entry.rootsPace.broughtForward();
    this.#plan(entry, at);
  }

  #hasten(entry: Entry): void {
    entry.waitedFor = true;
    if (entry.state.status === 'idle') entry.wantedSince = this.#clock.now();
    this.#apply(entry, { kind: 'asked' });
    const wait = schedule.hastenedMs(this.#clock.monotonic() - entry.failedAt);
    this.#plan(entry, Math.min(entry.dueAt, this.#clock.now() + wait));
  }

  // After a step no instant of before can be trusted: retries go at once (a few at a time, as always), and so do certificates
  // that were received in what is now the future, as peers may not take them yet. All others keep their due time.
  #noticeClockStep(): void {
    const now = this.#clock.now();
    const offset = now - this.#clock.monotonic();
    const stepMs = Math.round(offset - this.#offset);
    this.#offset = offset;
    if (Math.abs(stepMs) <= schedule.clockStepMs) return;
    this.#options.metrics.clockSteps.inc();
    this.#options.log.warn('wall clock stepped', { reason: 'clock-stepped', stepMs });
    for (const { entry } of this.#failing()) this.#plan(entry, Math.min(now, entry.dueAt));
    for (const entry of this.#entries.values()) if ((svidOf(entry.state)?.receivedAt ?? now) > now) this.#plan(entry, now);
  }

  // Requests

  #enqueue(entry: Entry): void {
    if (!this.#running || entry.wanted.restored === true || entry.state.status === 'idle') return;
    const { waitedFor, state, failures } = entry;
    const priority = schedule.priorityOf(waitedFor, svidOf(state), unverifiedOf(state) === undefined, this.#clock.now());
    this.#options.queue.add(entry.call, priority, failures >= strugglingAfter ? 'struggling' : 'own');
  }

  async #attempt(entry: Entry): Promise<void> {
    const { signal } = (entry.attempt = new AbortController());
    entry.rootsPace.begin(this.#clock.now());
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
    entry.failures = 0;
    entry.dueAt = schedule.renewAt(svid);
    if (!entry.served) this.#options.metrics.firstCertificateSeconds.observe(Math.max(0, svid.receivedAt - entry.wantedSince) / 1_000);
    entry.served = true;
    this.#apply(entry, { kind: 'issued', svid });
    // The roots may have changed while it was on its way.
    if (this.#verify(entry)) logVerification(this.#options.log, [entry.state]);
    this.#arm(Math.min(entry.dueAt, svid.expiresAt));
    this.#retryAfterOutage();
  }

  #failed(entry: Entry, error: unknown): void {
    entry.attempt = undefined;
    entry.failedAt = this.#clock.monotonic();
    this.#expireIfDue(entry);
    const failures = (entry.failures += 1);
    const { lifetimeMs, random = Math.random } = this.#options;
    const failure = { failures, since: entry.wantedSince, served: svidOf(entry.state), lifetimeMs };
    entry.dueAt = schedule.retryAt(failure, this.#clock.now(), random);
    const reason = toReason(error);
    if (commonReasons.has(reason.code)) this.#outage = true;
    this.#apply(entry, { kind: 'failed', reason, retryAt: entry.dueAt, failures });
    this.#arm(entry.dueAt);
  }
}
