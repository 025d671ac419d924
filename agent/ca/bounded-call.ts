// One call to the upstreams as both the certificate cache and the forwarder of CSRs make it: what comes back in time, and from
// somebody whose roots are known, is checked; what is refused is counted.
// Promise: of calls that ignore their abort only so many are left behind, then no new ones are made.

import type { Metrics } from '../metrics.js';
import { SignetError, kindOf, reasonOf } from '../runtime/errors.js';
import type { CaAnswer, CaClient, CaRequest } from './ca-client.js';
import type { CallQueue } from './call-queue.js';

export interface BoundedCallOptions {
  readonly ca: CaClient;
  /** Where the calls get their turns. */
  readonly queue: Pick<CallQueue, 'concurrency'>;
  readonly metrics: Metrics;
}

/** Calls that did not end with their signal: so many times the concurrency may be left behind. */
const abandonedPerSlot = 4;

/**
 * Asks for a certificate and gives what `check` makes of the answer, which throws what is wrong with it. May outlast its signal,
 * which has to be one of this call alone: whoever waits has a deadline.
 */
export type BoundedCall = <T>(request: CaRequest, check: (answer: CaAnswer) => T, signal: AbortSignal) => Promise<T>;

export function createBoundedCall({ ca, queue, metrics }: BoundedCallOptions): BoundedCall {
  const underWay = new Set<AbortSignal>();
  const abandoned = (): number => [...underWay].filter((signal) => signal.aborted).length;

  const accept = <T>(answer: CaAnswer, check: (answer: CaAnswer) => T): T => {
    const { roots, upstream } = answer;
    if (roots.length === 0) {
      throw new SignetError('unavailable', 'no root is known that the answer may chain to', {
        reason: 'bundle-missing',
        fields: { upstream },
      });
    }
    try {
      return check(answer);
    } catch (cause) {
      const reason = reasonOf(cause) ?? 'pem-invalid';
      metrics.answersRefused.inc({ upstream, reason });
      throw new SignetError(kindOf(cause), 'check the answer', { cause, reason, fields: { upstream } });
    }
  };

  return async (request, check, signal) => {
    if (abandoned() >= queue.concurrency * abandonedPerSlot) {
      throw new SignetError('exhausted', 'too many calls to the ca did not end at their deadline', { reason: 'ca-deadline' });
    }
    underWay.add(signal);
    try {
      return await ca.request(request, (answer) => (signal.aborted ? tooLate() : accept(answer, check)), signal);
    } finally {
      underWay.delete(signal);
    }
  };
}

/** Nobody waits for this certificate any more. */
function tooLate(): never {
  throw new SignetError('cancelled', 'the answer of the ca came too late');
}
