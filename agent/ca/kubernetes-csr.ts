// Requests as CertificateSigningRequests (certificates.k8s.io/v1), made as the agent's own account: the API server writes the
// account, its pod and its node beside each, and the approver checks that a pod of the identity runs there.
// Used by upstreams.ts through ca/request-objects.ts.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { reviewSelf } from '../kube/reviews.js';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { csrToPem } from '../x509/csr.js';
import type { RequestKind, Verdict } from './request-kind.js';
import { conditionsOf, describeCondition, statusText } from './request-kind.js';

export interface KubernetesCsrOptions {
  /** As the agent's own account. */
  readonly client: KubeClient;
  readonly signerName: string;
  readonly clock: Clock;
}

export const requestedUsages: readonly string[] = ['digital signature', 'client auth', 'server auth'];

export function createKubernetesCsr(options: KubernetesCsrOptions): RequestKind {
  const { client, signerName } = options;
  let isAccount = false;
  return {
    resource: 'certificatesigningrequests',
    signer: signerName,
    namespaced: false,
    reader: client,
    removable: true,
    takesAnyCsr: true,
    group: async () => '/apis/certificates.k8s.io/v1',
    async create({ csr, lifetimeMs }, path, metadata, signal) {
      if (!isAccount) await refuseNode(options, signal);
      isAccount = true;
      const spec = {
        request: Buffer.from(csrToPem(csr)).toString('base64'),
        signerName,
        usages: requestedUsages,
        expirationSeconds: Math.floor(lifetimeMs / 1_000),
      };
      const body = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata, spec };
      return await client.request({ method: 'POST', path, body }, signal);
    },
    read,
  };
}

/** What a node asks for is judged by other rules than what an account asks for: approvers trust it with its own name. */
async function refuseNode({ client, clock }: KubernetesCsrOptions, signal: AbortSignal): Promise<void> {
  const { user } = await reviewSelf(client, clock, signal);
  if (!user.startsWith('system:node:')) return;
  throw new SignetError('invalid', 'the credential is that of a node', { reason: 'request-as-node', fields: { user } });
}

function read(object: KubeObject): Verdict {
  const certificate = statusText(object, 'certificate');
  if (certificate !== '') return { state: 'issued', elements: [Buffer.from(certificate, 'base64')] };
  // Each of these is there only when it is true.
  const conditions = new Map(conditionsOf(object).map((condition) => [condition.type, condition]));
  const [denied, failed] = [conditions.get('Denied'), conditions.get('Failed')];
  if (denied !== undefined) return { state: 'denied', detail: describeCondition(denied) };
  if (failed !== undefined) return { state: 'failed', detail: describeCondition(failed) };
  return { state: conditions.has('Approved') ? 'approved' : 'pending' };
}
