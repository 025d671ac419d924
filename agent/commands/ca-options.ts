// The configuration of `signet ca` from the options of its commands, and its API server for the commands that ask that.

import type { CaConfig, LoadedConfig } from '../config.js';
import { loadCaConfig, processEnvironment } from '../config.js';
import { createCredential } from '../kube/access.js';
import type { KubeClient } from '../kube/client.js';
import { createKubeClient } from '../kube/client.js';
import { createAuthorityMetrics } from '../metrics.js';
import { createLogger } from '../runtime/log.js';
import { systemClock, withDeadline } from '../runtime/time.js';
import { Registry } from 'prom-client';
import { toFlagNames } from './setting-options.js';

/** Loads with the options of the command line. Throws a ConfigError. */
export function loadFromCaOptions(options: Readonly<Record<string, string>>): LoadedConfig<CaConfig> {
  const { config: file, ...flags } = toFlagNames(options);
  return loadCaConfig({ flags, ...(file === undefined ? {} : { file }) });
}

/** For what reads a kubeconfig, which is loaded first and may run a plugin: longer than a call may take. */
const accessMs = 60_000;

/** Lends a client of the API server of the own cluster. */
export async function withKubeClient<T>(
  { kubeconfig }: CaConfig,
  signal: AbortSignal,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const shared = { clock: systemClock, metrics: createAuthorityMetrics(new Registry()) };
  const log = createLogger({ level: 'error' });
  const credential = createCredential({ kubeconfig, env: processEnvironment(), log, ...shared });
  const client = createKubeClient({ credential, ...shared });
  try {
    await withDeadline(systemClock, accessMs, 'access to the api server', signal, async () => await credential.access());
    return await use(client);
  } finally {
    client.close();
  }
}

export const toJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
