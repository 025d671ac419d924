// The structured logger: one JSON line per change of state, on standard error. Written by pino.
// Callers give a fixed sentence plus fields; a redaction pass makes sure that no key or token ever gets through.

import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Fields } from './errors.js';
import { describeError, explainError, fieldsOf, kindOf, reasonOf } from './errors.js';
import type { Reason } from './reasons.js';
import { reasons } from './reasons.js';

export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface Logger {
  error(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
  /** A line of the audit log: written whatever the level is, as one of `info` with `audit: true`. */
  audit(message: string, fields?: Fields): void;
  /** A logger that adds the given fields to each line. */
  child(fields: Fields): Logger;
}

export interface RootLogger extends Logger {
  readonly level: LogLevel;
  setLevel(level: LogLevel): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Receives whole lines. Default: standard error, written synchronously so that the last line before an exit is not lost. */
  readonly write?: (line: string) => void;
}

/** The fields that explain an error: those it brings, its chain, its kind and, where there is one, its reason with what to change. */
export function errorFields(error: unknown): Fields {
  const reason = reasonOf(error);
  return {
    ...fieldsOf(error),
    error: describeError(error),
    kind: kindOf(error),
    ...(reason === undefined ? {} : { reason, action: reasons[reason].action }),
  };
}

/** The fields that tell a reason, with what to change. */
export function reasonFields({ code, detail }: Reason): Fields {
  return { reason: code, detail, action: reasons[code].action };
}

const privateKeyBlock = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g;
// The three base64url parts of a JWS (RFC 7515 §7.1) whose header starts with {"
const tokenText = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g;

/** Replaces PEM private keys and tokens in a text. */
export function redact(text: string): string {
  return text.replace(privateKeyBlock, '[key removed]').replace(tokenText, '[token removed]');
}

/** What others answer may be of any length, and a reason is kept and shown. */
const maxDetail = 500;

/** The error as the detail of a reason: its causes and the values that were compared, redacted, at most 500 characters. */
export function detailOfError(error: unknown): string {
  return redact(explainError(error)).slice(0, maxDetail);
}

// What is not one of the types of `Fields` is dropped, whatever the caller's types said: bytes and key objects have no place in a line.
function clean(fields: Fields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) out[name] = value.map(plain).filter((item) => item !== undefined);
    else out[name] = plain(value);
  }
  return out;
}

function plain(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return redact(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

export function createLogger(options: LogOptions): RootLogger {
  const { write } = options;
  const destination =
    write === undefined
      ? pino.destination({ fd: 2, sync: true })
      : new Writable({
          decodeStrings: false,
          write: (line: string, _encoding, done) => {
            write(line);
            done();
          },
        });
  // The level is ours, not pino's: a pino child keeps the level it was born with, and a change must reach all of them.
  let level = options.level;
  const root = pino(
    {
      level: 'debug',
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const wrap = (target: pino.Logger): Logger => {
    const at =
      (wanted: LogLevel) =>
      (message: string, fields: Fields = {}): void => {
        if (logLevels.indexOf(wanted) <= logLevels.indexOf(level)) target[wanted](clean(fields), redact(message));
      };
    return {
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      audit: (message, fields = {}) => target.info(clean({ ...fields, audit: true }), redact(message)),
      child: (fields) => wrap(target.child(clean(fields))),
    };
  };
  return {
    ...wrap(root),
    get level() {
      return level;
    },
    setLevel: (next) => {
      level = next;
    },
  };
}
