// Configuration: flags, environment and file against the one table of settings give a frozen Config, or all faults at once.
// Called by the command line before anything else. The only reader of the environment.
// Precedence: flag, environment, file, default. Secrets are only ever named by the path of their file.

import { readFileSync, statSync } from 'node:fs';
import { safeParse } from 'zod/mini';
import type { Fault, FileValues } from './config/file.js';
import { formatPath, maxFileBytes, parseFile } from './config/file.js';
import type { Mode, Place } from './config/setting.js';
import type { NamedSetting, Section, Settings, Typed } from './config/settings.js';
import { isSetting, listSettings, settings } from './config/settings.js';
import { forwardingFaults } from './config/forwarding.js';
import type { CaSettings } from './config/ca-settings.js';
import { caFaults, caSettings } from './config/ca-settings.js';
import { nodeOfKubeconfig } from './config/node-credential.js';
import { closest, unknownKeys } from './config/suggest.js';
import type { Upstream } from './config/upstreams.js';
import type { Fields } from './runtime/errors.js';
import { SignetError } from './runtime/errors.js';

export type { Fault } from './config/file.js';
export type { RemoteCluster } from './config/ca-settings.js';
export type { HostPort } from './config/kinds.js';
export type { FileSource, PeerRule } from './config/lists.js';
export type { LocalCaServing } from './config/local-ca.js';
export type { OutsideRoots, PodSourceSettings, RootSourceSettings } from './config/sources.js';
export type { Mode } from './config/setting.js';
export type {
  BuiltInUpstream,
  CertManagerUpstream,
  IssuerFiles,
  IstioUpstream,
  KubernetesCsrUpstream,
  PodCertificateUpstream,
  Upstream,
} from './config/upstreams.js';

/** Of the agent and of `dev`. */
export type Config = Typed<Settings>;

/** Of `signet ca`. */
export type CaConfig = Typed<CaSettings>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process, for what is no setting: the descriptors that systemd passes. */
export function processEnvironment(): Environment {
  return process.env;
}

export interface ConfigInput {
  /** Whose defaults apply. */
  readonly defaults: Mode;
  /** Values of flags by the name of the flag without dashes in front, e.g. `trust-domain`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Default: the environment of the process. */
  readonly env?: Environment;
  /** The file of --config. Default: $SIGNET_CONFIG, then /etc/signet/agent.yaml or ca.yaml; `dev` has no default file. */
  readonly file?: string;
  /** Values in the form of the file that come before it, by path; for flags of a command such as `--pods`. */
  readonly overrides?: Readonly<Record<string, { readonly value: unknown; readonly from: string }>>;
}

/** One setting as it is in effect. */
export interface Effective {
  readonly path: string;
  /** In the form of the file; undefined for an optional setting that is not set. */
  readonly value: unknown;
  /** `default`, `file line 3`, the variable or the flag. */
  readonly origin: string;
}

export interface LoadedConfig<C = Config> {
  /** Frozen through and through. */
  readonly config: C;
  /** Sentences for the log: variables that look like settings but are none. */
  readonly warnings: readonly string[];
  /** The file that was read, if one was. */
  readonly file: string | undefined;
  /** What stands in it. */
  readonly text: string | undefined;
  readonly effective: readonly Effective[];
}

/** The error of a configuration with faults: kind `invalid`, and all faults there are. */
export class ConfigError extends SignetError {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('invalid', 'configuration has faults', { fields: { faults: faults.map(formatFault) } });
    this.faults = faults;
  }
}

/** The fault as one line: `certificate.lifetime (line 7) must be a duration …`. */
export function formatFault({ path, message, line, from }: Fault): string {
  const place = from ?? (line === undefined ? undefined : `line ${line}`);
  return `${path === '' ? 'the file' : path}${place === undefined ? '' : ` (${place})`} ${message}`;
}

const defaultFiles: Readonly<Record<Mode, string | undefined>> = {
  agent: '/etc/signet/agent.yaml',
  ca: '/etc/signet/ca.yaml',
  dev: undefined,
};

/** Reads the file and evaluates all sources. Throws a ConfigError. */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const { text, file } = readFile(input);
  return evaluateConfig(input, text, file);
}

/**
 * Where a command looks for a socket of a running agent: the path that a flag, the environment or the file sets, else that
 * of `dev` and then that of the agent. Throws a ConfigError when the file cannot be read.
 */
export function socketCandidates(path: 'sds.socket.path' | 'admin.socket.path', input: Omit<ConfigInput, 'defaults'>): string[] {
  const env = input.env ?? process.env;
  const entry = listSettings().find((named) => named.path === path);
  const found = (['dev', 'agent'] as const).flatMap((defaults) => {
    const content = parseFile(readFile({ ...input, defaults }).text ?? '');
    return entry === undefined ? [] : [String(findValue(entry, input, env, content, placeOf(defaults, env)).value)];
  });
  return [...new Set(found)];
}

/** The file of the input; without text and name when there is none. */
function readFile(input: ConfigInput): { readonly text: string | undefined; readonly file: string | undefined } {
  const env = input.env ?? process.env;
  const named = input.file ?? (env['SIGNET_CONFIG'] || undefined);
  const file = named ?? defaultFiles[input.defaults];
  const text = file === undefined ? undefined : readText(file, named === undefined);
  return { text, file: text === undefined ? undefined : file };
}

/** Where a person would write a missing setting when no file was read. */
function fileToWrite(mode: Mode): string {
  return defaultFiles[mode] ?? 'a file for --config';
}

/** The text of the file; undefined when it is absent and may be. */
function readText(path: string, mayBeAbsent: boolean): string | undefined {
  try {
    const about = statSync(path);
    if (!about.isFile()) throw new ConfigError([{ path, message: 'is not a regular file' }]);
    if (about.size > maxFileBytes) throw new ConfigError([{ path, message: `is larger than ${maxFileBytes} bytes` }]);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof SignetError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' && mayBeAbsent) return undefined;
    throw new ConfigError([{ path, message: code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}` }]);
  }
}

/** The same for `signet ca`. */
export function loadCaConfig(input: Omit<ConfigInput, 'defaults'>): LoadedConfig<CaConfig> {
  const whole: ConfigInput = { ...input, defaults: 'ca' };
  const { text, file } = readFile(whole);
  return evaluate<CaConfig>({ table: caSettings(), faultsOf: caFaults, warningsOf: () => [] }, whole, text, file);
}

/** Evaluates all sources against the table; reads nothing but, for the name of the node, the kubeconfig. Throws a ConfigError. */
export function evaluateConfig(input: ConfigInput, text: string | undefined, file: string | undefined): LoadedConfig {
  return evaluate<Config>({ table: settings(), faultsOf: contradictions, warningsOf: foreignGrants }, input, text, file);
}

/** A table and what concerns several of its settings. */
interface Rules<C> {
  readonly table: Section;
  readonly faultsOf: (config: C) => Fault[];
  readonly warningsOf: (config: C) => string[];
}

function evaluate<C>(
  { table, faultsOf, warningsOf }: Rules<C>,
  input: ConfigInput,
  text: string | undefined,
  file: string | undefined,
): LoadedConfig<C> {
  const env = input.env ?? process.env;
  const named = listSettings(table);
  const content = parseFile(text ?? '');
  const faults: Fault[] = [...content.faults, ...unknownFlags(input, named)];
  if (content.faults.length === 0) faults.push(...unknownFileKeys(table, content.values, [], content));

  const basis = placeOf(input.defaults, env);
  const kubeconfig = named.find(({ path }) => path === 'kubeconfig');
  const place = withNode(basis, kubeconfig && findValue(kubeconfig, input, env, content, basis).value);
  const config: Record<string, unknown> = {};
  const effective: Effective[] = [];
  for (const entry of named) {
    const source = findValue(entry, input, env, content, place);
    effective.push({ path: entry.path, value: source.value, origin: source.origin });
    const result = safeParse(entry.setting.schema(), source.value);
    if (result.success) {
      setAt(config, entry, result.data);
      continue;
    }
    // Without a readable file nothing can be said about what it lacks.
    if (source.value === undefined && content.faults.length > 0) continue;
    for (const issue of result.error.issues) faults.push(...toFaults(entry, issue, source, content, file ?? fileToWrite(input.defaults)));
  }
  if (faults.length === 0) faults.push(...faultsOf(config as C));
  if (faults.length > 0) throw new ConfigError(faults);
  const whole = deepFreeze(config) as C;
  return {
    config: whole,
    warnings: [...unknownVariables(env, named), ...tracingVariables(env), ...warningsOf(whole)],
    file,
    text,
    effective,
  };
}

/** Grants of names that this agent never serves. */
function foreignGrants({ peers, trustDomain }: Config): string[] {
  return peers.flatMap(({ grant }, index) => {
    const foreign = typeof grant === 'string' ? [] : grant.filter((pattern) => !pattern.startsWith(`spiffe://${trustDomain}/`));
    return foreign.map((pattern) => `peers[${index}].grant names ${pattern}, outside of the trust domain ${trustDomain}: no effect`);
  });
}

/** Settings that are sound alone but not together. */
function contradictions({ upstreams, trustBundle, certificate, localCa }: Config): Fault[] {
  const faults: Fault[] = [];
  const has = (wanted: Upstream['kind']): boolean => upstreams.some(({ kind }) => kind === wanted);
  if (!has('built-in') && trustBundle.sources.some(({ kind }) => kind === 'issuer')) {
    const message = 'must not have the kind issuer, which is its default, without a built-in upstream';
    faults.push({ path: 'trustBundle.sources', message });
  }
  faults.push(...forwardingFaults({ upstreams, certificate, localCa }));
  // The API server refuses requests below these.
  for (const [kind, ms, text] of [
    ['kubernetes-csr', 600_000, '10m'],
    ['pod-certificate', 3_600_000, '1h'],
  ] as const) {
    if (!has(kind) || certificate.lifetimeMs >= ms) continue;
    faults.push({ path: 'certificate.lifetime', message: `must be at least ${text} with the upstream ${kind}` });
  }
  if (has('pod-certificate') && certificate.keyType === 'rsa-2048') {
    faults.push({ path: 'certificate.keyType', message: 'must not be rsa-2048 with the upstream pod-certificate' });
  }
  return faults;
}

/** A node that is not named otherwise is the one that the kubeconfig is of. */
function withNode(place: Place, kubeconfig: unknown): Place {
  if (place.nodeName !== undefined || place.mode === 'dev' || typeof kubeconfig !== 'string') return place;
  return { ...place, nodeName: nodeOfKubeconfig(kubeconfig) };
}

interface Source {
  readonly value: unknown;
  readonly origin: string;
  /** The variable or flag that gave the value. */
  readonly from?: string;
  /** The file gave the value. */
  readonly inFile?: true;
}

function findValue(entry: NamedSetting, input: Omit<ConfigInput, 'defaults'>, env: Environment, content: FileValues, place: Place): Source {
  const { path, keys, setting, variable, flag } = entry;
  const override = input.overrides?.[path];
  if (override !== undefined) return { value: override.value, origin: override.from, from: override.from };
  const given = flag === undefined ? undefined : input.flags?.[flag];
  if (given !== undefined) return { value: given, origin: `--${flag}`, from: `--${flag}` };
  const inEnvironment = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && inEnvironment !== undefined) return { value: inEnvironment, origin: variable, from: variable };
  const inFile = keys.reduce<unknown>((value, key) => (isMapping(value) ? value[key] : undefined), content.values);
  if (!isUnset(inFile)) return { value: inFile, origin: `file line ${content.lineOf(keys)}`, inFile: true };
  return { value: setting.defaultIn(place), origin: 'default' };
}

/** A key without a value (`node:`), or with YAML's null, is one that is not set. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === '' || value === 'null' || value === '~';
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

function toFaults(entry: NamedSetting, issue: Issue, source: Source, content: FileValues, file: string): Fault[] {
  const paths = issue.code === 'unrecognized_keys' ? (issue.keys ?? []).map((key) => [...issue.path, key]) : [issue.path];
  return paths.map((below) => {
    const path = [...entry.keys, ...below];
    const line = source.inFile ? content.lineOf(path) : undefined;
    const message = source.value === undefined ? `is required; ${howToSet(entry, file)}` : issue.message;
    return {
      path: formatPath(path),
      message,
      ...(line === undefined ? {} : { line }),
      ...(source.from === undefined ? {} : { from: source.from }),
    };
  });
}

function howToSet({ variable, flag }: NamedSetting, file: string): string {
  return flag === undefined ? `set it in ${file}` : `set it in ${file}, with ${variable} or --${flag}`;
}

function unknownFileKeys(
  table: Section,
  values: Readonly<Record<string, unknown>>,
  above: readonly string[],
  content: FileValues,
): Fault[] {
  return Object.entries(values).flatMap(([key, value]): Fault[] => {
    const path = [...above, key];
    const entry = Object.hasOwn(table, key) ? table[key] : undefined;
    const at = (message: string): Fault[] => {
      const line = content.lineOf(path);
      return [{ path: formatPath(path), message, ...(line === undefined ? {} : { line }) }];
    };
    if (entry === undefined) return at(unknownKeys([key], Object.keys(table)));
    if (isSetting(entry) || isUnset(value)) return [];
    return isMapping(value) ? unknownFileKeys(entry, value, path, content) : at(`must be a mapping of ${Object.keys(entry).join(', ')}`);
  });
}

function unknownFlags(input: ConfigInput, named: readonly NamedSetting[]): Fault[] {
  const known = named.flatMap(({ flag }) => flag ?? []);
  const unknown = Object.keys(input.flags ?? {}).filter((flag) => !known.includes(flag));
  return unknown.map((flag) => ({ path: `--${flag}`, message: unknownKeys([flag], known) }));
}

/** What Kubernetes sets in every pod for a Service named signet or signet-…; never ours. */
const serviceLink = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_.*)?)$/;

const prefix = 'SIGNET_';

function unknownVariables(env: Environment, named: readonly NamedSetting[]): string[] {
  const known = ['SIGNET_CONFIG', ...named.flatMap(({ variable }) => variable ?? [])];
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !serviceLink.test(name))
    .map((name) => {
      const meant = closest(
        name.slice(prefix.length),
        known.map((variable) => variable.slice(prefix.length)),
      );
      return `${name} in the environment is no setting and has no effect${meant === undefined ? '' : `; did you mean ${prefix}${meant}?`}`;
    });
}

/** Variables that have gRPC and Node print what they send, past every rule of ours. */
function tracingVariables(env: Environment): string[] {
  return ['GRPC_TRACE', 'GRPC_NODE_TRACE', 'NODE_DEBUG', 'NODE_DEBUG_NATIVE']
    .filter((name) => (env[name] ?? '') !== '')
    .map((name) => `${name} in the environment makes libraries print what they send, tokens among it: unset it`);
}

function placeOf(mode: Mode, env: Environment): Place {
  const uid = process.getuid?.() ?? 0;
  return { mode, uid, directory: `${env['XDG_RUNTIME_DIR'] || '/tmp'}/signet-${uid}`, nodeName: env['NODE_NAME'] || undefined };
}

/** A section is there even if nothing in it is set. */
function setAt(config: Record<string, unknown>, { keys, setting }: NamedSetting, value: unknown): void {
  const section = keys.slice(0, -1).reduce<Record<string, unknown>>((at, key) => (at[key] ??= {}) as Record<string, unknown>, config);
  if (value !== undefined) section[`${keys.at(-1)}${setting.suffix}`] = value;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** The effective configuration as flat fields of a log line. */
export function configFields({ effective }: Pick<LoadedConfig, 'effective'>): Fields {
  return Object.fromEntries(
    effective.map(({ path, value }) => [path, typeof value === 'object' ? JSON.stringify(value) : (value as string)]),
  );
}
