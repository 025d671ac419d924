// `signet renew NAME`: asks the agent for a new certificate now, through its control socket.

import { Command } from 'commander';
import type { SocketOptions } from './command.js';
import { createRunningAdminClient } from './command.js';
import { toFullName } from './names.js';
import type { Terminal } from './terminal.js';

export function createRenewCommand(terminal: Terminal): Command {
  return new Command('renew')
    .description('ask for a new certificate now; the old one is served until it is there')
    .argument('<name>', 'a SPIFFE ID, or <namespace>/<service account>')
    .option('--socket <path>', 'the control socket (default: that of the running agent)')
    .option('--config <file>', 'the configuration of the agent')
    .action(async (name: string, options: SocketOptions) => {
      const client = createRunningAdminClient(options);
      const identity = await toFullName(name, client, terminal.signal);
      await client.renew(identity, terminal.signal);
      terminal.out(`${identity} is being renewed\n`);
    });
}
