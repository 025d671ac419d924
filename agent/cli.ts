// The command line: argv -> command -> exit code. The only place of stdout, signals and exit.

import { Command, CommanderError } from 'commander';
import { createAgentCommand } from './commands/agent.js';
import { createCaCommand } from './commands/ca.js';
import { createCheckConfigCommand } from './commands/check-config.js';
import { exitCodeOf, formatError } from './commands/command.js';
import { createDevCommand } from './commands/dev.js';
import { createFetchCommand } from './commands/fetch.js';
import { createLogLevelCommand } from './commands/log-level.js';
import { createRenewCommand } from './commands/renew.js';
import { createStatusCommand } from './commands/status.js';
import type { Terminal } from './commands/terminal.js';
import { createVersionCommand } from './commands/version.js';

function createTerminal(): Terminal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // The first signal is a request, the second one an order.
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  // A reader that went away (`signet status | head`) ends the output, not with a stack trace.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    signal: stop.signal,
  };
}

/** Errors, help and exits of a command and of those below it are the program's. */
function inherit(command: Command, program: Command): Command {
  for (const below of command.commands) inherit(below, program);
  return command.copyInheritedSettings(program);
}

async function main(argv: readonly string[]): Promise<number> {
  const terminal = createTerminal();
  const program = new Command('signet')
    .description('A short-lived X.509 certificate for every service account on this node, handed to its proxies by SDS.')
    .exitOverride()
    // A command that has commands below it leaves them their options.
    .enablePositionalOptions()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('(`signet --help` lists the commands)');
  const create = [
    createDevCommand,
    createAgentCommand,
    createCaCommand,
    createFetchCommand,
    createStatusCommand,
    createRenewCommand,
    createLogLevelCommand,
    createCheckConfigCommand,
    createVersionCommand,
  ];
  for (const createCommand of create) program.addCommand(inherit(createCommand(terminal), program));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed what is wrong with the usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(formatError(error));
    return exitCodeOf(error);
  }
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`signet: bug: ${String(error)}\n`);
    process.exit(1);
  },
);
