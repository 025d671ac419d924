// A TLS handshake with an endpoint of a CA, to see what it shows; nothing is sent. Used by ca/reach.ts and ca/shown-issuer.ts.
// Promises: it refuses no certificate, that is for who looks; when it settles, at its deadline at the latest, the connection is closed.

import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkServerIdentity, connect } from 'node:tls';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface HandshakeOptions {
  readonly endpoint: Endpoint;
  /** What its certificate is to name. */
  readonly serverName: string;
  /** What it is to chain to, PEM. Default: the roots of Node, for whoever does not ask `authorized`. */
  readonly ca?: string;
  /** In ms. */
  readonly deadlineMs: number;
  readonly clock: Clock;
}

/** What `look` gives for the connection. Rejects with kind `deadline` or `cancelled`, with the error of the connection, or of `look`. */
export async function shakeHands<T>(options: HandshakeOptions, look: (socket: TLSSocket) => T, signal: AbortSignal): Promise<T> {
  const { endpoint, serverName, ca, deadlineMs, clock } = options;
  const socket = connect({
    ...endpoint,
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['h2'],
    rejectUnauthorized: false,
    // RFC 6066 §3: SNI holds no addresses.
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
  });
  const connected = (): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.on('error', reject).once('secureConnect', resolve);
    });
  try {
    await withDeadline(clock, deadlineMs, 'the handshake with the ca', signal, connected);
    return look(socket);
  } finally {
    socket.destroy();
  }
}
