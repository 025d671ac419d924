// Which version of an API group serves a resource. Used by those who can speak several. Promise of the loop: an API server that is
// upgraded, or has the resource only later, is asked anew, and one that has it not is asked ever less often.

import { SignetError } from '../runtime/errors.js';
import type { BackoffOptions, Clock } from '../runtime/time.js';
import { backoff, sleep } from '../runtime/time.js';
import type { KubeClient } from './client.js';

/** The first of these versions in which the API server has the resource; undefined: none. Throws like `KubeClient.request`. */
export async function findServedVersion<V extends string>(
  client: KubeClient,
  group: string,
  resource: string,
  versions: readonly V[],
  signal: AbortSignal,
): Promise<V | undefined> {
  for (const version of versions) {
    const found = await client.request({ path: `/apis/${group}/${version}` }, signal).catch((error: unknown) => {
      if (error instanceof SignetError && error.kind === 'notFound') return undefined;
      throw error;
    });
    const { resources } = (found ?? {}) as { resources?: unknown };
    if (Array.isArray(resources) && resources.some((each: { name?: unknown } | null) => each?.name === resource)) return version;
  }
  return undefined;
}

/** The newest version in which the API server has ClusterTrustBundles: v1 (Kubernetes 1.37) or v1beta1 (1.33); undefined: none. */
export function findTrustBundleVersion(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
  return findServedVersion(client, 'certificates.k8s.io', 'clustertrustbundles', ['v1', 'v1beta1'], signal);
}

export interface FollowServedOptions<T> {
  /** Finds out what is served; undefined: nothing that we speak. */
  readonly find: (signal: AbortSignal) => Promise<T | undefined>;
  /** Works with it; settles when the signal aborts or it is served no more, as a reflector with `endsWhenGone` does. */
  readonly use: (found: T, signal: AbortSignal) => Promise<void>;
  /** Told each time that there is nothing to work with: the error of `find`, or undefined where nothing is served. */
  readonly onMissing: (error: unknown) => void;
  /** Between two looks; after one that failed at most a minute, as nothing is known then. */
  readonly pause: BackoffOptions;
  readonly clock: Clock;
}

/** What was in use for this long was sound: what takes its place is looked for soon. */
const soundAfterMs = 60_000;

/** After an error the API server may have it all the same. */
const unknownMaxMs = 60_000;

/** Finds what is served and has it used, again whenever that ends, until the signal aborts. Rejects only as `use` does. */
export async function followServed<T>(options: FollowServedOptions<T>, signal: AbortSignal): Promise<void> {
  const { find, use, onMissing, pause, clock } = options;
  const pauseUnknown = { ...pause, maxMs: Math.min(pause.maxMs, unknownMaxMs) };
  const look = async (): Promise<{ readonly found?: T | undefined; readonly next: BackoffOptions }> => {
    try {
      const found = await find(signal);
      if (found === undefined) onMissing(undefined);
      return { found, next: pause };
    } catch (error) {
      if (!signal.aborted) onMissing(error);
      return { next: pauseUnknown };
    }
  };
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const { found, next } = await look();
    if (found !== undefined) {
      const startedAt = clock.monotonic();
      await use(found, signal);
      if (clock.monotonic() - startedAt >= soundAfterMs) attempt = 1;
    }
    // Rejects only when the signal aborts, which ends the loop.
    await sleep(clock, backoff(attempt, next), signal).catch(() => undefined);
  }
}
