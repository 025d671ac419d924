// What the local CA tells of each call: one line when it is decided. Written by its service. The line of a certificate is never left
// out; refusals, which callers cause by what they send, are bounded for each address, and the next line says how many were left out.

import type { Fields } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { TokenBucket } from '../runtime/token-bucket.js';
import { createTokenBucket } from '../runtime/token-bucket.js';

export interface AuditLines {
  granted(fields: Fields): void;
  /** `peer`: address and port of the caller. */
  refused(peer: string, fields: Fields): void;
}

/** So many lines at once, and one a second after that. */
const lineBurst = 50;
/** Addresses are looked through when this many are known, and forgotten once they may say everything again. */
const peersKept = 1_024;

interface Peer {
  readonly lines: TokenBucket;
  suppressed: number;
}

export function createAuditLines(log: Logger, clock: Clock): AuditLines {
  const peers = new Map<string, Peer>();
  const createPeer = (): Peer => ({ lines: createTokenBucket(clock, lineBurst, 1), suppressed: 0 });
  /** Shared by those for whom there is no room. */
  const others = createPeer();

  const peerOf = (address: string): Peer => {
    const known = peers.get(address);
    if (known !== undefined) return known;
    if (peers.size >= peersKept) for (const [each, { lines }] of peers) if (lines.isFull) peers.delete(each);
    if (peers.size >= peersKept) return others;
    const peer = createPeer();
    peers.set(address, peer);
    return peer;
  };

  return {
    granted: (fields) => log.audit('certificate handed out', fields),
    refused(address, fields) {
      const peer = peerOf(address.slice(0, address.lastIndexOf(':')));
      if (!peer.lines.take()) {
        peer.suppressed += 1;
        return;
      }
      const { suppressed } = peer;
      peer.suppressed = 0;
      log.audit('certificate refused', { ...fields, ...(suppressed > 0 ? { suppressed } : {}) });
    },
  };
}
