// The issuer of a CA that runs in a cluster, with all that belongs to it: the Secret, its rotation, and where its roots and serving
// certificates go. Wired by the server, to which it is one part with an issuer and roots. Any replica signs; what only one may do
// goes with a Lease.

import { createLease } from '../kube/lease.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { Issuer } from '../x509/issuer.js';
import type { SecretIssuerOptions } from './issuer-owner.js';
import { createSecretIssuer, defaultLagMs, openIssuerSecret } from './issuer-owner.js';
import type { IssuerSecret } from './issuer-secret.js';
import type { ClusterTrustBundleTarget } from './root-targets.js';
import { createRootTargets } from './root-targets.js';
import { publishedRoots } from './rotation.js';
import { rotationPhases, rotationStatus } from './rotation-status.js';
import { createRotator } from './rotator.js';
import type { ServingSecret } from './serving-secrets.js';
import { createServingSecrets } from './serving-secrets.js';

type RotationMetrics = Pick<
  AuthorityMetrics,
  'issuerInfo' | 'nextIssuerExpiry' | 'rotationPhase' | 'rotationNext' | 'publishedRoots' | 'leaseHeld'
>;

export interface ClusterIssuerOptions extends SecretIssuerOptions {
  /** Of this replica and no other, e.g. the name of its pod. */
  readonly holder: string;
  readonly configMaps: readonly string[];
  readonly selects: (namespace: string) => boolean;
  readonly clusterTrustBundle?: ClusterTrustBundleTarget;
  readonly servingSecrets: readonly ServingSecret[];
  readonly metrics: SecretIssuerOptions['metrics'] & RotationMetrics;
}

export interface ClusterIssuer {
  readonly issuer: Watched<Issuer>;
  readonly roots: Watched<readonly Certificate[]>;
  readonly reason: Watched<Reason | undefined>;
  /** By name: what the replica with the Lease cannot do. */
  readonly degradations: ReadonlyMap<string, Watched<Reason | undefined>>;
  /** `alone` is run by the replica that holds the Lease, beside what that does here. */
  run(signal: AbortSignal, alone?: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/** Serving certificates are renewed by a replica that may be away for a while. */
const servingLifetimeMs = 24 * 3_600_000;

/** Waits until there is an issuer, which is made if need be; throws what waiting does not mend. */
export async function openClusterIssuer(options: ClusterIssuerOptions, signal: AbortSignal): Promise<ClusterIssuer> {
  const { client, holder, leafLifetimeMs, lagMs = defaultLagMs, clock, log, metrics } = options;
  const initial = await openIssuerSecret(options, signal);
  const { issuer, roots, reason, secret, lost, run } = createSecretIssuer({ ...options, initial });
  const lease = createLease({ ...options.lease, client, holder, clock, log });
  const targets = createRootTargets({ ...options, roots });
  const rotator = createRotator({ ...options, secret, lost, targets });
  const lifetimeMs = Math.min(servingLifetimeMs, leafLifetimeMs);
  const serving = createServingSecrets({ ...options, secrets: options.servingSecrets, issuer, roots, lifetimeMs });
  metrics.leaseHeld.set(0);
  secret.subscribe((now) => show(metrics, now, lagMs));
  return {
    issuer,
    roots,
    reason,
    degradations: new Map([
      ['roots', targets.reason],
      ['rotation', rotator.reason],
      ['serving secrets', serving.reason],
    ]),
    async run(own, alone = async () => {}) {
      const work = async (held: AbortSignal): Promise<void> => {
        metrics.leaseHeld.set(1);
        try {
          await Promise.all([targets.run(held), rotator.run(held), serving.run(held), alone(held)]);
        } finally {
          metrics.leaseHeld.set(0);
        }
      };
      await Promise.all([run(own), lease.run(work, own)]);
    },
  };
}

function show(metrics: RotationMetrics, { state }: IssuerSecret, lagMs: number): void {
  const { issuer, next } = state;
  const { phase, nextAt = 0 } = rotationStatus(state, { lagMs });
  metrics.issuerInfo.reset();
  metrics.issuerInfo.set({ role: 'current', key_id: issuer.certificate.subjectKeyId ?? '' }, 1);
  if (next !== undefined) metrics.issuerInfo.set({ role: 'next', key_id: next.certificate.subjectKeyId ?? '' }, 1);
  metrics.nextIssuerExpiry.set((next?.certificate.notAfter ?? 0) / 1_000);
  for (const each of rotationPhases) metrics.rotationPhase.set({ phase: each }, each === phase ? 1 : 0);
  metrics.rotationNext.set(nextAt / 1_000);
  metrics.publishedRoots.set(publishedRoots(state).length);
}
