// PodCertificateRequests (certificates.k8s.io), of kubelets for a volume and of node agents: signed for our signer name. Wired by
// request-signers.ts, run by request-loop.ts. Promises: the certificate is for the account of the pod that the request names, which is
// there now and may run; nothing else of the request counts. Relied on: that a node makes it, of which the API server then has checked
// that pod, account and node belong together (NodeRestriction). An object does not say who made it: see pod-certificate-requesters.ts.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { patchObject } from '../kube/objects.js';
import { findServedVersion } from '../kube/served-version.js';
import { SignetError, reasonOf } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';
import { formatInstant } from '../runtime/time.js';
import type { CheckedCsr, CsrPolicy } from '../x509/csr-policy.js';
import { checkProvenKey, checkStubCsr } from '../x509/csr-policy.js';
import type { AuditDraft } from './audit.js';
import { authorize } from './authorize.js';
import { certify } from './certify.js';
import type { Issued } from './issue.js';
import { chainOf } from './issue.js';
import type { Caller } from './node-authorizer.js';
import type { RequestAuthority } from './request-decision.js';
import { condition, decideOn, hasCondition, refusalMessage } from './request-decision.js';
import type { RequestKind } from './request-loop.js';

export interface PodCertificateSignerOptions {
  readonly client: KubeClient;
  readonly signerName: string;
  readonly authority: RequestAuthority;
}

const group = 'certificates.k8s.io';
const resource = 'podcertificaterequests';

/** Newest first; before v1 a key may stand in the place of a request for it. */
const versions = ['v1', 'v1beta1', 'v1alpha1'] as const;

/** Of a certificate, from its notBefore; the API server takes no shorter one. */
const minLifetimeMs = 3_600_000;

/** `spec`, of which the API server has checked the shape. */
interface Spec {
  readonly podName?: unknown;
  readonly podUID?: unknown;
  readonly serviceAccountName?: unknown;
  readonly nodeName?: unknown;
  readonly maxExpirationSeconds?: unknown;
  readonly unverifiedUserAnnotations?: unknown;
  readonly stubPKCS10Request?: unknown;
  readonly pkixPublicKey?: unknown;
  readonly proofOfPossession?: unknown;
}

export function createPodCertificateSigner({ client, signerName, authority }: PodCertificateSignerOptions): RequestKind {
  return {
    resource,
    signerName,
    async group(signal) {
      const version = await findServedVersion(client, group, resource, versions, signal);
      return version === undefined ? undefined : `/apis/${group}/${version}`;
    },
    isWaiting: (object) => !hasCondition(object, 'Issued', 'Denied', 'Failed'),
    async answer(object, path, signal) {
      const outcome = await decideOn(authority, object, path, (draft) => decidePodCertificate(authority, object, draft));
      const value = outcome instanceof SignetError ? refused(object, outcome, authority) : issued(outcome.certificate, authority);
      const version = object.metadata?.resourceVersion ?? '';
      await patchObject(client, { path, subresource: 'status', version, operations: [{ op: 'add', path: '/status', value }] }, signal);
    },
  };
}

/** Reasons that the API names (PodCertificateRequest, well-known condition reasons). */
const knownReasons: Partial<Readonly<Record<ReasonCode, string>>> = {
  'csr-key': 'UnsupportedKeyType',
  'request-annotations': 'InvalidUnverifiedUserAnnotations',
};

/** That the issuer ends too soon is no fault of the request. */
function refused(object: KubeObject, error: SignetError, { clock }: RequestAuthority): object {
  const code = reasonOf(error);
  const type = code === 'lifetime-refused' ? 'Failed' : 'Denied';
  const reason = (code === undefined ? undefined : knownReasons[code]) ?? 'Refused';
  return { conditions: [condition(type, reason, refusalMessage(object), clock)] };
}

function issued(certificate: Issued, { clock }: RequestAuthority): object {
  const { notBefore, notAfter } = certificate;
  return {
    conditions: [condition('Issued', 'Signed', '', clock)],
    certificateChain: chainOf(certificate),
    notBefore: toTime(notBefore),
    notAfter: toTime(notAfter),
    beginRefreshAt: toTime(Math.floor((notBefore + notAfter) / 2_000) * 1_000),
  };
}

/** metav1.Time, in whole seconds. */
function toTime(at: number): string {
  return formatInstant(at).replace(/\.\d+Z$/, 'Z');
}

async function decidePodCertificate(authority: RequestAuthority, object: KubeObject, draft: AuditDraft) {
  const { cluster, policy, csr, maxLifetimeMs } = authority;
  const spec = (object['spec'] ?? {}) as Spec;
  const caller: Caller = {
    namespace: object.metadata?.namespace ?? '',
    serviceAccount: String(spec.serviceAccountName),
    pod: { name: String(spec.podName), uid: String(spec.podUID) },
    node: { name: String(spec.nodeName) },
  };
  draft.caller = caller;
  const annotations = Object.keys(spec.unverifiedUserAnnotations ?? {});
  if (annotations.length > 0) throw refuse('request-annotations', { annotations: annotations.slice(0, 8) });
  const { id, callerPod } = await authorize(cluster, policy, { caller, identity: undefined }, draft);
  if (callerPod.phase !== 'Pending' && callerPod.phase !== 'Running') throw refuse('caller-pod-finished', { compared: callerPod.phase });
  const checked = await checkKey(spec, csr);
  const lifetimeMs = Math.min(Number(spec.maxExpirationSeconds ?? 0) * 1_000, maxLifetimeMs);
  const certificate = await certify(authority, checked, { uri: id.uri, lifetimeMs, fromNotBefore: true }, draft);
  if (certificate.notAfter - certificate.notBefore < minLifetimeMs) {
    throw refuse('lifetime-refused', { compared: 'the issuer ends in less than an hour' });
  }
  return { certificate };
}

function refuse(reason: ReasonCode, fields: Readonly<Record<string, string | readonly string[]>>): SignetError {
  return new SignetError('invalid', 'certificate request is refused', { reason, fields });
}

/** Exactly one of both forms; the API server has seen the proof too. */
async function checkKey({ stubPKCS10Request, pkixPublicKey, proofOfPossession, podUID }: Spec, policy: CsrPolicy): Promise<CheckedCsr> {
  const bytes = (field: unknown): Buffer => Buffer.from(typeof field === 'string' ? field : '', 'base64');
  if (bytes(pkixPublicKey).length === 0) return await checkStubCsr(bytes(stubPKCS10Request), policy);
  return await checkProvenKey(
    { publicKeySpki: bytes(pkixPublicKey), proof: bytes(proofOfPossession), proven: Buffer.from(String(podUID)) },
    policy,
  );
}
