// `signet version`: the version of Signet and of the Node it runs on.

import { Command } from 'commander';
import { version } from '../version.js';
import type { Terminal } from './terminal.js';

export function createVersionCommand(terminal: Terminal): Command {
  return new Command('version').description('print the version').action(() => {
    terminal.out(`signet ${version} (node ${process.versions.node})\n`);
  });
}
