// Whether an endpoint of a CA is there and is who it should be, by a TLS handshake of its own: for the self-check, which looks
// at endpoints that nobody asks for a certificate too. Used by upstreams.ts. Promise: nothing is sent over the connection.

import type { TLSSocket } from 'node:tls';
import { SignetError, explainError } from '../runtime/errors.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Checks } from '../runtime/self-check.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { formatCertificates } from '../x509/pem.js';
import type { Endpoint } from './handshake.js';
import { shakeHands } from './handshake.js';

export interface ReachOptions {
  /** The upstream. */
  readonly name: string;
  readonly endpoint: Endpoint;
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
      const handshake = { endpoint, serverName, ca: formatCertificates(roots), deadlineMs, clock };
      try {
        await shakeHands(handshake, (socket) => judge(socket, serverName), signal);
        return new Map([[check, undefined]]);
      } catch (error) {
        if (signal.aborted) throw error;
        return new Map([[check, faultOf(error)]]);
      }
    },
  };
}

function faultOf(error: unknown): Reason {
  const fault = error instanceof SignetError ? error : connectError(error);
  return { code: fault.reason ?? 'ca-deadline', detail: explainError(fault) };
}

function judge(socket: TLSSocket, serverName: string): void {
  // Node gives the code of what is wrong, the dates in the certificate included.
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
