// `signet log-level LEVEL`: changes what the running agent logs, through its control socket.

import { Argument, Command } from 'commander';
import type { LogLevel } from '../runtime/log.js';
import { logLevels } from '../runtime/log.js';
import type { SocketOptions } from './command.js';
import { createRunningAdminClient } from './command.js';
import type { Terminal } from './terminal.js';

export function createLogLevelCommand(terminal: Terminal): Command {
  return new Command('log-level')
    .description('change what the running agent logs, until it restarts')
    .addArgument(new Argument('<level>', 'the least serious level to log').choices(logLevels))
    .option('--socket <path>', 'the control socket (default: that of the running agent)')
    .option('--config <file>', 'the configuration of the agent')
    .action(async (level: LogLevel, options: SocketOptions) => {
      await createRunningAdminClient(options).setLogLevel(level, terminal.signal);
      terminal.out(`the agent logs ${level} and what is more serious\n`);
    });
}
