// Whether an endpoint of a CA is there and is who it should be, by a TLS handshake of its own: for the self-check, which looks
// at endpoints that nobody asks for a certificate too. Used by upstreams.ts. Promise: nothing is sent over the connection.

import type { TLSSocket } from 'node:tls';
import { checkServerIdentity, connect } from 'node:tls';
import { SignetError, explainError, reasonOf } from '../runtime/errors.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Checks } from '../runtime/self-check.js';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { formatCertificates } from '../x509/pem.js';

export interface ReachOptions {
  /** The upstream. */
  readonly name: string;
  readonly endpoint: { readonly host: string; readonly port: number };
  /** What its certificate must name. Default: the host. */
  readonly serverName?: string;
  /** What it must chain to. */
  readonly tlsRoots: Watched<readonly Certificate[] | undefined>;
  readonly clock: Clock;
}

const deadlineMs = 5_000;

export function createReachCheck({ name, endpoint, serverName = endpoint.host, tlsRoots, clock }: ReachOptions): Checks {
  const check = `${name} ${endpoint.host}:${endpoint.port}`;
  return {
    names: [check],
    async look(signal) {
      const roots = tlsRoots.value ?? [];
      // Their source says why there are none.
      if (roots.length === 0) return new Map();
      const work = (inner: AbortSignal): Promise<void> => shakeHands({ ...endpoint, serverName, ca: formatCertificates(roots) }, inner);
      return await withDeadline(clock, deadlineMs, 'the handshake with the ca', signal, work).then(
        () => new Map([[check, undefined]]),
        (error: unknown) => {
          if (signal.aborted) throw error;
          return new Map([[check, faultOf(error)]]);
        },
      );
    },
  };
}

function faultOf(error: unknown): Reason {
  return { code: reasonOf(error) ?? 'ca-deadline', detail: explainError(error) };
}

interface Handshake {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  /** PEM. */
  readonly ca: string;
}

async function shakeHands({ host, port, serverName, ca }: Handshake, signal: AbortSignal): Promise<void> {
  const socket = connect({
    host,
    port,
    ca,
    ALPNProtocols: ['h2'],
    // Judged below, with the dates in the certificate; nothing is sent.
    rejectUnauthorized: false,
    ...(isName(serverName) ? { servername: serverName } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
  });
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    judge(socket, serverName);
  } catch (error) {
    throw error instanceof SignetError ? error : connectError(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

/** RFC 6066 §3: SNI holds no addresses. */
const isName = (name: string): boolean => !/^[0-9.]+$|:/.test(name);

function judge(socket: TLSSocket, serverName: string): void {
  // Node gives the code of what is wrong.
  const fault = socket.authorized ? undefined : String(socket.authorizationError);
  if (fault !== undefined) {
    const [reason, message] = meaningOf(fault);
    const { validFrom = '', validTo = '' } = socket.getPeerX509Certificate() ?? {};
    throw new SignetError('unavailable', message, { reason, fields: { fault, serverName, validFrom, validTo } });
  }
  if (socket.alpnProtocol !== 'h2')
    throw new SignetError('unavailable', 'the endpoint does not speak http/2', { reason: 'ca-unavailable' });
}

function meaningOf(fault: string): readonly [ReasonCode, string] {
  if (fault === 'ERR_TLS_CERT_ALTNAME_INVALID') return ['ca-name-mismatch', 'verify the name of the ca'];
  if (/EXPIRED|NOT_YET_VALID/.test(fault)) return ['ca-tls', 'verify the dates of the certificate of the ca'];
  return [/^UNABLE_TO|^SELF_SIGNED|SIGNATURE/.test(fault) ? 'ca-root-unknown' : 'ca-tls', 'verify the certificate of the ca'];
}

function connectError(cause: unknown): SignetError {
  const code = String((cause as NodeJS.ErrnoException | undefined)?.code ?? '');
  const isTls = code === 'EPROTO' || code.startsWith('ERR_SSL');
  return new SignetError('unavailable', isTls ? 'secure the connection to the ca' : 'connect to the ca', {
    cause,
    reason: isTls ? 'ca-tls' : 'ca-unavailable',
  });
}
