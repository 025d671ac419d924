// A TLS listener for HTTP/2 over TCP. Called by the wiring of servers that others reach over the network.
// Promises: nothing is accepted before there is a certificate; a new one counts for new connections while open ones go on; a peer
// that never completes its handshake costs a connection for ten seconds; one address has no more connections than it may.

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import { aborted } from '../runtime/time.js';
import type { TcpPlace } from './place.js';
import { placeOptions } from './place.js';

/** A certificate to serve with, and its key. */
export interface TlsIdentity {
  /** PEM: leaf first, then what is between it and its root. */
  readonly chain: string;
  /** PEM; wiped by the listener. */
  readonly privateKey: Buffer;
}

export interface TlsListenOptions extends TcpPlace {
  readonly minVersion: '1.2' | '1.3';
  readonly maxConnections: number;
  /** Of one address. Default: no less than all. */
  readonly maxPerAddress?: number;
  readonly identity: TlsIdentity;
  readonly log: Logger;
}

export interface TlsListener {
  readonly address: { readonly host: string; readonly port: number };
  /** For connections from now on. */
  show(identity: TlsIdentity): void;
  /** Accepts until the signal aborts; open connections stay. */
  run(signal: AbortSignal): Promise<void>;
}

const handshakeMs = 10_000;
const backlog = 4_096;

/** Binds and accepts. `onConnection` gets sockets that have agreed on HTTP/2. Throws `unavailable` when the address cannot be had. */
export async function listenTls(options: TlsListenOptions, onConnection: (socket: TLSSocket) => void): Promise<TlsListener> {
  const { address, minVersion, maxConnections, maxPerAddress, identity, log } = options;
  const server = createServer({
    ...contextOf(identity),
    minVersion: `TLSv${minVersion}`,
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
    noDelay: true,
  });
  identity.privateKey.fill(0);
  server.maxConnections = maxConnections;
  if (maxPerAddress !== undefined) server.on('connection', boundEachAddress(maxPerAddress));
  server.on('secureConnection', (socket) => {
    // Until HTTP/2 has the socket nobody else listens; a reset then is nothing but the end of the connection.
    socket.on('error', () => {});
    // A client that offers no protocol at all is let through by TLS.
    if (socket.alpnProtocol === 'h2') onConnection(socket);
    else socket.destroy();
  });
  server.on('tlsClientError', (error, socket) => {
    log.debug('a handshake failed', { peer: socket.remoteAddress, ...errorFields(error) });
    socket.destroy();
  });
  try {
    server.listen(placeOptions(options, backlog));
    await once(server, 'listening');
  } catch (error) {
    const fields = { host: address.host, port: address.port };
    throw new SignetError('unavailable', 'listen for tls connections', { cause: error, fields });
  }
  server.on('error', (error) => log.error('socket cannot accept', errorFields(error)));
  const bound = server.address() as AddressInfo;
  log.info('listening', { host: bound.address, port: bound.port });
  return {
    address: { host: bound.address, port: bound.port },
    show(next) {
      server.setSecureContext({ ...contextOf(next), minVersion: `TLSv${minVersion}` });
      next.privateKey.fill(0);
    },
    async run(signal) {
      await aborted(signal);
      server.close();
    },
  };
}

function contextOf({ chain, privateKey }: TlsIdentity) {
  return { cert: chain, key: privateKey };
}

/** Ends the connections of an address that has as many already. */
function boundEachAddress(max: number): (socket: Socket) => void {
  const open = new Map<string, number>();
  return (socket) => {
    // Not there any more once the peer has gone.
    const from = socket.remoteAddress ?? '';
    const count = (change: 1 | -1): number => {
      const now = (open.get(from) ?? 0) + change;
      if (now === 0) open.delete(from);
      else open.set(from, now);
      return now;
    };
    socket.once('close', () => count(-1));
    if (count(1) > max) socket.destroy();
  };
}
