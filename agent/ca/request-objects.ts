// Certificates by objects of the API server: put a request there, follow it, take what comes of it, remove it. The one flow of
// the upstreams kubernetes-csr, pod-certificate and cert-manager. Called by the cache through ca/failover.ts.
// Promises: one object per identity and key, so that a retry finds the one before; requests of others and our own for one identity
// do not touch each other; every wait is bounded; what was made here is removed when it is taken, refused or too old, when its
// identity left, at the end of the process, and after a crash at the next start. What others asked for goes with their attempt.

import { statusOf } from '../kube/status.js';
import type { Metrics } from '../metrics.js';
import { SignetError, isRetryable, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { backoff, nextTurn, sleep, withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { CaClient, CaRequest } from './ca-client.js';
import { isOwnKey } from './ca-client.js';
import type { RequestCalls, RequestObject } from './request-calls.js';
import { createRequestCalls, requestName } from './request-calls.js';
import type { RequestKind, Verdict } from './request-kind.js';

export interface RequestObjectsOptions {
  /** The upstream, for logs and metrics. */
  readonly name: string;
  readonly node: string;
  /** The identities of this node, by URI: what waits for another one is removed. */
  readonly identities: Watched<ReadonlyMap<string, unknown>>;
  /** What answers may chain to. */
  readonly roots: Watched<readonly Certificate[]>;
  /** How long one attempt waits for an answer, in ms; the request stays for the next one. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface RequestObjectsClient extends CaClient {
  /** Removes what is left of former processes, then what grows old, and at the end all that waits. */
  run(signal: AbortSignal): Promise<void>;
}

/** What nobody answered in this time is made anew: it may have been overlooked. */
const maxAgeMs = 15 * 60_000;

/** What was approved and not signed in this time is made anew. */
const maxUnsignedMs = 60_000;

/** An identity that was refused is not asked for again in this time. */
const refusedMs = 60_000;

const lookEveryMs = 60_000;

/** How long the removal of all that waits may take at the end. */
const leaveMs = 800;

/** A request that is, or may be, at the API server. */
interface Held extends RequestObject {
  /** Its identity. */
  readonly uri: string;
  /** By the monotonic clock. */
  readonly since: number;
  /** `sent`: whether it is there is not known. */
  stage: 'new' | 'sent' | 'placed';
  /** When it was first seen approved; Infinity: not yet. */
  approvedAt: number;
  inUse: boolean;
}

export function createRequestObjects(kind: RequestKind, options: RequestObjectsOptions): RequestObjectsClient {
  const { name, node, identities, roots, waitMs, clock, metrics } = options;
  const calls = createRequestCalls(kind, node, waitMs);
  const removals = createRemovals(kind, calls, options);
  /** Both by what there is one request of at a time: our own for an identity, one of others for identity and key. */
  const held = new Map<string, Held>();
  const refusals = new Map<string, { readonly error: SignetError; readonly until: number }>();

  const isOld = ({ since, approvedAt }: Held): boolean =>
    clock.monotonic() - since >= maxAgeMs || clock.monotonic() - approvedAt >= maxUnsignedMs;

  const letGo = (slot: string, object: Held): void => {
    // At the end of the process both the request under way and the run let go of it.
    if (held.get(slot) !== object) return;
    held.delete(slot);
    metrics.caRequestObjects.set({ upstream: name }, held.size);
    if (object.stage !== 'new') removals.add(object);
  };

  /** What nobody will come back for. */
  const tidy = (): void => {
    const isOver = (object: Held): boolean => !object.inUse && (isOld(object) || !identities.value.has(object.uri));
    for (const [slot, object] of held) if (isOver(object)) letGo(slot, object);
    for (const [slot, { until }] of refusals) if (clock.monotonic() >= until) refusals.delete(slot);
  };

  /** The request of this identity and key; one of our own with a former key goes. */
  const hold = (slot: string, { id, key }: CaRequest): Held => {
    const wanted = requestName(id, key.publicKeySpki);
    const before = held.get(slot);
    if (before?.name === wanted) return before;
    if (before !== undefined) letGo(slot, before);
    const { namespace, uri } = id;
    const fresh: Held = { name: wanted, namespace, uri, since: clock.monotonic(), stage: 'new', approvedAt: Infinity, inUse: false };
    held.set(slot, fresh);
    metrics.caRequestObjects.set({ upstream: name }, held.size);
    return fresh;
  };

  const wait = async (object: Held, request: CaRequest, signal: AbortSignal): Promise<Answered> => {
    try {
      return await withDeadline(clock, waitMs, 'the answer to the request', signal, (own) => settle(calls, object, request, clock, own));
    } catch (error) {
      // A deadline with a reason is that of a call to the API server.
      throw kindOf(error) === 'deadline' && reasonOf(error) === undefined ? overdue(object, kind.signer, error) : error;
    }
  };

  return {
    name,
    subject: 'none',
    roots,
    serves: ({ key, caller }) => caller === undefined && (kind.takesAnyCsr || isOwnKey(key)),
    async request(request, accept, signal) {
      const isOwn = isOwnKey(request.key);
      const slot = isOwn ? request.id.uri : requestName(request.id, request.key.publicKeySpki);
      const refusal = refusals.get(slot);
      if (refusal !== undefined && clock.monotonic() < refusal.until) throw refusal.error;
      const object = hold(slot, request);
      object.inUse = true;
      let isOver = false;
      try {
        const verdict = await wait(object, request, signal);
        isOver = true;
        if (verdict.state === 'issued') {
          const { elements, refreshAt } = verdict;
          return accept({ elements, roots: roots.value, upstream: name, refreshAt });
        }
        const error = refused(verdict, object);
        refusals.set(slot, { error, until: clock.monotonic() + refusedMs });
        throw error;
      } catch (error) {
        // After a deadline we come back for our own; after a cancellation nobody does.
        const isGivenUp = !isOwn || (signal.aborted && kindOf(signal.reason) !== 'deadline');
        isOver ||= isGivenUp || object.stage === 'new' || reasonOf(error) === 'request-deleted' || isOld(object);
        throw error;
      } finally {
        object.inUse = false;
        if (isOver) letGo(slot, object);
      }
    },
    async run(signal) {
      let isSwept = !kind.removable;
      const isHeld = (object: RequestObject): boolean => [...held.values()].some((each) => each.name === object.name);
      identities.subscribe(tidy, signal);
      while (!signal.aborted) {
        isSwept ||= await removals.sweep(isHeld, signal);
        tidy();
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, lookEveryMs, signal).catch(() => undefined);
      }
      // Requests under way end first. The next process has no key for what waits.
      await nextTurn();
      for (const [slot, object] of held) letGo(slot, object);
      await removals.end();
    },
  };
}

const lookAgain = { minMs: 250, maxMs: 5_000 };

/** Follows a request until it has come to something, over as many watches as it takes. */
async function settle(calls: RequestCalls, object: Held, request: CaRequest, clock: Clock, signal: AbortSignal): Promise<Answered> {
  let seen = object.stage === 'placed' ? await calls.look(object, signal) : await place(calls, object, request, signal);
  for (let attempt = 1; ; attempt += 1) {
    for await (const verdict of calls.follow(object, seen, signal)) {
      if (verdict.state === 'approved') object.approvedAt = Math.min(object.approvedAt, clock.monotonic());
      else if (verdict.state !== 'pending') return verdict;
    }
    await sleep(clock, backoff(attempt, lookAgain), signal);
    seen = await calls.look(object, signal);
  }
}

async function place(calls: RequestCalls, object: Held, request: CaRequest, signal: AbortSignal) {
  object.stage = 'sent';
  try {
    const seen = await calls.create(object, request, signal);
    object.stage = 'placed';
    return seen;
  } catch (error) {
    if (statusOf(error) !== 409) {
      // What was refused is not there; of anything else nobody knows.
      if (!isRetryable(error) && kindOf(error) !== 'cancelled') object.stage = 'new';
      throw error;
    }
    // An attempt before made it and did not learn so.
    object.stage = 'placed';
    return await calls.look(object, signal);
  }
}

interface Removals {
  add(object: RequestObject): void;
  /** Removes what former processes left, all that is not held. Returns false when that has to be tried again. */
  sweep(isHeld: (object: RequestObject) => boolean, signal: AbortSignal): Promise<boolean>;
  /** Settles when all that were added are removed, or after a short while. */
  end(): Promise<void>;
}

const removeAgain = { minMs: 500, maxMs: 5_000 };
const removeAttempts = 4;

function createRemovals(kind: RequestKind, calls: RequestCalls, { name, clock, log }: RequestObjectsOptions): Removals {
  const underWay = new Set<Promise<unknown>>();
  const ending = new AbortController();
  let isWarned = false;

  const remove = async (object: RequestObject, signal: AbortSignal): Promise<boolean> => {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await calls.remove(object, signal);
        return true;
      } catch (error) {
        if (signal.aborted) break;
        if (!isRetryable(error) || attempt === removeAttempts) {
          log.warn('cannot remove a request object', { upstream: name, object: object.name, ...errorFields(error) });
          break;
        }
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, backoff(attempt, removeAgain), signal).catch(() => undefined);
      }
    }
    return false;
  };

  return {
    add(object) {
      if (!kind.removable) return;
      const removal = remove(object, ending.signal).finally(() => underWay.delete(removal));
      underWay.add(removal);
    },
    async sweep(isHeld, signal) {
      try {
        // What is put there meanwhile was held before it was; the list is looked at after it.
        const left = (await calls.list(signal)).filter((object) => !isHeld(object));
        if (left.length > 0) log.info('removing request objects of a former process', { upstream: name, objects: left.length });
        for (const object of left) if (!(await remove(object, signal))) return false;
        return true;
      } catch (error) {
        if (!isWarned && !signal.aborted) {
          log.warn('cannot look for request objects of a former process', { upstream: name, ...errorFields(error) });
        }
        isWarned = true;
        return false;
      }
    },
    async end() {
      const alarm = clock.alarm(leaveMs, () => ending.abort());
      await Promise.all(underWay);
      alarm.cancel();
    },
  };
}

type Answered = Exclude<Verdict, { readonly state: 'pending' } | { readonly state: 'approved' }>;

function overdue({ name, approvedAt }: Held, signer: string, cause: unknown): SignetError {
  const options = { cause, fields: { object: name, signer } };
  return approvedAt === Infinity
    ? new SignetError('deadline', 'nobody answered the request', { reason: 'request-unanswered', ...options })
    : new SignetError('deadline', 'the request was approved and not signed', { reason: 'request-unsigned', ...options });
}

/** A signer may say as much as it likes. */
const maxDetail = 300;

function refused({ state, detail }: Exclude<Answered, { readonly state: 'issued' }>, { name }: Held): SignetError {
  const fields = { object: name, detail: detail.slice(0, maxDetail) };
  return state === 'denied'
    ? new SignetError('denied', 'the request was denied', { reason: 'request-denied', fields })
    : new SignetError('invalid', 'the signer failed the request', { reason: 'request-failed', fields });
}
