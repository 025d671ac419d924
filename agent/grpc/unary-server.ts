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
  /** Says GOAWAY; calls under way go on. */
  goAway(): void;
  close(): void;
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
  return {
    accept: (socket) => injector.inject(socket),
    goAway: () => injector.close(),
    close: () => server.forceShutdown(),
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
