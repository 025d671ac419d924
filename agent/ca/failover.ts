// Several upstreams as one CA: the first that works signs. Called by the certificate cache and the forwarder of CSRs; the clients
// are made by upstreams.ts.
// Promises: an endpoint that fails is left out, tried again after a growing pause by one call, and used again as soon as it
// answers; when all fail, each is met by one call at a time, never by a storm; a refusal is final for its upstream and passed on
// to the next, which makes its own checks; every answer is judged by the roots of whoever gave it; nobody can take an endpoint from
// the others by a request that it fails at.

import type { Metrics } from '../metrics.js';
import { SignetError, describeError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { detailOfError, errorFields } from '../runtime/log.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue, joinWatched, mapWatched } from '../runtime/watched.js';
import type { CaAnswer, CaClient, CaRequest } from './ca-client.js';
import { forwardUnserved, isOwnKey } from './ca-client.js';
import type { UnusableAnswers } from './unusable-answers.js';
import { createUnusableAnswers } from './unusable-answers.js';

export interface FailoverOptions {
  /** In order of preference, at least one. Endpoints of one upstream have one name. */
  readonly clients: readonly [CaClient, ...CaClient[]];
  /** How long the caller waits for the whole, in ms: a client that hangs leaves half of it for the next. */
  readonly deadlineMs: number;
  /** Those of this node, by URI. */
  readonly identities: Watched<ReadonlyMap<string, unknown>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Source of jitter, 0 ≤ x < 1. Default Math.random. */
  readonly random?: () => number;
}

export interface Failover extends CaClient {
  readonly health: readonly EndpointHealth[];
}

/** How one client is. */
export interface EndpointHealth {
  readonly name: string;
  /** Why it is left out; undefined while it is not. */
  readonly reason: Watched<Reason | undefined>;
  /** Why what it answers is of no use to some identity of this node. */
  unusable(): Reason | undefined;
}

/** How long an endpoint is left out after failures. */
const pause = { minMs: 500, maxMs: 30_000 };

/** Faults of an endpoint, whoever is asked for. Others are those of the upstream, the request or this node. */
const endpointFaults: ReadonlySet<ReasonCode> = new Set([
  'ca-unavailable',
  'ca-deadline',
  'ca-failed',
  'ca-root-unknown',
  'ca-name-mismatch',
  'ca-tls',
]);

/** What an endpoint that works says. */
const refusals: ReadonlySet<ReasonCode> = new Set([
  'ca-unauthenticated',
  'ca-impersonation-refused',
  'ca-cluster-unknown',
  'ca-denied',
  'ca-lifetime-refused',
  'ca-refused-request',
]);

/** The same request is no better elsewhere. */
const requestFaults: ReadonlySet<ReasonCode> = new Set(['ca-lifetime-refused', 'ca-refused-request']);

export function createFailover(options: FailoverOptions): Failover {
  const { clients, clock, log, metrics, deadlineMs } = options;
  const targets = clients.map((client) => createTarget(client, options));
  let used = clients[0].name;

  const attempt = async <T>(
    target: Target,
    isLast: boolean,
    request: CaRequest,
    accept: (answer: CaAnswer) => T,
    signal: AbortSignal,
  ): Promise<T> => {
    const { client } = target;
    const done = target.begin();
    try {
      const result = await (isLast
        ? client.request(request, accept, signal)
        : withDeadline(clock, deadlineMs / 2, 'the call to the ca', signal, (inner) => client.request(request, accept, inner)));
      done(undefined, false);
      target.answers.note(request.id.uri, undefined);
      metrics.caRequests.inc({ upstream: client.name, result: 'ok' });
      if (used !== client.name) log.info('certificates come from another upstream', { upstream: client.name, before: used });
      used = client.name;
      return result;
    } catch (error) {
      // The end of the caller's patience is told to the client as an abort.
      const cause = signal.aborted ? signal.reason : error;
      done(cause, isEndpointFault(cause) && (isOwnKey(request.key) || reasonOf(cause) !== 'ca-failed'));
      target.answers.note(request.id.uri, cause);
      metrics.caRequests.inc({ upstream: client.name, result: kindOf(cause) });
      throw error;
    }
  };

  return {
    name: 'failover',
    subject: clients[0].subject,
    roots: mapWatched(joinWatched(clients.map(({ roots }) => roots)), (all) => all.flat()),
    health: targets.map(({ client, reason, answers }) => ({
      name: client.endpoint === undefined ? client.name : `${client.name} ${client.endpoint}`,
      reason,
      unusable: () => answers.reason(),
    })),
    async request(request, accept, signal) {
      const failures: Failure[] = [];
      const given = new Set<string>();
      const serving = targets.filter(({ client }) => client.serves?.(request) ?? true);
      if (serving.length === 0) throw forwardUnserved();
      for (const target of candidates(serving, given)) {
        const upstream = target.client.name;
        const isLast = !serving.slice(serving.indexOf(target) + 1).some((later) => later.admits());
        try {
          return await attempt(target, isLast, request, accept, signal);
        } catch (error) {
          const reason = reasonOf(error);
          if (signal.aborted || (reason !== undefined && requestFaults.has(reason))) throw error;
          failures.push({ upstream, error });
          if (!isEndpointFault(error)) given.add(upstream);
        }
      }
      throw conclude(failures, serving);
    },
  };
}

interface Failure {
  readonly upstream: string;
  readonly error: unknown;
}

/** The reason of an error, or that of its kind. */
export function reasonOfFailure(error: unknown): ReasonCode {
  return reasonOf(error) ?? (kindOf(error) === 'deadline' ? 'ca-deadline' : 'ca-unavailable');
}

function isEndpointFault(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === undefined ? ['deadline', 'unavailable', 'internal'].includes(kindOf(error)) : endpointFaults.has(reason);
}

/**
 * Whom to ask, each looked at when its turn comes, and those that were left out then once more at the end: they may answer again.
 * When all are left out: the one that is due first, unless a call is trying it. `given` grows meanwhile: upstreams that had their say.
 */
function* candidates(targets: readonly Target[], given: ReadonlySet<string>): Generator<Target> {
  const asked = new Set<Target>();
  for (const target of [...targets, ...targets]) {
    if (asked.has(target) || given.has(target.client.name) || !target.admits()) continue;
    asked.add(target);
    yield target;
  }
  if (asked.size > 0) return;
  const [first] = targets.filter((target) => !target.isProbed()).sort((a, b) => a.openUntil() - b.openUntil());
  if (first !== undefined) yield first;
}

/** The most preferred upstream explains the failure; the others are named beside it. */
function conclude(failures: readonly Failure[], targets: readonly Target[]): unknown {
  const [first, ...more] = failures;
  if (first === undefined) {
    const cause = targets.map((target) => target.lastError()).find((error) => error !== undefined);
    return new SignetError('unavailable', 'every ca failed, another call is trying', cause === undefined ? {} : { cause });
  }
  if (more.length === 0) return first.error;
  const others = more.map(({ upstream, error }) => `${upstream}: ${describeError(error)}`);
  return new SignetError(kindOf(first.error), 'no upstream gave a certificate', { cause: first.error, fields: { others } });
}

interface Target {
  readonly client: CaClient;
  readonly reason: Watched<Reason | undefined>;
  readonly answers: UnusableAnswers;
  /** Whether a call may use it now. */
  admits(): boolean;
  /** Whether it is left out and a call is trying it. */
  isProbed(): boolean;
  /** By the monotonic clock. */
  openUntil(): number;
  lastError(): unknown;
  /** A call begins; the function is told how it ended, and whether the endpoint is to blame. */
  begin(): (error: unknown, isFault: boolean) => void;
}

// The breaker: closed (failures is 0), or open until an instant, after which one call probes it.
function createTarget(client: CaClient, { identities, clock, log, metrics, random = Math.random }: FailoverOptions): Target {
  const fields = { upstream: client.name, endpoint: client.endpoint ?? '' };
  const reason = new WatchedValue<Reason | undefined>(undefined);
  let failures = 0;
  let openUntil = -Infinity;
  let probes = 0;
  let lastError: unknown;
  metrics.caEndpointUp.set(fields, 1);

  const close = (): void => {
    if (failures === 0) return;
    failures = 0;
    lastError = undefined;
    reason.set(undefined);
    metrics.caEndpointUp.set(fields, 1);
    log.info('ca endpoint answers again', fields);
  };

  const open = (error: unknown): void => {
    failures += 1;
    lastError = error;
    openUntil = clock.monotonic() + backoff(failures, pause, random);
    const code = reasonOfFailure(error);
    metrics.caEndpointUp.set(fields, 0);
    if (reason.value?.code !== code) log.warn('ca endpoint left out after a failure', { ...fields, ...errorFields(error), reason: code });
    reason.set({ code, detail: detailOfError(error) });
  };

  return {
    client,
    reason,
    answers: createUnusableAnswers({ identities, roots: client.roots }),
    admits: () => failures === 0 || (clock.monotonic() >= openUntil && probes === 0),
    isProbed: () => failures > 0 && probes > 0,
    openUntil: () => openUntil,
    lastError: () => lastError,
    begin() {
      const isProbe = failures > 0;
      if (isProbe) probes += 1;
      return (error, isFault) => {
        if (isProbe) probes -= 1;
        const code = reasonOf(error);
        if (error === undefined || (code !== undefined && refusals.has(code))) close();
        // Of calls that began together the first counts.
        else if (isFault && (isProbe || failures === 0)) open(error);
      };
    },
  };
}
