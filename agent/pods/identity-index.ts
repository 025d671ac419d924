// The identities of this node and why: pods of all sources, merged by UID, through the selection to SPIFFE IDs.
// Called by agent.ts; the cache, the peer policy and SDS read it. It runs its sources.
// Promises: an identity is there in the tick in which its first pod is seen; it ends only when pods were seen to leave, never
// because a source fails; a pod that comes back within the linger finds the same entry. Pods from before a restart stand for
// those of a source until that is complete.

import { isDeepStrictEqual } from 'node:util';
import type { SpiffeId } from '../identity/spiffe-id.js';
import { createSpiffeId, isNamespace, isServiceAccount, parseSpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { KnownPod, Pod, PodSource, PodView } from './pod.js';
import type { Selection } from './selection.js';
import { whyLeftOut } from './selection.js';

/** One identity of this node. The object stays the same as long as nothing in it changes. */
export interface NodeIdentity {
  readonly id: SpiffeId;
  /** UIDs of its pods, sorted; empty while it lingers. */
  readonly pods: readonly string[];
  /** Wall clock when its first pod was seen, in ms. */
  readonly since: number;
  /** Its pods are all known from before a restart alone: nothing new may be asked for it. */
  readonly restored?: true;
}

export interface IdentityIndex {
  /** By URI. A new map only when something in it changed. */
  readonly identities: Watched<ReadonlyMap<string, NodeIdentity>>;
  /** Pods that are not Succeeded or Failed, by UID, those without an identity included. */
  readonly pods: Watched<ReadonlyMap<string, Pod>>;
  /** Why the view of the pods is missing or old; undefined while all sources work. */
  readonly reason: Watched<Reason | undefined>;
  /** The identity of a pod; undefined when it is unknown, left out, or has none. */
  idOf(uid: string): SpiffeId | undefined;
  /** Why a name is not among the identities; says nothing useful of one that is. */
  explain(uri: string): Reason;
  /** The pods, for the next start. */
  known(): readonly KnownPod[];
  /** Runs the sources and follows them and the selection until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface IdentityIndexOptions {
  /** Where two sources know the same UID, one that works counts before one that fails, then the earlier one in the list. */
  readonly sources: readonly PodSource[];
  /** The pods from before a restart. Default: none. */
  readonly restored?: readonly KnownPod[];
  readonly trustDomain: string;
  readonly select: Watched<Selection>;
  /** How long an identity stays after its last pod left, in ms. Default 30 s. */
  readonly lingerMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

// A source that suddenly has no pod at all is more often one that restarts or a file that is being written than a node that
// was emptied. With more than one pod before, none is believed only after this time; single pods leave at once.
const confirmEmptyMs = 5_000;

// What a source knew that has been failing for this long is not believed where another one reads the same pods.
const staleAfterMs = 60_000;

interface Entry {
  identity: NodeIdentity;
  /** When the linger is over, by the monotonic clock; undefined while it has pods. */
  endsAt: number | undefined;
}

interface Followed {
  readonly source: PodSource;
  /** The newest view that is not in doubt. */
  view: PodView;
  /** Whether that is still the view from before a restart. */
  restored: boolean;
  emptySince: number | undefined;
  /** Since when the source has had a reason, by the monotonic clock. */
  failingSince: number | undefined;
}

export function createIdentityIndex(options: IdentityIndexOptions): IdentityIndex {
  const { trustDomain, select, clock, log, metrics, restored = [], lingerMs = 30_000 } = options;
  const followed: readonly Followed[] = options.sources.map((source) => follow(source, restored));
  const entries = new Map<string, Entry>();
  const identities = new WatchedValue<ReadonlyMap<string, NodeIdentity>>(new Map());
  const pods = new WatchedValue<ReadonlyMap<string, Pod>>(new Map(), isDeepStrictEqual);
  const reason = new WatchedValue<Reason | undefined>({ code: 'pods-unread', detail: '' }, isDeepStrictEqual);
  let merged: ReadonlyMap<string, Merged> = new Map();
  let named = nameIdentities([], trustDomain, select.value);
  let alarm = { cancel: (): void => {} };

  /** Brings all that is published in line with views, selection and time. The only writer of the state above. */
  const update = (): void => {
    const now = clock.monotonic();
    const confirmAt = followed.map((each) => takeView(each, now, log));
    merged = mergeViews(followed, now);
    const current = new Map([...merged].map(([uid, { pod }]) => [uid, pod]));
    const before = named;
    named = nameIdentities(merged.values(), trustDomain, select.value);
    for (const [uid, pod] of named.invalid) if (!before.invalid.has(uid)) warnInvalid(pod, log);
    endEntries(entries, named.podsByUri, now, lingerMs);
    startEntries(entries, named.podsByUri, clock.now());

    metrics.pods.set(current.size);
    pods.set(current);
    // Why one source fails of several that read the same pods is in the status; the view is neither missing nor old.
    reason.set(followed.find((each) => each.view.reason !== undefined && !isCovered(each, followed))?.view.reason);
    const next = new Map([...entries].map(([uri, { identity }]) => [uri, identity]));
    if (!hasSameValues(identities.value, next)) {
      logChange(identities.value, next, log);
      identities.set(next);
    }

    alarm.cancel();
    const staleAt = followed.map(({ failingSince = Infinity }) => failingSince + staleAfterMs).filter((at) => at > now);
    const dueAt = Math.min(...confirmAt, ...staleAt, ...[...entries.values()].map(({ endsAt }) => endsAt ?? Infinity));
    if (dueAt !== Infinity) alarm = clock.alarm(dueAt - now, update);
  };

  // What was restored counts before anything runs.
  if (restored.length > 0) update();

  return {
    identities,
    pods,
    reason,
    known: () => [...merged.values()].map(({ pod, from }) => ({ source: populationOf(from.source), pod })),
    idOf: (uid) => named.idByUid.get(uid),
    explain(uri) {
      const foreign = whyForeign(uri, trustDomain);
      if (foreign !== undefined) return foreign;
      // A source that was never read may know pods with this name, unless another one reads the same pods.
      const unread = followed.find((each) => !each.view.complete && !isCovered(each, followed))?.view.reason;
      const old = reason.value === undefined ? '' : `as of the last good view of the pods: ${reason.value.code}`;
      return unread ?? named.leftOut.get(uri) ?? { code: 'not-on-node', detail: old };
    },
    async run(signal) {
      for (const { source } of followed) source.view.subscribe(update, signal);
      select.subscribe(update, signal);
      try {
        await Promise.all(followed.map(({ source }) => source.run(signal)));
      } finally {
        alarm.cancel();
      }
    },
  };
}

function populationOf({ population, name }: PodSource): string {
  return population ?? name;
}

function follow(source: PodSource, restored: readonly KnownPod[]): Followed {
  const pods = restored.filter((each) => each.source === populationOf(source)).map(({ pod }) => [pod.uid, pod] as const);
  const isRestored = pods.length > 0;
  const view = isRestored ? restoredView(new Map(pods), source) : source.view.value;
  // A source of the same pods that works is believed at once.
  return { source, view, restored: isRestored, emptySince: undefined, failingSince: isRestored ? -Infinity : undefined };
}

function restoredView(pods: PodView['pods'], { name, view }: PodSource): PodView {
  const { code, detail } = view.value.reason ?? { code: 'pods-unread', detail: '' };
  return { pods, complete: false, reason: { code: 'pods-restored', detail: `${name}: ${code} (${detail})` } };
}

/** Takes over the newest view of a source, unless that is in doubt; then returns when the doubt ends, else Infinity. */
function takeView(followed: Followed, now: number, log: Logger): number {
  const next = followed.source.view.value;
  if (followed.restored && !next.complete) {
    followed.view = restoredView(followed.view.pods, followed.source);
    return Infinity;
  }
  if (next.pods.size > 0 || followed.view.pods.size < 2) {
    followed.emptySince = undefined;
  } else {
    if (followed.emptySince === undefined) log.warn('all pods are gone at once, waiting to be sure', { source: followed.source.name });
    followed.emptySince ??= now;
    const confirmAt = followed.emptySince + confirmEmptyMs;
    if (now < confirmAt) return confirmAt;
    followed.emptySince = undefined;
  }
  const since = followed.restored ? undefined : followed.failingSince;
  followed.failingSince = next.reason === undefined ? undefined : (since ?? now);
  followed.view = next;
  followed.restored = false;
  return Infinity;
}

/** Whether another source, one that works, reads the same pods. */
function isCovered({ source: { population } }: Followed, followed: readonly Followed[]): boolean {
  return population !== undefined && followed.some(({ source, view }) => source.population === population && isFresh(view));
}

function isFresh({ complete, reason }: PodView): boolean {
  return complete && reason === undefined;
}

interface Merged {
  readonly pod: Pod;
  /** Whose word counts. */
  readonly from: Followed;
}

function mergeViews(followed: readonly Followed[], now: number): ReadonlyMap<string, Merged> {
  const merged = new Map<string, Merged>();
  const believed = followed.filter((each) => now - (each.failingSince ?? now) < staleAfterMs || !isCovered(each, followed));
  const inOrder = [...believed.filter(({ view }) => isFresh(view)), ...believed.filter(({ view }) => !isFresh(view))];
  for (const from of inOrder) for (const [uid, pod] of from.view.pods) if (!merged.has(uid)) merged.set(uid, { pod, from });
  // After the merge: the source that counts may know that a pod is over which a later one still lists.
  for (const [uid, { pod }] of merged) if (pod.phase === 'Succeeded' || pod.phase === 'Failed') merged.delete(uid);
  return merged;
}

interface Naming {
  readonly idByUid: ReadonlyMap<string, SpiffeId>;
  readonly podsByUri: ReadonlyMap<string, NamedPods>;
  /** Why pods with these names give no identity. */
  readonly leftOut: ReadonlyMap<string, Reason>;
  /** Pods whose namespace or service account cannot stand in a SPIFFE ID. */
  readonly invalid: ReadonlyMap<string, Pod>;
}

interface NamedPods {
  readonly id: SpiffeId;
  /** Sorted. */
  readonly uids: string[];
  /** Whether all of them are known from before a restart alone. */
  restored: boolean;
}

/** Pure: which pod has which identity, and why others have none. */
function nameIdentities(pods: Iterable<Merged>, trustDomain: string, selection: Selection): Naming {
  const idByUid = new Map<string, SpiffeId>();
  const podsByUri = new Map<string, NamedPods>();
  const leftOut = new Map<string, Reason>();
  const invalid = new Map<string, Pod>();
  for (const { pod, from } of pods) {
    if (!isNamespace(pod.namespace) || !isServiceAccount(pod.serviceAccount)) {
      invalid.set(pod.uid, pod);
      continue;
    }
    const id = createSpiffeId(trustDomain, pod.namespace, pod.serviceAccount);
    const why = whyNoIdentity(pod, selection);
    if (why !== undefined) {
      leftOut.set(id.uri, why);
      continue;
    }
    idByUid.set(pod.uid, id);
    const named = podsByUri.get(id.uri) ?? { id, uids: [], restored: true };
    podsByUri.set(id.uri, named);
    named.uids.push(pod.uid);
    named.restored &&= from.restored;
  }
  for (const { uids } of podsByUri.values()) uids.sort();
  return { idByUid, podsByUri, leftOut, invalid };
}

function whyNoIdentity(pod: Pod, selection: Selection): Reason | undefined {
  if (pod.mirror) return { code: 'not-on-node', detail: `${pod.name} is a static pod, which has no service account` };
  return whyLeftOut(pod, selection);
}

/** Pods that left start the linger of their identity; one whose linger is over ends. */
function endEntries(entries: Map<string, Entry>, current: Naming['podsByUri'], now: number, lingerMs: number): void {
  for (const [uri, entry] of entries) {
    if (current.has(uri)) continue;
    entry.endsAt ??= now + lingerMs;
    if (entry.endsAt <= now) entries.delete(uri);
    else if (entry.identity.pods.length > 0) entry.identity = { ...entry.identity, pods: [] };
  }
}

function startEntries(entries: Map<string, Entry>, current: Naming['podsByUri'], since: number): void {
  for (const [uri, { id, uids, restored }] of current) {
    const entry = entries.get(uri);
    const identity: NodeIdentity = { id, pods: uids, since: entry?.identity.since ?? since, ...(restored ? { restored } : {}) };
    if (entry === undefined) {
      entries.set(uri, { identity, endsAt: undefined });
      continue;
    }
    entry.endsAt = undefined;
    if (!isDeepStrictEqual(entry.identity, identity)) entry.identity = identity;
  }
}

function hasSameValues<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of b) if (a.get(key) !== value) return false;
  return true;
}

function logChange(before: ReadonlyMap<string, NodeIdentity>, after: ReadonlyMap<string, NodeIdentity>, log: Logger): void {
  const started = [...after.keys()].filter((uri) => !before.has(uri));
  const ended = [...before.keys()].filter((uri) => !after.has(uri));
  for (const id of started) log.debug('identity started', { id });
  for (const id of ended) log.debug('identity ended', { id });
  if (started.length + ended.length === 0) return;
  log.info('identities of this node changed', { identities: after.size, started: started.length, ended: ended.length });
}

function warnInvalid(pod: Pod, log: Logger): void {
  log.warn('a pod gets no identity: its namespace or service account is not a valid name', {
    pod: pod.uid,
    namespace: pod.namespace,
    serviceAccount: pod.serviceAccount,
  });
}

function whyForeign(uri: string, trustDomain: string): Reason | undefined {
  try {
    const id = parseSpiffeId(uri);
    return id.trustDomain === trustDomain ? undefined : { code: 'trust-domain-foreign', detail: id.trustDomain };
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    return { code: 'name-invalid', detail: error.message };
  }
}
