// Finds the path from a leaf to a root (RFC 5280 §6.1) by name and signature, and says why when there is none.
// Used for the answers of CAs and for issuer files. What it accepts, `openssl verify -x509_strict` and BoringSSL accept.

import type { Fields } from '../runtime/errors.js';
import { SignetError } from '../runtime/errors.js';
import { formatInstant } from '../runtime/time.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Certificate } from './certificate.js';
import { clientAuth, extensionOids, serverAuth } from './extensions.js';
import { nameConstraintFault } from './name-constraints.js';
import { signatureAlgorithms } from './signature-algorithms.js';

export interface ChainOptions {
  /** Certificates that may stand between leaf and root, in any order. */
  readonly candidates: readonly Certificate[];
  /** Where a chain may end; those that are not self-signed count for nothing. */
  readonly roots: readonly Certificate[];
  /** ms since the epoch. */
  readonly now: number;
  /** How far a notBefore may lie ahead, in ms: clocks differ. */
  readonly toleranceMs: number;
  /** What the path begins with. An issuer counts in path lengths and may be a root itself. */
  readonly from: 'leaf' | 'issuer';
}

/** Why a certificate is refused; `depth` is how far from the first certificate, the most telling fault being the farthest. */
interface Fault {
  readonly reason: ReasonCode;
  readonly message: string;
  readonly depth: number;
  readonly fields: Fields;
}

/** Longest path, leaf and root included. */
const maxPath = 8;
/** Signatures looked at before giving up: many certificates of one name must not cost more. */
const maxVerifications = 32;

/**
 * The path from `first` to a root, both included. All candidates of one name are tried. Throws `invalid` with the reason of
 * the check that failed farthest from `first`.
 */
export function findChain(first: Certificate, options: ChainOptions): readonly Certificate[] {
  const firstFault = options.from === 'leaf' ? certificateFault(first, 0, options) : issuerFault(first, [], options);
  if (firstFault !== undefined) throw toError(firstFault);
  const roots = options.roots.filter((root) => root.selfIssued);
  const known = new Set(roots.map((root) => root.fingerprint));
  if (options.from === 'issuer' && known.has(first.fingerprint) && first.selfSigned) return [first];
  const issuers = [...roots, ...options.candidates.filter((candidate) => !known.has(candidate.fingerprint))];
  let verifications = 0;
  let worst: Fault | undefined;
  const note = (fault: Fault): undefined => {
    if (worst === undefined || fault.depth > worst.depth) worst = fault;
    return undefined;
  };

  const extend = (path: readonly Certificate[]): readonly Certificate[] | undefined => {
    const last = path.at(-1) ?? first;
    // By content: an answer may hold its root twice.
    const inPath = (issuer: Certificate): boolean => path.some(({ fingerprint }) => fingerprint === issuer.fingerprint);
    const named = issuers.filter((issuer) => issuer.subject.equals(last.issuer) && !inPath(issuer));
    if (named.length === 0) return note(unknownIssuer(last, path.length));
    for (const issuer of named) {
      const linkFault = keyIdFault(last, issuer, path.length) ?? issuerFault(issuer, path, options);
      if (linkFault !== undefined) {
        note(linkFault);
        continue;
      }
      if (++verifications > maxVerifications)
        throw toError({ ...unknownIssuer(last, path.length), message: 'too many candidates for one chain' });
      if (!last.isSignedBy(issuer)) {
        note(signatureFault(last, issuer, path.length, 'signature does not verify'));
        continue;
      }
      const extended = [...path, issuer];
      if (known.has(issuer.fingerprint)) {
        if (issuer.selfSigned) return extended;
        note({ ...unknownIssuer(last, path.length), message: 'root is not signed by itself' });
        continue;
      }
      const found = extended.length < maxPath ? extend(extended) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const chain = extend([first]);
  if (chain === undefined) throw toError(worst ?? unknownIssuer(first, 0));
  return chain;
}

function toError(fault: Fault): SignetError {
  return new SignetError('invalid', fault.message, { reason: fault.reason, fields: fault.fields });
}

/** A certificate in the fields of an error: enough to find it. */
export function certificateFields(certificate: Certificate): Fields {
  return { serial: certificate.serial, keyId: certificate.subjectKeyId, fingerprint: certificate.fingerprint };
}

function unknownIssuer(certificate: Certificate, depth: number): Fault {
  const fields = { ...certificateFields(certificate), authorityKeyId: certificate.authorityKeyId };
  return { reason: 'trust-anchor-unknown', message: 'no known certificate has the name of the issuer', depth, fields };
}

function signatureFault(certificate: Certificate, issuer: Certificate, depth: number, message: string): Fault {
  const fields = { ...certificateFields(certificate), authorityKeyId: certificate.authorityKeyId, issuerKeyId: issuer.subjectKeyId };
  return { reason: 'signature-invalid', message, depth, fields };
}

/** RFC 5280 §4.2.1.1; OpenSSL and BoringSSL pass over an issuer whose identifiers differ. */
function keyIdFault(certificate: Certificate, issuer: Certificate, depth: number): Fault | undefined {
  const { keyId, serial, issuer: name } = certificate.extensions.authorityKey ?? {};
  const differs =
    (issuer.subjectKeyId !== undefined && issuer.subjectKeyId !== keyId) ||
    (serial !== undefined && serial !== issuer.serial) ||
    (name !== undefined && !name.equals(issuer.issuer));
  return differs ? signatureFault(certificate, issuer, depth, 'key identifiers of certificate and issuer differ') : undefined;
}

/** What an issuer must be to stand above `below` (nearest to the leaf first). */
function issuerFault(issuer: Certificate, below: readonly Certificate[], options: ChainOptions): Fault | undefined {
  const depth = below.length;
  const message = notAllowed(issuer, below, options);
  if (message !== undefined) return { reason: 'issuer-not-allowed', message, depth, fields: certificateFields(issuer) };
  const weakness = issuer.keyWeakness;
  if (weakness !== undefined) {
    return {
      reason: 'key-weak',
      message: 'key of an issuer is not allowed',
      depth,
      fields: { ...certificateFields(issuer), key: weakness },
    };
  }
  return certificateFault(issuer, depth, options);
}

function notAllowed(issuer: Certificate, below: readonly Certificate[], { from }: ChainOptions): string | undefined {
  if (!issuer.isCa) return 'issuer is no ca';
  if (issuer.keyUsage?.has('keyCertSign') !== true) return 'issuer has no key usage for signing certificates';
  if (!issuer.extensions.critical.has(extensionOids.basicConstraints)) return 'basic constraints of an issuer are not critical';
  if (issuer.subjectKeyId === undefined) return 'issuer has no subject key identifier';
  const usages = issuer.extendedKeyUsage;
  // RFC 5280 says nothing of it in an issuer; TLS libraries take it as a bound on what is below.
  if (usages !== undefined && !(usages.has(serverAuth) && usages.has(clientAuth))) return 'extended key usage of an issuer excludes tls';
  // RFC 5280 §4.2.1.9: self-issued intermediates do not count.
  const length = below.slice(from === 'leaf' ? 1 : 0).filter((certificate) => !certificate.selfIssued).length;
  if (issuer.pathLength !== undefined && issuer.pathLength < length) return 'path length of an issuer is exceeded';
  return nameConstraintFault(issuer, below);
}

/** The critical extensions that are understood: those that are read. */
const understood: ReadonlySet<string> = new Set(Object.values(extensionOids));

function certificateFault(certificate: Certificate, depth: number, options: ChainOptions): Fault | undefined {
  const { now, toleranceMs } = options;
  const { notBefore, notAfter, signatureAlgorithm: algorithm } = certificate;
  const faultAtTime = (reason: ReasonCode, message: string): Fault => {
    const times = { now: formatInstant(now), notBefore: formatInstant(notBefore), notAfter: formatInstant(notAfter) };
    return { reason, message, depth, fields: { ...certificateFields(certificate), ...times } };
  };
  if (now >= notAfter) return faultAtTime('certificate-expired', 'certificate is expired');
  if (notBefore > now + toleranceMs) return faultAtTime('certificate-not-yet-valid', 'certificate is not valid yet');
  if (!signatureAlgorithms.has(algorithm)) {
    return {
      reason: 'key-weak',
      message: 'signature algorithm is not allowed',
      depth,
      fields: { ...certificateFields(certificate), algorithm },
    };
  }
  const message = formFault(certificate);
  if (message === undefined) return undefined;
  const reason = depth === 0 && options.from === 'leaf' ? 'leaf-not-allowed' : 'issuer-not-allowed';
  return { reason, message, depth, fields: certificateFields(certificate) };
}

/** RFC 5280 §4.1 and §4.2, as far as `openssl verify -x509_strict` looks at them. */
function formFault(certificate: Certificate): string | undefined {
  const { critical, subjectAltName } = certificate.extensions;
  for (const oid of critical) if (!understood.has(oid)) return `critical extension ${oid} is not understood`;
  if (critical.has(extensionOids.authorityKeyId) || critical.has(extensionOids.subjectKeyId)) return 'key identifiers are critical';
  if (!certificate.selfIssued && certificate.authorityKeyId === undefined) return 'certificate has no authority key identifier';
  if (isEmptyName(certificate.issuer)) return 'issuer name is empty';
  if (certificate.pathLength !== undefined && !certificate.isCa) return 'path length without the ca flag';
  if (subjectAltName?.uris.length === 0 && subjectAltName.otherForms.length === 0) return 'subject alternative name is empty';
  if (!isEmptyName(certificate.subject)) return undefined;
  if (certificate.isCa) return 'subject of an issuer is empty';
  return critical.has(extensionOids.subjectAltName) ? undefined : 'subject is empty and its alternative name not critical';
}

function isEmptyName(name: Buffer): boolean {
  return name.length === 2;
}
