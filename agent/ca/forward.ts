// Certificates for keys that are not ours: a CSR that somebody else made goes to the upstreams, and what comes back passes the
// checks of every answer. Called by the local CA, which has checked the caller, what it may ask for and the CSR.
// Promises: an answer or an error in bounded time, the wait for a turn included; one call at a time for an identity and key; the
// token of a caller is sent for that caller's own request and never again, and nobody fails by the token of another, or by its
// deadline; no certificate is handed out of which half the lifetime is over.

import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import { SignetError, kindOf, reasonOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant, withDeadline } from '../runtime/time.js';
import { createBoundedCall } from './bounded-call.js';
import type { CaAnswer, CaClient, CaRequest, Chain } from './ca-client.js';
import { acceptChain } from './ca-client.js';
import type { CallQueue, Priority, Turn } from './call-queue.js';
import { takeTurn } from './call-queue.js';
import { reasonOfFailure } from './failover.js';
import { Token } from './token.js';

/** Has a CSR that somebody else's key made signed by the upstreams. */
export interface CsrForwarder {
  /** Settles within its deadline. Rejects with a SignetError that has a reason, or with `cancelled` when the signal aborts. */
  forward(request: ForwardRequest, signal: AbortSignal): Promise<ForwardAnswer>;
}

export interface ForwardRequest {
  /** One of this node's, which the caller may ask for. */
  readonly id: SpiffeId;
  /** DER; signed by its own key, with exactly one name, the URI of `id`. */
  readonly csr: Buffer;
  /** SubjectPublicKeyInfo of the CSR, DER. */
  readonly publicKeySpki: Buffer;
  /** What is asked for, in ms, more than 0; the CA may give less. */
  readonly lifetimeMs: number;
  readonly caller: ForwardCaller;
  /** `waiting`: a connection waits for the certificate; `routine`: a renewal in time. */
  readonly priority: 'waiting' | 'routine';
}

/** Who asks, as the upstream would see it if it were asked directly. */
export interface ForwardCaller {
  /** Of the `authorization` header, without `Bearer`. Used for this one request and nothing else. */
  readonly token: string;
  /** Whether the request names the identity; otherwise the CA takes it from the token. */
  readonly impersonates: boolean;
  /** Of the header `clusterid`; undefined: there was none. */
  readonly clusterId: string | undefined;
}

export interface ForwardAnswer {
  /** Leaf first, each followed by its issuer, without the root. */
  readonly chain: Chain;
  /** Of the leaf, ms since the epoch. Half of its lifetime is still to come. */
  readonly notAfter: number;
  /** The upstream that gave it, for logs. */
  readonly upstream: string;
}

/** As whom the upstreams are asked: as the caller, with its token, or as for certificates of our own. */
export type ForwardAuth = 'caller' | 'upstream';

export interface CsrForwarderOptions {
  readonly ca: CaClient;
  /** Shared with the certificates of this agent. */
  readonly queue: CallQueue;
  readonly auth: ForwardAuth;
  /** For one request, the wait for its turn included, ms. Default 10 s. */
  readonly deadlineMs?: number;
  /** Requests under way before new ones are refused. Default 1024. */
  readonly maxUnderWay?: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** How a request was answered: by a call of its own, one that was under way, or one of a moment ago. */
type Way = 'called' | 'joined' | 'kept';

/** A call that others may join. */
interface Flight extends Turn<ForwardAnswer> {
  /** Aborts when nobody holds the call any more. */
  readonly left: AbortSignal;
  /** Keeps the call going until the signal aborts. */
  hold(signal: AbortSignal): void;
}

const priorities = { waiting: 'waited-for', routine: 'routine' } as const satisfies Record<ForwardRequest['priority'], Priority>;

export function createCsrForwarder(options: CsrForwarderOptions): CsrForwarder {
  const { queue, auth, deadlineMs = 10_000, maxUnderWay = 1_024, clock, metrics } = options;
  const call = createBoundedCall(options);
  const flights = new Map<string, Flight>();
  const recent = createRecentAnswers(clock);
  let underWay = 0;

  /** A call that lasts until whoever holds it has left. */
  const start = (request: ForwardRequest): Flight => {
    const name = nameOf(request);
    // Made before it waits: what is no token is no reason to take a turn.
    const wanted = toCaRequest(request, auth);
    const startedAt = clock.monotonic();
    const { left, hold } = createHold();
    const work = (): Promise<ForwardAnswer> => call(wanted, (answer) => check(answer, request, clock), left);
    const turn = takeTurn(queue, { priority: priorities[request.priority], group: 'forwarded' }, work, left);
    const end = (): boolean => flights.delete(name);
    const result = turn.result.then(
      (answer) => {
        end();
        recent.add(name, answer);
        return answer;
      },
      (error: unknown) => {
        end();
        throw error;
      },
    );
    const flight: Flight = {
      ...turn,
      result,
      left,
      // Those who come late join, but a call that hangs ends however many follow.
      hold: (signal) => {
        if (clock.monotonic() - startedAt < deadlineMs) hold(signal);
      },
    };
    flights.set(name, flight);
    return flight;
  };

  const obtain = async (request: ForwardRequest, signal: AbortSignal): Promise<readonly [Way, ForwardAnswer]> => {
    for (;;) {
      const kept = recent.get(nameOf(request));
      if (kept !== undefined) return ['kept', kept];
      const flight = flights.get(nameOf(request));
      if (flight === undefined) {
        const own = start(request);
        own.hold(signal);
        return ['called', await own.result];
      }
      if (request.priority === 'waiting') flight.move(priorities.waiting);
      // The token of one caller is not used for another.
      if (auth === 'upstream') flight.hold(signal);
      try {
        return ['joined', await flight.result];
      } catch (error) {
        // What another was refused, by its token or because it left, is no answer for this one.
        if (signal.aborted || (auth === 'upstream' && !flight.left.aborted)) throw error;
      }
    }
  };

  return {
    async forward(request, signal) {
      if (underWay >= maxUnderWay) {
        metrics.forwards.inc({ way: '', upstream: '', result: 'exhausted' });
        throw new SignetError('exhausted', 'too many requests are under way', { reason: 'forward-limit' });
      }
      underWay += 1;
      const startedAt = clock.monotonic();
      try {
        const [way, answer] = await withDeadline(clock, deadlineMs, 'the certificate', signal, (inner) => obtain(request, inner));
        metrics.forwards.inc({ way, upstream: answer.upstream, result: 'ok' });
        return answer;
      } catch (error) {
        const kind = kindOf(error);
        metrics.forwards.inc({ way: '', upstream: '', result: kind });
        if (kind === 'cancelled' || reasonOf(error) !== undefined) throw error;
        throw new SignetError(kind, 'forward the request', { cause: error, reason: reasonOfFailure(error) });
      } finally {
        underWay -= 1;
        metrics.forwardSeconds.observe((clock.monotonic() - startedAt) / 1_000);
      }
    },
  };
}

function createHold(): Pick<Flight, 'left' | 'hold'> {
  const end = new AbortController();
  let holders = 0;
  return {
    left: end.signal,
    hold(signal) {
      holders += 1;
      const leave = (): void => {
        holders -= 1;
        if (holders === 0) end.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    },
  };
}

const nameOf = ({ id, publicKeySpki }: ForwardRequest): string => `${id.uri} ${publicKeySpki.toString('base64')}`;

function toCaRequest({ id, csr, publicKeySpki, lifetimeMs, caller }: ForwardRequest, auth: ForwardAuth): CaRequest {
  const request = { id, csr, key: { publicKeySpki }, lifetimeMs };
  return auth === 'caller' ? { ...request, caller: { ...caller, token: new Token(caller.token) } } : request;
}

function check({ elements, roots, upstream }: CaAnswer, { id, publicKeySpki }: ForwardRequest, clock: Clock): ForwardAnswer {
  const now = clock.now();
  const chain = acceptChain(elements, { id, key: { publicKeySpki }, roots, now });
  const [{ notBefore, notAfter }] = chain;
  const answer = { chain, notAfter, upstream };
  if (now < halfOf(answer)) return answer;
  throw new SignetError('invalid', 'half the lifetime is over', {
    reason: 'forward-half-past',
    fields: { notBefore: formatInstant(notBefore), notAfter: formatInstant(notAfter) },
  });
}

/** When clients such as ztunnel come back for the next: half of the lifetime, counted from notBefore. */
function halfOf({ chain: [{ notBefore, notAfter }] }: ForwardAnswer): number {
  return notBefore + (notAfter - notBefore) / 2;
}

/** So many answers are kept, and so long, in ms, for a caller whose answer was lost on its way. */
const maxKept = 256;
const keptMs = 60_000;

/** Answers of a moment ago; an answer that is not fit to be handed out any more is none. */
function createRecentAnswers(clock: Clock) {
  const kept = new Map<string, { readonly answer: ForwardAnswer; readonly until: number }>();
  return {
    add(name: string, answer: ForwardAnswer): void {
      // The oldest is the first.
      kept.delete(name);
      kept.set(name, { answer, until: clock.monotonic() + keptMs });
      const [oldest] = kept.keys();
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    },
    get(name: string): ForwardAnswer | undefined {
      const entry = kept.get(name);
      if (entry === undefined) return undefined;
      if (clock.monotonic() < entry.until && clock.now() < halfOf(entry.answer)) return entry.answer;
      kept.delete(name);
      return undefined;
    },
  };
}
