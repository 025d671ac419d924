// A local copy of the objects at one path of the API, kept up to date by list and watch.
// Used by the pod source and the root sources. Promises: whatever the server does, the copy is never emptied by a fault, the
// server sees at most one new call a second or so, and a watch that died without a word is found by its deadline.

import type { CommonMetrics } from '../metrics.js';
import { describeError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, sleep } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { KubeClient, Query, WatchEvent } from './client.js';
import type { ObjectSink, Project, Snapshot } from './copy.js';
import { ObjectCopy, change } from './copy.js';
import { listAll } from './list.js';
import { detailOf, fromStatus, isVersionUnusable, retryAfterOf, statusOf } from './status.js';

export interface Reflector<T> {
  readonly snapshot: Watched<Snapshot<T>>;
  /** Lists and watches until the signal aborts, or the collection is gone; never rejects for outside trouble. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReflectorOptions<T> {
  readonly client: KubeClient;
  /** Of the collection, e.g. `/api/v1/pods`. */
  readonly path: string;
  /** Selectors, on every list and watch. */
  readonly query?: Query;
  /** For logs and the `resource` label: `pods`, `configmaps`, … */
  readonly resource: string;
  readonly project: Project<T>;
  /**
   * Ends where the server has no such collection, as when it does not serve that version any more: for whoever then asks which it
   * serves. Default false: it is tried again.
   */
  readonly endsWhenGone?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CommonMetrics;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
}

export interface CopyOptions {
  /** The reason before anything was read. */
  readonly unread: Reason;
}

/** The server ends a watch after a time in this range, so that those of many nodes do not end together. */
const minWatchSeconds = 240;
const watchSecondsRange = 50;

/** A watch that the server did not end this long after it should have is dead. */
const graceMs = 15_000;

/** A stream that lived this long was sound: the next one follows at once. */
const soundAfterMs = 10_000;

/** How long the initial events of a watch may take, once the server accepted it, before they are asked for by a list. */
const initialEventsMs = 10_000;

/** How long it may take to accept such a watch, reading the credential of this process included. */
const initialOpenMs = 20_000;

/** A server that did not serve initial events is asked for them again after this: it may be another one by then. */
const notServedMs = 3_600_000;

/** Jitter takes off up to a half: the least wait is a second. */
const retryAfter = { minMs: 2_000, maxMs: 30_000 };

const initialEventsEnd = 'k8s.io/initial-events-end';

/** Where list and watch stand. */
interface Position {
  /** What a watch goes on from; undefined: everything has to be read anew. */
  version: string | undefined;
  /** A list takes the newest there is: never older than what was read before. The first may be what the server has at hand. */
  newest: boolean;
  /** From when on the server may be asked for initial events of a watch, by the monotonic clock. */
  streamsFrom: number;
}

/** Keeps a copy, and gives it as a snapshot that is made anew with every change: for what is not large. */
export function createReflector<T>(options: ReflectorOptions<T> & CopyOptions): Reflector<T> {
  const copy = new ObjectCopy(options.project, options.unread);
  return { snapshot: copy.snapshot, run: (signal) => reflect(options, copy, signal) };
}

/** Lists and watches until the signal aborts and tells the sink; never rejects for outside trouble. */
export async function reflect<T>(options: ReflectorOptions<T>, copy: ObjectSink<T>, signal: AbortSignal): Promise<void> {
  const { clock, log, metrics, resource, random = Math.random } = options;
  const position: Position = { version: undefined, newest: false, streamsFrom: -Infinity };

  const failed = (error: unknown): void => {
    metrics.watchStreams.inc({ resource, result: kindOf(error) });
    // Once is the way of the API; a version that was just read and is refused again is a fault.
    if (isVersionUnusable(error) && (position.version !== undefined || !position.newest)) {
      log.info('the watched version is gone, reading anew', { resource, detail: detailOf(error) });
      position.version = undefined;
      position.newest = true;
      return;
    }
    const next: Reason = { code: reasonOf(error) ?? 'kube-unavailable', detail: detailOf(error) || describeError(error) };
    if (next.code !== copy.reason?.code) log.warn('cannot watch, keeping what was read', { resource, ...errorFields(error) });
    copy.explain(next);
  };

  for (let attempt = 0; !signal.aborted;) {
    const startedAt = clock.monotonic();
    let delay = 0;
    let sound = true;
    try {
      await follow(options, copy, position, signal);
      metrics.watchStreams.inc({ resource, result: 'closed' });
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      if (options.endsWhenGone === true && statusOf(error) === 404) return;
      sound = false;
      delay = retryAfterOf(error) ?? 0;
    }
    attempt = sound && clock.monotonic() - startedAt >= soundAfterMs ? 0 : attempt + 1;
    if (attempt > 0) delay = Math.max(delay, backoff(attempt, retryAfter, random));
    // Rejects only when the signal aborts, which ends the loop.
    if (delay > 0) await sleep(clock, delay, signal).catch(() => undefined);
  }
}

/** Brings the copy up to date and follows one watch to its end. */
async function follow<T>(options: ReflectorOptions<T>, copy: ObjectSink<T>, position: Position, signal: AbortSignal): Promise<void> {
  if (position.version === undefined && options.clock.monotonic() >= position.streamsFrom) {
    if (await watchFromStart(options, copy, position, signal)) return;
    position.streamsFrom = options.clock.monotonic() + notServedMs;
  }
  if (position.version === undefined) await list(options, copy, position, signal);
  await watch(options, copy, position, undefined, signal);
}

async function list<T>(options: ReflectorOptions<T>, copy: ObjectSink<T>, position: Position, signal: AbortSignal): Promise<void> {
  const { client, path, query = {}, project } = options;
  let listed = await listAll(client, { path, query, newest: position.newest }, signal);
  // What a server has at hand may lack what it has not read yet: that there is nothing is believed of the newest alone.
  if (listed.items.length === 0 && !position.newest) listed = await listAll(client, { path, query, newest: true }, signal);
  const objects = new Map<string, T>();
  for (const object of listed.items) change(objects, { type: 'ADDED', object }, project);
  take(options, copy, position, objects, listed.version, 'list');
}

function take<T>(
  { clock, log, metrics, resource }: ReflectorOptions<T>,
  copy: ObjectSink<T>,
  position: Position,
  objects: Map<string, T>,
  version: string | undefined,
  way: 'list' | 'watch',
): void {
  position.version = version;
  position.newest = true;
  metrics.watchLists.inc({ resource, way });
  metrics.watchLastContact.set({ resource }, clock.now() / 1_000);
  log.debug('read all objects', { resource, way, objects: objects.size });
  copy.replace(objects);
}

/** That a watch begins with all objects. */
interface Initial {
  /** The server has accepted it. */
  onOpen(): void;
}

/** One watch; with `initial` the server sends all objects first, and they count when it says that this was all. */
async function watch<T>(
  options: ReflectorOptions<T>,
  copy: ObjectSink<T>,
  position: Position,
  initial: Initial | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { client, path, query, resource, project, clock, metrics, random = Math.random } = options;
  const seconds = Math.round(minWatchSeconds + random() * watchSecondsRange);
  const contact = (): void => metrics.watchLastContact.set({ resource }, clock.now() / 1_000);
  const start: Query =
    initial !== undefined ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : { resourceVersion: position.version };
  const events = client.watch(
    {
      path,
      query: { ...query, allowWatchBookmarks: true, timeoutSeconds: seconds, ...start },
      deadlineMs: seconds * 1_000 + graceMs,
      onOpen: () => {
        contact();
        if (initial === undefined) copy.explain(undefined);
        else initial.onOpen();
      },
    },
    signal,
  );
  let arriving = initial !== undefined ? new Map<string, T>() : undefined;
  for await (const event of events) {
    contact();
    if (event.type === 'ERROR') throw toError(event);
    const { resourceVersion: version, annotations } = event.object.metadata ?? {};
    if (arriving !== undefined && event.type === 'BOOKMARK' && annotations?.[initialEventsEnd] === 'true') {
      take(options, copy, position, arriving, version, 'watch');
      arriving = undefined;
    } else if (arriving !== undefined) {
      change(arriving, event, project);
    } else {
      if (version !== undefined) position.version = version;
      copy.apply(event);
    }
  }
}

/** A watch that begins with all objects. Returns false where that is not served. */
async function watchFromStart<T>(
  options: ReflectorOptions<T>,
  copy: ObjectSink<T>,
  position: Position,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log, resource } = options;
  const own = new AbortController();
  const onAbort = (): void => own.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const isComplete = (): boolean => position.version !== undefined;
  const giveUp = (): void => {
    if (!isComplete()) own.abort();
  };
  let alarm = clock.alarm(initialOpenMs, giveUp);
  const onOpen = (): void => {
    alarm.cancel();
    alarm = clock.alarm(initialEventsMs, giveUp);
  };
  try {
    await watch(options, copy, position, { onOpen }, own.signal);
    return isComplete();
  } catch (error) {
    if (signal.aborted || isComplete() || !(own.signal.aborted || isNotServed(error))) throw error;
    const detail = own.signal.aborted ? 'not in time' : detailOf(error);
    log.info('initial events of a watch are not served, listing instead', { resource, detail });
    return false;
  } finally {
    alarm.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** An ERROR event, as the error that the same Status would be as an answer. */
function toError({ object }: WatchEvent): Error {
  const { code } = object;
  return fromStatus('kube', typeof code === 'number' ? code : 500, JSON.stringify(object));
}

/**
 * 400 and 422: the server does not know them or has them switched off. 500 in the stream: its etcd is too old for them. Where it
 * is something else, a list says so too.
 */
function isNotServed(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 422 || status === 500;
}
