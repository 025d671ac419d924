// Where a TCP listener is: an address of its own, one that it shares with the process that it replaces, or a socket that was passed in.
// Used by the doors that are reached over the network.

import type { ListenOptions } from 'node:net';

export interface TcpPlace {
  /** Host '' means all addresses, of both families where there are two; port 0 lets the system choose. */
  readonly address: { readonly host: string; readonly port: number };
  /** A socket that was bound by somebody else, such as systemd, which is accepted on instead. */
  readonly fd?: number | undefined;
  /**
   * Shares the address with a process of the same user that does so too (SO_REUSEPORT), so that of two agents the next one listens while
   * the one before drains. Node 22.12 and newer; an older one waits until the address is free. Default false.
   */
  readonly reusePort?: boolean;
}

/** Between attempts to have an address: a process that is replaced holds it for seconds, any other for longer. */
export const bindRetry = { minMs: 500, maxMs: 30_000 } as const;

// The types of Node 20 know neither of the two.
type PlaceOptions = ListenOptions & { readonly fd?: number; readonly reusePort?: boolean };

/** For `server.listen`. */
export function placeOptions({ address, fd, reusePort = false }: TcpPlace, backlog?: number): PlaceOptions {
  if (fd !== undefined) return { fd };
  return { ...address, reusePort, ...(backlog === undefined ? {} : { backlog }) };
}
