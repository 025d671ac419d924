// One attempt at a certificate: a new key, a CSR, the call to the CA within its deadline, the checks of the answer.
// Used by the cache alone. Promises: a key has one certificate at most, and outlives its attempt only in the SVID or while the CA
// may still answer; a call that ignores its abort is left behind, and there are never more than a bounded number of those.

import type { CaAnswer, CaClient, CaRequest } from '../ca/ca-client.js';
import { acceptAnswer } from '../ca/ca-client.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import { SignetError, isRetryable, kindOf, reasonOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { withDeadline } from '../runtime/time.js';
import type { KeyType, PrivateKey } from '../x509/csr.js';
import { createCsr, generateKey } from '../x509/csr.js';
import type { Svid } from '../x509/svid.js';

export interface IssueOptions {
  readonly ca: CaClient;
  readonly keyType: KeyType;
  /** Lifetime that is asked for; what the CA gives counts. */
  readonly lifetimeMs: number;
  /** For one call to the CA. */
  readonly deadlineMs: number;
  /** How many calls that did not end at their deadline may be under way before new ones are refused. */
  readonly maxAbandoned: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * The key that the attempts of one identity share until the CA has answered: a CA that keeps requests finds the one it has
 * instead of signing again.
 */
export class AttemptKey {
  #key: PrivateKey | undefined;

  async get(keyType: KeyType): Promise<PrivateKey> {
    this.#key ??= await generateKey(keyType);
    return this.#key;
  }

  /** The next attempt has a new one. */
  drop(): void {
    this.#key?.wipe();
    this.#key = undefined;
  }
}

/** Rejects with the error of the step that failed, or `cancelled` when the signal aborts. The SVID belongs to the caller. */
export type Issue = (id: SpiffeId, attemptKey: AttemptKey, signal: AbortSignal) => Promise<Svid>;

export function createIssue(options: IssueOptions): Issue {
  const { ca, clock, metrics, lifetimeMs } = options;
  const call = createBoundedCall(options);
  metrics.requestedLifetime.set(lifetimeMs / 1_000);

  const accept = ({ elements, roots, upstream }: CaAnswer, id: SpiffeId, key: PrivateKey): Svid => {
    if (roots.length === 0) {
      throw new SignetError('unavailable', 'no root is known that the answer may chain to', {
        reason: 'bundle-missing',
        fields: { upstream },
      });
    }
    try {
      return acceptAnswer(elements, { id, key, roots, now: clock.now() });
    } catch (cause) {
      const reason = reasonOf(cause) ?? 'pem-invalid';
      metrics.answersRefused.inc({ upstream, reason });
      throw new SignetError(kindOf(cause), 'check the answer', { cause, reason, fields: { upstream } });
    }
  };

  return async (id, attemptKey, signal) => {
    try {
      const key = await attemptKey.get(options.keyType);
      const csr = await createCsr(key, id, ca.subject);
      const svid = await call({ id, csr, key, lifetimeMs }, (answer) => accept(answer, id, key), signal);
      metrics.issues.inc({ result: 'ok' });
      metrics.issuedLifetime.set((svid.notAfter - svid.receivedAt) / 1_000);
      metrics.clockDifference.set(Math.max(0, svid.notBefore - svid.receivedAt) / 1_000);
      // The SVID has its own copy.
      attemptKey.drop();
      return svid;
    } catch (error) {
      metrics.issues.inc({ result: kindOf(error) });
      if (!isRetryable(error)) attemptKey.drop();
      throw error;
    }
  };
}

function createBoundedCall({ ca, clock, metrics, deadlineMs, maxAbandoned }: IssueOptions) {
  const underWay = new Set<AbortSignal>();
  const abandoned = (): number => [...underWay].filter((signal) => signal.aborted).length;
  return async (request: CaRequest, accept: (answer: CaAnswer) => Svid, signal: AbortSignal): Promise<Svid> => {
    if (abandoned() >= maxAbandoned) {
      throw new SignetError('exhausted', 'too many calls to the ca did not end at their deadline', { reason: 'ca-deadline' });
    }
    const startedAt = clock.monotonic();
    try {
      return await withDeadline(clock, deadlineMs, 'the call to the ca', signal, async (inner) => {
        underWay.add(inner);
        try {
          return await ca.request(request, (answer) => (inner.aborted ? tooLate() : accept(answer)), inner);
        } finally {
          underWay.delete(inner);
        }
      });
    } finally {
      metrics.issueSeconds.observe((clock.monotonic() - startedAt) / 1_000);
    }
  };
}

/** Nobody waits for this SVID any more, and its key is wiped. */
function tooLate(): never {
  throw new SignetError('cancelled', 'the answer of the ca came too late');
}
