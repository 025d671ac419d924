// TCP_QUICKACK for connections whose clients leave Nagle's algorithm on, as ztunnel does: such a client sends the headers of a call and
// holds the message back until they are acknowledged, which the kernel of a server delays by 40 ms. Made by the wiring of such servers,
// told of each call when its headers are there.
// Promises: one system call for each call, and none after the first that fails.

import type { Socket } from 'node:net';
import type { Logger } from '../runtime/log.js';
import type { Native } from '../runtime/native.js';
import { socketFd } from '../runtime/native.js';

/** Acknowledges at once what the connection has received. Holds for that only, so it is due again with the next call. */
export type QuickAck = (socket: Socket) => void;

export interface QuickAckOptions {
  readonly native: Pick<Native, 'acknowledge'>;
  readonly log: Logger;
}

export function createQuickAck({ native, log }: QuickAckOptions): QuickAck {
  let works = true;
  return (socket) => {
    const fd = works ? socketFd(socket) : undefined;
    if (fd === undefined) return;
    works = native.acknowledge(fd);
    if (!works) log.info('the kernel does not acknowledge at once; clients with Nagle on wait 40 ms in each call');
  };
}
