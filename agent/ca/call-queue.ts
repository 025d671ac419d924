// The calls to the upstreams that wait for their turn, and how many run at once: by priority, first come first served within one.
// One for the whole agent: the certificate cache and the forwarder of CSRs share it.
// Promises: never more at once than allowed; a call waits at most once; no group takes all slots from the others for long.

import type { Metrics } from '../metrics.js';
import { nextTurn } from '../runtime/time.js';

/** From most to least urgent. */
export const priorities = ['waited-for', 'new', 'near-expiry', 'routine'] as const;
export type Priority = (typeof priorities)[number];

/**
 * Who calls, in the order of their turns within one priority: for a key that is not ours, for a certificate of this agent, or
 * for one whose last attempts failed.
 */
const groups = ['forwarded', 'own', 'struggling'] as const;
export type Group = (typeof groups)[number];

/** Holds its slot until it settles; never rejects. */
export type Call = () => Promise<void>;

export interface CallQueueOptions {
  /** Calls at once. Default 8. */
  readonly concurrency?: number;
  readonly metrics: Metrics;
}

export interface CallQueue {
  readonly concurrency: number;
  /** Lets a call wait for its turn, not before the next microtask. One that waits keeps its place, or moves to its new one. */
  add(call: Call, priority: Priority, group: Group): void;
  /** Takes a call out; whether it was still waiting. */
  delete(call: Call): boolean;
}

export interface Turn<T> {
  /** Settles as the work does, or rejects with the reason of the signal as soon as that aborts; the slot is free then. */
  readonly result: Promise<T>;
  /** Gives it another priority, if it still waits. */
  move(priority: Priority): void;
}

/** Does a piece of work in its turn. */
export function takeTurn<T>(
  queue: CallQueue,
  { priority, group }: { readonly priority: Priority; readonly group: Group },
  work: () => Promise<T>,
  signal: AbortSignal,
): Turn<T> {
  let call: Call = async () => {};
  const result = new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      queue.delete(call);
      reject(signal.reason);
    };
    call = async () => {
      Promise.resolve().then(work).then(resolve, reject);
      await Promise.allSettled([result]);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    queue.add(call, priority, group);
    if (signal.aborted) onAbort();
  });
  return {
    result,
    move(to) {
      if (queue.delete(call)) queue.add(call, to, group);
    },
  };
}

export function createCallQueue(options: CallQueueOptions): CallQueue {
  return new Queue(options);
}

interface Lane {
  readonly priority: Priority;
  readonly group: Group;
  readonly calls: Set<Call>;
}

class Queue implements CallQueue {
  readonly concurrency: number;
  readonly #metrics: Metrics;
  /** In the order of their turns. */
  readonly #lanes: readonly Lane[] = priorities.flatMap((priority) => groups.map((group) => ({ priority, group, calls: new Set<Call>() })));
  /** How many calls of a group may run at once: those that hang leave room. */
  readonly #shares: Readonly<Record<Group, number>>;
  readonly #running: Record<Group, number> = { forwarded: 0, own: 0, struggling: 0 };
  #isPumpDue = false;

  constructor({ concurrency = 8, metrics }: CallQueueOptions) {
    const share = (part: number): number => Math.max(1, Math.floor(concurrency * part));
    this.concurrency = concurrency;
    this.#metrics = metrics;
    this.#shares = { forwarded: share(3 / 4), own: concurrency, struggling: share(1 / 2) };
  }

  add(call: Call, priority: Priority, group: Group): void {
    for (const lane of this.#lanes) {
      if (lane.priority === priority && lane.group === group) lane.calls.add(call);
      else lane.calls.delete(call);
    }
    this.#pumpSoon();
  }

  delete(call: Call): boolean {
    const isWaiting = this.#lanes.some(({ calls }) => calls.delete(call));
    if (isWaiting) this.#report();
    return isWaiting;
  }

  // What is added together gets its turns by priority, not in the order in which it was added.
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    for (let lane = this.#next(); lane !== undefined; lane = this.#next()) void this.#run(lane);
    this.#report();
  }

  #next(): Lane | undefined {
    if (this.#inFlight() >= this.concurrency) return undefined;
    return this.#lanes.find(({ group, calls }) => calls.size > 0 && this.#running[group] < this.#shares[group]);
  }

  async #run({ group, calls }: Lane): Promise<void> {
    const [call] = calls;
    if (call === undefined) return;
    calls.delete(call);
    this.#running[group] += 1;
    await call();
    // Thousands of certificates must not keep a socket waiting.
    await nextTurn();
    this.#running[group] -= 1;
    this.#pump();
  }

  #inFlight(): number {
    return groups.reduce((sum, group) => sum + this.#running[group], 0);
  }

  #report(): void {
    this.#metrics.requestsQueued.set(this.#lanes.reduce((sum, { calls }) => sum + calls.size, 0));
    this.#metrics.requestsInFlight.set(this.#inFlight());
  }
}
