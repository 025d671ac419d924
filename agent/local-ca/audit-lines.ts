// What the local CA tells of each call: one line when it is decided. Written by its service. The line of a certificate is never left
// out; refusals, which callers cause by what they send, are bounded for each address, and the next line says how many were left out.

import type { Fields } from '../runtime/errors.js';
import type { LineBound } from '../runtime/line-bound.js';
import { createLineBound } from '../runtime/line-bound.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';

export interface AuditLines {
  granted(fields: Fields): void;
  /** `peer`: address and port of the caller. */
  refused(peer: string, fields: Fields): void;
}

/** Lines at once: a proxy may be refused for each identity of its node. */
const lineBurst = 50;
/** Addresses are looked through when this many are known, and forgotten once they may say everything again. */
const peersKept = 1_024;

export function createAuditLines(log: Logger, clock: Clock): AuditLines {
  const peers = new Map<string, LineBound>();
  /** Shared by those for whom there is no room. */
  const others = createLineBound(clock, lineBurst);

  const linesOf = (address: string): LineBound => {
    const known = peers.get(address);
    if (known !== undefined) return known;
    if (peers.size >= peersKept) for (const [each, lines] of peers) if (lines.isFull) peers.delete(each);
    if (peers.size >= peersKept) return others;
    const lines = createLineBound(clock, lineBurst);
    peers.set(address, lines);
    return lines;
  };

  return {
    granted: (fields) => log.audit('certificate handed out', fields),
    refused(address, fields) {
      const more = linesOf(address.slice(0, address.lastIndexOf(':'))).take();
      if (more !== undefined) log.audit('certificate refused', { ...fields, ...more });
    },
  };
}
