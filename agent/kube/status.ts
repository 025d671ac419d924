// What went wrong in a call to an API server or kubelet, as a SignetError with a reason. Pure. Used by the files of kube/ and
// by those who call through them and have to know the status.

import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorKind } from '../runtime/errors.js';
import { SignetError } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';

/** Whose words the reasons are. */
export type Target = 'kube' | 'kubelet';

type Fault = 'unavailable' | 'deadline' | 'tls' | 'unauthenticated' | 'denied' | 'answer-invalid';

export const reasonFor = (target: Target, fault: Fault): ReasonCode => `${target}-${fault}`;

const names: Readonly<Record<Target, string>> = { kube: 'api server', kubelet: 'kubelet' };

/** The HTTP status of an answer, or the code of an ERROR event. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof SignetError ? error.fields['status'] : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** How long the server wants to be left alone, in ms. */
export function retryAfterOf(error: unknown): number | undefined {
  const retryAfterMs = error instanceof SignetError ? error.fields['retryAfterMs'] : undefined;
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}

/** The words of the server; '' when there are none. */
export function detailOf(error: unknown): string {
  const detail = error instanceof SignetError ? error.fields['detail'] : undefined;
  return typeof detail === 'string' ? detail : '';
}

/** The resource version is too old to go on from, or from a future that this server has not reached: list anew, consistently. */
export function isVersionUnusable(error: unknown): boolean {
  return statusOf(error) === 410 || (statusOf(error) === 504 && /too large resource version/i.test(detailOf(error)));
}

const kinds: Readonly<Record<number, readonly [ErrorKind, Fault?]>> = {
  400: ['invalid'],
  401: ['unauthenticated', 'unauthenticated'],
  403: ['denied', 'denied'],
  404: ['notFound'],
  409: ['conflict'],
  410: ['conflict'],
  422: ['invalid'],
  429: ['exhausted', 'unavailable'],
  504: ['deadline', 'deadline'],
};

/** Longest wait that a server can ask for. */
const maxRetryAfterMs = 300_000;

/** Words of a server in a log line are cut here. */
const maxDetail = 400;

/** An answer other than success. `body` is its text, a Status (meta/v1) or anything. */
export function fromStatus(target: Target, status: number, body: string, headers: IncomingHttpHeaders = {}): SignetError {
  const parsed = readStatus(body);
  const [kind, fault] = kinds[status] ?? (status >= 500 ? ['unavailable', 'unavailable'] : ['invalid', 'answer-invalid']);
  const seconds = Number(headers['retry-after'] ?? parsed.retryAfterSeconds ?? NaN);
  return new SignetError(kind, `the ${names[target]} refused the call`, {
    ...(fault === undefined ? {} : { reason: reasonFor(target, fault) }),
    fields: {
      status,
      detail: parsed.message.slice(0, maxDetail),
      ...(seconds > 0 ? { retryAfterMs: Math.min(seconds * 1_000, maxRetryAfterMs) } : {}),
    },
  });
}

interface StatusWords {
  readonly message: string;
  readonly retryAfterSeconds?: unknown;
}

function readStatus(body: string): StatusWords {
  try {
    const status = JSON.parse(body) as { message?: unknown; details?: { retryAfterSeconds?: unknown } } | null;
    if (typeof status?.message === 'string') return { message: status.message, retryAfterSeconds: status.details?.retryAfterSeconds };
  } catch {
    // A proxy's page or the kubelet's plain text: its words are all there is.
  }
  return { message: body.replaceAll(/\s+/g, ' ').trim() };
}

/** Names of faults of certificates and of TLS, as Node and OpenSSL give them. */
const tlsCodes = /^ERR_(?:TLS|SSL)|^EPROTO$|CERT|SIGNATURE|ISSUER|HOSTNAME_MISMATCH|^INVALID_(?:CA|PURPOSE)$/;

/** A failure below HTTP. An error that is ours already stays what it is. */
export function fromTransport(target: Target, error: unknown): SignetError {
  if (error instanceof SignetError) return error;
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? '');
  if (error instanceof Error && error.name === 'AbortError')
    return new SignetError('cancelled', 'the call was cancelled', { cause: error });
  const fault = tlsCodes.test(code) ? 'tls' : code.startsWith('HPE_') ? 'answer-invalid' : 'unavailable';
  return new SignetError('unavailable', `cannot talk to the ${names[target]}`, {
    cause: error,
    reason: reasonFor(target, fault),
    fields: { code: code === '' ? undefined : code },
  });
}

/** An answer that came through but is not what was asked for. */
export function invalidAnswer(target: Target, what: string, cause?: unknown): SignetError {
  return new SignetError('unavailable', what, { cause, reason: reasonFor(target, 'answer-invalid') });
}
