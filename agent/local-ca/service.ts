// IstioCertificateService.CreateCertificate for proxies of this node that make their keys themselves: who calls, may it, is the request
// sound; then it is forwarded to the upstreams. Wired by local-ca.ts.
// Promises: each call is answered in bounded time, with a status that says whether to try again and a text that names the reason; the
// token goes to the forwarder for this one call and nowhere else; every decision has an audit line.

import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { CsrForwarder } from '../ca/forward.js';
import { createCalls, toCallError } from '../grpc/calls.js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { CertificateRequest } from '../istio-wire.js';
import { createCertificateMethod, readCaller } from '../istio-wire.js';
import type { TokenAuthenticator } from '../kube/token-authenticator.js';
import type { Metrics } from '../metrics.js';
import type { ErrorKind, Fields, WireStatus } from '../runtime/errors.js';
import { SignetError, explainError, kindOf, reasonOf, toWireStatus } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant, withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { TrustBundle } from '../trust-bundle.js';
import { certifiedKeyTypes, checkCsr, pemBytes } from '../x509/csr-policy.js';
import { formatCertificates, formatPem } from '../x509/pem.js';
import type { Admit } from './admission.js';
import { createAuditLines } from './audit-lines.js';
import type { IssuedCertificates } from './issued.js';

export interface LocalCaServiceOptions {
  readonly authenticate: TokenAuthenticator['authenticate'];
  readonly admit: Admit;
  readonly forwarder: CsrForwarder;
  readonly bundle: Watched<TrustBundle | undefined>;
  readonly issued: IssuedCertificates;
  /** Asked for where the caller names none, and never more than it; ms. */
  readonly lifetimeMs: number;
  /** Of one call, ms. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Call = ServerUnaryCall<CertificateRequest, readonly string[]>;

export interface LocalCaService {
  readonly definition: { readonly CreateCertificate: typeof createCertificateMethod };
  readonly handlers: { readonly CreateCertificate: (call: Call, reply: sendUnaryData<readonly string[]>) => void };
  /** A call that ended before its message was taken. */
  missed(peer: string): void;
  /** Settles when no call is under way, or at the deadline. */
  idle(deadlineMs: number): Promise<void>;
}

/** Of all callers; a ztunnel has 8 under way, each other proxy of the node one. */
const maxCalls = 1_000;
const minLifetimeMs = 10_000;
/** Of what a caller sent, in an audit line. */
const maxText = 1_024;
const csrPolicy = { extras: 'strict', keyTypes: certifiedKeyTypes } as const;

/** What is known of a call so far. */
type Draft = { -readonly [Name in keyof Fields]: Fields[Name] } & { peer: string };

export function createLocalCaService(options: LocalCaServiceOptions): LocalCaService {
  const { deadlineMs, clock, log, metrics } = options;
  const lines = createAuditLines(log, clock);
  const calls = createCalls({
    limit: maxCalls,
    clock,
    log,
    metrics: { inFlight: metrics.localCaInFlight, seconds: metrics.localCaSeconds },
  });
  const work = createWork(options);

  const refuse = (draft: Draft, error: SignetError): void => {
    const reason = reasonOf(error) ?? error.kind;
    metrics.localCaRefusals.inc({ reason });
    lines.refused(draft.peer, { ...draft, reason, kind: error.kind, detail: explainError(error).slice(0, maxText) });
    if (error.kind === 'internal') log.error('a call failed', errorFields(error));
  };

  const handle = async (draft: Draft, call: Call): Promise<readonly string[]> => {
    const entered = calls.enter();
    try {
      if (entered === undefined) throw new SignetError('exhausted', 'too many calls are under way', { reason: 'busy' });
      const elements = await withDeadline(clock, deadlineMs, 'the call', endOf(call), (signal) => work(draft, call, signal));
      metrics.localCaRequests.inc({ result: 'ok' });
      lines.granted(draft);
      return elements;
    } catch (cause) {
      const error = toCallError(cause);
      metrics.localCaRequests.inc({ result: error.kind });
      refuse(draft, error);
      throw error;
    } finally {
      entered?.leave();
    }
  };

  return {
    definition: { CreateCertificate: createCertificateMethod },
    handlers: {
      CreateCertificate: (call, reply) => {
        handle({ peer: call.getPeer() }, call).then(
          (elements) => reply(null, elements),
          (error: unknown) => reply(statusOf(error)),
        );
      },
    },
    missed: (peer) => refuse({ peer }, new SignetError('exhausted', 'the message was not taken', { reason: 'message-too-large' })),
    idle: calls.idle,
  };
}

/** Aborts when the caller goes away. */
function endOf(call: Call): AbortSignal {
  const end = new AbortController();
  call.on('cancelled', () => end.abort());
  return end.signal;
}

/** What a caller hears: the code says whether to try again, the text why. */
function statusOf(error: unknown): WireStatus {
  const { code, details } = toWireStatus(error);
  const reason = reasonOf(error);
  return { code, details: reason === undefined || kindOf(error) === 'internal' ? details : `${reason}: ${details}` };
}

/** Everything between the message and the audit line. Notes in the draft what it finds out. */
function createWork({ authenticate, admit, forwarder, bundle, issued, lifetimeMs }: LocalCaServiceOptions) {
  const identify = async (
    draft: Draft,
    token: string | undefined,
    requested: string | undefined,
    signal: AbortSignal,
  ): Promise<SpiffeId> => {
    if (token === undefined) throw new SignetError('unauthenticated', 'the token is not accepted', { reason: 'token-missing' });
    const { holder, mode } = await authenticate(token);
    draft['authMode'] = mode;
    draft['account'] = `${holder.namespace}/${holder.serviceAccount}`;
    draft['pod'] = holder.pod?.name;
    draft['credentialId'] = holder.credentialId;
    return await admit(holder, requested, signal);
  };

  return async (draft: Draft, { request, metadata }: Call, signal: AbortSignal): Promise<readonly string[]> => {
    const { impersonatedIdentity: requested, csrPem } = request;
    draft['identity'] = requested?.slice(0, maxText);
    const { token, clusterId } = readCaller(metadata);
    const id = await identify(draft, token, requested, signal);
    draft['identity'] = id.uri;
    const csr = pemBytes(csrPem);
    const { publicKeySpki, spkiSha256 } = await checkCsr(csr, id.uri, csrPolicy);
    draft['spkiSha256'] = spkiSha256;
    const roots = bundle.value?.roots;
    if (roots === undefined) throw new SignetError('unavailable', 'the trust bundle is not known yet', { reason: 'bundle-missing' });
    const answer = await forwarder
      .forward(
        {
          id,
          csr,
          publicKeySpki,
          lifetimeMs: request.lifetimeMs <= 0 ? lifetimeMs : Math.min(Math.max(request.lifetimeMs, minLifetimeMs), lifetimeMs),
          caller: { token: token ?? '', impersonates: requested !== undefined, clusterId: clusterId === '' ? undefined : clusterId },
          priority: issued.priorityOf(id.uri),
        },
        signal,
      )
      .catch((error: unknown) => {
        throw blameUpstream(error);
      });
    const { chain, notAfter, upstream } = answer;
    Object.assign(draft, { serial: chain[0].serial, notAfter: formatInstant(notAfter), upstream });
    issued.record(id.uri, notAfter);
    // Clients of this service take the roots from the last element and read one block of each other.
    return [...chain.map(({ der }) => formatPem('CERTIFICATE', der)), formatCertificates(roots)];
  };
}

/** Faults of the request itself, as the CA sees it. */
const ofRequest: ReadonlySet<string | undefined> = new Set(['ca-refused-request', 'ca-lifetime-refused']);
const ofCaller: ReadonlySet<ErrorKind> = new Set(['unauthenticated', 'denied', 'exhausted', 'deadline', 'cancelled', 'unavailable']);

/** What is no fault of the caller, such as an answer that fails a check, is none in its status either: it may try again. */
function blameUpstream(error: unknown): unknown {
  const reason = reasonOf(error);
  const kind = kindOf(error);
  if (reason === undefined || ofCaller.has(kind) || (kind === 'invalid' && ofRequest.has(reason))) return error;
  return new SignetError('unavailable', 'the upstream gave no certificate that can be used', { cause: error });
}
