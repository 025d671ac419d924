// Request objects of the API server that wait for one signer, each answered once: found by list and watch, read anew, decided and
// written. Run by request-signers.ts in one replica, the one with the Lease where there is one. That is for quiet alone, since
// replicas with an issuer from files need no Lease: an answer is written to the version of the object that was decided on, so that of
// several replicas one succeeds, and what the others signed meanwhile is never seen. Promises: what waits is kept as a name, and read
// when its turn comes; so many are under way at once, each with a deadline; what fails is tried again later, for as long as it is there.

import type { KubeClient, KubeObject } from '../kube/client.js';
import type { Reflector, ReflectorOptions } from '../kube/reflector.js';
import { createReflector } from '../kube/reflector.js';
import { followServed } from '../kube/served-version.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { Bell } from '../runtime/bell.js';
import { watchChanges } from '../runtime/bell.js';
import { describeError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields, reasonFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';

/** What is particular to one kind of request objects and one signer. */
export interface RequestKind {
  /** `certificatesigningrequests`, `podcertificaterequests` */
  readonly resource: string;
  /** `spec.signerName` of what is looked at. */
  readonly signerName: string;
  /** Path of the API group in the version that is served, `/apis/…`; undefined where none is. Throws like `KubeClient.request`. */
  group(signal: AbortSignal): Promise<string | undefined>;
  /** Whether it is not answered yet. */
  isWaiting(object: KubeObject): boolean;
  /** Decides and writes the answer. What it throws is no decision: the request is tried again. */
  answer(object: KubeObject, path: string, signal: AbortSignal): Promise<void>;
}

export interface RequestLoopOptions {
  readonly client: KubeClient;
  /** Of one request, from its reading to its answer, in ms. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReflectorOptions<unknown>['metrics'] & Pick<AuthorityMetrics, 'requestsWaiting'>;
}

export interface RequestLoop {
  /** Why requests are not answered. */
  readonly reason: Watched<Reason | undefined>;
  /** Settles when no request is under way any more. As many as are listen to the signal. */
  run(signal: AbortSignal): Promise<void>;
}

const maxUnderWay = 16;
const retryAfter = { minMs: 500, maxMs: 60_000 };
const askGroupAgain = { minMs: 1_000, maxMs: 300_000 };
const lookEveryMs = 60_000;

/** The watch brings our answer back by then; else it is looked at once more. */
const settledWithinMs = 30_000;

interface Named {
  readonly namespace: string | undefined;
  readonly name: string;
}

export function createRequestLoop(kind: RequestKind, options: RequestLoopOptions): RequestLoop {
  const { clock } = options;
  const log = options.log.child({ resource: kind.resource, signer: kind.signerName });
  const reason = new WatchedValue<Reason | undefined>(undefined);
  /** Of the last answer; one fault may be that of all requests, so it is told once. */
  let fault: Reason | undefined;

  const onMissing = (error: unknown): void => {
    const unserved: Reason = { code: 'request-unserved', detail: kind.resource };
    note(log, reason, error === undefined ? unserved : { code: reasonOf(error) ?? 'kube-unavailable', detail: describeError(error) });
  };

  /** Answers what waits there until the signal aborts, or the API server does not serve the group in this version any more. */
  const serve = async (group: string, outer: AbortSignal): Promise<void> => {
    const gone = new AbortController();
    const signal = AbortSignal.any([outer, gone.signal]);
    const waiting = watchRequests(kind, group, options);
    const tell = (): void => reason.set(waiting.snapshot.value.reason ?? fault);
    const onAnswer = (error: unknown, path: string): void => {
      if (error !== undefined && fault === undefined) log.warn('cannot answer a request yet', { path, ...errorFields(error) });
      fault = error === undefined ? undefined : { code: 'requests-unanswered', detail: describeError(error) };
      tell();
    };
    waiting.snapshot.subscribe(tell, signal);
    const watching = waiting.run(signal).finally(() => gone.abort());
    await Promise.all([watching, answerAll(kind, { ...options, log, group, waiting, onAnswer, signal })]);
  };

  return {
    reason,
    async run(signal) {
      await followServed({ find: (own) => kind.group(own), use: serve, onMissing, pause: askGroupAgain, clock }, signal);
      // It is for another replica to say.
      reason.set(undefined);
    },
  };
}

function note(log: Logger, reason: WatchedValue<Reason | undefined>, next: Reason): void {
  if (reason.value?.code !== next.code) log.warn('cannot follow requests yet', reasonFields(next));
  reason.set(next);
}

function isWaitingForUs({ signerName, isWaiting }: RequestKind, object: KubeObject): boolean {
  return (object['spec'] as { readonly signerName?: unknown } | undefined)?.signerName === signerName && isWaiting(object);
}

function watchRequests(kind: RequestKind, group: string, options: RequestLoopOptions): Reflector<Named> {
  const { resource, signerName } = kind;
  return createReflector<Named>({
    ...options,
    path: `${group}/${resource}`,
    query: { fieldSelector: `spec.signerName=${signerName}` },
    resource,
    project: (object) =>
      isWaitingForUs(kind, object) && object.metadata?.name !== undefined
        ? { namespace: object.metadata.namespace, name: object.metadata.name }
        : undefined,
    endsWhenGone: true,
    unread: { code: 'requests-unread', detail: resource },
  });
}

interface AnswerAll extends RequestLoopOptions {
  readonly group: string;
  readonly waiting: Reflector<Named>;
  /** Called with the fault, if there was one, of each request that was looked at. */
  readonly onAnswer: (fault: unknown, path: string) => void;
  readonly signal: AbortSignal;
}

/** Starts what is due whenever something changed, until the signal aborts, and waits for what is under way. */
async function answerAll(kind: RequestKind, options: AnswerAll): Promise<void> {
  const { group, waiting, onAnswer, clock, metrics, signal } = options;
  const changes = watchChanges(waiting.snapshot, clock, signal);
  const underWay = new Map<string, Promise<void>>();
  /** By UID: how often it failed, and when (monotonic) it is due again. */
  const tried = new Map<string, { readonly failures: number; readonly dueAt: number }>();

  const start = (uid: string, { namespace, name }: Named): void => {
    const path = `${group}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${kind.resource}/${name}`;
    const failures = (tried.get(uid)?.failures ?? 0) + 1;
    const settled = (next: { readonly failures: number; readonly inMs: number }, fault?: unknown): void => {
      tried.set(uid, { failures: next.failures, dueAt: clock.monotonic() + next.inMs });
      underWay.delete(uid);
      // Another replica, or another controller, wrote in between: the next look tells what.
      if (!signal.aborted && kindOf(fault) !== 'conflict') onAnswer(fault, path);
      changes.ring();
    };
    underWay.set(
      uid,
      answerOne(kind, options, path).then(
        () => settled({ failures: 0, inMs: settledWithinMs }),
        (error: unknown) => settled({ failures, inMs: backoff(failures, retryAfter) }, error),
      ),
    );
  };
  /** Tells how long there is nothing more to do. */
  const startDue = (): number => {
    const { objects } = waiting.snapshot.value;
    metrics.requestsWaiting.set({ resource: kind.resource, signer: kind.signerName }, objects.size);
    for (const uid of tried.keys()) if (!objects.has(uid)) tried.delete(uid);
    let delayMs = lookEveryMs;
    for (const [uid, request] of objects) {
      // One that ends rings.
      if (underWay.size >= maxUnderWay) return lookEveryMs;
      const dueInMs = (tried.get(uid)?.dueAt ?? -Infinity) - clock.monotonic();
      if (underWay.has(uid)) continue;
      if (dueInMs <= 0) start(uid, request);
      else delayMs = Math.min(delayMs, dueInMs);
    }
    return delayMs;
  };
  await pace(changes, startDue, signal);
  await Promise.all(underWay.values());
  metrics.requestsWaiting.set({ resource: kind.resource, signer: kind.signerName }, 0);
}

async function pace(changes: Bell, startDue: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await changes.wait(startDue());
}

/** Rejects when it has to be tried again. */
async function answerOne(kind: RequestKind, { client, deadlineMs, clock, signal }: AnswerAll, path: string): Promise<void> {
  try {
    await withDeadline(clock, deadlineMs, 'the answer to a request', signal, async (own) => {
      const object = (await client.request({ path }, own)) as KubeObject;
      if (isWaitingForUs(kind, object)) await kind.answer(object, path, own);
    });
  } catch (error) {
    // Whoever asked does not wait any more.
    if (kindOf(error) !== 'notFound') throw error;
  }
}
