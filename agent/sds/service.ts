// The gRPC service envoy.service.secret.v3.SecretDiscoveryService: limits, streams and their end. Thin: the protocol is in
// sotw.ts and delta.ts, one stream in stream.ts.

import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Metrics } from '../metrics.js';
import type { Fields } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { Peer } from './grant.js';
import type { Secrets } from './offer.js';

export type { SecretState, Secrets } from './offer.js';

export interface SdsLimits {
  /** Open streams in all. Default 60000. */
  readonly streams: number;
  /** Open streams of one owner. Default 20000. */
  readonly streamsPerOwner: number;
  /** Names on one stream. Default 4096. */
  readonly namesPerStream: number;
  /** Names on all streams of one owner. Default 60000. */
  readonly namesPerOwner: number;
  /** Streams that one owner may open at once. Default 12000. */
  readonly openBurst: number;
  /** Streams per second that one owner may open after the burst. Default 1000. */
  readonly openRate: number;
}

export const defaultSdsLimits: SdsLimits = {
  streams: 60_000,
  streamsPerOwner: 20_000,
  namesPerStream: 4096,
  namesPerOwner: 60_000,
  openBurst: 12_000,
  openRate: 1000,
};

export interface SdsServiceOptions {
  readonly secrets: Secrets;
  /** The peer behind `call.getPeer()`; undefined when its connection is gone. */
  readonly peerOf: (key: string) => Peer | undefined;
  readonly limits: SdsLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

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
  readonly protocol: 'sotw' | 'delta';
  readonly peer: Fields;
  readonly nodeId: string;
  readonly userAgent: string;
  /** How many names are subscribed; `names` holds at most 32 of them. */
  readonly nameCount: number;
  readonly names: readonly NameSnapshot[];
}

export interface SdsService {
  /** For `server.addService(definition, handlers)`. */
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
  /** At most `limit` open streams, oldest first. */
  streams(limit: number): { readonly total: number; readonly streams: readonly StreamSnapshot[] };
  /** Ends all streams with OK and refuses new ones; settles when all are gone or the deadline is over. */
  drain(deadlineMs: number): Promise<void>;
}

/** Creates the service; it does nothing until a call arrives. */
export declare function createSdsService(options: SdsServiceOptions): SdsService;
