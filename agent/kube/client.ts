// Calls to an API server, or to a kubelet, which speaks the same way: JSON over HTTPS with a deadline, and watches.
// Used by kube/reflector.ts, kube/token-request.ts, the pod sources and CA clients. Promises: one kept-alive agent, made anew
// when the material of the connection changes; every answer and wait is bounded; every failure is a SignetError with a reason;
// no proxy is ever used. It does not retry, but for one other credential after a 401: retries are the caller's.

import type { Credential } from './credentials.js';
import type { Clock } from '../runtime/time.js';

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
  /** Until the whole answer is there, in ms. Default 10 s. */
  readonly deadlineMs?: number;
  /** Largest answer in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

export interface WatchRequest {
  readonly path: string;
  readonly query?: Query;
  /** How long the stream may last, in ms; also the deadline by which a dead connection is found. */
  readonly deadlineMs: number;
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
  readonly target?: 'kube' | 'kubelet';
  /** The user to act as (Impersonate-User), e.g. `system:node:node-a`. */
  readonly as?: string;
  readonly clock: Clock;
}
