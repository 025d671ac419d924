// Groups of the system by name, for the sockets that a group may use. Called by agent.ts, once at the start.

import { readFileSync } from 'node:fs';
import { SignetError } from './errors.js';

/** Where groups stand, see group(5). Those of other sources, such as LDAP, can be given by number. */
const groupFile = '/etc/group';

/** The number of a group that is given by name or number. Throws `invalid` when there is no such group. */
export function findGroupId(group: string, file: string = groupFile): number {
  if (/^[0-9]{1,10}$/.test(group)) return Number(group);
  for (const line of readLines(file)) {
    const [name, , id] = line.split(':');
    if (name === group && id !== undefined && /^[0-9]{1,10}$/.test(id)) return Number(id);
  }
  throw new SignetError('invalid', 'there is no such group; give its number if it is not in the file', { fields: { group, file } });
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    throw new SignetError('invalid', 'read the groups of this system', { cause: error, fields: { file } });
  }
}
