// The configuration of `signet ca` from the options of its commands.

import type { CaConfig, LoadedConfig } from '../config.js';
import { loadCaConfig } from '../config.js';
import { toFlagNames } from './setting-options.js';

export function loadFromCaOptions(options: Readonly<Record<string, string>>): LoadedConfig<CaConfig> {
  const { config: file, ...flags } = toFlagNames(options);
  return loadCaConfig({ flags, ...(file === undefined ? {} : { file }) });
}
