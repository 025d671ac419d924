// One endpoint of an upstream that speaks IstioCertificateService: istiod, istio-csr, `signet ca`. Called by ca/failover.ts.
// Promises: always over verified TLS and never through a proxy; a connection that failed, hung or was opened with former roots
// is not used again, and the next call looks the name up anew; calls under way on it end undisturbed. It does not retry, but for
// one call with the token of a moment ago after the newest was refused.

import { isIPv4, isIPv6 } from 'node:net';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import type { SpiffeId } from '../identity/spiffe-id.js';
import { createCertificateMethod } from '../istio-wire.js';
import type { CertificateRequest } from '../istio-wire.js';
import type { Fields } from '../runtime/errors.js';
import { SignetError, kindOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { aborted } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { csrToPem } from '../x509/csr.js';
import { formatCertificates } from '../x509/pem.js';
import type { CaClient } from './ca-client.js';
import type { IstioAuth } from './istio-auth.js';
import { createCallerAuth } from './istio-auth.js';
import { allowedLifetimeMs, toCaError } from './istio-status.js';
import { keyIdOfRoot, shownIssuerKeyId } from './shown-issuer.js';
import type { Token } from './token.js';

export interface IstioOptions {
  /** The upstream, for logs and metrics. */
  readonly name: string;
  /** Host names are looked up when a connection is made; an IPv6 address stands without brackets. */
  readonly endpoint: { readonly host: string; readonly port: number };
  /** What the certificate of the CA must name. Default: the host of the endpoint. */
  readonly serverName?: string;
  /** What that certificate must chain to; undefined or empty: none known yet, and no connection is made. */
  readonly tlsRoots: Watched<readonly Certificate[] | undefined>;
  /** What answers may chain to. */
  readonly roots: Watched<readonly Certificate[]>;
  /** For requests that come without a caller of their own. */
  readonly auth: IstioAuth;
  /** Whom tokens must be for. */
  readonly audience: string;
  /** What the CA calls this cluster. Default: the header is not sent. */
  readonly clusterId?: string;
  /** More headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

export interface IstioClient extends CaClient {
  /** Closes the connection when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** A CA that keeps refusing may have a reason that only a new connection shows, such as a balancer's choice. */
const refusalsPerConnection = 3;

/** Of the roots that are known, so many are told. */
const maxKeyIds = 8;

export function createIstioClient(options: IstioOptions): IstioClient {
  const { name, endpoint, roots, audience, clock } = options;
  const connections = createConnections(options);
  /** What the CA said it gives at most, in ms. */
  let maxLifetimeMs = Infinity;
  let refusals = 0;

  const metadataFor = (token: Token, clusterId: string | undefined): Metadata => {
    const metadata = new Metadata();
    for (const [header, value] of Object.entries(options.headers ?? {})) metadata.set(header, value);
    if (clusterId !== undefined) metadata.set('clusterid', clusterId);
    metadata.set('authorization', token.authorization(audience, clock.now()));
    return metadata;
  };

  /** What is known here, beside whatever the CA says. */
  const factsOf = (id: SpiffeId, token: Token, clusterId: string | undefined): Fields => ({
    ca: `${endpoint.host}:${endpoint.port}`,
    id: id.uri,
    account: token.claims.account,
    audience,
    clusterId: clusterId ?? '',
  });

  /** What somebody else was refused counts only as far as the CA says what it would give. */
  const learn = (status: ServiceError, asked: { readonly ms: number; readonly isOwn: boolean }): void => {
    const { reason } = toCaError(status, {});
    const allowedMs = allowedLifetimeMs(status.details) ?? (asked.isOwn ? asked.ms / 2 : maxLifetimeMs);
    if (reason === 'ca-lifetime-refused') maxLifetimeMs = Math.max(1_000, allowedMs);
    if (asked.isOwn) refusals = wasRefused(status) ? refusals + 1 : 0;
  };

  /** A root that changed may have kept its name, so the keys are told: that of the CA and those that are known. */
  const explain = async (status: ServiceError, facts: Fields, signal: AbortSignal): Promise<SignetError> => {
    const error = toCaError(status, facts);
    if (error.reason !== 'ca-root-unknown') return error;
    const shownKeyId = await shownIssuerKeyId(endpoint, options.serverName, clock, signal);
    const knownKeyIds = (options.tlsRoots.value ?? []).slice(0, maxKeyIds).map(keyIdOfRoot);
    return toCaError(status, { ...facts, shownKeyId, knownKeyIds });
  };

  return {
    name,
    endpoint: `${endpoint.host}:${endpoint.port}`,
    subject: 'none',
    roots,
    async request({ id, csr, lifetimeMs, caller }, accept, signal) {
      const auth = caller === undefined ? options.auth : createCallerAuth(caller);
      const { clusterId } = caller ?? options;
      const token = await auth.tokenFor(id, signal);
      const metadata = metadataFor(token, clusterId);
      const facts = factsOf(id, token, clusterId);
      const askedMs = Math.min(lifetimeMs, maxLifetimeMs);
      const request = {
        csrPem: csrToPem(csr),
        lifetimeMs: askedMs,
        ...(auth.impersonates ? { impersonatedIdentity: id.uri } : {}),
      };
      const connection = connections.open();
      try {
        const elements = await connection.call(request, metadata, signal).catch(async (error: unknown) => {
          const former = isUnauthenticated(error) ? auth.formerOf(token) : undefined;
          if (former === undefined) throw error;
          return await connection.call(request, metadataFor(former, clusterId), signal);
        });
        refusals = 0;
        auth.settled(id);
        return accept({ elements: elements.map((element) => Buffer.from(element)), roots: roots.value, upstream: name });
      } catch (error) {
        if (signal.aborted) {
          if (kindOf(signal.reason) === 'deadline') connection.retire();
          throw new SignetError('cancelled', 'certificate request was cancelled', { cause: signal.reason, fields: facts });
        }
        if (!isServiceError(error)) throw error;
        if (wasRefused(error)) auth.settled(id);
        const isOwn = caller === undefined;
        learn(error, { ms: askedMs, isOwn });
        if (isBroken(error) || (isOwn && refusals > 0 && refusals % refusalsPerConnection === 0)) connection.retire();
        throw await explain(error, facts, signal);
      } finally {
        connection.release();
      }
    },
    async run(signal) {
      await aborted(signal);
      connections.close();
    },
  };
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}

/** The token itself is refused, as one is that not every API server behind the CA knows yet. */
function isUnauthenticated(error: unknown): boolean {
  return isServiceError(error) && toCaError(error, {}).reason === 'ca-unauthenticated';
}

/** UNAUTHENTICATED and PERMISSION_DENIED. */
const wasRefused = ({ code }: ServiceError): boolean => code === 16 || code === 7;

/** UNAVAILABLE, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN and UNIMPLEMENTED: somebody else may answer on another connection. */
const isBroken = ({ code }: ServiceError): boolean => [14, 4, 13, 2, 12].includes(code);

interface Connection {
  call(request: CertificateRequest, metadata: Metadata, signal: AbortSignal): Promise<readonly string[]>;
  /** No new call may use it. */
  retire(): void;
  /** To be called once for each `open`. */
  release(): void;
}

interface Connections {
  /** The connection to call on; made by the first call. Throws when there are no roots to verify it with. */
  open(): Connection;
  close(): void;
}

// The answer is bounded again, and far more tightly, by its checks.
const maxAnswerBytes = 1024 * 1024;

function createConnections({ endpoint, serverName, tlsRoots }: IstioOptions): Connections {
  let current: (Connection & { readonly roots: readonly Certificate[]; hold(): void }) | undefined;

  const connect = (roots: readonly Certificate[]): NonNullable<typeof current> => {
    const channel = credentials.createSsl(Buffer.from(formatCertificates(roots)));
    const client = new Client(targetOf(endpoint), channel, channelOptions(serverName));
    let calls = 0;
    const connection = {
      roots,
      hold: () => void (calls += 1),
      call: (request: CertificateRequest, metadata: Metadata, signal: AbortSignal) => unaryCall(client, request, metadata, signal),
      retire() {
        if (current === connection) current = undefined;
      },
      // Closing would fail calls that still wait for the connection, so it is left to the last of them.
      release() {
        calls -= 1;
        if (calls === 0 && current !== connection) client.close();
      },
    };
    return connection;
  };

  return {
    open() {
      const roots = tlsRoots.value ?? [];
      if (roots.length === 0) {
        throw new SignetError('unavailable', 'no root is known to verify the ca with', { reason: 'ca-roots-missing' });
      }
      if (current?.roots !== roots) {
        const former = current;
        current = connect(roots);
        former?.hold();
        former?.release();
      }
      current.hold();
      return current;
    },
    close() {
      const last = current;
      current = undefined;
      last?.hold();
      last?.release();
    },
  };
}

function targetOf({ host, port }: IstioOptions['endpoint']): string {
  if (isIPv4(host)) return `ipv4:${host}:${port}`;
  return isIPv6(host) ? `ipv6:[${host}]:${port}` : `dns:${host}:${port}`;
}

function channelOptions(serverName: string | undefined) {
  return {
    ...(serverName === undefined ? {} : { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName }),
    // A CA is reached directly, whatever variables name a proxy.
    'grpc.enable_http_proxy': 0,
    // Connections are ours to give up: nothing of a former one, its back-off above all, may come back with a new one.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    // Its TXT look-up costs a cluster's DNS one question more for each connection.
    'grpc.service_config_disable_resolution': 1,
    // Agents of all nodes spread over the replicas behind one name.
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }] }),
    'grpc.max_receive_message_length': maxAnswerBytes,
  };
}

function unaryCall(client: Client, request: CertificateRequest, metadata: Metadata, signal: AbortSignal): Promise<readonly string[]> {
  const { path, requestSerialize, responseDeserialize } = createCertificateMethod;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => call.cancel();
    const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, elements) => {
      signal.removeEventListener('abort', onAbort);
      if (error === null) resolve(elements ?? []);
      else reject(error);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
