// `signet ca`: the CA server, until a signal; below it what shows what it would do, and what it did.

import { Command } from 'commander';
import { startAuthority } from '../authority/server.js';
import { systemClock } from '../runtime/time.js';
import { createAuditCommand } from './ca-audit.js';
import { createExplainCommand } from './ca-explain.js';
import { loadFromCaOptions } from './ca-options.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createCaCommand(terminal: Terminal): Command {
  const command = new Command('ca').description('a CA that signs only for the pods of the node that a caller is on');
  addCaSettingOptions(command).action(async (options: Readonly<Record<string, string>>) => {
    const authority = await startAuthority({ loaded: loadFromCaOptions(options), clock: systemClock, writeOutput: terminal.out });
    await authority.run(terminal.signal);
  });
  return command.addCommand(createExplainCommand(terminal)).addCommand(createAuditCommand(terminal));
}
