// `signet check-config`: the effective configuration with the origin of each value, or all of its faults.

import { Command } from 'commander';
import { formatConfig } from '../config/format.js';
import { loadFromOptions } from './command.js';
import { addSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createCheckConfigCommand(terminal: Terminal): Command {
  const command = new Command('check-config')
    .description('print the effective configuration, or all of its faults')
    .option('--dev', 'with the defaults of `signet dev`');
  return addSettingOptions(command).action(({ dev, ...options }: { readonly dev?: true } & Readonly<Record<string, string>>) => {
    const { loaded } = loadFromOptions(dev === true ? 'dev' : 'agent', options);
    for (const warning of loaded.warnings) terminal.err(`signet: ${warning}\n`);
    terminal.out(formatConfig(loaded));
  });
}
