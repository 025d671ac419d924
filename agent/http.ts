// The HTTP door for machines: /livez, /readyz and /metrics, nothing else and never a key. Started by agent.ts.
// Promises: a taken address stops nothing, it is logged once and tried again, soon at first and every 30 s at last; a client that is
// slow, silent or one of too many costs no more than its connection.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TcpPlace } from './listen/place.js';
import { bindRetry, placeOptions } from './listen/place.js';
import { SignetError } from './runtime/errors.js';
import type { ReadinessState } from './runtime/lifecycle.js';
import type { Logger } from './runtime/log.js';
import { errorFields } from './runtime/log.js';
import type { Reason } from './runtime/reasons.js';
import { formatReason } from './runtime/reasons.js';
import type { Clock } from './runtime/time.js';
import { backoff, sleep } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { WatchedValue } from './runtime/watched.js';

export interface HttpAddress {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface HttpDoorOptions {
  readonly place: TcpPlace;
  readonly readiness: Watched<ReadinessState>;
  /** The registry behind /metrics. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
  /** Called before each scrape, for gauges that are only computed when somebody looks. */
  readonly beforeScrape?: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface HttpDoor {
  /** Where it listens now; undefined while it does not. */
  readonly address: Watched<HttpAddress | undefined>;
  /** Why it does not listen. */
  readonly reason: Watched<Reason | undefined>;
  /** Listens until the signal aborts, then cuts what is open. */
  run(signal: AbortSignal): Promise<void>;
}

const maxConnections = 64;
const maxUrlBytes = 1024;
// Scrapers send a few hundred bytes of headers at once; whoever takes longer is cut.
const limits = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
} as const;
const idleMs = 15_000;

export function createHttpDoor(options: HttpDoorOptions): HttpDoor {
  const { place, clock, log } = options;
  const wanted = place.fd === undefined ? formatAddress(place.address) : `socket ${place.fd}, passed in`;
  const address = new WatchedValue<HttpAddress | undefined>(undefined);
  const reason = new WatchedValue<Reason | undefined>(undefined);

  const serve = async (server: Server, signal: AbortSignal): Promise<void> => {
    // Of a socket that was passed in it is not the setting.
    const { address: host, port } = server.address() as AddressInfo;
    const served = formatAddress({ host, port });
    reason.set(undefined);
    address.set({ host, port });
    log.info('http is served', { address: served });
    server.on('error', (error) => log.error('http server failed', { address: served, ...errorFields(error) }));
    if (!signal.aborted) await once(signal, 'abort');
    address.set(undefined);
  };

  return {
    address,
    reason,
    async run(signal) {
      for (let attempt = 1; !signal.aborted; attempt += 1) {
        const server = createServer(limits, createHandler(options));
        server.maxConnections = maxConnections;
        server.timeout = idleMs;
        try {
          await listen(server, place);
        } catch (error) {
          if (reason.value === undefined)
            log.error('http address cannot be bound, trying again', { address: wanted, ...errorFields(error) });
          reason.set({ code: 'http-port-taken', detail: wanted });
          await sleep(clock, backoff(attempt, bindRetry), signal).catch((cancelled: unknown) => {
            if (!signal.aborted) throw cancelled;
          });
          continue;
        }
        await serve(server, signal);
        await close(server);
      }
    },
  };
}

function formatAddress({ host, port }: HttpAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

async function listen(server: Server, place: TcpPlace): Promise<void> {
  try {
    const listening = once(server, 'listening');
    server.listen(placeOptions(place));
    await listening;
  } catch (error) {
    throw new SignetError('unavailable', 'cannot listen for http', { cause: error, reason: 'http-port-taken' });
  }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

function createHandler(options: HttpDoorOptions): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(request, options).then(
      (found) => send(response, found),
      (error: unknown) => {
        options.log.error('http request failed', errorFields(error));
        send(response, { status: 500, body: 'internal error\n' });
      },
    );
  };
}

async function answer(request: IncomingMessage, options: HttpDoorOptions): Promise<Answer> {
  const { method, url = '/', headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'only GET and HEAD\n' };
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
    return { status: 413, body: 'no body, please\n' };
  if (url.length > maxUrlBytes) return { status: 414, body: 'path too long\n' };
  const [path = '', query = ''] = url.split('?', 2);
  switch (path) {
    case '/livez':
      return { status: 200, body: 'live\n' };
    case '/readyz':
      return readiness(
        options.readiness.value,
        query.split('&').some((part) => part.split('=')[0] === 'verbose'),
      );
    case '/metrics':
      options.beforeScrape?.();
      return { status: 200, body: await options.registry.metrics(), type: options.registry.contentType };
    default:
      return { status: 404, body: 'only /livez, /readyz and /metrics are here\n' };
  }
}

/** One line per reason. When ready, what is degraded shows only on `?verbose`. */
function readiness({ ready, reasons }: ReadinessState, verbose: boolean): Answer {
  const lines = [...reasons].map(([gate, reason]) => `${gate}: ${reason.code}: ${formatReason(reason)}\n`).join('');
  return ready ? { status: 200, body: verbose ? `ready\n${lines}` : 'ready\n' } : { status: 503, body: `not ready\n${lines}` };
}

function send(response: ServerResponse, { status, body, type = 'text/plain; charset=utf-8' }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    // What stays unread of a request that was refused must not be taken for the next one.
    ...(status < 400 || status === 404 || status === 503 ? {} : { connection: 'close' }),
  });
  response.end(body);
}
