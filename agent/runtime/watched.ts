// Watched: the latest value of something plus a coalesced subscription. The only eventing primitive of Signet.
// A subscriber gets the current value first and afterwards only the newest: a slow one costs one pending update,
// never a queue. Setters drop equal values.

export interface Watched<T> {
  readonly value: T;
  /**
   * Calls `listener` at once with the current value, then in a microtask after each change with the newest value.
   * Returns the unsubscribe function (idempotent); an aborted signal unsubscribes too.
   */
  subscribe(listener: (value: T) => void, signal?: AbortSignal): () => void;
}

interface Subscription<T> {
  readonly listener: (value: T) => void;
  pending: boolean;
  active: boolean;
}

export class WatchedValue<T> implements Watched<T> {
  #value: T;
  readonly #equal: (a: T, b: T) => boolean;
  readonly #subscriptions = new Set<Subscription<T>>();

  constructor(initial: T, equal: (a: T, b: T) => boolean = Object.is) {
    this.#value = initial;
    this.#equal = equal;
  }

  get value(): T {
    return this.#value;
  }

  /** How many subscribers there are; lets an owner drop a value that nobody watches. */
  get subscribers(): number {
    return this.#subscriptions.size;
  }

  set(value: T): void {
    if (this.#equal(this.#value, value)) return;
    this.#value = value;
    for (const subscription of this.#subscriptions) {
      if (subscription.pending) continue;
      subscription.pending = true;
      queueMicrotask(() => {
        subscription.pending = false;
        if (subscription.active) subscription.listener(this.#value);
      });
    }
  }

  subscribe(listener: (value: T) => void, signal?: AbortSignal): () => void {
    if (signal?.aborted === true) return () => {};
    const subscription: Subscription<T> = { listener, pending: false, active: true };
    this.#subscriptions.add(subscription);
    const unsubscribe = (): void => {
      subscription.active = false;
      this.#subscriptions.delete(subscription);
      signal?.removeEventListener('abort', unsubscribe);
    };
    signal?.addEventListener('abort', unsubscribe, { once: true });
    listener(this.#value);
    return unsubscribe;
  }
}

/**
 * Watched values by key whose state lives with an owner: a key costs memory only while somebody subscribes to it, so
 * names that nobody knows may be watched too.
 */
export class WatchedByKey<T> {
  readonly #read: (key: string) => T;
  readonly #watched = new Map<string, WatchedValue<T>>();

  /** `read` gives the owner's current value of a key. */
  constructor(read: (key: string) => T) {
    this.#read = read;
  }

  /** How many keys are subscribed to. */
  get size(): number {
    return this.#watched.size;
  }

  /** Whether somebody subscribes to the key. */
  has(key: string): boolean {
    return this.#watched.has(key);
  }

  /** To be called by the owner after the value of the key changed. */
  changed(key: string): void {
    this.#watched.get(key)?.set(this.#read(key));
  }

  watch(key: string): Watched<T> {
    const read = this.#read;
    return {
      get value() {
        return read(key);
      },
      subscribe: (listener, signal) => this.#subscribe(key, listener, signal),
    };
  }

  #subscribe(key: string, listener: (value: T) => void, signal?: AbortSignal): () => void {
    const aborted = (): boolean => signal?.aborted === true;
    if (aborted()) return () => {};
    const current = this.#read(key);
    const watched = this.#watched.get(key) ?? new WatchedValue(current);
    this.#watched.set(key, watched);
    watched.set(current);
    const stop = watched.subscribe(listener);
    const unsubscribe = (): void => {
      stop();
      signal?.removeEventListener('abort', unsubscribe);
      if (watched.subscribers === 0 && this.#watched.get(key) === watched) this.#watched.delete(key);
    };
    // The first call of the listener may have aborted it.
    if (aborted()) unsubscribe();
    else signal?.addEventListener('abort', unsubscribe, { once: true });
    return unsubscribe;
  }
}

/** The watched value as seen through `project`, which is pure and cheap: it runs at each look. Keeps no state of its own. */
export function mapWatched<T, U>(source: Watched<T>, project: (value: T) => U): Watched<U> {
  return {
    get value() {
      return project(source.value);
    },
    subscribe: (listener, signal) => source.subscribe((value) => listener(project(value)), signal),
  };
}

/** Several watched values as one, in their order; a change of any is one of the whole. */
export function joinWatched<T>(sources: readonly Watched<T>[]): Watched<readonly T[]> {
  const read = (): readonly T[] => sources.map(({ value }) => value);
  return {
    get value() {
      return read();
    },
    subscribe(listener, signal) {
      if (signal?.aborted === true) return () => {};
      let isFirst = true;
      const stops = sources.map((source) =>
        source.subscribe(() => {
          if (!isFirst) listener(read());
        }, signal),
      );
      isFirst = false;
      listener(read());
      return () => stops.forEach((stop) => stop());
    },
  };
}

/** Settles as soon as the value passes the test. */
export function until<T>(source: Watched<T>, isMet: (value: T) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const met = new AbortController();
    source.subscribe((value) => {
      if (!isMet(value)) return;
      met.abort();
      resolve();
    }, met.signal);
  });
}
