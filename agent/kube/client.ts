// Calls to an API server, or to a kubelet, which speaks the same way: JSON over HTTPS with a deadline, and watches.
// Used by kube/reflector.ts, kube/token-request.ts, the pod sources and CA clients. Promises: one kept-alive agent, made anew
// when the material of the connection changes; every answer and wait is bounded; every failure is a SignetError with a reason;
// no proxy is ever used. It does not retry, but for one other credential after a 401: retries are the caller's.

import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CommonMetrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';
import { createConnections } from './connection.js';
import type { Access, Credential } from './credentials.js';
import { splitLines } from './lines.js';
import type { Target } from './status.js';
import { fromStatus, fromTransport, invalidAnswer, reasonFor } from './status.js';

/** An object as the API has it; what is in it is not to be relied on. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface KubeRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the server, e.g. `/api/v1/pods`, each part already escaped. */
  readonly path: string;
  /** Undefined values are left out. */
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body. Default `application/json`; a PATCH names its kind. */
  readonly contentType?: string;
  /** Of the answer, which is JSON whatever it is called. Default `application/json`. */
  readonly accept?: string;
  /** Bearer token of this call, in place of the credential's; after a 401 there is no other. */
  readonly token?: string;
  /** Until the whole answer is there, in ms. Default 10 s. */
  readonly deadlineMs?: number;
  /** Largest answer in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Sees the headers of an answer that is a success. */
  readonly onHeaders?: (headers: IncomingHttpHeaders) => void;
}

export interface WatchRequest {
  readonly path: string;
  readonly query?: Query;
  /** How long the stream may last, in ms; also the deadline by which a dead connection is found. */
  readonly deadlineMs: number;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export interface WatchEvent {
  readonly type: WatchEventType;
  /** For ERROR a Status. */
  readonly object: KubeObject;
}

export interface KubeClient {
  /** The answer as parsed JSON. Throws a SignetError; `statusOf` and `retryAfterOf` read what the server said from it. */
  request(request: KubeRequest, signal: AbortSignal): Promise<unknown>;
  /** The events of a watch; ends when the server closes it, throws like `request`. An ERROR event is an event. */
  watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchEvent, void, undefined>;
  /** Closes kept connections. */
  close(): void;
}

export interface KubeClientOptions {
  readonly credential: Credential;
  /** Whose words the reasons of errors are. Default `kube`, the API server. */
  readonly target?: Target;
  /** The user to act as (Impersonate-User), e.g. `system:node:node-a`. */
  readonly as?: string;
  readonly clock: Clock;
  readonly metrics: CommonMetrics;
}

const defaultDeadlineMs = 10_000;
const defaultMaxBytes = 64 * 1024 * 1024;

/** What is read of the body of a refusal. */
const maxRefusalBytes = 64 * 1024;

/** Largest event of a watch; etcd takes objects of 1.5 MiB by default. */
const maxEventBytes = 16 * 1024 * 1024;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly token: string | undefined;
}

export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { credential, target = 'kube', as, clock, metrics } = options;
  const connections = createConnections(target);

  /** The answer to a call, its body unread; one that is not a success is thrown. */
  const open = async (call: Call, signal: AbortSignal): Promise<IncomingMessage> => {
    let access = await credential.access();
    for (let retried = false; ; retried = true) {
      const response = await send(connections.agentFor(access), access, call, signal);
      if (response.statusCode !== undefined && response.statusCode < 300) return response;
      const refusal = fromStatus(target, response.statusCode ?? 0, await readRefusal(response), response.headers);
      if (response.statusCode !== 401) throw refusal;
      // Whoever we are is bound to the connection too, when we show a certificate.
      connections.retire();
      const other = retried || call.token !== undefined ? undefined : await credential.accessAfter(access);
      if (other === undefined) throw refusal;
      access = other;
    }
  };

  /** Runs a call under a deadline, tells its result and turns what it throws into our errors. */
  const within = async <T>(deadlineMs: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      const value = await withDeadline(
        clock,
        deadlineMs,
        target === 'kube' ? 'call to the api server' : 'call to the kubelet',
        signal,
        work,
      );
      metrics.kubeRequests.inc({ target, result: 'ok' });
      return value;
    } catch (error) {
      const ours = withReason(target, fromTransport(target, error));
      metrics.kubeRequests.inc({ target, result: ours.kind });
      throw ours;
    }
  };

  return {
    async request(request, signal) {
      const { deadlineMs = defaultDeadlineMs, maxBytes = defaultMaxBytes } = request;
      const call = createCall(request, as);
      return await within(deadlineMs, signal, async (own) => {
        const response = await open(call, own);
        request.onHeaders?.(response.headers);
        return parseJson(target, await readBody(target, response, maxBytes));
      });
    },
    async *watch({ path, query, deadlineMs, onOpen }, signal) {
      const stop = new AbortController();
      const onAbort = (): void => stop.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      let late = false;
      const alarm = clock.alarm(deadlineMs, () => {
        late = true;
        stop.abort();
      });
      try {
        if (signal.aborted) throw new SignetError('cancelled', 'the watch was cancelled');
        const call = createCall({ path, query: { ...query, watch: 1 } }, as);
        // The signal of the opening ends with it, the stream goes on with its own.
        const response = await within(Math.min(deadlineMs, openDeadlineMs), stop.signal, async () => await open(call, stop.signal));
        onOpen?.();
        for await (const line of splitLines(response, maxEventBytes)) yield toEvent(target, line);
      } catch (error) {
        if (!late) throw fromTransport(target, error);
        throw new SignetError('deadline', 'the watch was silent for too long', { cause: error, reason: reasonFor(target, 'deadline') });
      } finally {
        alarm.cancel();
        signal.removeEventListener('abort', onAbort);
        stop.abort();
      }
    },
    close: connections.retire,
  };
}

/** How long a server may take to accept a watch. */
const openDeadlineMs = 30_000;

/** A deadline of ours knows no target. */
function withReason(target: Target, error: SignetError): SignetError {
  if (error.kind !== 'deadline' || error.reason !== undefined) return error;
  return new SignetError('deadline', error.message, { cause: error.cause, reason: reasonFor(target, 'deadline'), fields: error.fields });
}

type CallParts = Pick<KubeRequest, 'path' | 'method' | 'body'> & {
  readonly [Name in 'query' | 'contentType' | 'accept' | 'token']?: KubeRequest[Name] | undefined;
};

function createCall(parts: CallParts, as: string | undefined): Call {
  const { method = 'GET', path, query = {}, body, contentType = 'application/json', accept = 'application/json', token } = parts;
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return {
    method,
    path: parameters.length === 0 ? path : `${path}?${parameters.join('&')}`,
    headers: {
      accept,
      'user-agent': 'signet',
      ...(bytes === undefined ? {} : { 'content-type': contentType, 'content-length': String(bytes.length) }),
      ...(as === undefined ? {} : { 'impersonate-user': as }),
    },
    body: bytes,
    token,
  };
}

/** Resolves with the head of the answer. */
async function send(agent: Agent, access: Access, call: Call, signal: AbortSignal): Promise<IncomingMessage> {
  const { server } = access;
  const authorization = call.token === undefined ? access.authorization : `Bearer ${call.token}`;
  for (let again = false; ; again = true) {
    if (signal.aborted) throw cancelled();
    const request = httpsRequest({
      agent,
      // Not in brackets, as an address of IPv6 has them in a URL.
      host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: server.port === '' ? 443 : Number(server.port),
      method: call.method,
      path: `${server.pathname.replace(/\/$/, '')}${call.path}`,
      headers: { ...call.headers, ...(authorization === undefined ? {} : { authorization }) },
    });
    // Not by its option, which takes a tenth of the whole call to forget the signal again: this one is of this call alone.
    signal.addEventListener('abort', () => request.destroy(cancelled()), { once: true });
    try {
      return await new Promise((resolve, reject) => {
        request.on('response', resolve).on('error', reject).end(call.body);
      });
    } catch (error) {
      // A kept connection that the server was closing already: it never saw the request, see http.ClientRequest.reusedSocket.
      const closed = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET' && call.method === 'GET';
      if (again || !closed || signal.aborted) throw error;
    }
  }
}

function cancelled(): SignetError {
  return new SignetError('cancelled', 'the call was cancelled');
}

async function readBody(target: Target, response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) response.destroy(invalidAnswer(target, 'the answer is too large'));
    });
    response.on('end', () => resolve(Buffer.concat(chunks))).on('error', reject);
  });
}

/** The beginning of the body of a refusal; whatever happens while it is read, the refusal stands. */
async function readRefusal(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxRefusalBytes) break;
    }
  } catch {
    // What came is enough.
  }
  return Buffer.concat(chunks).subarray(0, maxRefusalBytes).toString('utf8');
}

function parseJson(target: Target, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw invalidAnswer(target, 'the answer is not json', error);
  }
}

const eventTypes: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] satisfies WatchEventType[];

function toEvent(target: Target, line: Buffer): WatchEvent {
  const event = parseJson(target, line);
  const { type, object } = (typeof event === 'object' && event !== null ? event : {}) as Partial<WatchEvent>;
  if (type === undefined || !eventTypes.includes(type) || typeof object !== 'object' || object === null) {
    throw invalidAnswer(target, 'an event of a watch has another shape');
  }
  return { type, object };
}
