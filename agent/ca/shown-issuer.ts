// Which key signed what the server at an endpoint shows, to be told beside the keys that are known. Asked by ca/istio.ts after a
// server could not be verified, on a connection of its own on which nothing is sent.

import type { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/time.js';
import { Certificate } from '../x509/certificate.js';
import { keyIdOf } from '../x509/sign.js';
import type { Endpoint } from './handshake.js';
import { shakeHands } from './handshake.js';

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
  const handshake = { endpoint, serverName: serverName ?? endpoint.host, deadlineMs: patienceMs, clock };
  // It is only wanted for a message about another failure.
  return await shakeHands(handshake, readIssuer, signal).catch(() => undefined);
}

function readIssuer(socket: TLSSocket): string | undefined {
  let last = socket.getPeerX509Certificate();
  for (let depth = 0; depth < maxDepth && last?.issuerCertificate !== undefined; depth += 1) last = last.issuerCertificate;
  if (last === undefined) return undefined;
  const certificate = Certificate.fromDer(last.raw);
  return certificate.selfIssued ? keyIdOfRoot(certificate) : certificate.authorityKeyId;
}
