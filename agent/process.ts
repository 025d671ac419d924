// What both servers begin with, before any part of theirs: log, system calls, metrics. Called by agent.ts and authority/server.ts.
// Promise: from then on the memory of this process, with the keys in it, is no other process's to read.

import { Registry } from 'prom-client';
import type { LoadedConfig } from './config.js';
import { configFields } from './config.js';
import type { CommonMetrics } from './metrics.js';
import { addProcessMetrics } from './metrics.js';
import type { LogLevel, RootLogger } from './runtime/log.js';
import { createLogger } from './runtime/log.js';
import type { Native } from './runtime/native.js';
import { loadNative } from './runtime/native.js';
import { version } from './version.js';

export interface ProcessOptions<M> {
  readonly loaded: LoadedConfig<{ readonly log: { readonly level: LogLevel } }>;
  readonly createMetrics: (registry: Registry) => M;
  /** Receives the lines of the log. Default: standard error. */
  readonly writeLog?: ((line: string) => void) | undefined;
}

export interface ServerProcess<M> {
  readonly log: RootLogger;
  readonly native: Native;
  /** Behind /metrics. */
  readonly registry: Registry;
  readonly metrics: M;
}

/** Says what starts, with the effective configuration. Throws a SignetError where system calls are not to be had. */
export async function beginProcess<M extends Pick<CommonMetrics, 'buildInfo'>>(options: ProcessOptions<M>): Promise<ServerProcess<M>> {
  const { loaded, createMetrics, writeLog } = options;
  const log = createLogger({ level: loaded.config.log.level, ...(writeLog === undefined ? {} : { write: writeLog }) });
  for (const warning of loaded.warnings) log.warn(warning);
  log.info('starting', { version, ...configFields(loaded) });
  const native = await loadNative();
  native.forbidDumps();
  const registry = new Registry();
  addProcessMetrics(registry);
  const metrics = createMetrics(registry);
  metrics.buildInfo.set({ version, node: process.versions.node }, 1);
  return { log, native, registry, metrics };
}
