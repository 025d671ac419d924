// The sockets of a gRPC server that are open, so that it can end when they have closed. Used by the servers that take accepted sockets.

import type { Socket } from 'node:net';
import { kindOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { settleWithin } from '../runtime/time.js';

export interface OpenSockets {
  add(socket: Socket): void;
  /** Runs what has the sockets close that are open now; settles when they are closed, or at the deadline. */
  closeWithin(deadlineMs: number, end: () => void): Promise<void>;
  destroy(): void;
}

export function createOpenSockets(clock: Clock): OpenSockets {
  const sockets = new Set<Socket>();
  return {
    add(socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    },
    async closeWithin(deadlineMs, end) {
      // Not events.once: a reset is an end like any other.
      const closed = Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
      end();
      await settleWithin(clock, deadlineMs, 'closing connections', () => closed).catch((error: unknown) => {
        if (kindOf(error) !== 'deadline') throw error;
      });
    },
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
