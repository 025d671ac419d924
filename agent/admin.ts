// The control socket: status, streams, renew, log level, as JSON over HTTP/1.1 on a Unix socket. Never key material.
// Started by agent.ts, which gives it the listener and views of the state; called by admin/client.ts.
// Promises: only root, the uid of this process and the configured group are answered; bodies, connections and time are bounded.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readBody } from './admin/body.js';
import type { AdminFault, AdminSources } from './admin/status.js';
import { describeStatus, toReasonStatus, withReason } from './admin/status.js';
import type { ErrorKind } from './runtime/errors.js';
import { SignetError, kindOf, toWireStatus } from './runtime/errors.js';
import type { Logger } from './runtime/log.js';
import { errorFields, logLevels } from './runtime/log.js';
import type { Clock } from './runtime/time.js';

export interface AdminPeer {
  readonly uid: number;
  /** Its effective group and the supplementary ones. */
  readonly groups: readonly number[];
}

export interface AdminServerOptions {
  readonly view: AdminSources;
  /** Binds the socket (mode 0600, or 0660 with a group) and hands over what it accepts; settles when the socket is gone. */
  readonly listen: (onConnection: (socket: Socket) => void, signal: AbortSignal) => Promise<void>;
  /** Who is at the other end (SO_PEERCRED, SO_PEERGROUPS); undefined or an error when that cannot be told. */
  readonly peerOf: (socket: Socket) => AdminPeer | undefined;
  /** The uid of this process. */
  readonly uid: number;
  /** The group that may use the socket, beside root and `uid`. */
  readonly groupId?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface AdminServer {
  /** Serves until the signal aborts, then cuts what is open. */
  run(signal: AbortSignal): Promise<void>;
}

const maxBodyBytes = 4 * 1024;
const maxStreams = 1_000;
const maxConnections = 64;
const maxHeaderSize = 8 * 1024;
// A server that is handed its connections does not watch over their time (Node starts that with `listen`), so this does.
const maxConnectionMs = 60_000;

export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { clock, log } = options;
  const startedAt = clock.monotonic();
  return {
    async run(signal) {
      const admitted = new WeakSet<Socket>();
      const open = new Set<Socket>();
      const server = createServer({ maxHeaderSize }, (request, response) => {
        respond(request, admitted.has(request.socket), options, startedAt).then(
          (answer) => send(response, answer),
          (error: unknown) => {
            if (kindOf(error) === 'internal') log.error('admin request failed', errorFields(error));
            send(response, toAnswer(error));
          },
        );
      });
      const take = (socket: Socket): void => {
        if (open.size >= maxConnections) return void socket.destroy();
        open.add(socket);
        const overdue = clock.alarm(maxConnectionMs, () => socket.destroy());
        socket.on('close', () => {
          overdue.cancel();
          open.delete(socket);
        });
        if (isAdmitted(options, socket)) admitted.add(socket);
        server.emit('connection', socket);
      };
      await options.listen(take, signal);
      await cut(open);
    },
  };
}

function isAdmitted({ peerOf, uid, groupId, log }: AdminServerOptions, socket: Socket): boolean {
  let peer: AdminPeer | undefined;
  try {
    peer = peerOf(socket);
  } catch (error) {
    // Called for an event of the listener: a kernel that does not say who calls must not end the process.
    log.warn('admin peer cannot be told and is refused', errorFields(error));
  }
  if (peer === undefined) return false;
  const may = peer.uid === 0 || peer.uid === uid || (groupId !== undefined && peer.groups.includes(groupId));
  if (!may) log.warn('admin peer refused', { uid: peer.uid });
  return may;
}

async function cut(open: ReadonlySet<Socket>): Promise<void> {
  const closed = [...open].map((socket) => once(socket, 'close'));
  open.forEach((socket) => socket.destroy());
  await Promise.all(closed);
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function respond(request: IncomingMessage, admitted: boolean, options: AdminServerOptions, startedAt: number): Promise<Answer> {
  if (!admitted) throw new SignetError('denied', 'only root, the user of the agent and the configured group may use this socket');
  const { view, clock, log } = options;
  const body = await readBody(request, 'body', maxBodyBytes);
  switch (`${request.method} ${request.url}`) {
    case 'GET /v1/status':
      return { status: 200, body: describeStatus(view, clock.now(), clock.monotonic() - startedAt) };
    case 'GET /v1/streams':
      return { status: 200, body: view.streams(maxStreams) };
    case 'POST /v1/explain':
      return { status: 200, body: explainName(view, textOf(body, 'name')) };
    case 'POST /v1/renew':
      return renew(view, log, textOf(body, 'name'));
    case 'PUT /v1/log-level':
      return setLevel(view, log, textOf(body, 'level'));
    default:
      throw new SignetError('notFound', 'no such resource');
  }
}

/** Why a name has no certificate, or none that is new; empty when nothing is wrong with it. */
function explainName({ cache, explain }: AdminSources, name: string): ReturnType<typeof withReason> {
  const state = cache.states().get(name);
  if (state === undefined) return withReason(explain(name));
  return withReason('reason' in state ? state.reason : undefined);
}

function renew({ identities, cache, explain }: AdminSources, log: Logger, name: string): Answer {
  if (!identities.value.has(name)) {
    const fault: AdminFault = { kind: 'notFound', message: 'no such identity on this node', reason: toReasonStatus(explain(name)) };
    return { status: 404, body: fault };
  }
  cache.renew(name);
  log.info('renewal asked for on the control socket', { identity: name });
  return { status: 202, body: { name } };
}

function setLevel({ logLevel }: AdminSources, log: Logger, text: string): Answer {
  const level = logLevels.find((known) => known === text);
  if (level === undefined) throw new SignetError('invalid', `level must be one of ${logLevels.join(', ')}`);
  const before = logLevel.level;
  logLevel.setLevel(level);
  log.info('log level changed', { before, level });
  return { status: 200, body: { level } };
}

/** The text under `key` of a JSON object. */
function textOf(body: string, key: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    throw new SignetError('invalid', 'body is not json', { cause: error });
  }
  const value = typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>)[key] : undefined;
  if (typeof value !== 'string') throw new SignetError('invalid', `body must be {"${key}": "…"}`);
  return value;
}

/** HTTP status codes by kind (RFC 9110 §15). */
const statusCodes: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  denied: 403,
  notFound: 404,
  conflict: 409,
  exhausted: 413,
  internal: 500,
  unavailable: 503,
  cancelled: 503,
  deadline: 504,
};

function toAnswer(error: unknown): Answer {
  const kind = kindOf(error);
  const code = error instanceof SignetError ? error.reason : undefined;
  const fault: AdminFault = {
    kind,
    message: toWireStatus(error).details,
    ...withReason(code === undefined ? undefined : { code, detail: '' }),
  };
  return { status: statusCodes[kind], body: fault };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const text = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': text.length,
    // What stays unread of a refused request must not be taken for the next one.
    ...(status < 400 ? {} : { connection: 'close' }),
  });
  response.end(text);
}
