// How soon and how often changed roots bring the attempts of one identity forward. The certificate cache keeps one for each.
// Promises: a fleet that sees the same change at once is spread; a source that flaps brings an attempt forward twice a minute at
// most, and does not keep a certificate from its renewal. Instants are of the wall clock, which may step.

import type { Lifetime } from './schedule.js';
import { soonAfter } from './schedule.js';

/** So often, at most, on average. Also how long a plan holds whose time came while the root was back. */
const intervalMs = 30_000;

export class RootsPace {
  /** Before this no renewal is brought forward; a retry may be one interval earlier, as two sources often change in turn. */
  #boundAt = -Infinity;
  /** When the renewal was planned that a withdrawn root asks for: kept while the root comes and goes, until an attempt begins. */
  #renewalAt = -Infinity;
  /** Whether changed roots brought the next attempt forward. */
  #isForward = false;

  /** When a certificate is renewed that no published root verifies since `now`: soon, or as planned when its root went before. */
  renewalAt(served: Lifetime, now: number): number {
    if (this.#renewalAt <= now - intervalMs) this.#renewalAt = between(soonAfter(served, now), this.#boundAt, now + intervalMs);
    return between(now, this.#renewalAt, now + intervalMs);
  }

  /** When an attempt is made again that failed for want of a root, since other roots came: soon, at once where nothing is served. */
  retryAt(served: Lifetime | undefined, now: number): number {
    const soon = served === undefined ? now : soonAfter(served, now);
    return between(soon, this.#boundAt - intervalMs, now + intervalMs);
  }

  /** The next attempt was brought forward. */
  broughtForward(): void {
    this.#isForward = true;
  }

  /** It was put back to where it was. */
  putBack(): void {
    this.#isForward = false;
  }

  /** An attempt begins. */
  begin(now: number): void {
    if (this.#isForward) this.#boundAt = between(now, this.#boundAt, now + intervalMs) + intervalMs;
    this.#isForward = false;
    this.#renewalAt = -Infinity;
  }
}

/** The clock may have stepped since `instant` was set. */
function between(earliest: number, instant: number, latest: number): number {
  return Math.min(Math.max(earliest, instant), latest);
}
