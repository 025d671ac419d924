// What the calls of one owner, and all calls together, may hold before and after the service has them: gRPC shows it a call only when
// a request is complete, keeps the bytes of one that is not, and forgets a call that has ended while its client keeps it open.
// Made with a gRPC server, asked by http2-guard.ts for each stream.

import type { ServerHttp2Stream } from 'node:http2';

export interface CallLimits {
  /** Open HTTP/2 streams in all, and those of one owner. */
  readonly streams: number;
  readonly streamsPerOwner: number;
  /** Bytes of incomplete requests of one owner. */
  readonly unfinishedBytes: number;
}

export type CallLimit = 'streams' | 'streams-per-owner' | 'unfinished-messages';

export interface CallBounds {
  /** Counts a stream of the peer until it closes, and says by `refuse` which limit it goes over, now or by its data later. */
  follow(stream: Pick<ServerHttp2Stream, 'on' | 'once'>, peerKey: string, refuse: (limit: CallLimit) => void): void;
}

interface Holding {
  streams: number;
  unfinished: number;
}

/** `ownerOf`: by what a peer is counted. */
export function createCallBounds(limits: CallLimits, ownerOf: (peerKey: string) => string): CallBounds {
  const holdings = new Map<string, Holding>();
  let streams = 0;
  return {
    follow(stream, peerKey, refuse) {
      const owner = ownerOf(peerKey);
      const holding = holdings.get(owner) ?? { streams: 0, unfinished: 0 };
      holdings.set(owner, holding);
      streams += 1;
      holding.streams += 1;
      let held = 0;
      const hold = (bytes: number): void => {
        holding.unfinished += bytes - held;
        held = bytes;
      };
      stream.once('close', () => {
        hold(0);
        streams -= 1;
        holding.streams -= 1;
        if (holding.streams === 0) holdings.delete(owner);
      });
      if (holding.streams > limits.streamsPerOwner) return refuse('streams-per-owner');
      if (streams > limits.streams) return refuse('streams');
      const measure = createMeasure();
      stream.on('data', (chunk: Buffer) => {
        hold(measure(chunk));
        if (held > 0 && holding.unfinished > limits.unfinishedBytes) refuse('unfinished-messages');
      });
    },
  };
}

const prefixBytes = 5;

/** Returns what the last message has brought so far, in bytes; 0 when it is complete (gRPC over HTTP/2, Length-Prefixed-Message). */
function createMeasure(): (chunk: Buffer) => number {
  const prefix = Buffer.alloc(prefixBytes);
  let read = 0;
  let due = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const taken = read < prefixBytes ? chunk.copy(prefix, read, at, at + prefixBytes - read) : Math.min(due, chunk.length - at);
      if (read >= prefixBytes) due -= taken;
      read += taken;
      at += taken;
      if (read === prefixBytes) due = prefix.readUInt32BE(1);
      if (read >= prefixBytes && due === 0) read = 0;
    }
    return read;
  };
}
