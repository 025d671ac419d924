// One SDS stream: connects a call to its reducer and to the offers for its names. Created by service.ts for each call, ended
// by its client, by a fault, by the end of the peer's grant or by the drain. At most one response is being written at a time,
// so a client that does not read costs one response, and gets the newest state when it reads again. No timer while idle.

import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Metrics } from '../metrics.js';
import type { Fields } from '../runtime/errors.js';
import { SignetError, toWireStatus } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { formatReason } from '../runtime/reasons.js';
import type { Alarm, Clock } from '../runtime/time.js';
import { formatUserAgent, readClientInfo } from './client-info.js';
import { deltaNext, deltaRequest } from './delta.js';
import type { Peer } from './grant.js';
import type { Account, Admission, SdsLimits } from './limits.js';
import type { Target } from './names.js';
import { maxNameLength, resolveName } from './names.js';
import type { Offer, Secrets } from './offer.js';
import type { Refusals } from './refusals.js';
import type { EncodedSecret, Protocol } from './secret.js';
import { encodeResponse } from './secret.js';
import type { SecretIndex } from './secret-index.js';
import { sotwNext, sotwRequest } from './sotw.js';
import type { StallWatch } from './stall-watch.js';
import { StreamLog } from './stream-log.js';
import type { Demand, Output, StreamState, Subscription } from './subscriptions.js';
import { createStreamState, setOffer } from './subscriptions.js';
import type { DeltaDiscoveryRequest, DiscoveryRequest, Received } from './wire.js';
import { oversized, secretTypeUrl } from './wire.js';

/** What all streams share. */
export interface StreamContext {
  readonly secrets: Secrets;
  readonly index: SecretIndex;
  readonly admission: Admission;
  readonly refusals: Refusals;
  readonly stalls: StallWatch<SdsStream>;
  readonly limits: SdsLimits;
  readonly holdMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Counters of the protocols with their labels bound: they are touched for every message. */
  readonly counters: Readonly<Record<Protocol, StreamCounters>>;
  /** The stream is gone for good. */
  readonly onClosed: (stream: SdsStream) => void;
}

export interface StreamCounters {
  readonly responses: { inc(): void };
  readonly requests: Readonly<Record<Demand['kind'], { inc(): void }>>;
}

export type SdsCall =
  | { readonly protocol: 'sotw'; readonly stream: ServerDuplexStream<Received<DiscoveryRequest>, Buffer> }
  | { readonly protocol: 'delta'; readonly stream: ServerDuplexStream<Received<DeltaDiscoveryRequest>, Buffer> };

/** One name of a stream as the admin socket shows it. */
export interface NameSnapshot {
  readonly name: string;
  readonly state: 'waiting' | 'unknown' | 'denied' | 'sent' | 'acked' | 'nacked';
  readonly version: string;
  /** What the client said when it refused the secret, cut to 1 KiB; else empty. */
  readonly message: string;
}

/** One stream as the admin socket shows it. */
export interface StreamSnapshot {
  readonly protocol: Protocol;
  readonly peer: Fields;
  readonly nodeId: string;
  readonly userAgent: string;
  /** How many names are subscribed; `names` holds at most 32 of them. */
  readonly nameCount: number;
  readonly names: readonly NameSnapshot[];
}

interface Watch {
  target: Target;
  offer: Offer | undefined;
  stop: () => void;
  /** Whether the first hand-out of its key was recorded. */
  recorded: boolean;
}

interface Write {
  readonly secrets: readonly EncodedSecret[];
  /** A response of this stream alone, to be wiped; undefined = the shared one. */
  readonly own: Buffer | undefined;
}

const namesShown = 32;
const undecided: Target = { kind: 'undecided', reason: { code: 'peer-no-identity', detail: '' } };

export class SdsStream {
  readonly peer: Peer;
  readonly #context: StreamContext;
  readonly #account: Account;
  readonly #log: StreamLog;
  readonly #call: SdsCall;
  readonly #state = createStreamState();
  readonly #watches = new Map<string, Watch>();
  #write: Write | undefined;
  #ended = false;
  /** True while an event is handled whose effects are to be sent together. */
  #batching = false;
  #alarm: Alarm | undefined;
  #alarmAt = Infinity;
  #stopGrant = (): void => {};
  #stopIdentities: (() => void) | undefined;

  constructor(context: StreamContext, call: SdsCall, peer: Peer, account: Account) {
    this.#context = context;
    this.#call = call;
    this.peer = peer;
    this.#account = account;
    this.#log = new StreamLog(context, peer, account);
  }

  /** Takes requests from now on. */
  start(): void {
    const { protocol, stream } = this.#call;
    this.#context.metrics.streams.inc({ protocol });
    if (protocol === 'sotw') stream.on('data', (request: Received<DiscoveryRequest>) => this.#receive(request, readSotw));
    else stream.on('data', (request: Received<DeltaDiscoveryRequest>) => this.#receive(request, readDelta));
    stream.once('end', () => this.end());
    // Comes once after every end: trailers sent, reset by the client, or connection gone.
    stream.once('cancelled', () => this.#close());
    let first = true;
    this.#stopGrant = this.peer.grant.subscribe(() => {
      if (!first) this.#resolveAgain(() => true);
      first = false;
    });
  }

  /** Ends the stream: with OK, or with the status of the error. Idempotent. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
    if (error === undefined) {
      this.#call.stream.end();
      return;
    }
    this.#log.ended(error);
    this.#call.stream.emit('error', toWireStatus(error));
  }

  /** For the stall watch: the client does not read. */
  stalled(): void {
    this.end(this.#context.admission.refuse('stalled-write'));
  }

  snapshot(): StreamSnapshot {
    const names: NameSnapshot[] = [];
    for (const subscription of this.#state.subscriptions.values()) {
      if (names.length === namesShown) break;
      const { name, sent, message } = subscription;
      names.push({ name, state: stateOf(subscription), version: sent, message });
    }
    return {
      protocol: this.#call.protocol,
      peer: this.peer.fields,
      nodeId: this.#log.client?.nodeId ?? '',
      userAgent: this.#log.client === undefined ? '' : formatUserAgent(this.#log.client),
      nameCount: this.#state.subscriptions.size,
      names,
    };
  }

  #receive<R extends DiscoveryRequest | DeltaDiscoveryRequest>(request: Received<R>, read: ReadDemand<R>): void {
    this.#handle(() => {
      if (request === oversized) throw this.#context.admission.refuse('message');
      if (request.typeUrl !== '' && request.typeUrl !== secretTypeUrl) {
        throw new SignetError('invalid', `type url is not ${secretTypeUrl}`);
      }
      this.#log.client ??= readClientInfo(request.node);
      this.#apply(read(this.#state, request, this.#context.clock.monotonic()));
    });
  }

  #apply(demand: Demand): void {
    const { admission, counters, limits } = this.#context;
    counters[this.#call.protocol].requests[demand.kind].inc();
    for (const { name, version } of demand.refused?.secrets ?? []) {
      if (version !== '') this.#context.refusals.add(this.peer.key, name, version);
    }
    if (demand.refused !== undefined) this.#log.refused(demand.refused);
    for (const name of demand.unwatch) this.#unwatch(name);
    if (this.#state.subscriptions.size > limits.namesPerStream) throw admission.refuse('names-per-stream');
    if (demand.watch.some((name) => name.length > maxNameLength)) throw new SignetError('invalid', 'a name is too long');
    for (const name of demand.watch) {
      admission.addNames(this.#account, 1);
      this.#watches.set(name, { target: undecided, offer: undefined, stop: () => {}, recorded: false });
      this.#resolve(name);
    }
    this.#log.resolved(this.#targets(demand.watch));
  }

  #resolve(name: string): void {
    const watch = this.#watches.get(name);
    if (watch === undefined) return;
    const { index, secrets } = this.#context;
    const target = resolveName(name, this.peer.grant.value, secrets);
    if (watch.offer !== undefined && equalTargets(target, watch.target)) return;
    const stopOld = watch.stop;
    watch.target = target;
    watch.stop = index.watch(target, name, (offer) => this.#handle(() => this.#takeOffer(name, watch, offer)));
    stopOld();
    if (target.kind === 'undecided') this.#followIdentities();
  }

  *#targets(names: readonly string[]): Generator<readonly [string, Target]> {
    for (const name of names) {
      const watch = this.#watches.get(name);
      if (watch !== undefined) yield [name, watch.target];
    }
  }

  #resolveAgain(which: (watch: Watch) => boolean): void {
    this.#handle(() => {
      const names = [...this.#watches].filter(([, watch]) => which(watch)).map(([name]) => name);
      for (const name of names) this.#resolve(name);
      this.#log.resolved(this.#targets(names));
    });
  }

  // `default` of a delegate on an empty node means the first identity that comes; only that needs the list of identities.
  #followIdentities(): void {
    if (this.#stopIdentities !== undefined) return;
    let first = true;
    this.#stopIdentities = this.#context.secrets.identities.subscribe(() => {
      if (!first) this.#resolveAgain((watch) => watch.target.kind === 'undecided');
      first = false;
    });
  }

  #takeOffer(name: string, watch: Watch, offer: Offer): void {
    const { metrics, refusals, secrets } = this.#context;
    const before = watch.offer;
    watch.offer = offer;
    this.#countAwaited(before, offer);
    if (offer.status === 'waiting' && before?.status !== 'waiting' && watch.target.kind === 'identity') secrets.urgent(watch.target.uri);
    if (offer.status === 'absent' && before?.status === 'ready' && this.#call.protocol === 'sotw') metrics.sdsIdentityGone.inc();
    setOffer(this.#state, name, offer, offer.status === 'ready' ? refusals.find(this.peer.key, name) : undefined);
    if (offer.status === 'ready' && this.#write !== undefined) metrics.sdsResponsesHeld.inc();
  }

  #countAwaited(before: Offer | undefined, after: Offer | undefined): void {
    const change = Number(isAwaited(after)) - Number(isAwaited(before));
    if (change !== 0) this.#context.metrics.sdsNamesWaiting.inc(change);
  }

  #unwatch(name: string): void {
    const watch = this.#watches.get(name);
    if (watch === undefined) return;
    watch.stop();
    this.#watches.delete(name);
    this.#countAwaited(watch.offer, undefined);
    this.#context.admission.removeNames(this.#account, 1);
  }

  /** Runs one event and sends what follows from it; a fault ends this stream and nothing else. */
  #handle(event: () => void): void {
    if (this.#ended) return;
    if (this.#batching) {
      event();
      return;
    }
    this.#batching = true;
    try {
      event();
      this.#flush();
    } catch (error) {
      this.end(error);
    } finally {
      this.#batching = false;
    }
  }

  #flush(): void {
    if (this.#ended || this.#write !== undefined) return;
    const { clock, holdMs } = this.#context;
    const now = clock.monotonic();
    const output = this.#call.protocol === 'sotw' ? sotwNext(this.#state, now) : deltaNext(this.#state, now, holdMs);
    this.#arm(output.kind === 'wait' ? output.until : Infinity, now);
    if (output.kind === 'send') this.#send(output);
    if (output.kind === 'end') {
      throw new SignetError('denied', formatReason(output.reason), { reason: output.reason.code });
    }
  }

  #send(output: Extract<Output, { kind: 'send' }>): void {
    const { counters, metrics, stalls } = this.#context;
    const { protocol, stream } = this.#call;
    const [only] = output.secrets;
    const shared = only !== undefined && output.nonce === String(only.edition) ? only.response(protocol) : undefined;
    const bytes = shared ?? encodeResponse(protocol, output.nonce, output.secrets, output.removed);
    for (const secret of output.secrets) {
      secret.use();
      const watch = this.#watches.get(secret.name);
      if (watch === undefined || secret.certificate === undefined) continue;
      this.#log.handedOut(secret.name, secret.certificate, !watch.recorded);
      watch.recorded = true;
    }
    counters[protocol].responses.inc();
    if (output.removed.length > 0) metrics.sdsRemovals.inc(output.removed.length);
    this.#write = { secrets: output.secrets, own: shared === undefined ? bytes : undefined };
    stalls.begin(this);
    stream.write(bytes, this.#onWritten);
  }

  readonly #onWritten = (): void => {
    this.#finishWrite();
    if (this.#state.dirty.size > 0 || this.#state.denied > 0) this.#handle(() => {});
  };

  #finishWrite(): void {
    if (this.#write === undefined) return;
    this.#context.stalls.end(this);
    this.#write.own?.fill(0);
    for (const secret of this.#write.secrets) secret.release();
    this.#write = undefined;
  }

  #arm(at: number, now: number): void {
    if (at === this.#alarmAt) return;
    this.#alarm?.cancel();
    this.#alarmAt = at;
    this.#alarm = at === Infinity ? undefined : this.#context.clock.alarm(at - now, () => this.#wake());
  }

  #wake(): void {
    this.#alarm = undefined;
    this.#alarmAt = Infinity;
    this.#handle(() => {});
  }

  #release(): void {
    this.#stopGrant();
    this.#stopIdentities?.();
    this.#alarm?.cancel();
    for (const name of [...this.#watches.keys()]) this.#unwatch(name);
  }

  #close(): void {
    this.#ended = true;
    this.#release();
    this.#finishWrite();
    this.#context.metrics.streams.dec({ protocol: this.#call.protocol });
    this.#context.onClosed(this);
  }
}

type ReadDemand<R> = (state: StreamState, request: R, now: number) => Demand;

const readSotw: ReadDemand<DiscoveryRequest> = (state, { resourceNames, responseNonce, errorDetail }, now) =>
  sotwRequest(state, { names: resourceNames ?? [], nonce: responseNonce ?? '', error: errorText(errorDetail) }, now);

const readDelta: ReadDemand<DeltaDiscoveryRequest> = (state, request, now) =>
  deltaRequest(
    state,
    {
      subscribe: request.resourceNamesSubscribe ?? [],
      unsubscribe: request.resourceNamesUnsubscribe ?? [],
      brought: Object.keys(request.initialResourceVersions ?? {}),
      nonce: request.responseNonce ?? '',
      error: errorText(request.errorDetail),
    },
    now,
  );

// A NACK is told by the presence of error_detail alone, whatever is in it.
function errorText(detail: DiscoveryRequest['errorDetail']): string | undefined {
  return detail === null || detail === undefined ? undefined : (detail.message ?? '');
}

function equalTargets(a: Target, b: Target): boolean {
  return a.kind === b.kind && (a.kind !== 'identity' || b.kind !== 'identity' || a.uri === b.uri);
}

function isAwaited(offer: Offer | undefined): boolean {
  return offer?.status === 'waiting' || offer?.status === 'absent';
}

/** What a client answered to a secret that has ended says nothing of now: SotW cannot take it back from it. */
function stateOf({ offer, sent, answer }: Subscription): NameSnapshot['state'] {
  if (offer?.status === 'unknown' || offer?.status === 'denied') return offer.status;
  if (offer?.status !== 'ready') return 'waiting';
  return answer !== 'none' ? answer : sent === '' ? 'waiting' : 'sent';
}
