// The one error class of Signet, its closed list of kinds, and the only place that turns an error into a wire status.
// Every layer throws SignetError; foreign errors are converted once, in the client that met them.
// Messages are lower-case, without data: identities, counts and names go into fields.

import type { ReasonCode } from './reasons.js';

/** What went wrong, as a caller has to react to it. */
export type ErrorKind =
  'invalid' | 'unauthenticated' | 'denied' | 'notFound' | 'conflict' | 'exhausted' | 'deadline' | 'cancelled' | 'unavailable' | 'internal';

/** Values that may stand beside a message in a log line; never key material or tokens. */
export type Fields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface ErrorOptions {
  readonly cause?: unknown;
  /** The entry of the catalogue of reasons that explains this error to people. */
  readonly reason?: ReasonCode;
  readonly fields?: Fields;
}

export class SignetError extends Error {
  readonly kind: ErrorKind;
  readonly reason: ReasonCode | undefined;
  readonly fields: Fields;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SignetError';
    this.kind = kind;
    this.reason = options.reason;
    this.fields = options.fields ?? {};
  }
}

const retryableKinds: ReadonlySet<ErrorKind> = new Set(['exhausted', 'deadline', 'unavailable', 'internal']);

/** The kind of any thrown value; what is not ours is `internal`, an abort is `cancelled`. */
export function kindOf(error: unknown): ErrorKind {
  if (error instanceof SignetError) return error.kind;
  if (error instanceof Error && error.name === 'AbortError') return 'cancelled';
  return 'internal';
}

/** Whether the same call may succeed later with nothing changed by a person; derived from the kind alone. */
export function isRetryable(error: unknown): boolean {
  return retryableKinds.has(kindOf(error));
}

/** The reason of the error or of the nearest cause that has one. */
export function reasonOf(error: unknown): ReasonCode | undefined {
  for (const link of causes(error)) if (link instanceof SignetError && link.reason !== undefined) return link.reason;
  return undefined;
}

/** The fields of the whole cause chain; of equal names the outermost wins. */
export function fieldsOf(error: unknown): Fields {
  const links = [...causes(error)].reverse();
  return Object.assign({}, ...links.map((link) => (link instanceof SignetError ? link.fields : {}))) as Fields;
}

/** The cause chain as one line, for logs: "renew certificate: call ca: connect ECONNREFUSED". */
export function describeError(error: unknown): string {
  return [...causes(error)].map(textOf).join(': ');
}

/** The cause chain with the values that were compared, for people who ask why. */
export function explainError(error: unknown): string {
  const compared = Object.entries(fieldsOf(error)).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name} ${value}`],
  );
  return [describeError(error), ...compared].join(', ');
}

/** What gRPC says of a connection that could not be made, without the frame that it puts around the error. */
export function connectionFault(details: string): string {
  return /^No connection established\. Last error: (?:Error: )?(.*?)\. Resolution note: /s.exec(details)?.[1] ?? details;
}

// A refused connection to a name with several addresses is an AggregateError without a message: its parts say what happened.
function textOf(link: unknown): string {
  if (link instanceof AggregateError && link.message === '') return link.errors.slice(0, 8).map(textOf).join(', ');
  if (link instanceof Error) return link.message === '' ? link.name : link.message;
  return typeof link === 'string' ? link : `a thrown ${typeof link}`;
}

// Bounded: a chain that loops or is absurdly long must not hang the logger.
function* causes(error: unknown): Generator<unknown> {
  let link = error;
  for (let depth = 0; depth < 8 && link !== undefined && link !== null; depth += 1) {
    yield link;
    link = link instanceof Error ? link.cause : undefined;
  }
}

/** gRPC status codes by kind (google.rpc.Code). */
const grpcCodes: Readonly<Record<ErrorKind, number>> = {
  cancelled: 1,
  invalid: 3,
  deadline: 4,
  notFound: 5,
  conflict: 6,
  denied: 7,
  exhausted: 8,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
};

export interface WireStatus {
  readonly code: number;
  readonly details: string;
}

/** The status a peer sees. `internal` shows a fixed text: the log has the chain, the peer has no use for it. */
export function toWireStatus(error: unknown): WireStatus {
  const kind = kindOf(error);
  const details = kind === 'internal' || !(error instanceof Error) ? 'internal error' : error.message;
  return { code: grpcCodes[kind], details };
}

/** The kind of a gRPC status code met as a client; a code without a kind of its own is `internal`. */
export function fromGrpcCode(code: number): ErrorKind {
  for (const [kind, value] of Object.entries(grpcCodes)) if (value === code) return kind as ErrorKind;
  return code === 9 || code === 11 ? 'invalid' : code === 12 ? 'notFound' : 'internal';
}
