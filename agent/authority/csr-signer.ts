// CertificateSigningRequests (certificates.k8s.io/v1) of node agents: approved and signed for our signer name, only approved for that
// of another signer. Wired by request-signers.ts, run by request-loop.ts. Promises: who asked is what the API server wrote into the
// request, and counts only as the account of a node agent whose pod is there now; what decides is what decides everywhere
// (node-authorizer.ts); the requester learns no more than that it was refused.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { patchObject } from '../kube/objects.js';
import type { UserInfo } from '../kube/token-review.js';
import { readHolder } from '../kube/token-review.js';
import { SignetError } from '../runtime/errors.js';
import { checkCsr, identityIn, pemBytes } from '../x509/csr-policy.js';
import type { AuditDraft } from './audit.js';
import { maxAuditText } from './audit.js';
import { authorize } from './authorize.js';
import { certify, claimKey } from './certify.js';
import { formatAccount } from './cluster-pod.js';
import { chainOf } from './issue.js';
import type { Caller, Policy } from './node-authorizer.js';
import type { Granted, RequestAuthority } from './request-decision.js';
import { condition, conditionsOf, decideOn, hasCondition, refusalMessage } from './request-decision.js';
import type { RequestKind } from './request-loop.js';

export interface CsrSignerOptions {
  readonly client: KubeClient;
  readonly signerName: string;
  /** `approve`: the signature is that of another controller. */
  readonly does: 'sign' | 'approve';
  readonly authority: RequestAuthority;
}

/** Of a certificate as it is signed here. With RSA there may be `key encipherment` too. */
const neededUsages = ['digital signature', 'client auth', 'server auth'] as const;
const allowedUsages: ReadonlySet<unknown> = new Set([...neededUsages, 'key encipherment']);

/** `spec`, of which the API server has written the user and checked the shape. */
interface Spec extends UserInfo {
  readonly request?: unknown;
  readonly usages?: unknown;
  readonly expirationSeconds?: unknown;
}

export function createCsrSigner(options: CsrSignerOptions): RequestKind {
  const { client, signerName, does, authority } = options;
  const { clock } = authority;
  const ended = ['Denied', 'Failed', ...(does === 'approve' ? ['Approved'] : [])];

  const write = async (object: KubeObject, path: string, answer: Answer, signal: AbortSignal): Promise<KubeObject> => {
    const { subresource, added = [], certificate } = answer;
    const status = { conditions: [...conditionsOf(object), ...added], ...(certificate === undefined ? {} : { certificate }) };
    const operations = [{ op: 'add', path: '/status', value: status }] as const;
    return await patchObject(client, { path, subresource, version: object.metadata?.resourceVersion ?? '', operations }, signal);
  };

  return {
    resource: 'certificatesigningrequests',
    signerName,
    group: async () => '/apis/certificates.k8s.io/v1',
    isWaiting: (object) => !hasCondition(object, ...ended) && certificateOf(object) === '',
    async answer(object, path, signal) {
      const outcome = await decideOn(authority, object, path, (draft) => decideCsr(options, object, draft));
      const isApproved = hasCondition(object, 'Approved');
      if (outcome instanceof SignetError) {
        // What others have approved cannot be denied any more.
        const [type, subresource] = isApproved ? (['Failed', 'status'] as const) : (['Denied', 'approval'] as const);
        await write(object, path, { subresource, added: [condition(type, 'Refused', refusalMessage(object), clock)] }, signal);
        return;
      }
      const approval = condition('Approved', 'NodeChecked', 'a pod of the identity is on the node of the requester', clock);
      const approved = isApproved ? object : await write(object, path, { subresource: 'approval', added: [approval] }, signal);
      if (!('certificate' in outcome)) return;
      const certificate = Buffer.from(chainOf(outcome.certificate)).toString('base64');
      await write(approved, path, { subresource: 'status', certificate }, signal);
    },
  };
}

interface Answer {
  readonly subresource: 'approval' | 'status';
  readonly added?: readonly object[];
  /** PEM in base64. */
  readonly certificate?: string;
}

function certificateOf(object: KubeObject): unknown {
  return (object['status'] as { readonly certificate?: unknown } | undefined)?.certificate ?? '';
}

async function decideCsr({ does, signerName, authority }: CsrSignerOptions, object: KubeObject, draft: AuditDraft): Promise<Granted> {
  const { cluster, policy, csr, maxLifetimeMs } = authority;
  const spec = (object['spec'] ?? {}) as Spec;
  const caller = callerOf(spec, policy, draft);
  checkUsages(spec.usages);
  const bytes = pemBytes(Buffer.from(String(spec.request), 'base64').toString('latin1'));
  const identity = identityIn(bytes);
  draft.identity = identity.slice(0, maxAuditText);
  const { uri } = (await authorize(cluster, policy, { caller, identity }, draft)).id;
  // Another signer signs the request as it is: what is left out here would be in its certificate.
  const checked = await checkCsr(bytes, uri, does === 'sign' ? csr : { ...csr, extras: 'strict' });
  const askedMs = typeof spec.expirationSeconds === 'number' ? spec.expirationSeconds * 1_000 : 0;
  // A hint to the one who signs (certificates.k8s.io/v1, expirationSeconds).
  if (does === 'sign')
    return { certificate: await certify(authority, checked, { uri, lifetimeMs: Math.min(askedMs, maxLifetimeMs) }, draft) };
  if (askedMs > maxLifetimeMs) {
    throw new SignetError('invalid', 'another signer would give a longer lifetime', {
      reason: 'lifetime-refused',
      fields: { askedSeconds: askedMs / 1_000 },
    });
  }
  claimKey(authority.keys, checked.spkiSha256, uri, draft);
  return { approvedFor: signerName };
}

/** The node agent that the API server wrote into the request; nobody else asks this way. */
function callerOf(user: UserInfo, { nodeAgents }: Policy, draft: AuditDraft): Caller {
  const { credentialId, ...caller } = readHolder(user);
  draft.caller = caller;
  draft.credentialId = credentialId;
  const account = formatAccount(caller);
  if (nodeAgents.has(account)) return caller;
  throw new SignetError('denied', 'the identity is refused', { reason: 'caller-no-node-agent', fields: { compared: account } });
}

function checkUsages(usages: unknown): void {
  const asked: readonly unknown[] = Array.isArray(usages) ? usages : [];
  if (neededUsages.every((usage) => asked.includes(usage)) && asked.every((usage) => allowedUsages.has(usage))) return;
  throw new SignetError('invalid', 'certificate request is refused', { reason: 'csr-usages', fields: { usages: asked.map(String) } });
}
