// Whether our own Unix socket is really accepted on: a connection of this process to itself, taken out again before anybody else sees it.
// Put in front of a listener by the wiring, and asked before the watchdog of systemd is told that the process lives.
// Promises: nothing is asked of a path that leads to no socket or to one of another process, where no restart of ours would help.

import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { SignetError } from '../runtime/errors.js';
import type { Native } from '../runtime/native.js';
import { socketFd } from '../runtime/native.js';

export interface SelfProbe {
  /** For the listener; hands on all connections but those of `check`. */
  readonly onConnection: (socket: Socket) => void;
  /** Settles as soon as the listener has accepted a connection; the signal ends the wait. One at a time. Throws `unavailable`. */
  check(this: void, signal: AbortSignal): Promise<void>;
}

export interface SelfProbeOptions {
  /** Of the socket. */
  readonly path: string;
  readonly native: Pick<Native, 'peerCredentials'>;
}

export function createSelfProbe({ path, native }: SelfProbeOptions, onConnection: (socket: Socket) => void): SelfProbe {
  // Of a socket that listens these are those of the process that called listen(2) last, also where systemd had made it (unix(7)).
  const isOurs = (socket: Socket): boolean => {
    const fd = socketFd(socket);
    return fd !== undefined && native.peerCredentials(fd).pid === process.pid;
  };
  let onAccepted: (() => void) | undefined;
  return {
    onConnection(socket) {
      if (onAccepted === undefined || !isOurs(socket)) return onConnection(socket);
      onAccepted();
      socket.destroy();
    },
    async check(signal) {
      const socket = connect({ path, signal });
      try {
        await new Promise<void>((resolve, reject) => {
          onAccepted = resolve;
          socket.once('connect', () => {
            if (!isOurs(socket)) resolve();
          });
          socket.on('error', (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve();
            else reject(error);
          });
        });
      } catch (error) {
        throw new SignetError('unavailable', 'connect to our own socket', { cause: error, fields: { path } });
      } finally {
        onAccepted = undefined;
        socket.destroy();
      }
    },
  };
}
