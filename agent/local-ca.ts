// The local CA endpoint: IstioCertificateService over TLS for proxies of this node that make their keys themselves, such as stock
// ztunnel. Made and run by agent.ts.
// Promises: what keeps it from listening stops nothing else, it is told once and tried again; a new serving certificate counts for new
// connections while open ones go on; at its end calls under way have a moment to be answered.

import { createUnaryServer } from './grpc/unary-server.js';
import type { TokenAuthenticatorOptions } from './kube/token-authenticator.js';
import { createTokenAuthenticator } from './kube/token-authenticator.js';
import type { TcpPlace } from './listen/place.js';
import { bindRetry } from './listen/place.js';
import type { QuickAck } from './listen/quick-ack.js';
import type { TlsListener } from './listen/tls.js';
import { listenTls } from './listen/tls.js';
import type { AdmissionOptions } from './local-ca/admission.js';
import { createAdmission } from './local-ca/admission.js';
import type { IssuedCertificates } from './local-ca/issued.js';
import { createIssued } from './local-ca/issued.js';
import type { LocalCaServiceOptions } from './local-ca/service.js';
import { createLocalCaService } from './local-ca/service.js';
import type { Serving } from './local-ca/serving.js';
import { describeError, reasonOf } from './runtime/errors.js';
import { errorFields } from './runtime/log.js';
import type { Reason } from './runtime/reasons.js';
import { backoff, sleep } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { WatchedValue, joinWatched, mapWatched } from './runtime/watched.js';

export interface LocalCaOptions
  extends Omit<LocalCaServiceOptions, 'authenticate' | 'admit' | 'issued'>, Omit<TokenAuthenticatorOptions, 'clock' | 'log' | 'metrics'> {
  readonly place: TcpPlace;
  /** Default: the kernel acknowledges when it likes. */
  readonly quickAck?: QuickAck;
  readonly serving: Serving;
  readonly admission: Omit<AdmissionOptions, 'clock'>;
}

export interface LocalCa {
  /** Where it listens now; undefined while it does not. */
  readonly address: Watched<{ readonly host: string; readonly port: number } | undefined>;
  /** Why it does not listen, or does not show what it should. */
  readonly reason: Watched<Reason | undefined>;
  /** What it handed out since the start. */
  readonly issued: Pick<IssuedCertificates, 'all'>;
  /** Listens until the signal aborts, then ends what is under way within a second. */
  run(signal: AbortSignal): Promise<void>;
}

/** Each proxy of the node has one or two. */
const connectionLimits = { maxConnections: 1_024, maxPerAddress: 256 } as const;
const serverLimits = { callsPerConnection: 256, messageBytes: 64 * 1024 } as const;
/**
 * Of one address less than the service takes in all, so that no pod keeps the others out. All callers are pods of this node, each with an
 * address of its own, a ztunnel with 8 calls and any other proxy with one; where a Service hides them they may share one.
 */
const callLimits = { streams: 4_096, streamsPerOwner: 256, unfinishedBytes: 8 * 1024 * 1024 } as const;
/** Together less than the second that parts have at the end. */
const drainMs = 600;
const idleMs = 200;

export function createLocalCa(options: LocalCaOptions): LocalCa {
  const { serving, admission, audiences, clock, metrics } = options;
  const log = options.log.child({ door: 'local-ca' });
  const callers = createTokenAuthenticator({ ...options, audiences, log, metrics: { tokenReviews: metrics.localCaTokenReviews } });
  const issued = createIssued({ identities: admission.index.identities, clock });
  const service = createLocalCaService({
    ...options,
    authenticate: callers.authenticate,
    admit: createAdmission({ ...admission, clock }),
    issued,
    log,
  });
  const address = new WatchedValue<TlsListener['address'] | undefined>(undefined);
  const fault = new WatchedValue<Reason | undefined>(undefined);

  /** A listener, as soon as there can be one; undefined when the signal aborts first. */
  const open = async (accept: Parameters<typeof listenTls>[1], signal: AbortSignal): Promise<TlsListener | undefined> => {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const identity = await serving.open();
        const listener = await listenTls({ ...options.place, minVersion: '1.3', ...connectionLimits, identity, log }, accept);
        fault.set(undefined);
        return listener;
      } catch (error) {
        if (fault.value === undefined) log.error('the local ca does not listen, trying again', errorFields(error));
        fault.set({ code: reasonOf(error) ?? 'local-ca-unserved', detail: describeError(error) });
        await sleep(clock, backoff(attempt, bindRetry), signal).catch(() => undefined);
      }
    }
    return undefined;
  };

  const serve = async (signal: AbortSignal): Promise<void> => {
    const server = createUnaryServer(service, { limits: serverLimits, calls: callLimits, onHeaders: options.quickAck, clock, metrics });
    const listener = await open(server.accept, signal);
    if (listener !== undefined) {
      address.set(listener.address);
      await Promise.all([listener.run(signal), serving.run(listener.show, signal)]);
      address.set(undefined);
    }
    await server.drain(drainMs);
    // Of callers that are gone.
    await service.idle(idleMs);
  };

  return {
    address,
    reason: mapWatched(joinWatched([fault, serving.reason]), ([first, second]) => first ?? second),
    issued,
    async run(signal) {
      await Promise.all([serve(signal), callers.run(signal)]);
    },
  };
}
