// What an endpoint of a CA answered and nobody can use, by identity. Kept by failover.ts: an endpoint is not left out for that, as its
// answers to others may be good, but whoever asks how it is must not hear that all is well. Promises: it is told until the identity has
// another answer, or the roots that did not verify it are others; identities that left the node do not count, and cost no more than
// those that are there.

import type { ErrorKind } from '../runtime/errors.js';
import { kindOf, reasonOf } from '../runtime/errors.js';
import { answerReasons } from '../runtime/ca-reasons.js';
import { detailOfError } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { isSameList } from '../x509/certificate.js';

export interface UnusableAnswers {
  /** How a request for the identity ended; undefined: with a certificate. */
  note(uri: string, error: unknown): void;
  /** That of the identity that had one last; undefined: each has a good answer, or none. */
  reason(): Reason | undefined;
}

export interface UnusableAnswersOptions {
  /** Those of this node, by URI. */
  readonly identities: Watched<ReadonlyMap<string, unknown>>;
  /** What answers of the endpoint may chain to. */
  readonly roots: Watched<readonly Certificate[]>;
}

/** Calls that end so had no answer: what the last one was is still true. */
const unanswered: ReadonlySet<ErrorKind> = new Set(['cancelled', 'deadline', 'unavailable']);

interface Fault {
  readonly reason: Reason;
  /** Those that it was judged by. */
  readonly roots: readonly Certificate[];
}

export function createUnusableAnswers({ identities, roots }: UnusableAnswersOptions): UnusableAnswers {
  const faults = new Map<string, Fault>();
  const isOver = (uri: string, fault: Fault): boolean =>
    !identities.value.has(uri) || (fault.reason.code === 'trust-anchor-unknown' && !isSameList(fault.roots, roots.value));
  const forget = (): void => {
    for (const [uri, fault] of faults) if (isOver(uri, fault)) faults.delete(uri);
  };
  return {
    note(uri, error) {
      const code = reasonOf(error);
      const isUnusable = code !== undefined && Object.hasOwn(answerReasons, code);
      if (!isUnusable && error !== undefined && unanswered.has(kindOf(error))) return;
      faults.delete(uri);
      if (!isUnusable) return;
      faults.set(uri, { reason: { code, detail: detailOfError(error) }, roots: roots.value });
      if (faults.size > identities.value.size) forget();
    },
    reason() {
      forget();
      const last = [...faults.values()].at(-1)?.reason;
      if (last === undefined || faults.size === 1) return last;
      return { ...last, detail: `${last.detail}, the last of ${faults.size} identities` };
    },
  };
}
