// `signet dev`: agent and CA in one process, with pods from a file and no cluster. Says what it serves and what to type next.

import { Command } from 'commander';
import type { Agent } from '../agent.js';
import { startAgent } from '../agent.js';
import { systemClock } from '../runtime/time.js';
import { loadFromOptions } from './command.js';
import { addSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

export function createDevCommand(terminal: Terminal): Command {
  const command = new Command('dev').description('agent and CA in one process, pods from a file, no cluster');
  return addSettingOptions(command).action(async (options: Readonly<Record<string, string>>) => {
    const agent = await startAgent({ ...loadFromOptions('dev', options), clock: systemClock });
    const running = agent.run(terminal.signal);
    await Promise.race([agent.podsRead, running]);
    if (!terminal.signal.aborted) terminal.out(formatWelcome(agent));
    await running;
  });
}

const shown = 10;

/** What is served, where, and what to type next. */
export function formatWelcome({ addresses, http, identities }: Pick<Agent, 'addresses' | 'http' | 'identities'>): string {
  const names = [...identities.value.keys()].sort();
  const more = names.length > shown ? [`  … and ${names.length - shown} more`] : [];
  const next = names[0] ?? 'ROOTCA';
  return [
    names.length === 0 ? 'signet is running and knows no pods yet.' : `signet serves ${names.length} identities:`,
    ...names.slice(0, shown).map((name) => `  ${name}`),
    ...more,
    '',
    `SDS socket  ${addresses.sds}`,
    `metrics     ${http.value === undefined ? 'not served: the address is taken' : `http://${http.value.host}:${http.value.port}/metrics`}`,
    '',
    'Next, in another terminal:',
    `  npx signet fetch ${next}`,
    '  npx signet status',
    'Ctrl-C stops signet.',
    '',
  ].join('\n');
}
