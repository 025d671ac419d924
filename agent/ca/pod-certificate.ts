// Requests as PodCertificateRequests (certificates.k8s.io), made as the node: the API server sees to it that the pod runs there
// and has that account (NodeRestriction). A node may not remove them; the cluster does, 15 min after they were made.
// Used by upstreams.ts through ca/request-objects.ts.

import type { SpiffeId } from '../identity/spiffe-id.js';
import type { KubeClient, KubeObject } from '../kube/client.js';
import { findServedVersion } from '../kube/served-version.js';
import { detailOf, invalidAnswer, statusOf } from '../kube/status.js';
import { SignetError } from '../runtime/errors.js';
import { parseInstant } from '../runtime/time.js';
import { createStubCsr } from '../x509/csr.js';
import type { CaRequest } from './ca-client.js';
import { forwardUnserved, isOwnKey } from './ca-client.js';
import type { RequestKind, Verdict } from './request-kind.js';
import { conditionsOf, describeCondition, statusText, unserved } from './request-kind.js';

export interface PodCertificateOptions {
  /** As the node. */
  readonly client: KubeClient;
  /** As whoever we are: asks which version is served. */
  readonly own: KubeClient;
  readonly node: string;
  readonly signerName: string;
  /** A pod of the identity on this node; throws when there is none. */
  readonly podOf: (id: SpiffeId) => { readonly name: string; readonly uid: string };
}

const versions = ['v1', 'v1beta1', 'v1alpha1'] as const;
type Version = (typeof versions)[number];

/** What every version of the API takes, in seconds. */
export const podCertificateLifetime = { minSeconds: 3_600, maxSeconds: 7_862_400 } as const;

export function createPodCertificate(options: PodCertificateOptions): RequestKind {
  const { client, own, node, signerName, podOf } = options;
  let served: Version | undefined;
  const version = async (signal: AbortSignal): Promise<Version> => {
    served ??= await findServedVersion(own, 'certificates.k8s.io', 'podcertificaterequests', versions, signal);
    if (served === undefined) throw unserved();
    return served;
  };
  return {
    resource: 'podcertificaterequests',
    signer: signerName,
    namespaced: true,
    reader: client,
    // The Node authorizer refuses reads without it.
    fieldSelector: `spec.nodeName=${node}`,
    removable: false,
    takesAnyCsr: false,
    group: async (signal) => `/apis/certificates.k8s.io/${await version(signal)}`,
    async create(request, path, metadata, signal) {
      const { id, lifetimeMs } = request;
      const { namespace, serviceAccount } = id;
      const pod = podOf(id);
      const spoken = await version(signal);
      const [serviceAccountUID, nodeUID] = await Promise.all([
        uidOf(client, `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}`, signal),
        uidOf(client, `/api/v1/nodes/${node}`, signal),
      ]);
      const spec = {
        signerName,
        podName: pod.name,
        podUID: pod.uid,
        serviceAccountName: serviceAccount,
        serviceAccountUID,
        nodeName: node,
        nodeUID,
        maxExpirationSeconds: Math.min(Math.floor(lifetimeMs / 1_000), podCertificateLifetime.maxSeconds),
        ...(await proofOf(request, spoken, pod.uid)),
      };
      const body = { apiVersion: `certificates.k8s.io/${spoken}`, kind: 'PodCertificateRequest', metadata, spec };
      return await client.request({ method: 'POST', path, body }, signal).catch((error: unknown) => {
        // The version may not be served any more: the next request asks.
        if (statusOf(error) === 404) served = undefined;
        throw explained(error, signerName);
      });
    },
    read,
  };
}

/** Read anew each time: an account or a node that was made anew has another one. */
async function uidOf(client: KubeClient, path: string, signal: AbortSignal): Promise<string> {
  const answer = (await client.request({ path }, signal)) as KubeObject | null;
  const uid = answer?.metadata?.uid;
  if (uid === undefined) throw invalidAnswer('kube', 'the object has no uid');
  return uid;
}

/**
 * The key and that we have it: v1 knows only a request, which signers may refuse when it says anything else, the versions before it
 * a signature of the pod's UID. Both take the key itself.
 */
async function proofOf({ key }: CaRequest, version: Version, podUid: string) {
  if (!isOwnKey(key)) throw forwardUnserved();
  if (version === 'v1') return { stubPKCS10Request: (await createStubCsr(key)).toString('base64') };
  return {
    pkixPublicKey: key.publicKeySpki.toString('base64'),
    proofOfPossession: (await key.prove(Buffer.from(podUid))).toString('base64'),
  };
}

const signerWords = /podCertificate projected volume|podcertificaterequests for signer/;

function explained(error: unknown, signerName: string): unknown {
  if (!(error instanceof SignetError) || statusOf(error) !== 403 || !signerWords.test(detailOf(error))) return error;
  return new SignetError('denied', 'the node may not ask this signer for the pod', {
    cause: error,
    reason: 'request-signer-denied',
    fields: { signerName },
  });
}

function read(object: KubeObject): Verdict {
  for (const condition of conditionsOf(object)) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Issued') {
      const elements = [Buffer.from(statusText(object, 'certificateChain'))];
      return { state: 'issued', elements, refreshAt: parseInstant(statusText(object, 'beginRefreshAt')) };
    }
    if (condition.type === 'Denied') return { state: 'denied', detail: describeCondition(condition) };
    if (condition.type === 'Failed') return { state: 'failed', detail: describeCondition(condition) };
  }
  return { state: 'pending' };
}
