// Which issuer signs now, and which roots verifiers must know meanwhile. Wired to the built-in CA and the trust bundle.
// Follows the issuer's files: a sound new issuer takes over, a faulty one is logged and the one before stays. Roots that are
// replaced stay published until no leaf signed under them can live.

import { isDeepStrictEqual } from 'node:util';
import type { CommonMetrics } from '../metrics.js';
import { describeError, kindOf, reasonOf } from '../runtime/errors.js';
import type { FileContent } from '../runtime/followed-file.js';
import { followFile } from '../runtime/followed-file.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Alarm, Clock } from '../runtime/time.js';
import { formatInstant } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { isSameList } from '../x509/certificate.js';
import { certificateFields } from '../x509/chain.js';
import type { Issuer, IssuerFiles } from '../x509/issuer.js';
import { loadIssuer } from '../x509/issuer.js';
import { openIssuer } from '../x509/self-signed.js';

export interface IssuerOwner {
  readonly issuer: Watched<Issuer>;
  /** The issuer's roots first, then former ones. Changes before `issuer` does: no leaf is signed that nobody can verify. */
  readonly roots: Watched<readonly Certificate[]>;
  /** Why the files are not what is in use. */
  readonly reason: Watched<Reason | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

export interface IssuerFromFilesOptions {
  readonly files: IssuerFiles;
  /** What the files held at start: without a sound issuer there is no start. */
  readonly initial: Issuer;
  /** The longest life of a leaf, in ms; former roots are kept that long. */
  readonly leafLifetimeMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CommonMetrics;
}

/** An issuer that does not change while the process runs. */
export function createFixedIssuer(issuer: Issuer): IssuerOwner {
  return {
    issuer: new WatchedValue(issuer),
    roots: new WatchedValue(issuer.roots),
    reason: new WatchedValue<Reason | undefined>(undefined),
    run: async () => {},
  };
}

export interface OpenIssuerOptions extends Omit<IssuerFromFilesOptions, 'files' | 'initial'> {
  /** Default: one that is made in `directory` at the first start, and does not change while the process runs. */
  readonly files: IssuerFiles | undefined;
  readonly directory: string;
  readonly trustDomain: string;
}

/** The issuer as it is configured. Throws with an `issuer-…` reason: without a sound one there is no start. */
export async function openIssuerOwner({ files, directory, trustDomain, ...options }: OpenIssuerOptions): Promise<IssuerOwner> {
  const { clock } = options;
  if (files === undefined) return createFixedIssuer(await openIssuer({ directory, trustDomain, clock }));
  return createIssuerFromFiles({ ...options, files, initial: await loadIssuer(files, clock.now()) });
}

/** Certificate and key are written one after the other; this long after the first change they are read together. */
const settleMs = 500;
/** A faulty issuer is looked at again without a change of its files: it may only not be valid yet. */
const retryMs = 60_000;
/** How often former roots are looked at, so that a step of the clock is noticed. */
const overlapCheckMs = 3_600_000;

export function createIssuerFromFiles(options: IssuerFromFilesOptions): IssuerOwner {
  const { files, clock, log, metrics } = options;
  const rotation = createRotation(options);
  const reason = new WatchedValue<Reason | undefined>(undefined);

  /** Whether the files hold a sound issuer. */
  const load = async (): Promise<boolean> => {
    try {
      const next = await loadIssuer(files, clock.now());
      if (rotation.replace(next)) metrics.reloads.inc({ file: 'issuer', result: 'ok' });
      reason.set(undefined);
      return true;
    } catch (error) {
      const fault: Reason = {
        code: reasonOf(error) ?? 'issuer-unreadable',
        detail: `${files.certificate}: ${describeError(error)}; the issuer from before stays in use`,
      };
      // Told once, however often it is met: by the next try, or by an event of the other file.
      if (isDeepStrictEqual(fault, reason.value)) return false;
      reason.set(fault);
      log.warn('issuer files have a fault, the issuer from before stays in use', { path: files.certificate, ...errorFields(error) });
      metrics.reloads.inc({ file: 'issuer', result: kindOf(error) });
      return false;
    }
  };

  return {
    issuer: rotation.issuer,
    roots: rotation.roots,
    reason,
    async run(signal) {
      let alarm: Alarm | undefined;
      let settling = false;
      let loading = Promise.resolve();
      const plan = (delayMs: number): void => {
        alarm?.cancel();
        alarm = clock.alarm(delayMs, () => {
          settling = false;
          loading = loading.then(load).then((sound) => {
            if (!sound && !settling && !signal.aborted) plan(retryMs);
          });
        });
      };
      const onContent = (content: FileContent): void => {
        // Only the change counts: the files are read together. One of them is the key.
        if (Buffer.isBuffer(content)) content.fill(0);
        if (settling) return;
        settling = true;
        plan(settleMs);
      };
      const paths = new Set([files.certificate, files.privateKey, files.chain, files.roots].filter((path) => path !== undefined));
      await Promise.all([...paths].map((path) => followFile({ path, clock, log, metrics }, onContent).run(signal)));
      alarm?.cancel();
      await loading;
      rotation.stop();
    },
  };
}

interface Rotation {
  readonly issuer: Watched<Issuer>;
  readonly roots: Watched<readonly Certificate[]>;
  /** Whether it differs from the current one. */
  replace(next: Issuer): boolean;
  stop(): void;
}

function createRotation(options: IssuerFromFilesOptions): Rotation {
  const { initial, leafLifetimeMs, clock, log } = options;
  const issuer = new WatchedValue(initial);
  const roots = new WatchedValue(initial.roots, isSameList);
  /** Until when a root that is not the issuer's any more stays. */
  const former = new Map<Certificate, number>();
  let alarm: Alarm | undefined;

  const publish = (current: Issuer): void => {
    alarm?.cancel();
    const now = clock.now();
    const known = new Set(current.roots.map((root) => root.fingerprint));
    for (const [root, until] of former) if (until <= now || known.has(root.fingerprint)) former.delete(root);
    roots.set([...current.roots, ...former.keys()]);
    if (former.size === 0) return;
    const next = Math.min(...former.values()) - now;
    alarm = clock.alarm(Math.min(next, overlapCheckMs), () => publish(issuer.value));
  };

  return {
    issuer,
    roots,
    replace(next) {
      const before = issuer.value;
      const unchanged = isSameList(
        [before.certificate, ...before.chain, ...before.roots],
        [next.certificate, ...next.chain, ...next.roots],
      );
      if (unchanged) return false;
      for (const root of before.roots) former.set(root, clock.now() + leafLifetimeMs);
      publish(next);
      issuer.set(next);
      log.info('issuer changed', {
        ...certificateFields(next.certificate),
        notAfter: formatInstant(next.notAfter),
        formerRoots: former.size,
      });
      return true;
    },
    stop: () => alarm?.cancel(),
  };
}
