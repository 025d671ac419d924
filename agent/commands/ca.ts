// `signet ca`: the CA server, until a signal; below it what shows what it would do and what it did, and
// what rotates its issuer.

import { Command } from 'commander';
import { startAuthority } from '../authority/server.js';
import { systemClock } from '../runtime/time.js';
import { createAuditCommand } from './ca-audit.js';
import { createExplainCommand } from './ca-explain.js';
import { createRotateCommand } from './ca-rotate.js';
import { loadFromCaOptions } from './ca-options.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createCaCommand(terminal: Terminal): Command {
  const command = new Command('ca').description('a CA that signs only for the pods of the node that a caller is on');
  addCaSettingOptions(command).action(async (options: Readonly<Record<string, string>>) => {
    const { out: writeOutput, signal } = terminal;
    const loaded = loadFromCaOptions(options);
    const authority = await startAuthority({ loaded, clock: systemClock, writeOutput, signal }).catch((error: unknown) => {
      // Told to stop before it had begun: no failure.
      if (!signal.aborted) throw error;
    });
    await authority?.run(signal);
  });
  const below = [createExplainCommand, createAuditCommand, createRotateCommand];
  for (const create of below) command.addCommand(create(terminal));
  return command;
}
