// The signers of request objects that are configured, as one part. Wired by server.ts, run in the replica with the Lease.

import type { KubeClient } from '../kube/client.js';
import type { Reason } from '../runtime/reasons.js';
import type { Watched } from '../runtime/watched.js';
import { createCsrSigner } from './csr-signer.js';
import { tellRequesters } from './pod-certificate-requesters.js';
import { createPodCertificateSigner } from './pod-certificate-signer.js';
import type { RequestAuthority } from './request-decision.js';
import type { RequestLoopOptions } from './request-loop.js';
import { createRequestLoop } from './request-loop.js';

export interface RequestSignersOptions extends RequestLoopOptions {
  readonly client: KubeClient;
  readonly authority: RequestAuthority;
  /** Signer name of CertificateSigningRequests that are approved and signed. */
  readonly csrSigner: string | undefined;
  /** Those of other signers that are approved. */
  readonly csrApproved: readonly string[];
  /** Signer name of PodCertificateRequests. */
  readonly podCertificateSigner: string | undefined;
}

export interface RequestSigners {
  /** By name: why requests are not answered. */
  readonly degradations: ReadonlyMap<string, Watched<Reason | undefined>>;
  run(signal: AbortSignal): Promise<void>;
}

export function createRequestSigners(all: RequestSignersOptions): RequestSigners {
  const { csrSigner, csrApproved, podCertificateSigner, ...options } = all;
  const kinds = [
    ...(csrSigner === undefined ? [] : [createCsrSigner({ ...options, signerName: csrSigner, does: 'sign' })]),
    ...csrApproved.map((signerName) => createCsrSigner({ ...options, signerName, does: 'approve' })),
    ...(podCertificateSigner === undefined ? [] : [createPodCertificateSigner({ ...options, signerName: podCertificateSigner })]),
  ];
  const loops = kinds.map((kind) => ({ name: `${kind.resource} of ${kind.signerName}`, loop: createRequestLoop(kind, options) }));
  return {
    degradations: new Map(loops.map(({ name, loop }) => [name, loop.reason])),
    async run(signal) {
      const told = podCertificateSigner === undefined ? undefined : tellRequesters(options.client, options.log, signal);
      await Promise.all([told, ...loops.map(({ loop }) => loop.run(signal))]);
    },
  };
}
