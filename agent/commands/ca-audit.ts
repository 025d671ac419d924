// `signet ca audit verify`: decides every grant of an audit log once more, by the policy of the configuration.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { createReplay } from '../authority/audit-replay.js';
import { SignetError } from '../runtime/errors.js';
import { loadFromCaOptions } from './ca-options.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createAuditCommand(terminal: Terminal): Command {
  const verify = new Command('verify')
    .description('report every grant of an audit log that the rules refuse')
    .argument('<file>', 'the audit log');
  addCaSettingOptions(verify).action(async (file: string, options: Readonly<Record<string, string>>) => {
    const { config } = loadFromCaOptions(options);
    const check = createReplay({ trustDomain: config.trustDomain, nodeAgents: new Set(config.nodeAgents), deny: config.deny });
    const { lines, faults } = await readLog(file, (line, number) => {
      const fault = check(line);
      if (fault !== undefined) terminal.out(`line ${number} ${fault}\n`);
      return fault === undefined;
    });
    terminal.out(`${lines} lines, ${faults} of them with a fault\n`);
    if (faults > 0) throw new SignetError('denied', 'the audit log has grants that are not right', { fields: { file, faults } });
  });
  return new Command('audit').description('look at the audit log').addCommand(verify);
}

/** Hands out each line; tells how many there are and how many are not sound. */
export async function readLog(path: string, isSound: (line: string, number: number) => boolean) {
  let lines = 0;
  let faults = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      lines += 1;
      if (!isSound(line, lines)) faults += 1;
    }
  } catch (error) {
    throw new SignetError('invalid', 'read the audit log', { cause: error, fields: { path } });
  }
  return { lines, faults };
}
