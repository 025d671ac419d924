// The gRPC server behind the SDS socket: takes accepted sockets, asks the policy, guards the connections, and ends them well.
// Made by agent.ts, which owns the listener.

import type { Socket } from 'node:net';
import { Server } from '@grpc/grpc-js';
import type { Metrics } from '../metrics.js';
import type { Clock } from '../runtime/time.js';
import { createAcceptor } from './accept.js';
import type { CallLimits } from '../grpc/call-bounds.js';
import { createCallBounds } from '../grpc/call-bounds.js';
import type { Http2Limits } from '../grpc/http2-guard.js';
import { createGuardedInjector, keepaliveOptions } from '../grpc/http2-guard.js';
import { createOpenSockets } from '../grpc/open-sockets.js';
import type { SdsLimits } from './limits.js';
import type { PeerPolicy } from './peer.js';
import type { SdsService } from './service.js';
import { grpcServerOptions } from './service.js';

export interface SdsServerOptions {
  readonly service: SdsService;
  readonly policy: Pick<PeerPolicy, 'admit' | 'peerOf'>;
  readonly limits: SdsLimits & Http2Limits;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export interface SdsServer {
  /** For a listener whose sockets stay unread until they are given here. */
  accept(socket: Socket): void;
  /**
   * Says GOAWAY, ends all streams with OK and closes the connections; settles when all of it has left this process, or at
   * the deadline, which counts once for streams and once for connections.
   */
  drain(deadlineMs: number): Promise<void>;
}

export function createSdsServer({ service, policy, limits, clock, metrics }: SdsServerOptions): SdsServer {
  const server = new Server({ ...grpcServerOptions(limits), ...keepaliveOptions });
  server.addService(service.definition, service.handlers);
  const calls = createCallBounds(boundsOf(limits), (key) => policy.peerOf(key)?.owner ?? key);
  const injector = createGuardedInjector(server, { limits, calls, clock, metrics });
  const accept = createAcceptor(policy, injector);
  const sockets = createOpenSockets(clock);
  return {
    accept(socket) {
      sockets.add(socket);
      accept(socket);
    },
    async drain(deadlineMs) {
      injector.close();
      await service.drain(deadlineMs);
      // What was written last may still wait in a socket, and an exit of the process would lose it.
      // A client that does not close its end is left behind with what it did not read.
      await sockets.closeWithin(deadlineMs, () => server.forceShutdown());
    },
  };
}

/** A thousand streams of an Envoy that sends its whole node (61 KB) on each at once. */
const unfinishedBytes = 64 * 1024 * 1024;
/** Streams beyond the limits which the service itself refuses, with a status that says why. */
const refusedStreams = 1000;

function boundsOf({ streams, streamsPerOwner }: SdsLimits): CallLimits {
  return { streams: streams + refusedStreams, streamsPerOwner: streamsPerOwner + refusedStreams, unfinishedBytes };
}
