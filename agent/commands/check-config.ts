// `signet check-config`: the effective configuration with the origin of each value, or all of its faults; of the agent, of `dev` or
// of the CA.

import { Command, Option } from 'commander';
import { formatConfig } from '../config/format.js';
import { loadFromCaOptions } from './ca-options.js';
import { loadFromOptions } from './command.js';
import { addAllSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly dev?: true;
  readonly ca?: true;
}

export function createCheckConfigCommand(terminal: Terminal): Command {
  const command = new Command('check-config')
    .description('print the effective configuration, or all of its faults')
    .option('--dev', 'with the defaults of `signet dev`')
    .addOption(new Option('--ca', 'that of `signet ca`: its file, its settings').conflicts('dev'));
  return addAllSettingOptions(command).action(({ dev, ca, ...options }: Options & Readonly<Record<string, string>>) => {
    const loaded = ca === true ? loadFromCaOptions(options) : loadFromOptions(dev === true ? 'dev' : 'agent', options).loaded;
    for (const warning of loaded.warnings) terminal.err(`signet: ${warning}\n`);
    terminal.out(formatConfig(loaded));
  });
}
