// The client of the control socket, for the commands status and renew. Each call has a deadline and a bounded answer, and
// fails with a SignetError: `unavailable` when nobody listens, `denied` when this user may not, else what the agent said.

import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { readBody } from './body.js';
import type { AdminFault, ReasonStatus, Status, StreamsStatus } from './status.js';
import { SignetError } from '../runtime/errors.js';
import type { LogLevel } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';

export type { CheckStatus, IdentityStatus, LocalCaStatus, ReasonStatus, SourceStatus, Status, StreamsStatus } from './status.js';

export interface AdminClientOptions {
  /** The control socket. */
  readonly path: string;
  /** For one call. Default 5 s. */
  readonly deadlineMs?: number;
  readonly clock: Clock;
}

export interface AdminClient {
  status(signal: AbortSignal): Promise<Status>;
  streams(signal: AbortSignal): Promise<StreamsStatus>;
  /** Why the name has no certificate, or none that is new; undefined when nothing is wrong with it. */
  explain(name: string, signal: AbortSignal): Promise<ReasonStatus | undefined>;
  /** Returns when the renewal is planned; `notFound` says why the name is no identity of this node. */
  renew(name: string, signal: AbortSignal): Promise<void>;
  setLogLevel(level: LogLevel, signal: AbortSignal): Promise<void>;
}

const maxAnswerBytes = 64 * 1024 * 1024;

export function createAdminClient({ path, deadlineMs = 5_000, clock }: AdminClientOptions): AdminClient {
  const call = (method: string, resource: string, body: unknown, signal: AbortSignal): Promise<unknown> =>
    withDeadline(clock, deadlineMs, 'call to the agent', signal, (own) => exchange(path, method, resource, body, own));
  return {
    status: async (signal) => (await call('GET', '/v1/status', undefined, signal)) as Status,
    streams: async (signal) => (await call('GET', '/v1/streams', undefined, signal)) as StreamsStatus,
    explain: async (name, signal) => ((await call('POST', '/v1/explain', { name }, signal)) as { readonly reason?: ReasonStatus }).reason,
    renew: async (name, signal) => void (await call('POST', '/v1/renew', { name }, signal)),
    setLogLevel: async (level, signal) => void (await call('PUT', '/v1/log-level', { level }, signal)),
  };
}

async function exchange(path: string, method: string, resource: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  const text = body === undefined ? '' : JSON.stringify(body);
  let response: IncomingMessage;
  let answer: string;
  try {
    response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      httpRequest({ socketPath: path, method, path: resource, headers, agent: false, signal }, resolve).on('error', reject).end(text);
    });
    answer = await readBody(response, 'answer of the agent', maxAnswerBytes);
  } catch (error) {
    throw toSignetError(error, path);
  }
  const parsed = parseAnswer(answer, path);
  if ((response.statusCode ?? 0) < 300) return parsed;
  throw fromFault(parsed, path);
}

function parseAnswer(answer: string, path: string): unknown {
  try {
    return JSON.parse(answer);
  } catch (error) {
    throw new SignetError('unavailable', 'what listens on the control socket is no signet agent', { cause: error, fields: { path } });
  }
}

function fromFault(parsed: unknown, path: string): SignetError {
  const { kind = 'internal', message = 'agent answered with an error', reason } = (parsed ?? {}) as Partial<AdminFault>;
  const why = reason === undefined ? {} : { reason: reason.code };
  return new SignetError(kind, message, {
    ...why,
    fields: { path, ...(reason === undefined || reason.detail === '' ? {} : { detail: reason.detail }) },
  });
}

function toSignetError(error: unknown, path: string): SignetError {
  if (error instanceof SignetError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const fields = { path, code };
  if (code === 'ENOENT')
    return new SignetError('unavailable', 'there is no control socket at this path; is the agent running, or has it another --config?', {
      cause: error,
      fields,
    });
  if (code === 'EACCES')
    return new SignetError(
      'denied',
      'this user may not open the control socket; root, the user of the agent and the group admin.group may',
      { cause: error, fields },
    );
  return new SignetError('unavailable', 'the agent does not answer on the control socket', { cause: error, fields });
}
