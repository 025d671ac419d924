// Requests as CertificateRequests of cert-manager (cert-manager.io/v1), made with a token of the workload's own account: the
// webhook of cert-manager writes the account beside each, and the approver compares it with the identity.
// Used by upstreams.ts through ca/request-objects.ts.

import type { SpiffeId } from '../identity/spiffe-id.js';
import type { KubeClient, KubeObject } from '../kube/client.js';
import { csrToPem } from '../x509/csr.js';
import { requestedUsages } from './kubernetes-csr.js';
import type { RequestKind, Verdict } from './request-kind.js';
import { conditionsOf, describeCondition, statusText } from './request-kind.js';

export interface IssuerRef {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
}

export interface CertManagerOptions {
  /** As the agent's own account: reads and removes. */
  readonly client: KubeClient;
  /** As nobody: each request is made with the token of a workload. */
  readonly anonymous: KubeClient;
  /** A token of the identity's account for the API server. */
  readonly createToken: (id: SpiffeId, signal: AbortSignal) => Promise<string>;
  readonly issuerRef: IssuerRef;
}

export function createCertManager({ client, anonymous, createToken, issuerRef }: CertManagerOptions): RequestKind {
  return {
    resource: 'certificaterequests',
    signer: `${issuerRef.kind} ${issuerRef.name}`,
    namespaced: true,
    reader: client,
    removable: true,
    takesAnyCsr: true,
    group: async () => '/apis/cert-manager.io/v1',
    async create({ id, csr, lifetimeMs }, path, metadata, signal) {
      const spec = {
        request: Buffer.from(csrToPem(csr)).toString('base64'),
        issuerRef,
        usages: requestedUsages,
        duration: `${Math.floor(lifetimeMs / 1_000)}s`,
      };
      const body = { apiVersion: 'cert-manager.io/v1', kind: 'CertificateRequest', metadata, spec };
      return await anonymous.request({ method: 'POST', path, body, token: await createToken(id, signal) }, signal);
    },
    read,
  };
}

function read(object: KubeObject): Verdict {
  const conditions = conditionsOf(object);
  const isTrue = (type: string) => conditions.find((each) => each.type === type && each.status === 'True');
  const ready = conditions.find(({ type }) => type === 'Ready');
  const denied = isTrue('Denied') ?? (ready?.reason === 'Denied' ? ready : undefined);
  if (denied !== undefined) return { state: 'denied', detail: describeCondition(denied) };
  const failed = isTrue('InvalidRequest') ?? (ready?.reason === 'Failed' ? ready : undefined);
  if (failed !== undefined) return { state: 'failed', detail: describeCondition(failed) };
  const certificate = statusText(object, 'certificate');
  if (ready?.status === 'True' && certificate !== '') return { state: 'issued', elements: [Buffer.from(certificate, 'base64')] };
  // An issuer that says Pending is at work, and may be for long.
  return { state: isTrue('Approved') !== undefined && ready === undefined ? 'approved' : 'pending' };
}
