// What the certificate cache is made with.

import type { CaClient } from '../ca/ca-client.js';
import type { CallQueue } from '../ca/call-queue.js';
import type { Metrics } from '../metrics.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { KeyType } from '../x509/csr.js';
import type { Svid } from '../x509/svid.js';
import type { WantedIdentity } from './entry.js';

export interface SvidCacheOptions {
  /** The identities to keep a certificate for, by URI; what leaves is gone at once. */
  readonly identities: Watched<ReadonlyMap<string, WantedIdentity>>;
  /** Certificates from before a restart, by URI; the cache owns them. Those of other identities are wiped. Default: none. */
  readonly restored?: ReadonlyMap<string, Svid>;
  readonly ca: CaClient;
  /** The roots that peers have, as far as this agent publishes them; empty: none yet. */
  readonly roots: Watched<readonly Certificate[]>;
  /** Where its requests to the CA wait for their turn. */
  readonly queue: CallQueue;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly keyType: KeyType;
  /** When an identity gets its first certificate: at once, or when somebody waits for it. Default `ahead`. */
  readonly issue?: 'ahead' | 'on-demand';
  /** Lifetime to ask the CA for, ms. */
  readonly lifetimeMs: number;
  /** For one request to the CA, ms. Default 10 s. */
  readonly deadlineMs?: number;
  /** Source of jitter, 0 ≤ x < 1. Default Math.random. */
  readonly random?: () => number;
}
