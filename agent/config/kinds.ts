// The kinds of values that settings have: what is allowed (in words for people), and the zod schema that reads it.
// Used by the table of settings only. A value may arrive as text, from the environment, a flag or a file (which is read
// without guessing types, so that 0666 and a node named 1e3 stay what was written), or typed, from a default.
// zod/mini, because it adds 17 KB to the bundle where zod adds 450.

import * as z from 'zod/mini';
import { isNamespace, isServiceAccount, isTrustDomain } from '../identity/spiffe-id.js';
import { closest } from './suggest.js';

type Schema<V> = z.ZodMiniType<V>;

/** `Suffix` names the unit of a number in TypeScript: `lifetime: 24h` in the file is `lifetimeMs` in the Config. */
export interface Kind<V, Suffix extends string = ''> {
  readonly schema: Schema<V>;
  /** Completes "must be …". */
  readonly allowed: string;
  readonly suffix: Suffix;
  /** Lists and mappings stand in the file only; everything else also comes from the environment and flags. */
  readonly fileOnly: boolean;
  readonly isOptional: boolean;
}

const expected = (allowed: string): { error: (issue: { readonly input?: unknown }) => string } => ({
  error: (issue) => (issue.input === undefined ? 'is required' : `must be ${allowed}`),
});

const scalar = <V, Suffix extends string>(schema: Schema<V>, allowed: string, suffix: Suffix): Kind<V, Suffix> => ({
  schema,
  allowed,
  suffix,
  fileOnly: false,
  isOptional: false,
});

function checkedText(allowed: string, isValid: (text: string) => boolean): Schema<string> {
  return z.string(expected(allowed)).check(z.refine(isValid, expected(allowed)));
}

function textOf(allowed: string, isValid: (text: string) => boolean): Kind<string> {
  return scalar(checkedText(allowed, isValid), allowed, '');
}

const trustDomainText = 'a trust domain: lower-case letters, digits, dots, dashes and underscores, at most 255';
const nodeNameText = 'a node name: lower-case letters, digits, dots and dashes, at most 253';
const absolutePathText = 'an absolute path';
const groupText = 'a group name or number';

export const trustDomain = (): Kind<string> => textOf(trustDomainText, isTrustDomain);

/** Kubernetes node names are RFC 1123 subdomains. */
export const nodeName = (): Kind<string> => textOf(nodeNameText, isServiceAccount);

const isAbsolutePath = (path: string): boolean => path.startsWith('/') && !path.includes('\0');

export const absolutePath = (): Kind<string> => textOf(absolutePathText, isAbsolutePath);

/** sun_path of sockaddr_un holds 108 bytes with the terminator (unix(7)); bytes count, not characters. */
export const socketPath = (): Kind<string> =>
  textOf('an absolute path of at most 107 bytes', (path) => isAbsolutePath(path) && Buffer.byteLength(path) <= 107);

export const group = (): Kind<string> => textOf(groupText, (name) => /^(?:[0-9]{1,10}|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/.test(name));

export function choice<const T extends string>(...values: readonly T[]): Kind<T> {
  const allowed = `one of ${values.join(', ')}`;
  return scalar(z.enum(values as readonly [T, ...T[]], expected(allowed)), allowed, '');
}

function wholeNumber(min: number, max: number, allowed: string): Schema<number> {
  const toNumber = z.transform((input: unknown) => (typeof input === 'string' && /^[0-9]{1,15}$/.test(input) ? Number(input) : input));
  return z.pipe(toNumber, z.int(expected(allowed)).check(z.minimum(min, expected(allowed)), z.maximum(max, expected(allowed))));
}

export function integer(min: number, max: number): Kind<number> {
  const allowed = `a whole number from ${min} to ${max}`;
  return scalar(wholeNumber(min, max, allowed), allowed, '');
}

export function boolean(): Kind<boolean> {
  const allowed = 'true or false';
  const toBoolean = z.transform((input: unknown) => (input === 'true' ? true : input === 'false' ? false : input));
  return scalar(z.pipe(toBoolean, z.boolean(expected(allowed))), allowed, '');
}

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizeUnits: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function measure(text: string, units: Readonly<Record<string, number>>): number {
  const parts = /^([0-9]{1,12})([A-Za-z]+)$/.exec(text);
  return Number(parts?.[1]) * (units[parts?.[2] ?? ''] ?? NaN);
}

/** A quantity with a unit, written as `min` and `max` are. */
function quantity<Suffix extends string>(
  noun: string,
  units: Readonly<Record<string, number>>,
  suffix: Suffix,
  min: string,
  max: string,
): Kind<number, Suffix> {
  const allowed = `a ${noun} from ${min} to ${max} (units ${Object.keys(units).join(', ')})`;
  const written = z
    .string(expected(allowed))
    .check(z.regex(new RegExp(`^[0-9]{1,12}(${Object.keys(units).join('|')})$`), expected(allowed)));
  const read = z.pipe(
    written,
    z.transform((text: string) => measure(text, units)),
  );
  const inRange = z.refine<number>((value) => value >= measure(min, units) && value <= measure(max, units), expected(allowed));
  return scalar(read.check(inRange), allowed, suffix);
}

export const duration = (min: string, max: string): Kind<number, 'Ms'> => quantity('duration', durationUnits, 'Ms', min, max);

export const size = (min: string, max: string): Kind<number, 'Bytes'> => quantity('size', sizeUnits, 'Bytes', min, max);

export function fileMode(): Kind<number> {
  const allowed = 'an octal file mode, such as 0666';
  const written = z.string(expected(allowed)).check(z.regex(/^0?[0-7]{3}$/, expected(allowed)));
  return scalar(
    z.pipe(
      written,
      z.transform((text: string) => Number.parseInt(text, 8)),
    ),
    allowed,
    '',
  );
}

/** Where a TCP listener binds; port 0 lets the system choose. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host:port`; an IPv6 address stands in brackets (RFC 3986 §3.2.2), with a zone where it needs one. */
function parseHostPort(text: string): HostPort | undefined {
  const parts = /^(?:\[([0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  return parts === null || port > 65_535 ? undefined : { host: parts[1] ?? parts[2] ?? '', port };
}

export function hostPort(): Kind<HostPort> {
  const allowed = 'an address and port, such as 127.0.0.1:9470 or [::1]:9470';
  const written = checkedText(allowed, (text) => parseHostPort(text) !== undefined);
  return scalar(
    z.pipe(
      written,
      z.transform((text: string) => parseHostPort(text) ?? z.NEVER),
    ),
    allowed,
    '',
  );
}

/** A setting that may be left out. */
export function optional<V, Suffix extends string>(kind: Kind<V, Suffix>): Kind<V | undefined, Suffix> {
  return { ...kind, schema: z.optional(kind.schema), isOptional: true };
}

const mapping = <Shape extends Record<string, z.core.SomeType>>(shape: Shape, allowed: string) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return expected(allowed).error(issue);
      return unknownKeys(issue.keys, Object.keys(shape));
    },
  });

/** The fault of keys that do not exist; of a single one, with what was probably meant. */
export function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const meant = keys.length === 1 ? closest(keys[0] ?? '', known) : undefined;
  return meant === undefined ? `is unknown; known here: ${known.join(', ')}` : `is unknown; did you mean ${meant}?`;
}

const fileOnly = <V>(schema: Schema<V>, allowed: string): Kind<V> => ({ schema, allowed, suffix: '', fileOnly: true, isOptional: false });

const labelsSchema = () => z.record(z.string(), z.string(expected('a label value')), expected('a mapping of labels to values'));

export const labels = (): Kind<Record<string, string>> => fileOnly(labelsSchema(), 'a mapping of labels to values');

export const namespaces = (): Kind<string[]> =>
  fileOnly(
    z.array(checkedText('the name of a namespace', isNamespace), expected('a list of namespaces')).check(z.maxLength(10_000)),
    'a list of namespaces',
  );

export interface FileSource {
  readonly kind: 'file';
  readonly path: string;
}

export interface IssuerSource {
  readonly kind: 'issuer';
}

const pathSchema = () => checkedText(absolutePathText, isAbsolutePath);
const fileSource = () => mapping({ kind: z.literal('file'), path: pathSchema() }, 'a source');
const notEmpty = (allowed: string) => z.minLength(1, { error: `must have at least one entry: ${allowed}` });

export function podSources(): Kind<FileSource[]> {
  const allowed = 'a list of sources: {kind: file, path}';
  const source = z.discriminatedUnion('kind', [fileSource()], expected('file'));
  return fileOnly(z.array(source, expected(allowed)).check(notEmpty(allowed)), allowed);
}

export function rootSources(): Kind<(FileSource | IssuerSource)[]> {
  const allowed = 'a list of sources: {kind: file, path} or {kind: issuer}';
  const source = z.discriminatedUnion(
    'kind',
    [fileSource(), mapping({ kind: z.literal('issuer') }, 'a source')],
    expected('file or issuer'),
  );
  return fileOnly(z.array(source, expected(allowed)).check(notEmpty(allowed)), allowed);
}

/** The files of an issuer, all PEM. */
export interface IssuerFiles {
  readonly certificate: string;
  readonly privateKey: string;
  /** Certificates between the issuer and its root. */
  readonly chain?: string;
  /** Roots that the chain may end in; default: the last certificate of the chain. */
  readonly roots?: string;
}

export interface Upstream {
  readonly kind: 'built-in';
  /** Default: an issuer made on the first start and kept in the state directory. */
  readonly issuer?: IssuerFiles;
}

export function upstreams(): Kind<Upstream[]> {
  const allowed = 'a list with one upstream: {kind: built-in, issuer: {certificate, privateKey, chain, roots}}';
  const issuer = mapping(
    {
      certificate: pathSchema(),
      privateKey: pathSchema(),
      chain: z.exactOptional(pathSchema()),
      roots: z.exactOptional(pathSchema()),
    },
    'a mapping of files: certificate, privateKey, chain, roots',
  );
  const upstream = z.discriminatedUnion(
    'kind',
    [mapping({ kind: z.literal('built-in'), issuer: z.exactOptional(issuer) }, 'an upstream')],
    expected('built-in'),
  );
  const one = z.maxLength(1, { error: 'must have one entry: failover between several upstreams is not available yet' });
  return fileOnly(z.array(upstream, expected(allowed)).check(notEmpty(allowed), one), allowed);
}

/** Which peers a rule means and what they may ask for; the first rule that matches decides. */
export interface PeerRule {
  /** A process in a pod. An empty mapping means any pod. */
  readonly pod?: { readonly serviceAccount?: string; readonly labels?: Readonly<Record<string, string>> };
  /** A process of the host, by systemd unit, uid or both. */
  readonly host?: { readonly unit?: string; readonly uid?: number };
  readonly grant: 'node' | 'own' | 'none' | readonly string[];
}

const isAccountName = (text: string): boolean => {
  const [namespace = '', name = '', ...rest] = text.split('/');
  return rest.length === 0 && isNamespace(namespace) && isServiceAccount(name);
};

/** A SPIFFE ID whose namespace and account may have stars in them. */
const isIdPattern = (text: string): boolean => {
  const [, domain = '', namespace = '', name = ''] = /^spiffe:\/\/([^/]*)\/ns\/([^/]*)\/sa\/([^/]*)$/.exec(text) ?? [];
  return isTrustDomain(domain) && isNamespace(namespace.replaceAll('*', 'x')) && isServiceAccount(name.replaceAll('*', 'x'));
};

export function peerRules(): Kind<PeerRule[]> {
  const allowed = 'a list of rules: {pod: {serviceAccount, labels}, grant} or {host: {unit, uid}, grant}';
  const pod = mapping(
    {
      serviceAccount: z.exactOptional(checkedText('<namespace>/<service account>', isAccountName)),
      labels: z.exactOptional(labelsSchema()),
    },
    'a mapping of serviceAccount and labels, {} for any pod',
  );
  const host = mapping(
    {
      unit: z.exactOptional(
        checkedText('the name of a systemd unit, such as envoy.service', (name) => /^[A-Za-z0-9:_.\\@-]{1,255}$/.test(name)),
      ),
      uid: z.exactOptional(wholeNumber(0, 4_294_967_294, 'a uid')),
    },
    'a mapping of unit and uid',
  ).check(z.refine((rule) => rule.unit !== undefined || rule.uid !== undefined, { error: 'must name a unit or a uid' }));
  const pattern = checkedText(
    'spiffe://<trust domain>/ns/<namespace>/sa/<service account>, with * for any characters of the last two',
    isIdPattern,
  );
  const grantText = 'node, own, none or a list of SPIFFE IDs, with * for any characters of a namespace or service account';
  const grant = z.union([z.enum(['node', 'own', 'none']), z.array(pattern)], expected(grantText));
  const rule = mapping({ pod: z.exactOptional(pod), host: z.exactOptional(host), grant }, 'a rule').check(
    z.refine((rule) => (rule.pod === undefined) !== (rule.host === undefined), { error: 'must have either pod or host' }),
    z.refine((rule) => !(rule.host !== undefined && rule.grant === 'own'), {
      error: 'must not grant own to a host process: it has no pod',
      path: ['grant'],
    }),
  );
  return fileOnly(z.array(rule, expected(allowed)).check(z.maxLength(1_000)), allowed);
}
