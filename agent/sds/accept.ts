// From an accepted socket to an HTTP/2 connection: the policy says who it is, the socket is labelled, the injector gets it.
// The listener calls it for each connection, with sockets that nothing was read from yet (pauseOnConnect).

import type { Socket } from 'node:net';
import type { ConnectionInjector } from '../grpc/http2-guard.js';
import type { PeerPolicy } from './peer.js';

export function createAcceptor(policy: Pick<PeerPolicy, 'admit'>, injector: Pick<ConnectionInjector, 'inject'>): (socket: Socket) => void {
  return (socket) => {
    // Until HTTP/2 has the socket nobody else listens; a reset then is nothing but the end of the connection.
    socket.on('error', () => {});
    const peer = policy.admit(socket);
    if (peer === undefined) {
      socket.destroy();
      return;
    }
    // A Unix socket has no address; grpc-js shows what is here as `call.getPeer()`.
    Object.defineProperty(socket, 'remoteAddress', { value: peer.key });
    injector.inject(socket);
  };
}
