// The owner of the roots of the trust domain: the union of its sources, a file or another part of the agent.
// Called by agent.ts; SDS and the check of CA answers read it. It runs its sources.
// Promises: a bundle is never empty and never lacks a source that could not be read; a change is published in the tick in
// which it is seen; whatever goes wrong, the last good bundle stays. Certificates are compared by DER, never by text.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Metrics } from './metrics.js';
import { SignetError } from './runtime/errors.js';
import type { FileContent } from './runtime/followed-file.js';
import { followFile } from './runtime/followed-file.js';
import type { Logger } from './runtime/log.js';
import { errorFields } from './runtime/log.js';
import type { Reason } from './runtime/reasons.js';
import type { Clock } from './runtime/time.js';
import { aborted } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { WatchedValue, mapWatched } from './runtime/watched.js';
import type { Certificate } from './x509/certificate.js';
import { isSameList } from './x509/certificate.js';
import { formatCertificates, readCertificates } from './x509/pem.js';

export interface TrustBundle {
  /** At least one, each once, sorted by fingerprint. */
  readonly roots: readonly Certificate[];
  /** The roots in canonical PEM. */
  readonly pem: Buffer;
  /** SHA-256 over the DER of the sorted roots, hex: equal for equal sets, also after a restart. */
  readonly version: string;
}

export interface RootSource {
  /** For logs and details of reasons. */
  readonly name: string;
  /** The roots as last read completely; undefined before that. */
  readonly roots: Watched<readonly Certificate[] | undefined>;
  /** Why the roots are missing or old; undefined while the source works. */
  readonly reason: Watched<Reason | undefined>;
  /** Reads and follows until the signal aborts; never rejects for outside trouble. */
  run(signal: AbortSignal): Promise<void>;
}

export interface FileRootSourceOptions {
  /** PEM; all or nothing: one block that is no root (a key, an intermediate) refuses the file. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Roots from a PEM file, followed. */
export function createFileRootSource({ path, clock, log, metrics }: FileRootSourceOptions): RootSource {
  const roots = new WatchedValue<readonly Certificate[] | undefined>(undefined, isSameList);
  const reason = new WatchedValue<Reason | undefined>({ code: 'bundle-missing', detail: `${path}: not read yet` }, isDeepStrictEqual);
  const onContent = (content: FileContent): void => {
    try {
      if (content instanceof SignetError) throw content;
      roots.set(readRoots(content, path));
      reason.set(undefined);
      metrics.reloads.inc({ file: 'roots', result: 'ok' });
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      reason.set({ code: error === content ? 'bundle-missing' : 'bundle-invalid', detail: `${path}: ${error.message}` });
      metrics.reloads.inc({ file: 'roots', result: error.kind });
      log.warn('cannot use a file of roots, keeping the last good ones', { path, ...errorFields(error) });
    }
  };
  const file = followFile({ path, clock, log, metrics, maxBytes: maxFileBytes }, onContent);
  return { name: path, roots, reason, run: (signal) => file.run(signal) };
}

/** Roots that another part of the agent owns, such as the built-in issuer; an empty list means that there are none yet. */
export function createWatchedRootSource(name: string, roots: Watched<readonly Certificate[]>): RootSource {
  return {
    name,
    roots: mapWatched(roots, (list) => (list.length === 0 ? undefined : list)),
    reason: mapWatched(roots, (list) => (list.length === 0 ? { code: 'bundle-missing', detail: `${name}: no root yet` } : undefined)),
    run: aborted,
  };
}

/** The source, with the roots that it had before a restart until it has read its own. */
export function createRestoredRootSource(source: RootSource, restored: readonly Certificate[]): RootSource {
  const explain = (reason: Reason | undefined): Reason | undefined =>
    reason === undefined || source.roots.value !== undefined
      ? reason
      : { code: 'bundle-restored', detail: `${reason.code} (${reason.detail})` };
  return {
    name: source.name,
    roots: mapWatched(source.roots, (roots) => roots ?? restored),
    reason: mapWatched(source.reason, explain),
    run: (signal) => source.run(signal),
  };
}

const maxFileBytes = 1024 * 1024;

/** The wall clock is looked at this often: a root may be expired by a clock that is set right later. */
const lookEveryMs = 30_000;

/** Roots from PEM, all or nothing: one block that is no root refuses it. Throws a SignetError. */
export function readRoots(content: Buffer, source: string): readonly Certificate[] {
  const certificates = readCertificates(content, { source });
  if (certificates.length === 0) throw new SignetError('invalid', 'no certificate in it');
  for (const [index, { isCa, selfSigned }] of certificates.entries()) {
    if (!isCa) throw new SignetError('invalid', 'a certificate is not of a ca', { fields: { index } });
    if (!selfSigned) throw new SignetError('invalid', 'a certificate is not self-signed, so no root', { fields: { index } });
  }
  return certificates;
}

export interface TrustBundleOptions {
  readonly sources: readonly RootSource[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface TrustBundleOwner {
  /** Undefined until every source was read once. */
  readonly bundle: Watched<TrustBundle | undefined>;
  /** Why the bundle is missing, old, or lacks an expired root; undefined while all is well. */
  readonly reason: Watched<Reason | undefined>;
  /** Runs the sources and follows them until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createTrustBundle({ sources, clock, log, metrics }: TrustBundleOptions): TrustBundleOwner {
  const bundle = new WatchedValue<TrustBundle | undefined>(undefined, (a, b) => a?.version === b?.version);
  const reason = new WatchedValue<Reason | undefined>({ code: 'bundle-missing', detail: '' }, isDeepStrictEqual);
  let alarm = { cancel: (): void => {} };
  let warned: ReadonlySet<string> = new Set();

  const update = (): void => {
    const now = clock.now();
    const known = unionOf(sources);
    const valid = known.filter((root) => root.notAfter > now);
    const expired = known.filter((root) => root.notAfter <= now);
    // A source without roots yet would make the others look complete: proxies would refuse peers that are to be trusted.
    const complete = sources.every(({ roots }) => roots.value !== undefined);
    if (complete && valid.length > 0) publish(valid);

    for (const { fingerprint } of expired) if (!warned.has(fingerprint)) log.warn('a root is expired and left out', { fingerprint });
    warned = new Set(expired.map(({ fingerprint }) => fingerprint));
    const atSource = sources.find((source) => source.reason.value !== undefined)?.reason.value;
    reason.set(atSource ?? reasonOfExpiry(expired));

    alarm.cancel();
    const nextExpiry = Math.min(...valid.map(({ notAfter }) => notAfter));
    if (known.length > 0) alarm = clock.alarm(Math.min(nextExpiry - now, lookEveryMs), update);
  };

  const reasonOfExpiry = ([lapsed]: readonly Certificate[]): Reason | undefined => {
    if (lapsed === undefined) return undefined;
    if (bundle.value === undefined) return { code: 'bundle-missing', detail: 'every root is expired' };
    return { code: 'root-expired', detail: `sha-256 ${lapsed.fingerprint}` };
  };

  const publish = (roots: readonly Certificate[]): void => {
    const before = bundle.value;
    if (isSameList(roots, before?.roots)) return;
    const next = createBundle(roots);
    bundle.set(next);
    metrics.roots.set(roots.length);
    metrics.rootChanges.inc();
    metrics.rootsEarliestExpiry.set(Math.min(...roots.map(({ notAfter }) => notAfter)) / 1000);
    log.info('trust bundle changed', { roots: roots.length, added: missingFrom(before, next), removed: missingFrom(next, before) });
  };

  return {
    bundle,
    reason,
    async run(signal) {
      for (const source of sources) {
        source.roots.subscribe(update, signal);
        source.reason.subscribe(update, signal);
      }
      try {
        await Promise.all(sources.map((source) => source.run(signal)));
      } finally {
        alarm.cancel();
      }
    },
  };
}

/** The roots of all sources, each once, sorted. */
function unionOf(sources: readonly RootSource[]): readonly Certificate[] {
  const union = new Map<string, Certificate>();
  for (const { roots } of sources) for (const root of roots.value ?? []) union.set(root.fingerprint, root);
  return [...union.values()].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

function createBundle(roots: readonly Certificate[]): TrustBundle {
  const hash = createHash('sha256');
  for (const { der } of roots) hash.update(der);
  return { roots, pem: Buffer.from(formatCertificates(roots)), version: hash.digest('hex') };
}

/** Fingerprints of `of` that `from` does not have. */
function missingFrom(from: TrustBundle | undefined, of: TrustBundle | undefined): readonly string[] {
  const known = new Set(from?.roots.map(({ fingerprint }) => fingerprint));
  return (of?.roots ?? []).map(({ fingerprint }) => fingerprint).filter((fingerprint) => !known.has(fingerprint));
}
