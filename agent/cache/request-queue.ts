// The requests that wait for their turn at the CA: by priority, first come first served within one. Used by the cache.
// Promises: an item waits at most once, so the queue is never longer than there are identities.

import type { Priority } from './schedule.js';
import { priorities } from './schedule.js';

export class RequestQueue<T> {
  readonly #lanes = priorities
    .map((priority) => [
      { priority, struggling: false, items: new Set<T>() },
      { priority, struggling: true, items: new Set<T>() },
    ])
    .flat();

  get size(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.items.size, 0);
  }

  /** Adds an item, or moves it when its lane changed. `struggling`: its last attempts failed, it yields to its equals. */
  add(item: T, priority: Priority, struggling: boolean): void {
    for (const lane of this.#lanes) {
      if (lane.priority === priority && lane.struggling === struggling) lane.items.add(item);
      else lane.items.delete(item);
    }
  }

  delete(item: T): void {
    for (const lane of this.#lanes) lane.items.delete(item);
  }

  clear(): void {
    for (const lane of this.#lanes) lane.items.clear();
  }

  /** Takes the next item; struggling ones stay where they are unless `struggling` is true. */
  take(struggling: boolean): T | undefined {
    for (const lane of this.#lanes) {
      if (lane.struggling && !struggling) continue;
      for (const item of lane.items) {
        lane.items.delete(item);
        return item;
      }
    }
    return undefined;
  }
}
