// A serving certificate that an issuer of this process signs: `signet ca` shows one of its own issuer, the local CA endpoint one of the
// node. Made at start and kept by the wiring. Promises: renewed at half of its life and as soon as the issuer changes, each time with a
// new key; at the end of the issuer, whose life it shares, not without a pause.

import type { AuthorityMetrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { aborted, formatInstant } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Issuer } from '../x509/issuer.js';
import { createServerLeaf } from '../x509/server-leaf.js';
import type { TlsIdentity } from './tls.js';

export interface ServingOptions {
  readonly issuer: Watched<Issuer>;
  /** DNS names and addresses. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<AuthorityMetrics, 'servingExpiry'>;
}

export interface ServingCertificate {
  /** A new one. */
  create(): Promise<TlsIdentity>;
  /** Makes others as they are due, and gives them to `show`. */
  run(show: (identity: TlsIdentity) => void, signal: AbortSignal): Promise<void>;
}

const lifetimeMs = 24 * 3_600_000;
/** From one to the next under the same issuer, at least, and after a failure. */
const pauseMs = 30_000;

export function createServingCertificate({ issuer: current, names, clock, log, metrics }: ServingOptions): ServingCertificate {
  let dueAt = 0;
  let signedBy: Issuer | undefined;

  const create = async (): Promise<TlsIdentity> => {
    const issuer = current.value;
    const now = clock.now();
    const { chain, privateKey, notAfter } = await createServerLeaf(issuer, names, now, lifetimeMs);
    dueAt = now + (notAfter - now) / 2;
    signedBy = issuer;
    metrics.servingExpiry.set(notAfter / 1_000);
    log.info('serving certificate is new', { names, notAfter: formatInstant(notAfter) });
    return { chain, privateKey };
  };

  return {
    create,
    async run(show, signal) {
      let renewing = Promise.resolve();
      let alarm = { cancel: (): void => {} };
      const plan = (delayMs: number): void => {
        alarm.cancel();
        if (signal.aborted) return;
        alarm = clock.alarm(delayMs, () => {
          renewing = create()
            .then(show)
            .then(planNext, (error: unknown) => {
              log.error('serving certificate cannot be renewed', errorFields(error));
              plan(pauseMs);
            });
        });
      };
      // The issuer may have changed while the certificate was made.
      const planNext = (): void => plan(current.value === signedBy ? Math.max(dueAt - clock.now(), pauseMs) : 0);
      current.subscribe(planNext, signal);
      await aborted(signal);
      alarm.cancel();
      await renewing;
    },
  };
}
