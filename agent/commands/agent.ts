// `signet agent`: the node agent, until a signal.

import { Command } from 'commander';
import { startAgent } from '../agent.js';
import { systemClock } from '../runtime/time.js';
import { loadFromOptions } from './command.js';
import { addSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createAgentCommand(terminal: Terminal): Command {
  const command = new Command('agent').description('the agent of a node: keeps a certificate per service account and serves it by SDS');
  return addSettingOptions(command).action(async (options: Readonly<Record<string, string>>) => {
    const agent = await startAgent({ ...loadFromOptions('agent', options), clock: systemClock });
    await agent.run(terminal.signal);
  });
}
