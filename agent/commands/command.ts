// What the commands share: the sockets they talk to, the words of an error, and the exit code that goes with it.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AdminClient } from '../admin/client.js';
import { createAdminClient } from '../admin/client.js';
import { ConfigError, formatFault, loadConfig, socketCandidates } from '../config.js';
import type { ConfigInput, LoadedConfig, Mode } from '../config.js';
import { foreignEntry } from '../listen/directory.js';
import type { ErrorKind } from '../runtime/errors.js';
import { describeError, fieldsOf, kindOf, reasonOf } from '../runtime/errors.js';
import { reasons } from '../runtime/reasons.js';
import { systemClock } from '../runtime/time.js';
import { toFlagNames } from './setting-options.js';

/** Exit codes: 0 ok, 1 bug, 2 usage or configuration, 3 cannot start or reach, 4 no such identity or not ready in time, 5 refused. */
const exitCodes: Readonly<Record<ErrorKind, number>> = {
  invalid: 2,
  unauthenticated: 5,
  denied: 5,
  notFound: 4,
  conflict: 3,
  exhausted: 5,
  deadline: 4,
  cancelled: 4,
  unavailable: 3,
  internal: 1,
};

export function exitCodeOf(error: unknown): number {
  return exitCodes[kindOf(error)];
}

/** What went wrong and what to change, for standard error. */
export function formatError(error: unknown): string {
  if (error instanceof ConfigError) return error.faults.map((fault) => `signet: ${formatFault(fault)}\n`).join('');
  const facts = Object.entries(fieldsOf(error)).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${String(value)}`]));
  const reason = reasonOf(error);
  const advice = reason === undefined ? '' : `  ${reason}: ${reasons[reason].sentence} ${reasons[reason].action}\n`;
  return `signet: ${describeError(error)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}\n${advice}`;
}

/** Where the command finds the running agent. */
export interface SocketOptions {
  /** The socket itself. */
  readonly socket?: string;
  /** The configuration of the agent, which names its sockets. */
  readonly config?: string;
}

/**
 * The socket that is told, else the first that exists of those that a running agent has; where none exists, the agent's.
 * `dev` has its sockets below /tmp, where anybody can make such a directory: one that another user made is passed over.
 */
export function findSocket(setting: 'sds.socket.path' | 'admin.socket.path', { socket, config }: SocketOptions): string {
  if (socket !== undefined) return socket;
  const candidates = socketCandidates(setting, config === undefined ? {} : { file: config });
  return candidates.find((path) => existsSync(path) && foreignEntry(path) === undefined) ?? candidates.at(-1) ?? '';
}

export function createRunningAdminClient(options: SocketOptions): AdminClient {
  return createAdminClient({ path: findSocket('admin.socket.path', options), clock: systemClock });
}

/** Loads with the options of the command line; --pods is the short form of a single file source. */
export function loadFromOptions(defaults: Mode, options: Readonly<Record<string, string>>): { loaded: LoadedConfig; input: ConfigInput } {
  const { config: file, pods, ...settings } = toFlagNames(options);
  const input: ConfigInput = {
    defaults,
    flags: settings,
    ...(file === undefined ? {} : { file }),
    ...(pods === undefined ? {} : { overrides: { 'pods.sources': { value: [{ kind: 'file', path: resolve(pods) }], from: '--pods' } } }),
  };
  return { loaded: loadConfig(input), input };
}
