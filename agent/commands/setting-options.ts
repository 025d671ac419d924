// Every setting that has a flag as an option of a command. They are left out of the help, which stays on one screen:
// docs/configuration.md lists them.

import type { Command } from 'commander';
import { Option } from 'commander';
import { caSettings } from '../config/ca-settings.js';
import type { NamedSetting } from '../config/settings.js';
import { listSettings } from '../config/settings.js';

/** Adds --config, --pods and the flags of all settings of the agent. */
export function addSettingOptions(command: Command): Command {
  command
    .option('--config <file>', 'the configuration file')
    .option('--pods <file>', 'Pod manifests to take the identities from, as the only source');
  return addFlags(command, listSettings(), 'docs/configuration.md');
}

/** Adds --config and the flags of all settings of `signet ca`. */
export function addCaSettingOptions(command: Command): Command {
  command.option('--config <file>', 'the configuration file');
  return addFlags(command, listSettings(caSettings()), 'docs/configuration-ca.md');
}

/** Adds --config, --pods and the flags of all settings of both; a flag that is not of the one meant is a fault. */
export function addAllSettingOptions(command: Command): Command {
  const ofAgent = new Set(listSettings().map(({ flag }) => flag));
  const ofCaOnly = listSettings(caSettings()).filter(({ flag }) => !ofAgent.has(flag));
  return addFlags(addSettingOptions(command), ofCaOnly, 'docs/configuration-ca.md');
}

function addFlags(command: Command, settings: readonly NamedSetting[], page: string): Command {
  for (const { flag, setting } of settings) {
    if (flag !== undefined) command.addOption(new Option(`--${flag} <value>`, setting.sentence).hideHelp());
  }
  return command.addHelpText('after', `\nEach setting of ${page} is a flag too, such as --log-level debug.\n`);
}

/** The names of flags as they are typed; commander hands them out in camel case. */
export function toFlagNames(options: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]),
  );
}
