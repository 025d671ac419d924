// A local copy of the objects at one path of the API, kept up to date by list and watch.
// Used by the pod source and the root sources. See `Reflector`.

import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import type { KubeObject } from './client.js';

export interface Snapshot<T> {
  /** By UID. After a fault: the last good ones. */
  readonly objects: ReadonlyMap<string, T>;
  /** False until the objects were read completely once. */
  readonly complete: boolean;
  /** Why they are missing or may be old; undefined while the watch works. */
  readonly reason: Reason | undefined;
}

export interface Reflector<T> {
  readonly snapshot: Watched<Snapshot<T>>;
  /** Lists and watches until the signal aborts; never rejects for outside trouble. */
  run(signal: AbortSignal): Promise<void>;
}

/** The fields of an object that are kept; undefined leaves the object out. */
export type Project<T> = (object: KubeObject) => T | undefined;
