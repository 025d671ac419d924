// Bounds on what one HTTP/2 connection may make the server do, beyond what nghttp2 and Node bound themselves. Called by the maker
// of a gRPC server: it makes the injector that accepted sockets are handed to.
// Promises: a connection that goes over a bound is ended and counted, while all others are served on.
//
// Node and nghttp2 already end a connection on CONTINUATION frames (more than 8 for one list), empty DATA frames (1,000), SETTINGS
// and PING whose acknowledgements are not read (1,000), and take no new streams after 1,000 resets (33 a second more). Those are
// only counted here. SETTINGS and PING of a client that reads, header lists and connections that never speak are bounded here.

import type { Http2Server, Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Server, ServerOptions } from '@grpc/grpc-js';
import { ServerCredentials, status } from '@grpc/grpc-js';
import type { CommonMetrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import type { CallBounds, CallLimit } from './call-bounds.js';
import { createTokenBucket } from '../runtime/token-bucket.js';

/** From the settings `sds.limits`, where the defaults stand. */
export interface Http2Limits {
  /** Bytes of the header list of one call, counted as RFC 9113 §6.5.2 does. */
  readonly headerListBytes: number;
  /** PING, SETTINGS and reset frames, each kind per second on one connection. */
  readonly controlFrames: number;
  /** How long a connection may take until its preface is there. */
  readonly halfOpenMs: number;
}

/** For the grpc-js server: dead connections are found by a ping every 30 s that must be answered within 20 s. */
export const keepaliveOptions: ServerOptions = { 'grpc.keepalive_time_ms': 30_000, 'grpc.keepalive_timeout_ms': 20_000 };

export interface GuardOptions {
  readonly limits: Http2Limits;
  /** Counts the calls of all connections. Default: nothing does. */
  readonly calls?: CallBounds;
  /** Told of each call when its headers are there, its message perhaps not yet. Default: nobody is. */
  readonly onHeaders?: ((socket: Socket) => void) | undefined;
  readonly clock: Clock;
  readonly metrics: CommonMetrics;
}

export interface ConnectionInjector {
  /** Hands over an accepted, paused socket; it is read from then on. */
  inject(socket: Socket): void;
  /** Takes no more connections and says GOAWAY on those there are. */
  close(): void;
}

type Http2Limit =
  | 'half-open'
  | 'header-list'
  | 'http2-ping'
  | 'http2-settings'
  | 'http2-reset'
  | 'http2-empty-data'
  | 'http2-continuation'
  | 'http2-unread-acks';

/** Creates the injector of a grpc-js server with all its connections guarded. */
export function createGuardedInjector(server: Server, options: GuardOptions): ConnectionInjector {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const http2Server = newestHttp2Server(server);
  // Larger lists than this are reset inside Node, before any JavaScript and uncounted: a bound on memory.
  http2Server.updateSettings({ maxHeaderListSize: 2 * options.limits.headerListBytes });
  http2Server.on('session', (session) => guardSession(session, options));
  guardStreams(http2Server, options);
  return {
    inject(socket) {
      injector.injectConnection(socket);
      socket.resume();
    },
    close: () => injector.destroy(),
  };
}

// The one place that looks inside grpc-js: it keeps the HTTP/2 server of an injector in a private map and passes no option for any
// of the bounds on. Checked at start, so that another version of grpc-js can only fail to start, never run unguarded.
function newestHttp2Server(server: Server): Http2Server {
  const servers: unknown = Reflect.get(server, 'http2Servers');
  const newest: unknown = servers instanceof Map ? [...servers.keys()].at(-1) : undefined;
  if (typeof newest !== 'object' || newest === null || !('updateSettings' in newest)) {
    throw new SignetError('internal', 'bug: grpc-js keeps its http2 servers elsewhere');
  }
  return newest as Http2Server;
}

// Stands before the handler of grpc-js, so that a call whose headers are too large costs no more than a reset.
function guardStreams(http2Server: Http2Server, { limits, calls, onHeaders, metrics }: GuardOptions): void {
  type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void;
  const handlers = http2Server.listeners('stream') as StreamListener[];
  http2Server.removeAllListeners('stream');
  const refuse = (stream: ServerHttp2Stream, limit: Http2Limit | CallLimit): void => {
    if (stream.closed) return;
    metrics.limits.inc({ limit });
    stream.on('error', ignore);
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  http2Server.on('stream', ((stream, headers, flags, rawHeaders) => {
    if (headerListSize(rawHeaders) > limits.headerListBytes) return refuse(stream, 'header-list');
    if ((headers['grpc-encoding'] ?? 'identity') !== 'identity') return refuseEncoding(stream);
    calls?.follow(stream, stream.session?.socket.remoteAddress ?? '', (limit) => refuse(stream, limit));
    if (stream.closed) return;
    if (stream.session !== undefined) onHeaders?.(stream.session.socket);
    for (const handler of handlers) handler.call(http2Server, stream, headers, flags, rawHeaders);
  }) satisfies StreamListener as () => void);
}

// gRPC "Compression": 2 KB become a message of 2 MiB, thousands at a time, and no client of ours compresses unless it is told to.
function refuseEncoding(stream: ServerHttp2Stream): void {
  stream.on('error', ignore);
  const fields = {
    'content-type': 'application/grpc',
    'grpc-accept-encoding': 'identity',
    'grpc-message': 'messages must not be compressed',
  };
  stream.respond({ ':status': 200, ...fields, 'grpc-status': status.UNIMPLEMENTED }, { endStream: true });
}

/** RFC 9113 §6.5.2: names, values and 32 bytes for each field. */
function headerListSize(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((size, text) => size + text.length + 16, 0);
}

// nghttp2's own bucket for resets: when it is empty the connection is deaf to new streams, so it has to end.
const resetBurst = 1000;
const resetsPerSecond = 33;

function guardSession(session: Http2Session, { limits, clock, metrics }: GuardOptions): void {
  const count = (limit: Http2Limit): void => metrics.limits.inc({ limit });
  const refuse = (limit: Http2Limit): void => {
    if (session.destroyed) return;
    count(limit);
    session.destroy(new SignetError('exhausted', `limit reached: ${limit}`), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };

  // The first frame of a client is SETTINGS, right after the preface (RFC 9113 §3.4).
  const halfOpen = clock.alarm(limits.halfOpenMs, () => refuse('half-open'));
  session.once('remoteSettings', () => halfOpen.cancel());
  session.once('close', () => halfOpen.cancel());

  const settings = createTokenBucket(clock, limits.controlFrames, limits.controlFrames);
  session.on('remoteSettings', () => {
    if (!settings.take()) refuse('http2-settings');
  });
  const pings = createTokenBucket(clock, limits.controlFrames, limits.controlFrames);
  session.on('ping', () => {
    if (!pings.take()) refuse('http2-ping');
  });

  // A proxy that drops a thousand names at once is no attacker: its other streams stay, only new ones go to a new connection.
  const resets = createTokenBucket(clock, Math.min(limits.controlFrames, resetBurst), resetsPerSecond);
  session.on('stream', (stream) => {
    stream.once('close', () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR || session.closed || resets.take()) return;
      count('http2-reset');
      session.close();
    });
  });

  session.on('error', (error: NodeJS.ErrnoException) => {
    const limit = limitOf(error);
    if (limit !== undefined) count(limit);
  });
}

// nghttp2.h: the errors by which it ends a session that goes over a bound of its own.
const NGHTTP2_ERR_FLOODED = -904;
const NGHTTP2_ERR_TOO_MANY_CONTINUATIONS = -905;

function limitOf(error: NodeJS.ErrnoException): Http2Limit | undefined {
  if (error.code === 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES') return 'http2-empty-data';
  if (error.errno === NGHTTP2_ERR_FLOODED) return 'http2-unread-acks';
  if (error.errno === NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) return 'http2-continuation';
  return undefined;
}

function ignore(): void {
  // The stream was refused; how it ends is of no interest.
}
