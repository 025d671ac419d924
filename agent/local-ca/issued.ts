// What the local CA handed out and is still good: for the priority of the next request, and for what lapses when in an outage. Written
// by its service, read by metrics and status. Holds at most one entry for each identity of the node, in memory alone.

import type { Metrics } from '../metrics.js';
import type { NodeIdentity } from '../pods/identity-index.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';

/** The last certificate that was handed out for an identity. ms since the epoch. */
export interface IssuedCertificate {
  readonly issuedAt: number;
  readonly notAfter: number;
}

export interface IssuedCertificates {
  /** By URI, those of identities that are on the node now; one that lapsed stays as long as its identity. */
  all(): ReadonlyMap<string, IssuedCertificate>;
  record(uri: string, notAfter: number): void;
  /** Whether somebody waits for the next certificate of the identity, or renews in time. */
  priorityOf(uri: string): 'waiting' | 'routine';
}

export interface IssuedOptions {
  readonly identities: Watched<ReadonlyMap<string, NodeIdentity>>;
  readonly clock: Clock;
}

// ztunnel and istio-agent renew at half of the lifetime. Whoever asks earlier has lost what it had, and whoever asks late is at its end.
const renewsFrom = 0.4;
const renewsUntil = 0.9;

export function createIssued({ identities, clock }: IssuedOptions): IssuedCertificates {
  const issued = new Map<string, IssuedCertificate>();
  const dropEnded = (): void => {
    for (const uri of issued.keys()) if (!identities.value.has(uri)) issued.delete(uri);
  };
  return {
    all() {
      dropEnded();
      return issued;
    },
    record(uri, notAfter) {
      dropEnded();
      issued.set(uri, { issuedAt: clock.now(), notAfter });
    },
    priorityOf(uri) {
      const last = issued.get(uri);
      if (last === undefined) return 'waiting';
      const used = (clock.now() - last.issuedAt) / (last.notAfter - last.issuedAt);
      return used >= renewsFrom && used < renewsUntil ? 'routine' : 'waiting';
    },
  };
}

/** Shows what was handed out in the metrics. */
export function observeIssued(
  issued: ReadonlyMap<string, IssuedCertificate>,
  metrics: Pick<Metrics, 'localCaIdentities' | 'localCaEarliestExpiry'>,
  now: number,
): void {
  const valid = [...issued.values()].map(({ notAfter }) => notAfter).filter((notAfter) => notAfter > now);
  metrics.localCaIdentities.set({ state: 'valid' }, valid.length);
  metrics.localCaIdentities.set({ state: 'lapsed' }, issued.size - valid.length);
  metrics.localCaEarliestExpiry.set(valid.length === 0 ? 0 : Math.min(...valid) / 1_000);
}
