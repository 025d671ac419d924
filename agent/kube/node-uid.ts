// The UID of the Node object that this process runs on, without a call: a token that is bound to a pod names its node since
// Kubernetes 1.30. Called by the wiring, for what is bound to the node.

import { readFileSync } from 'node:fs';
import { claimsOf } from './credentials.js';

/** The UID in the first of the files that has one; undefined where none does. Not verified: it is compared with what it was. */
export function readNodeUid(tokenFiles: readonly string[]): string | undefined {
  for (const path of tokenFiles) {
    const uid = nodeUidIn(claimsOf(readText(path)));
    if (uid !== undefined) return uid;
  }
  return undefined;
}

function nodeUidIn(claims: Readonly<Record<string, unknown>>): string | undefined {
  const { node } = (claims['kubernetes.io'] ?? {}) as { readonly node?: { readonly uid?: unknown } };
  return typeof node?.uid === 'string' && node.uid !== '' ? node.uid : undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not every agent has every token; the next file may be there.
    return '';
  }
}
