// Name constraints of an issuer against the certificates below it (RFC 5280 §4.2.1.10). Used by chain.ts.
// URIs are judged exactly; a name of a form that is constrained but cannot be judged is refused, as the RFC demands.

import type { Certificate } from './certificate.js';
import { headerLength } from './der.js';
import type { Subtree } from './extensions.js';
import { nameForms } from './extensions.js';

/** Which rule is broken by a certificate of `below` (leaf first), or undefined when none is. */
export function nameConstraintFault(issuer: Certificate, below: readonly Certificate[]): string | undefined {
  const constraints = issuer.extensions.nameConstraints;
  if (constraints === undefined) return undefined;
  const { permitted, excluded } = constraints;
  const inForm = (subtrees: readonly Subtree[], form: number): readonly Subtree[] => subtrees.filter((subtree) => subtree.form === form);
  for (const [index, certificate] of below.entries()) {
    // Self-issued certificates are exempt unless they are the leaf.
    if (index > 0 && certificate.selfIssued) continue;
    for (const uri of certificate.uriSans) {
      const allowed = inForm(permitted, nameForms.uri);
      if (allowed.length > 0 && !allowed.some((subtree) => matchesUri(uri, subtree))) return 'name constraints do not permit the uri';
      if (inForm(excluded, nameForms.uri).some((subtree) => subtree.base === '' || matchesUri(uri, subtree)))
        return 'name constraints exclude the uri';
    }
    const forms = certificate.extensions.subjectAltName?.otherForms ?? [];
    if (forms.some((form) => inForm([...permitted, ...excluded], form).length > 0)) return 'name constraints on another form of name';
    const subject = subjectFault(certificate, inForm(permitted, nameForms.directory), inForm(excluded, nameForms.directory));
    if (subject !== undefined) return subject;
  }
  return undefined;
}

/** A base with a leading dot stands for all hosts below it, any other for that host alone. */
function matchesUri(uri: string, subtree: Subtree): boolean {
  const host = hostOf(uri);
  if (host === undefined || typeof subtree.base !== 'string') return false;
  const base = subtree.base.toLowerCase();
  return base.startsWith('.') ? host.length > base.length && host.endsWith(base) : host === base;
}

function hostOf(uri: string): string | undefined {
  const host = /^[^:/?#]+:\/\/(?:[^@/?#]*@)?([^:/?#]+)/.exec(uri)?.[1]?.toLowerCase();
  // The RFC rejects URIs without a host name, and those whose host is an address.
  return host === undefined || /^[\d.]+$|^\[/.test(host) ? undefined : host;
}

// Permitted names are compared by their bytes, which is stricter than by prepared strings (RFC 5280 §7.1); where names are
// excluded, byte comparison would be laxer, so that no subject passes at all.
function subjectFault(certificate: Certificate, permitted: readonly Subtree[], excluded: readonly Subtree[]): string | undefined {
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
