// The gRPC service envoy.service.secret.v3.SecretDiscoveryService: who may open a stream, which streams are open, how they
// end. Thin: one stream is in stream.ts, the protocols are in sotw.ts and delta.ts, what is served in secret-index.ts.

import type { ServerDuplexStream, ServerOptions, ServiceDefinition, UntypedServiceImplementation, sendUnaryData } from '@grpc/grpc-js';
import type { Metrics } from '../metrics.js';
import { SignetError, toWireStatus } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { FetchCall, Fetching } from './fetch.js';
import { fetchSecrets } from './fetch.js';
import type { Peer } from './grant.js';
import type { Account, SdsLimits } from './limits.js';
import { createAdmission } from './limits.js';
import type { Secrets } from './offer.js';
import { createRefusals } from './refusals.js';
import type { Protocol } from './secret.js';
import { createSecretIndex } from './secret-index.js';
import { createStallWatch } from './stall-watch.js';
import type { SdsCall, StreamContext, StreamCounters, StreamSnapshot } from './stream.js';
import { SdsStream } from './stream.js';
import type { DeltaDiscoveryRequest, DiscoveryRequest, Received } from './wire.js';
import { createDefinition } from './wire.js';

export type { SdsLimits } from './limits.js';
export type { SecretState, Secrets } from './offer.js';
export type { NameSnapshot, StreamSnapshot } from './stream.js';

export interface SdsServiceOptions {
  readonly secrets: Secrets;
  /** The peer behind `call.getPeer()`; undefined when its connection is gone. */
  readonly peerOf: (key: string) => Peer | undefined;
  readonly limits: SdsLimits;
  /** How long a delta stream waits for a certificate that is being issued before it answers without. Default 3 s: less than Envoy's 5. */
  readonly holdMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface SdsService {
  /** For `server.addService(definition, handlers)`. */
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
  /** At most `limit` open streams, oldest first, and how many there are. */
  streams(limit: number): { readonly total: number; readonly streams: readonly StreamSnapshot[] };
  /** Ends all streams with OK and refuses new ones; settles when all are gone, or at the deadline. */
  drain(deadlineMs: number): Promise<void>;
}

/** What a grpc-js server for this service is to be created with. Compression and channelz stay off, messages are bounded. */
export function grpcServerOptions(limits: SdsLimits): ServerOptions {
  return {
    // Between this and the limit the service itself refuses, so that it is counted; beyond it nothing is even buffered.
    'grpc.max_receive_message_length': 2 * limits.messageBytes,
    'grpc.enable_channelz': 0,
    // A client that meets this opens another connection or waits without a word; ours end with a status that says why.
    'grpc.max_concurrent_streams': 100_000,
  };
}

const defaultHoldMs = 3_000;

/** Creates the service; it does nothing until a call arrives. */
export function createSdsService(options: SdsServiceOptions): SdsService {
  const { clock, log, limits, metrics, peerOf, secrets } = options;
  const admission = createAdmission(limits, clock, metrics);
  const open = new Set<SdsStream>();
  const fetches = new Set<Fetching>();
  let draining = false;
  let onDrained = (): void => {};

  const context: StreamContext = {
    secrets,
    index: createSecretIndex(secrets),
    admission,
    refusals: createRefusals(clock),
    stalls: createStallWatch<SdsStream>(clock, limits.stalledWriteMs, (stream) => stream.stalled()),
    limits,
    holdMs: options.holdMs ?? defaultHoldMs,
    clock,
    log,
    metrics,
    counters: { sotw: countersOf(metrics, 'sotw'), delta: countersOf(metrics, 'delta') },
    onClosed: (stream) => {
      open.delete(stream);
      admission.close(admission.account(stream.peer.owner));
      if (open.size === 0) onDrained();
    },
  };

  // Before any work: who is it, and is it within its limits.
  const admit = (key: string): { readonly peer: Peer; readonly account: Account } => {
    if (draining) throw new SignetError('unavailable', 'shutting down', { reason: 'draining' });
    const peer = peerOf(key);
    if (peer === undefined) throw new SignetError('denied', 'connection has no known peer', { reason: 'peer-unknown' });
    const account = admission.account(peer.owner);
    try {
      admission.open(account);
    } catch (error) {
      const more = account.lines.take();
      if (more !== undefined) log.warn('stream refused', { ...errorFields(error), ...more, ...peer.fields });
      throw error;
    }
    return { peer, account };
  };

  const openStream = (call: SdsCall): void => {
    try {
      const { peer, account } = admit(call.stream.getPeer());
      const stream = new SdsStream(context, call, peer, account);
      open.add(stream);
      stream.start();
    } catch (error) {
      call.stream.emit('error', toWireStatus(error));
    }
  };

  const fetch = (call: FetchCall, answer: sendUnaryData<Buffer>): void => {
    try {
      const { peer, account } = admit(call.getPeer());
      fetchSecrets(context, call, peer, account, answer, fetches);
    } catch (error) {
      answer(toWireStatus(error));
    }
  };

  return {
    definition: createDefinition(limits.messageBytes),
    handlers: {
      StreamSecrets: (stream: ServerDuplexStream<Received<DiscoveryRequest>, Buffer>) => openStream({ protocol: 'sotw', stream }),
      DeltaSecrets: (stream: ServerDuplexStream<Received<DeltaDiscoveryRequest>, Buffer>) => openStream({ protocol: 'delta', stream }),
      FetchSecrets: fetch,
    },
    streams(limit) {
      const shown: StreamSnapshot[] = [];
      for (const stream of open) {
        if (shown.length >= limit) break;
        shown.push(stream.snapshot());
      }
      return { total: open.size, streams: shown };
    },
    async drain(deadlineMs) {
      draining = true;
      for (const fetching of fetches) fetching.end(new SignetError('unavailable', 'shutting down', { reason: 'draining' }));
      const drained = new Promise<void>((resolve) => {
        const alarm = clock.alarm(deadlineMs, resolve);
        onDrained = () => {
          alarm.cancel();
          resolve();
        };
      });
      for (const stream of open) stream.end();
      if (open.size === 0) onDrained();
      await drained;
    },
  };
}

function countersOf(metrics: Metrics, protocol: Protocol): StreamCounters {
  const requests = (kind: string): { inc(): void } => metrics.sdsRequests.labels(protocol, kind);
  return {
    responses: metrics.sdsResponses.labels(protocol),
    requests: {
      subscribe: requests('subscribe'),
      ack: requests('ack'),
      nack: requests('nack'),
      stale: requests('stale'),
      empty: requests('empty'),
    },
  };
}
