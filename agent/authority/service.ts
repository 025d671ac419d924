// IstioCertificateService.CreateCertificate: who calls, may it, what is signed, and the audit line before the answer. Wired by
// server.ts. Promises: each call is answered in bounded time; the caller learns no more than that it was refused, and whether to try
// again; a certificate that has no audit line never leaves (with `audit.onFailure: refuse`).

import { randomUUID } from 'node:crypto';
import type { Metadata, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { createCalls, toCallError } from '../grpc/calls.js';
import type { CertificateRequest } from '../istio-wire.js';
import { createCertificateMethod, readCaller } from '../istio-wire.js';
import type { AuthorityMetrics } from '../metrics.js';
import type { ErrorKind } from '../runtime/errors.js';
import { SignetError, kindOf, toWireStatus } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant, settleWithin } from '../runtime/time.js';
import type { CsrPolicy } from '../x509/csr-policy.js';
import { checkCsr, pemBytes } from '../x509/csr-policy.js';
import type { AuditDraft, AuditLog } from './audit.js';
import { maxAuditText, recordDecision } from './audit.js';
import { authorize } from './authorize.js';
import { certify } from './certify.js';
import type { Cluster } from './clusters.js';
import type { Issue, Issued } from './issue.js';
import type { Caller, Policy } from './node-authorizer.js';
import type { RecentKeys } from './recent-keys.js';

export interface ServiceOptions {
  /** The cluster that a call names; '' for one that names none. */
  readonly clusterOf: (id: string) => Cluster | undefined;
  readonly policy: Policy;
  readonly csr: CsrPolicy;
  readonly keys: RecentKeys;
  readonly issue: Issue;
  readonly audit: AuditLog;
  readonly limits: { readonly calls: number; readonly deadlineMs: number };
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AuthorityMetrics;
}

type UnaryHandler = (call: ServerUnaryCall<CertificateRequest, readonly string[]>, reply: sendUnaryData<readonly string[]>) => void;

export interface CertificateService {
  readonly definition: { readonly CreateCertificate: typeof createCertificateMethod };
  readonly handlers: { readonly CreateCertificate: UnaryHandler };
  /** A call that ended before its message was taken. */
  missed(peer: string): void;
  /** Settles when no call is under way, or at the deadline. */
  idle(deadlineMs: number): Promise<void>;
}

export function createCertificateService(options: ServiceOptions): CertificateService {
  const { limits, clock, log, metrics } = options;
  const work = createWork(options);
  const calls = createCalls({
    limit: limits.calls,
    clock,
    log,
    metrics: { inFlight: metrics.callsInFlight, seconds: metrics.callSeconds },
  });

  const begin = (peer: string): AuditDraft => ({ at: formatInstant(clock.now()), requestId: randomUUID(), peer });

  /** Writes the line, then settles the call. */
  const conclude = async (draft: AuditDraft, outcome: Issued | SignetError): Promise<readonly string[]> => {
    const refused = outcome instanceof SignetError;
    await recordDecision(options, draft, refused ? outcome : { issued: outcome.facts });
    if (refused) throw outcome;
    return outcome.elements;
  };

  const handle = async (draft: AuditDraft, request: CertificateRequest, metadata: Metadata): Promise<readonly string[]> => {
    const entered = calls.enter();
    if (entered === undefined) {
      return await conclude(draft, new SignetError('exhausted', 'too many calls are under way', { reason: 'busy' }));
    }
    try {
      const outcome = await settleWithin(clock, limits.deadlineMs, 'the call', () => work(draft, request, metadata)).catch(toCallError);
      if (outcome instanceof SignetError && outcome.kind === 'internal') log.error('a call failed', errorFields(outcome));
      return await conclude(draft, outcome);
    } finally {
      entered.leave();
    }
  };

  return {
    definition: { CreateCertificate: createCertificateMethod },
    handlers: {
      CreateCertificate: (call, reply) => {
        handle(begin(call.getPeer()), call.request, call.metadata).then(
          (elements) => reply(null, elements),
          (error: unknown) => reply(toWireStatus(opaque(error))),
        );
      },
    },
    missed(peer) {
      // Nobody waits for an answer any more.
      void conclude(begin(peer), new SignetError('exhausted', 'the message was not taken', { reason: 'message-too-large' })).catch(
        () => {},
      );
    },
    idle: calls.idle,
  };
}

const opaqueTexts: Partial<Readonly<Record<ErrorKind, string>>> = {
  // Those of istiod, which clients know.
  unauthenticated: 'request authenticate failure',
  denied: 'request impersonation authentication failure',
};

/** The error as the caller may see it: whether to try again, and nothing of why. Istio's clients expect UNAUTHENTICATED for both. */
function opaque(error: unknown): unknown {
  const kind = kindOf(error);
  const text = opaqueTexts[kind];
  return text === undefined ? error : new SignetError('unauthenticated', text);
}

/** Everything between the message and the audit line. Notes in the draft what it finds out. */
function createWork({ clusterOf, policy, csr, keys, issue }: ServiceOptions) {
  return async (draft: AuditDraft, request: CertificateRequest, metadata: Metadata): Promise<Issued> => {
    const { impersonatedIdentity: identity, csrPem, lifetimeMs } = request;
    if (identity !== undefined) draft.identity = identity.slice(0, maxAuditText);
    const { token, clusterId } = readCaller(metadata);
    const cluster = clusterOf(clusterId);
    draft.cluster = cluster?.id ?? clusterId.slice(0, maxAuditText);
    if (cluster === undefined) throw new SignetError('unauthenticated', 'the cluster is not known', { reason: 'cluster-unknown' });
    const caller = await authenticate(cluster, token, draft);
    const { uri } = (await authorize(cluster, policy, { caller, identity }, draft)).id;
    const checked = await checkCsr(pemBytes(csrPem), uri, csr);
    return await certify({ keys, issue }, checked, { uri, lifetimeMs }, draft);
  };
}

async function authenticate(cluster: Cluster, token: string | undefined, draft: AuditDraft): Promise<Caller> {
  if (token === undefined) throw new SignetError('unauthenticated', 'no token', { reason: 'token-missing' });
  const { holder, mode } = await cluster.authenticate(token);
  const { credentialId, ...caller } = holder;
  draft.authMode = mode;
  draft.caller = caller;
  draft.credentialId = credentialId;
  return caller;
}
