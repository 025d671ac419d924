// Which key signed what the server at an endpoint shows, to be told beside the keys that are known. Asked by ca/istio.ts after a
// server could not be verified, on a connection of its own on which nothing is sent.

import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';
import { Certificate } from '../x509/certificate.js';
import { keyIdOf } from '../x509/sign.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A server that is slow to show its certificate is not worth more, in ms. */
const patienceMs = 2_000;

/** More certificates than this are no chain. */
const maxDepth = 16;

/** The key id of a root, in hex, as certificates that it signed name it. */
export function keyIdOfRoot(root: Certificate): string {
  return root.subjectKeyId ?? keyIdOf(root.publicKeySpki);
}

/** The id of the key above the last certificate that is shown; undefined when there is none to be seen. */
export async function shownIssuerKeyId(
  endpoint: Endpoint,
  serverName: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const servername = serverName ?? (isIP(endpoint.host) === 0 ? endpoint.host : undefined);
  const socket = connect({
    ...endpoint,
    ...(servername === undefined ? {} : { servername }),
    ALPNProtocols: ['h2'],
    // Whatever it is, it is looked at and left.
    rejectUnauthorized: false,
  });
  try {
    const connected = new Promise<void>((resolve, reject) => {
      socket.on('error', reject).once('secureConnect', resolve);
    });
    await withDeadline(clock, patienceMs, 'reading the certificate of the ca', signal, () => connected);
    return readIssuer(socket);
  } catch {
    // It is only wanted for a message about another failure.
    return undefined;
  } finally {
    socket.destroy();
  }
}

function readIssuer(socket: TLSSocket): string | undefined {
  let last = socket.getPeerX509Certificate();
  for (let depth = 0; depth < maxDepth && last?.issuerCertificate !== undefined; depth += 1) last = last.issuerCertificate;
  if (last === undefined) return undefined;
  const certificate = Certificate.fromDer(last.raw);
  return certificate.selfIssued ? keyIdOfRoot(certificate) : certificate.authorityKeyId;
}
