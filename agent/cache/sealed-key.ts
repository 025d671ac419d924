// Where the key of the sealed state comes from: a credential of systemd, or a secret beside the state. Used by the sealed state.
// Promises: a secret that others could have read is not used; no secret stays in memory, only the key that is derived from it.

import type { KeyObject } from 'node:crypto';
import { randomFillSync } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Binding } from './sealed-format.js';
import { deriveKey } from './sealed-format.js';
import type { StateDirectory } from './state-directory.js';
import { readOwnFile } from './state-directory.js';

export interface KeyOptions {
  /** A file with a secret, from systemd. Default: one of our own in the directory. */
  readonly credential?: string | undefined;
  readonly binding: Binding;
  readonly log: Logger;
}

/** The file of the secret in the state directory. */
export const secretName = 'sealed-key';

const secretBytes = 32;

/** The key, bound to boot and node. Throws with a `state-…` reason where there is none to be had. */
export function openKey(directory: StateDirectory, { credential, binding, log }: KeyOptions): KeyObject {
  const secret = credential === undefined ? ownSecret(directory, log) : readCredential(credential);
  try {
    return deriveKey(secret, binding);
  } finally {
    secret.fill(0);
  }
}

/** The secret in the directory, made at the first start, and made anew where others could have read it or it is damaged. */
function ownSecret(directory: StateDirectory, log: Logger): Buffer {
  try {
    const found = directory.read(secretName);
    if (found?.length === secretBytes) return found;
  } catch (error) {
    log.warn('the key of the sealed state is made anew', errorFields(error));
  }
  const secret = Buffer.allocUnsafeSlow(secretBytes);
  randomFillSync(secret);
  directory.replace(secretName, secret);
  return secret;
}

function readCredential(path: string): Buffer {
  // systemd.exec(5), LoadCredential=: of root or the user of the unit, who may get it by an ACL, which shows as bits of the group.
  const secret = readOwnFile(path, ({ uid, mode }) => (uid === 0 || uid === process.geteuid?.()) && (mode & 0o037) === 0);
  if (secret !== undefined && secret.length >= secretBytes) return secret;
  throw new SignetError('invalid', 'the credential holds too little', {
    reason: 'state-unusable',
    fields: { path, bytes: secret?.length },
  });
}
