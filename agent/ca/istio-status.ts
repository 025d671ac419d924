// What a failed call to an istio CA means, in the words of the catalogue of reasons. Pure; used by ca/istio.ts.
// Servers of this service say little: every refusal is UNAUTHENTICATED with one of two texts, so what is known on this side
// (account, audience, cluster) stands beside the reason.

import type { Fields } from '../runtime/errors.js';
import { SignetError, connectionFault, fromGrpcCode } from '../runtime/errors.js';
import type { ErrorKind } from '../runtime/errors.js';
import { redact } from '../runtime/log.js';
import type { ReasonCode } from '../runtime/reasons.js';

export interface CallStatus {
  /** gRPC status code. */
  readonly code: number;
  readonly details: string;
}

interface Meaning {
  readonly code: number;
  /** Of the text; undefined: any. */
  readonly details?: RegExp;
  readonly kind?: ErrorKind;
  readonly reason: ReasonCode;
  readonly message: string;
}

// The first that fits counts. Texts of certificates are those of Node (X509_V_ERR_… of OpenSSL), and of its check of names.
const meanings: readonly Meaning[] = [
  { code: 16, details: /impersonation/i, reason: 'ca-impersonation-refused', message: 'ca refuses the impersonated identity' },
  { code: 16, details: /cluster/i, reason: 'ca-cluster-unknown', message: 'ca does not know the cluster' },
  { code: 16, reason: 'ca-unauthenticated', message: 'ca does not accept the token' },
  { code: 7, reason: 'ca-denied', message: 'ca denies the request' },
  { code: 3, details: /\bTTL\b|lifetime|duration/i, reason: 'ca-lifetime-refused', message: 'ca refuses the lifetime' },
  { code: 3, reason: 'ca-refused-request', message: 'ca says the request is not valid' },
  { code: 4, reason: 'ca-deadline', message: 'ca took too long' },
  { code: 12, kind: 'unavailable', reason: 'ca-unavailable', message: 'there is no certificate service at the endpoint' },
  { code: 14, details: /name resolution failed/i, reason: 'ca-unavailable', message: 'resolve the name of the ca' },
  {
    code: 14,
    details: /unable to (?:verify|get)|self[- ]signed|certificate signature failure/i,
    reason: 'ca-root-unknown',
    message: 'verify the certificate of the ca',
  },
  { code: 14, details: /does not match certificate|altnames/i, reason: 'ca-name-mismatch', message: 'verify the name of the ca' },
  { code: 14, details: /certificate|\bSSL\b|\bTLS\b|EPROTO/i, reason: 'ca-tls', message: 'secure the connection to the ca' },
  { code: 14, details: /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, reason: 'ca-unavailable', message: 'connect to the ca' },
  { code: 14, reason: 'ca-unavailable', message: 'call the ca' },
  { code: 8, reason: 'ca-unavailable', message: 'ca has too much to do' },
];

/** A server may answer with a text of any length, and with the token in it. */
const maxDetails = 300;

export function toCaError({ code, details }: CallStatus, fields: Fields): SignetError {
  const meaning = meanings.find((each) => each.code === code && (each.details?.test(details) ?? true));
  const kind = meaning?.kind ?? fromGrpcCode(code);
  return new SignetError(kind, meaning?.message ?? 'ca failed', {
    reason: meaning?.reason ?? 'ca-failed',
    fields: { ...fields, status: code, answer: redact(connectionFault(details)).slice(0, maxDetails) },
  });
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** The most that a refusal of a lifetime says is allowed, in ms; undefined when it does not say. */
export function allowedLifetimeMs(details: string): number | undefined {
  // istiod: "requested TTL 2184h0m0s is greater than the max allowed TTL 2160h0m0s".
  const [, text = ''] = /\bmax(?:imum)?\b[^0-9]*((?:[0-9]+(?:\.[0-9]+)?[hms])+)/i.exec(details) ?? [];
  let ms = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([0-9.]+)([hms])/g)) ms += Number(amount) * (units[unit] ?? 0);
  return ms > 0 ? Math.floor(ms) : undefined;
}
