// The kinds of values that settings have (lists and mappings: lists.ts): what is allowed (in words for people), and the zod schema that reads it.
// Used by the table of settings only. A value may arrive as text, from the environment, a flag or a file (which is read
// without guessing types, so that 0666 and a node named 1e3 stay what was written), or typed, from a default.
// zod/mini, because it adds 17 KB to the bundle where zod adds 450.

import * as z from 'zod/mini';
import { isServiceAccount, isTrustDomain } from '../identity/spiffe-id.js';

export type Schema<V> = z.ZodMiniType<V>;

/** `Suffix` names the unit of a number in TypeScript: `lifetime: 24h` in the file is `lifetimeMs` in the Config. */
export interface Kind<V, Suffix extends string = ''> {
  /** Built when a value is read: the table is also looked at only for its names, and schemas are its costly part. */
  readonly schema: () => Schema<V>;
  /** Completes "must be …". */
  readonly allowed: string;
  readonly suffix: Suffix;
  /** Lists and mappings stand in the file only; everything else also comes from the environment and flags. */
  readonly fileOnly: boolean;
  readonly isOptional: boolean;
}

/** The error of a schema: what is allowed, or that something must be there at all. */
export const expected = (allowed: string): { error: (issue: { readonly input?: unknown }) => string } => ({
  error: (issue) => (issue.input === undefined ? 'is required' : `must be ${allowed}`),
});

const scalar = <V, Suffix extends string>(schema: () => Schema<V>, allowed: string, suffix: Suffix): Kind<V, Suffix> => ({
  schema,
  allowed,
  suffix,
  fileOnly: false,
  isOptional: false,
});

export function checkedText(allowed: string, isValid: (text: string) => boolean): Schema<string> {
  return z.string(expected(allowed)).check(z.refine(isValid, expected(allowed)));
}

function textOf(allowed: string, isValid: (text: string) => boolean): Kind<string> {
  return scalar(() => checkedText(allowed, isValid), allowed, '');
}

const trustDomainText = 'a trust domain: lower-case letters, digits, dots, dashes and underscores, at most 255';
const nodeNameText = 'a node name: lower-case letters, digits, dots and dashes, at most 253';
export const absolutePathText = 'an absolute path';
const groupText = 'a group name or number';

export const trustDomain = (): Kind<string> => textOf(trustDomainText, isTrustDomain);

/** Kubernetes node names are RFC 1123 subdomains. */
export const nodeName = (): Kind<string> => textOf(nodeNameText, isServiceAccount);

/** A DNS name or address, as a certificate has it. */
export const certificateName = (): Kind<string> => textOf('a name in a certificate', (name) => /^[A-Za-z0-9.:-]{1,253}$/.test(name));

export const keyPin = (): Kind<string> => textOf('64 hexadecimal digits, the SHA-256 of a public key', (pin) => /^[0-9a-f]{64}$/.test(pin));

export const isAbsolutePath = (path: string): boolean => path.startsWith('/') && !path.includes('\0');

export const absolutePath = (): Kind<string> => textOf(absolutePathText, isAbsolutePath);

/** sun_path of sockaddr_un holds 108 bytes with the terminator (unix(7)); bytes count, not characters. */
export const socketPath = (): Kind<string> =>
  textOf('an absolute path of at most 107 bytes', (path) => isAbsolutePath(path) && Buffer.byteLength(path) <= 107);

export const group = (): Kind<string> => textOf(groupText, (name) => /^(?:[0-9]{1,10}|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/.test(name));

export function choice<const T extends string>(...values: readonly T[]): Kind<T> {
  const allowed = `one of ${values.join(', ')}`;
  return scalar(() => z.enum(values as readonly [T, ...T[]], expected(allowed)), allowed, '');
}

export function wholeNumber(min: number, max: number, allowed: string): Schema<number> {
  const toNumber = z.transform((input: unknown) => (typeof input === 'string' && /^[0-9]{1,15}$/.test(input) ? Number(input) : input));
  return z.pipe(toNumber, z.int(expected(allowed)).check(z.minimum(min, expected(allowed)), z.maximum(max, expected(allowed))));
}

export function integer(min: number, max: number): Kind<number> {
  const allowed = `a whole number from ${min} to ${max}`;
  return scalar(() => wholeNumber(min, max, allowed), allowed, '');
}

export function boolean(): Kind<boolean> {
  const allowed = 'true or false';
  const toBoolean = (input: unknown): unknown => (input === 'true' ? true : input === 'false' ? false : input);
  return scalar(() => z.pipe(z.transform(toBoolean), z.boolean(expected(allowed))), allowed, '');
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
  const schema = (): Schema<number> => {
    const pattern = new RegExp(`^[0-9]{1,12}(${Object.keys(units).join('|')})$`);
    const written = z.string(expected(allowed)).check(z.regex(pattern, expected(allowed)));
    const toNumber = z.transform((text: string) => measure(text, units));
    const inRange = (value: number): boolean => value >= measure(min, units) && value <= measure(max, units);
    return z.pipe(written, toNumber).check(z.refine(inRange, expected(allowed)));
  };
  return scalar(schema, allowed, suffix);
}

export const duration = (min: string, max: string): Kind<number, 'Ms'> => quantity('duration', durationUnits, 'Ms', min, max);

export const size = (min: string, max: string): Kind<number, 'Bytes'> => quantity('size', sizeUnits, 'Bytes', min, max);

export function fileMode(): Kind<number> {
  const allowed = 'an octal file mode, such as 0666';
  const schema = (): Schema<number> => {
    const written = z.string(expected(allowed)).check(z.regex(/^0?[0-7]{3}$/, expected(allowed)));
    const toMode = z.transform((text: string) => Number.parseInt(text, 8));
    return z.pipe(written, toMode);
  };
  return scalar(schema, allowed, '');
}

/** Where a TCP listener binds; host '' means all addresses, port 0 lets the system choose. */
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

export function hostPortSchema(allowed: string, isAllowed: (address: HostPort) => boolean = () => true): Schema<HostPort> {
  const parse = (text: string): HostPort | undefined => {
    const address = parseHostPort(text);
    return address !== undefined && isAllowed(address) ? address : undefined;
  };
  const written = checkedText(allowed, (text) => parse(text) !== undefined);
  return z.pipe(
    written,
    z.transform((text: string) => parse(text) ?? z.NEVER),
  );
}

export function hostPort(): Kind<HostPort> {
  const allowed = 'an address and port, such as 127.0.0.1:9470 or [::1]:9470';
  return scalar(() => hostPortSchema(allowed), allowed, '');
}

/** The same for a listener that may bind all addresses, of both families where there are two. */
export function listenAddress(): Kind<HostPort> {
  const allowed = 'an address and port, such as 10.0.0.1:15812 or [fd00::1]:15812, or :15812 for all addresses';
  const schema = (): Schema<HostPort> => {
    const everywhere = z.pipe(
      checkedText(allowed, (text) => /^:[0-9]{1,5}$/.test(text) && Number(text.slice(1)) <= 65_535),
      z.transform((text: string): HostPort => ({ host: '', port: Number(text.slice(1)) })),
    );
    return z.union([everywhere, hostPortSchema(allowed)], expected(allowed));
  };
  return scalar(schema, allowed, '');
}

/** A setting that may be left out. */
export function optional<V, Suffix extends string>(kind: Kind<V, Suffix>): Kind<V | undefined, Suffix> {
  return { ...kind, schema: () => z.optional(kind.schema()), isOptional: true };
}
