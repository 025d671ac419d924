// What an endpoint of a CA answered and nobody can use, by identity. Kept by failover.ts: an endpoint is not left out for that, as its
// answers to others may be good, but whoever asks how it is must not hear that all is well. Promise: identities that left the node do
// not count, and cost no more than those that are there.

import { explainError, reasonOf } from '../runtime/errors.js';
import { answerReasons } from '../runtime/ca-reasons.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';

export interface UnusableAnswers {
  /** How a request for the identity ended; undefined: with a certificate. */
  note(uri: string, error: unknown): void;
  /** That of the identity that had one last; undefined: each has a good answer, or none. */
  reason(): Reason | undefined;
}

/** `identities`: those of this node. */
export function createUnusableAnswers(identities: Watched<ReadonlyMap<string, unknown>>): UnusableAnswers {
  const faults = new Map<string, Reason>();
  const forgetOthers = (): void => {
    for (const uri of faults.keys()) if (!identities.value.has(uri)) faults.delete(uri);
  };
  return {
    note(uri, error) {
      faults.delete(uri);
      const code = reasonOf(error);
      if (code === undefined || !Object.hasOwn(answerReasons, code)) return;
      faults.set(uri, { code, detail: explainError(error) });
      if (faults.size > identities.value.size) forgetOthers();
    },
    reason() {
      forgetOthers();
      const last = [...faults.values()].at(-1);
      if (last === undefined || faults.size === 1) return last;
      return { ...last, detail: `${last.detail}, the last of ${faults.size} identities` };
    },
  };
}
