// Name constraints of an issuer against the certificates below it (RFC 5280 §4.2.1.10). Used by chain.ts.
// URIs are judged exactly; a name of a form that is constrained but cannot be judged is refused, as the RFC demands.

import type { Certificate } from './certificate.js';
import { headerLength } from './der.js';
import type { NameConstraints, Subtree } from './extensions.js';
import { nameForms } from './extensions.js';

/** Which rule is broken by a certificate of `below` (leaf first), or undefined when none is. */
export function nameConstraintFault(issuer: Certificate, below: readonly Certificate[]): string | undefined {
  const constraints = issuer.extensions.nameConstraints;
  if (constraints === undefined) return undefined;
  const inForm = (form: number): NameConstraints => ({
    permitted: constraints.permitted.filter((subtree) => subtree.form === form),
    excluded: constraints.excluded.filter((subtree) => subtree.form === form),
  });
  for (const [index, certificate] of below.entries()) {
    // Self-issued certificates are exempt unless they are the leaf.
    if (index > 0 && certificate.selfIssued) continue;
    const { otherForms = [] } = certificate.extensions.subjectAltName ?? {};
    if (otherForms.some((form) => isConstrained(inForm(form)))) return 'name constraints on another form of name';
    const fault = uriFault(certificate, inForm(nameForms.uri)) ?? subjectFault(certificate, inForm(nameForms.directory));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isConstrained({ permitted, excluded }: NameConstraints): boolean {
  return permitted.length + excluded.length > 0;
}

function uriFault(certificate: Certificate, constraints: NameConstraints): string | undefined {
  if (!isConstrained(constraints)) return undefined;
  const { permitted, excluded } = constraints;
  for (const uri of certificate.uriSans) {
    const host = hostOf(uri);
    if (host === undefined) return 'name constraints on a uri without a host name';
    if (permitted.length > 0 && !permitted.some((subtree) => matches(host, subtree))) return 'name constraints do not permit the uri';
    if (excluded.some((subtree) => subtree.base === '' || matches(host, subtree))) return 'name constraints exclude the uri';
  }
  return undefined;
}

/** A base with a leading dot stands for all hosts below it, any other for that host alone. */
function matches(host: string, subtree: Subtree): boolean {
  const base = String(subtree.base).toLowerCase();
  return base.startsWith('.') ? host.endsWith(base) && host.length > base.length : host === base;
}

/** The RFC rejects a URI without a host, or whose host is an address. */
function hostOf(uri: string): string | undefined {
  const host = /^[^:/?#]+:\/\/(?:[^@/?#]*@)?([^:/?#]+)/.exec(uri)?.[1]?.toLowerCase();
  return host === undefined || /^[\d.]+$|^\[/.test(host) ? undefined : host;
}

// Permitted names are compared by their bytes, which is stricter than by prepared strings (RFC 5280 §7.1); where names are
// excluded, byte comparison would be laxer, so that no subject passes at all.
function subjectFault(certificate: Certificate, { permitted, excluded }: NameConstraints): string | undefined {
  if (certificate.subject.length === 2) return undefined;
  if (excluded.length > 0) return 'name constraints exclude subjects';
  if (permitted.length === 0 || permitted.some((subtree) => Buffer.isBuffer(subtree.base) && startsWith(certificate.subject, subtree.base)))
    return undefined;
  return 'name constraints do not permit the subject';
}

/** Whether the relative names of `base` begin those of `name`; both are SEQUENCEs. */
function startsWith(name: Buffer, base: Buffer): boolean {
  const prefix = base.subarray(headerLength(base));
  return name.subarray(headerLength(name)).subarray(0, prefix.length).equals(prefix);
}
