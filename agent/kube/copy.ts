// The objects that a reflector has read, and what it says of them. Only the projected fields are kept.
// Used by kube/reflector.ts. Promises: a fault changes the reason and nothing else; many changes in one turn of the event loop
// are one new snapshot.

import { isDeepStrictEqual } from 'node:util';
import type { Reason } from '../runtime/reasons.js';
import { nextTurn } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { KubeObject, WatchEvent } from './client.js';

export interface Snapshot<T> {
  /** By UID. After a fault: the last good ones. */
  readonly objects: ReadonlyMap<string, T>;
  /** False until the objects were read completely once. */
  readonly complete: boolean;
  /** Why they are missing or may be old; undefined while the watch works. */
  readonly reason: Reason | undefined;
}

/** The fields of an object that are kept; undefined leaves the object out. */
export type Project<T> = (object: KubeObject) => T | undefined;

/** What a reflector tells of the objects that it reads. */
export interface ObjectSink<T> {
  /** Why they are missing or may be old, as it was last told. */
  readonly reason: Reason | undefined;
  /** An event of a watch, of which everything before is here. */
  apply(event: WatchEvent): void;
  /** A complete read, by UID. */
  replace(objects: Map<string, T>): void;
  /** The objects may be old from now on, or are again what the server has. */
  explain(reason: Reason | undefined): void;
}

export class ObjectCopy<T> implements ObjectSink<T> {
  readonly #project: Project<T>;
  readonly #snapshot: WatchedValue<Snapshot<T>>;
  #objects = new Map<string, T>();
  #complete = false;
  #reason: Reason | undefined;
  #publishing = false;

  constructor(project: Project<T>, unread: Reason) {
    this.#project = project;
    this.#reason = unread;
    this.#snapshot = new WatchedValue<Snapshot<T>>({ objects: new Map(), complete: false, reason: unread });
  }

  get snapshot(): Watched<Snapshot<T>> {
    return this.#snapshot;
  }

  get reason(): Reason | undefined {
    return this.#reason;
  }

  apply(event: WatchEvent): void {
    if (!change(this.#objects, event, this.#project) || this.#publishing) return;
    this.#publishing = true;
    void nextTurn().then(() => this.#publish());
  }

  replace(objects: Map<string, T>): void {
    this.#objects = objects;
    this.#complete = true;
    this.#reason = undefined;
    this.#publish();
  }

  explain(reason: Reason | undefined): void {
    if (isDeepStrictEqual(reason, this.#reason)) return;
    this.#reason = reason;
    this.#publish();
  }

  #publish(): void {
    this.#publishing = false;
    this.#snapshot.set({ objects: new Map(this.#objects), complete: this.#complete, reason: this.#reason });
  }
}

/** What an event does to kept objects; tells whether it changed them. */
export function change<T>(objects: Map<string, T>, { type, object }: WatchEvent, project: Project<T>): boolean {
  const uid = object.metadata?.uid;
  if (uid === undefined || type === 'BOOKMARK' || type === 'ERROR') return false;
  const kept = type === 'DELETED' ? undefined : project(object);
  if (kept === undefined) return objects.delete(uid);
  if (isDeepStrictEqual(objects.get(uid), kept)) return false;
  objects.set(uid, kept);
  return true;
}
