// A gRPC server for a service of short calls over TLS, with all its connections and calls bounded. Made by the wiring of whoever
// serves Istio's certificate service; sockets come from a TLS listener.

import type { Socket } from 'node:net';
import type { ServerInterceptor, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { Server, ServerInterceptingCall } from '@grpc/grpc-js';
import type { CommonMetrics } from '../metrics.js';
import type { Clock } from '../runtime/time.js';
import type { CallLimits } from './call-bounds.js';
import { createCallBounds } from './call-bounds.js';
import type { GuardOptions } from './http2-guard.js';
import { createGuardedInjector, keepaliveOptions } from './http2-guard.js';
import { createOpenSockets } from './open-sockets.js';

export interface UnaryService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
  /** A call that ended before its message was taken. */
  missed(peer: string): void;
}

export interface UnaryServerOptions {
  readonly limits: {
    /** Calls under way at once on one connection; more wait at the caller. */
    readonly callsPerConnection: number;
    /** Bytes of one request. */
    readonly messageBytes: number;
  };
  /** Of all calls, and those of one address. */
  readonly calls: CallLimits;
  /** See `GuardOptions`. */
  readonly onHeaders?: GuardOptions['onHeaders'];
  readonly clock: Clock;
  readonly metrics: CommonMetrics;
}

export interface UnaryServer {
  /** For a listener whose sockets nothing was read from. */
  accept(this: void, socket: Socket): void;
  /**
   * Says GOAWAY and lets calls under way end, those too whose message is not all there yet; settles when each connection has its
   * answers and is closed, or at the deadline, which ends what is left.
   */
  drain(deadlineMs: number): Promise<void>;
}

const http2Limits = { headerListBytes: 32 * 1024, controlFrames: 1_000, halfOpenMs: 10_000 } as const;

export function createUnaryServer(service: UnaryService, { limits, calls, onHeaders, clock, metrics }: UnaryServerOptions): UnaryServer {
  const server = new Server({
    ...keepaliveOptions,
    'grpc.max_receive_message_length': limits.messageBytes,
    'grpc.max_concurrent_streams': limits.callsPerConnection,
    'grpc.enable_channelz': 0,
    'interceptors': [createMissedInterceptor(service)],
  });
  server.addService(service.definition, service.handlers);
  const bounds = createCallBounds(calls, (address) => address);
  const injector = createGuardedInjector(server, { limits: http2Limits, calls: bounds, onHeaders, clock, metrics });
  const sockets = createOpenSockets(clock);
  return {
    accept(socket) {
      sockets.add(socket);
      injector.inject(socket);
    },
    async drain(deadlineMs) {
      await sockets.closeWithin(deadlineMs, () => injector.close());
      server.forceShutdown();
      // A session that has said GOAWAY leaves its socket to the other side.
      sockets.destroy();
    },
  };
}

/** grpc-js answers a message that is too large by itself; the service has to hear of it. */
function createMissedInterceptor(service: Pick<UnaryService, 'missed'>): ServerInterceptor {
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        let taken = false;
        next({
          onReceiveMessage(message, pass) {
            taken = true;
            pass(message);
          },
          onCancel() {
            if (!taken) service.missed(call.getPeer());
          },
        });
      },
    });
}
