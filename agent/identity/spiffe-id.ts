// SPIFFE IDs of the form spiffe://<trust domain>/ns/<namespace>/sa/<service account>: parse, format, check.
// Used by every layer above; the URI string is the key in maps and the name on the wire.
// Rules: SPIFFE-ID §2 (trust domain characters, length), RFC 1123 as Kubernetes uses it for namespace and account names.

import { SignetError } from '../runtime/errors.js';

export interface SpiffeId {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The canonical text; equal IDs have equal texts. */
  readonly uri: string;
}

const trustDomainPattern = /^[a-z0-9._-]{1,255}$/;
const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const namespacePattern = new RegExp(`^${label}$`);
const serviceAccountPattern = new RegExp(`^${label}(?:\\.${label})*$`);

/** SPIFFE-ID §2.1: lower-case letters, digits, dot, dash, underscore; at most 255 bytes. */
export function isTrustDomain(text: string): boolean {
  return trustDomainPattern.test(text);
}

/** A namespace is one RFC 1123 label, at most 63 characters. */
export function isNamespace(text: string): boolean {
  return text.length <= 63 && namespacePattern.test(text);
}

/** A service account name is an RFC 1123 subdomain of at most 253 characters; Kubernetes does not limit its labels to 63. */
export function isServiceAccount(text: string): boolean {
  return text.length <= 253 && serviceAccountPattern.test(text);
}

/** Builds an ID from its parts. Throws `invalid` when a part is not a valid name. */
export function createSpiffeId(trustDomain: string, namespace: string, serviceAccount: string): SpiffeId {
  if (!isTrustDomain(trustDomain)) throw new SignetError('invalid', 'trust domain is not valid', { reason: 'name-invalid' });
  if (!isNamespace(namespace)) throw new SignetError('invalid', 'namespace is not valid', { reason: 'name-invalid' });
  if (!isServiceAccount(serviceAccount)) {
    throw new SignetError('invalid', 'service account name is not valid', { reason: 'name-invalid' });
  }
  return {
    trustDomain,
    namespace,
    serviceAccount,
    uri: `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`,
  };
}

/** Parses the exact canonical form; anything else (other case, port, query, encoded characters) is `invalid`. */
export function parseSpiffeId(text: string): SpiffeId {
  const parts = text.length > 1024 ? null : /^spiffe:\/\/([^/]*)\/ns\/([^/]*)\/sa\/([^/]*)$/.exec(text);
  if (parts === null) {
    throw new SignetError('invalid', 'not a spiffe id of the form spiffe://<trust domain>/ns/<namespace>/sa/<service account>', {
      reason: 'name-invalid',
    });
  }
  return createSpiffeId(parts[1] ?? '', parts[2] ?? '', parts[3] ?? '');
}
