// The agent's own token for a CA, from a projected volume. Used by the istio client with auth `node`; agent.ts runs it.
// Promises: the file is followed, so what is in memory is at most seconds old; a file that is missing, empty or unusable for a
// moment keeps the last good token until it expires; a token for another audience is never given out; no token is ever logged.

import { isDeepStrictEqual } from 'node:util';
import type { Metrics } from '../metrics.js';
import { SignetError, explainError, reasonOf } from '../runtime/errors.js';
import type { FileContent } from '../runtime/followed-file.js';
import { followFile } from '../runtime/followed-file.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Alarm, Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import { Token } from './token.js';

export interface TokenFileOptions {
  /** The upstream it is for, in metrics. */
  readonly upstream: string;
  readonly path: string;
  /** Whom the token must be for: what the CA asks the API server to check. */
  readonly audience: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface TokenFile {
  /** A token that is for the audience and not expired. Throws with the reason why there is none. */
  usable(): Token;
  /** The token that this one took the place of within the last minute, while it is usable: not every API server may know the new one. */
  formerOf(token: Token): Token | undefined;
  /** Why there is none; undefined while there is one. */
  readonly reason: Watched<Reason | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

/** The kubelet allows far less. */
const maxBytes = 64 * 1024;

/** How long a token that was replaced may be tried once more, in ms. */
const formerMs = 60_000;

/** The wall clock is looked at this often, so that a step is noticed. */
const lookEveryMs = 30_000;

export function createTokenFile({ upstream, path, audience, clock, log, metrics }: TokenFileOptions): TokenFile {
  const missing = new SignetError('unauthenticated', 'token has not been read', { reason: 'ca-token-missing', fields: { path } });
  let current: Token | undefined;
  let former: { readonly token: Token; readonly until: number } | undefined;
  /** Why the last read gave no token. */
  let fault: SignetError | undefined = missing;
  let alarm: Alarm | undefined;
  /** The fault that the log was told of last, while it lasts. */
  let told: ReasonCode | undefined;
  const reason = new WatchedValue<Reason | undefined>(reasonFor(missing), isDeepStrictEqual);

  const usable = (): Token => {
    if (current === undefined) throw fault ?? missing;
    current.authorization(audience, clock.now());
    return current;
  };

  const look = (): void => {
    if (former !== undefined && clock.monotonic() >= former.until) former = undefined;
    try {
      usable();
      reason.set(undefined);
      if (told !== undefined) log.info('there is a usable token for the ca again', { path, before: told });
      told = undefined;
    } catch (error) {
      const found = reasonFor(error);
      reason.set(found);
      if (told !== found.code) log.warn('there is no usable token for the ca', { path, ...errorFields(error) });
      told = found.code;
    }
    metrics.caTokenExpiry.set({ upstream }, expiryOf(current));
    alarm?.cancel();
    const untilExpiry = (current?.claims.expiresAt ?? Infinity) - clock.now();
    if (untilExpiry > 0) alarm = clock.alarm(Math.min(untilExpiry, lookEveryMs), look);
  };

  const onContent = (content: FileContent): void => {
    try {
      if (content instanceof SignetError) throw missingFile(content, path);
      const next = readToken(content, { audience, path });
      former = current === undefined ? undefined : { token: current, until: clock.monotonic() + formerMs };
      current = next;
      fault = undefined;
      log.debug('token for the ca read', { path });
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      fault = error;
      // For a moment of a swap a file may be missing or empty; anything else is a fault of whoever writes it.
      const level = error.reason === 'ca-token-missing' ? 'debug' : 'warn';
      log[level]('the file has no token for the ca, keeping the one from before', { path, ...errorFields(error) });
    }
    look();
  };

  return {
    usable,
    formerOf(token) {
      if (token !== current || former === undefined || clock.monotonic() >= former.until) return undefined;
      return former.token.claims.expiresAt > clock.now() ? former.token : undefined;
    },
    reason,
    async run(signal) {
      await followFile({ path, clock, log, metrics, maxBytes }, onContent).run(signal);
      alarm?.cancel();
      current = undefined;
      former = undefined;
      fault = missing;
    },
  };
}

function readToken(content: Buffer, { audience, path }: { readonly audience: string; readonly path: string }): Token {
  const text = content.toString('latin1');
  content.fill(0);
  if (text.trim() === '') throw new SignetError('unauthenticated', 'file is empty', { reason: 'ca-token-missing', fields: { path } });
  const token = new Token(text);
  // An expired one is kept, to be able to say so; one for somebody else is not worth keeping.
  token.authorization(audience, -Infinity);
  return token;
}

function missingFile(cause: SignetError, path: string): SignetError {
  return new SignetError('unauthenticated', 'read the token', { cause, reason: 'ca-token-missing', fields: { path } });
}

function reasonFor(error: unknown): Reason {
  return { code: reasonOf(error) ?? 'ca-token-missing', detail: explainError(error) };
}

/** Seconds since the epoch; 0: none is known. */
function expiryOf(token: Token | undefined): number {
  const at = token?.claims.expiresAt ?? 0;
  return at === Infinity ? 0 : at / 1_000;
}
