// The settings that are lists and mappings: their shapes, and the zod schemas that read them (sources: sources.ts, upstreams: upstreams.ts). They
// stand in the file only.
// Used by the table of settings; the shapes are also the types of what the modules are given.

import * as z from 'zod/mini';
import { isNamespace, isServiceAccount, isTrustDomain } from '../identity/spiffe-id.js';
import type { Kind, Schema } from './kinds.js';
import { absolutePathText, checkedText, expected, isAbsolutePath, wholeNumber } from './kinds.js';
import { unknownKeys } from './suggest.js';

export const mapping = <Shape extends Record<string, z.core.SomeType>>(shape: Shape, allowed: string) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return expected(allowed).error(issue);
      return unknownKeys(issue.keys, Object.keys(shape));
    },
  });

export const fileOnly = <V>(schema: () => Schema<V>, allowed: string): Kind<V> => ({
  schema,
  allowed,
  suffix: '',
  fileOnly: true,
  isOptional: false,
});

// Kubernetes label syntax: an optional DNS prefix and a name of at most 63 characters; a value is such a name or empty.
const labelName = '[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?';
const labelKey = new RegExp(`^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?${labelName}$`);
const labelValue = new RegExp(`^(?:${labelName})?$`);

const labelsSchema = () => {
  const key = checkedText('the key of a label', (text) => labelKey.test(text));
  const value = checkedText('the value of a label', (text) => labelValue.test(text));
  // A key that no label can have would make a rule that never matches.
  return z.record(key, value, {
    error: (issue) => (issue.code === 'invalid_key' ? 'is not the key of a label' : expected('a mapping of labels to values').error(issue)),
  });
};

export const labels = (): Kind<Record<string, string>> => fileOnly(labelsSchema, 'a mapping of labels to values');

export function namespaces(): Kind<string[]> {
  const allowed = 'a list of namespaces';
  const name = () => checkedText('the name of a namespace', isNamespace);
  return fileOnly(() => z.array(name(), expected(allowed)).check(z.maxLength(10_000)), allowed);
}

export function names(allowed: string, isValid: (text: string) => boolean): Kind<string[]> {
  return fileOnly(() => z.array(checkedText(allowed, isValid), expected(allowed)).check(z.maxLength(1_000)), allowed);
}

export function oneOrMore(list: Kind<string[]>): Kind<string[]> {
  const error = `must have at least one entry: ${list.allowed}`;
  return { ...list, schema: () => list.schema().check(z.refine((values) => values.length > 0, { error })) };
}

/** Whom tokens may be for. */
export const audiences = (): Kind<string[]> => oneOrMore(names('a list of audiences', (text) => /^[\x21-\x7e]{1,1024}$/.test(text)));

export const isHost = (text: string): boolean => /^[A-Za-z0-9.:-]{1,253}$/.test(text);

/** What a serving certificate names. */
export const hosts = (): Kind<string[]> => oneOrMore(names('a list of DNS names and addresses', isHost));

export interface FileSource {
  readonly kind: 'file';
  readonly path: string;
}

export const pathSchema = () => checkedText(absolutePathText, isAbsolutePath);
export const fileSource = () => mapping({ kind: z.literal('file'), path: pathSchema() }, 'a source');
export const notEmpty = (allowed: string) => z.minLength(1, { error: `must have at least one entry: ${allowed}` });

/** Which peers a rule means and what they may ask for; the first rule that matches decides. */
export interface PeerRule {
  /** A process in a pod. An empty mapping means any pod. */
  readonly pod?: { readonly serviceAccount?: string; readonly labels?: Readonly<Record<string, string>> };
  /** A process of the host, by systemd unit, uid or both. */
  readonly host?: { readonly unit?: string; readonly uid?: number };
  readonly grant: 'node' | 'own' | 'none' | readonly string[];
}

export const isAccountName = (text: string): boolean => {
  const [namespace = '', name = '', ...rest] = text.split('/');
  return rest.length === 0 && isNamespace(namespace) && isServiceAccount(name);
};

/** A SPIFFE ID whose namespace and account may have stars in them. */
const isIdPattern = (text: string): boolean => {
  const [, domain = '', namespace = '', name = ''] = /^spiffe:\/\/([^/]*)\/ns\/([^/]*)\/sa\/([^/]*)$/.exec(text) ?? [];
  return isTrustDomain(domain) && isNamespace(namespace.replaceAll('*', 'x')) && isServiceAccount(name.replaceAll('*', 'x'));
};

const isUnitName = (text: string): boolean => /^[A-Za-z0-9:_.\\@-]{1,255}$/.test(text);

function peerSchemas() {
  const pod = mapping(
    {
      serviceAccount: z.exactOptional(checkedText('<namespace>/<service account>', isAccountName)),
      labels: z.exactOptional(labelsSchema()),
    },
    'a mapping of serviceAccount and labels, {} for any pod',
  );
  const host = mapping(
    {
      unit: z.exactOptional(checkedText('the name of a systemd unit, such as envoy.service', isUnitName)),
      uid: z.exactOptional(wholeNumber(0, 4_294_967_294, 'a uid')),
    },
    'a mapping of unit and uid',
  ).check(z.refine((rule) => rule.unit !== undefined || rule.uid !== undefined, { error: 'must name a unit or a uid' }));
  return { pod, host };
}

function grantSchema(): Schema<PeerRule['grant']> {
  const patternText = 'spiffe://<trust domain>/ns/<namespace>/sa/<service account>, with * for any characters of the last two';
  const allowed = 'node, own, none or a list of SPIFFE IDs, with * for any characters of a namespace or service account';
  return z.union([z.enum(['node', 'own', 'none']), z.array(checkedText(patternText, isIdPattern))], expected(allowed));
}

function ruleSchema(): Schema<PeerRule> {
  const { pod, host } = peerSchemas();
  return mapping({ pod: z.exactOptional(pod), host: z.exactOptional(host), grant: grantSchema() }, 'a rule').check(
    z.refine((rule) => (rule.pod === undefined) !== (rule.host === undefined), { error: 'must have either pod or host' }),
    z.refine((rule) => rule.host === undefined || rule.grant !== 'own', {
      error: 'must not grant own to a host process: it has no pod',
      path: ['grant'],
    }),
  );
}

export function peerRules(): Kind<PeerRule[]> {
  const allowed = 'a list of rules: {pod: {serviceAccount, labels}, grant} or {host: {unit, uid}, grant}';
  return fileOnly(() => z.array(ruleSchema(), expected(allowed)).check(z.maxLength(1_000)), allowed);
}
