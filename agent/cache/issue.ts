// One attempt at a certificate: a new key, a CSR, the call to the CA within its deadline, the checks of the answer.
// Used by the cache alone. Promise: a key has one certificate at most, and outlives its attempt only in the SVID or while the CA
// may still answer.

import { createBoundedCall } from '../ca/bounded-call.js';
import type { CaClient } from '../ca/ca-client.js';
import { acceptAnswer } from '../ca/ca-client.js';
import type { CallQueue } from '../ca/call-queue.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import { isRetryable, kindOf } from '../runtime/errors.js';
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
  /** Where attempts get their turns. */
  readonly queue: Pick<CallQueue, 'concurrency'>;
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
  const { ca, clock, metrics, lifetimeMs, deadlineMs } = options;
  const call = createBoundedCall(options);
  metrics.requestedLifetime.set(lifetimeMs / 1_000);

  const request = async (id: SpiffeId, key: PrivateKey, signal: AbortSignal): Promise<Svid> => {
    const csr = await createCsr(key, id, ca.subject);
    const startedAt = clock.monotonic();
    try {
      return await withDeadline(clock, deadlineMs, 'the call to the ca', signal, (inner) =>
        call(
          { id, csr, key, lifetimeMs },
          ({ elements, roots, refreshAt }) => acceptAnswer(elements, { id, key, roots, refreshAt, now: clock.now() }),
          inner,
        ),
      );
    } finally {
      metrics.issueSeconds.observe((clock.monotonic() - startedAt) / 1_000);
    }
  };

  return async (id, attemptKey, signal) => {
    try {
      const svid = await request(id, await attemptKey.get(options.keyType), signal);
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
