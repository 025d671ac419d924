// The wiring of `signet ca`, top to bottom: clusters and issuer -> certificate service -> TLS, the HTTP door beside it. Twin of
// agent.ts, used by the command. No logic of its own.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { openIssuerOwner } from '../ca/issuer-owner.js';
import type { CaConfig, Environment, LoadedConfig, RemoteCluster } from '../config.js';
import { processEnvironment } from '../config.js';
import { createUnaryServer } from '../grpc/unary-server.js';
import type { HttpAddress } from '../http.js';
import { createHttpDoor } from '../http.js';
import { createCredential } from '../kube/access.js';
import type { KubeClient } from '../kube/client.js';
import { createKubeClient } from '../kube/client.js';
import { createQuickAck } from '../listen/quick-ack.js';
import { createServingCertificate } from '../listen/serving-certificate.js';
import { listenTls } from '../listen/tls.js';
import type { AuthorityMetrics } from '../metrics.js';
import { createAuthorityMetrics, observeReadiness } from '../metrics.js';
import { beginProcess } from '../process.js';
import { createReadiness, createTaskGroup } from '../runtime/lifecycle.js';
import type { Logger } from '../runtime/log.js';
import type { Native } from '../runtime/native.js';
import type { Clock } from '../runtime/time.js';
import { aborted } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { until } from '../runtime/watched.js';
import type { PassedFds } from '../systemd.js';
import { passedFds } from '../systemd.js';
import { createNotifier } from '../systemd/notify.js';
import type { AuditLog } from './audit.js';
import { createAuditLog, createAuditOutput, openAuditFile } from './audit.js';
import type { ClusterIssuer } from './cluster-issuer.js';
import { openClusterIssuer } from './cluster-issuer.js';
import type { WatchedCluster } from './clusters.js';
import { createCluster } from './clusters.js';
import { createIssue } from './issue.js';
import { createRecentKeys } from './recent-keys.js';
import type { RequestSigners } from './request-signers.js';
import { createRequestSigners } from './request-signers.js';
import type { CertificateService, ServiceOptions } from './service.js';
import { createCertificateService } from './service.js';

export interface AuthorityOptions {
  readonly loaded: LoadedConfig<CaConfig>;
  readonly clock: Clock;
  /** Standard output, for audit lines. */
  readonly writeOutput: (text: string) => void;
  /** Ends the wait for an issuer in the cluster. Default: that wait ends with the process. */
  readonly signal?: AbortSignal;
  /** Default: that of the process. */
  readonly env?: Environment;
  /** Receives log lines. Default: standard error. */
  readonly writeLog?: (line: string) => void;
}

export interface Authority {
  /** Of the certificate service. */
  readonly address: HttpAddress;
  readonly http: Watched<HttpAddress | undefined>;
  /** Settles when the pods of all clusters have been read for the first time. */
  readonly podsRead: Promise<void>;
  /** Serves until the signal aborts or a part fails, then drains; rejects with what failed. */
  run(signal: AbortSignal): Promise<void>;
}

/** How long calls under way have, and each group of parts; together less than 15 s. */
const drainMs = 8_000;
const stopMs = 2_000;

/** Starts all parts; the service is reachable when it returns, and says UNAVAILABLE until the pods are read. */
export async function startAuthority(options: AuthorityOptions): Promise<Authority> {
  const { loaded, clock, writeLog } = options;
  const { config } = loaded;
  const { log, native, registry, metrics } = await beginProcess({ loaded, createMetrics: createAuthorityMetrics, writeLog });
  const env = options.env ?? processEnvironment();
  const passed = passedFds(env, process.pid, ['ca', 'http']);
  if (passed.warning !== undefined) log.warn(passed.warning);
  const shared: Shared = { config, passed: passed.fds, native, clock, log, metrics };

  const audit = await openAudit(options, shared);
  const apiServers = createApiServers(env, shared);
  const own = apiServers.connect(config.kubeconfig);
  const clusters = createClusters(own, apiServers.connect, shared);
  const readiness = createReadiness();
  for (const { id, pods } of clusters) readiness.follow(`pods of ${id}`, pods.reason, 'needed');
  const beforeScrape = (): void => observeReadiness(readiness.state.value, metrics);
  const place = { address: config.http.address, fd: shared.passed.get('http') };
  const http = createHttpDoor({ place, readiness: readiness.state, registry, beforeScrape, clock, log });
  readiness.follow('http', http.reason, 'noted');
  const tasks = createTaskGroup(clock, log);
  // First: an issuer in the cluster may have to be waited for, by a process that is alive and not ready.
  tasks.start('http', (signal) => http.run(signal));
  const doors = createTaskGroup(clock, log);
  const notifier = createNotifier({ env, pid: process.pid, native, readiness: readiness.state, clock, log });
  const tellSystemd = (): void => doors.start('word to systemd', notifier.run);
  const isInCluster = config.issuer !== undefined && 'secret' in config.issuer;
  if (isInCluster) tellSystemd();

  const opened = await openService({ own, clusters, audit, signal: options.signal ?? new AbortController().signal }, shared).catch(
    async (error: unknown) => {
      await doors.stop(stopMs);
      await tasks.stop(stopMs);
      apiServers.close();
      await audit.close();
      throw error;
    },
  );
  const { issuer, service, signers, serving, grpc, listener } = opened;
  readiness.follow('issuer', issuer.reason, 'noted');
  for (const [name, reason] of [...issuer.degradations, ...signers.degradations]) readiness.follow(name, reason, 'noted');
  issuer.issuer.subscribe(({ notAfter }) => metrics.issuerExpiry.set(notAfter / 1_000));

  doors.start('listener', (signal) => listener.run(signal));
  if (!isInCluster) tellSystemd();
  tasks.start('issuer', (signal) => issuer.run(signal, signers.run));
  tasks.start('serving certificate', (signal) => serving.run(listener.show, signal));
  for (const cluster of clusters) tasks.start(`cluster ${cluster.id}`, (signal) => cluster.run(signal));

  return {
    address: listener.address,
    http: http.address,
    podsRead: Promise.all(clusters.map(({ pods }) => until(pods.reason, (reason) => reason === undefined))).then(() => undefined),
    async run(signal) {
      try {
        await Promise.race([aborted(signal), tasks.ended, doors.ended]);
      } finally {
        log.info('stopping');
        readiness.drain();
        await doors.stop(stopMs);
        await grpc.drain(drainMs);
        // Of callers that are gone.
        await service.idle(stopMs);
        await tasks.stop(stopMs);
        apiServers.close();
        await audit.close();
        log.info('stopped');
      }
    },
  };
}

interface Shared {
  readonly config: CaConfig;
  /** Sockets that systemd passed in, by the names of the doors. */
  readonly passed: PassedFds['fds'];
  readonly native: Native;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AuthorityMetrics;
}

async function openAudit({ writeOutput }: AuthorityOptions, { config, clock, log, metrics }: Shared): Promise<AuditLog> {
  const { file, onFailure } = config.audit;
  const sink = file === undefined ? createAuditOutput(writeOutput) : await openAuditFile(file, clock);
  return createAuditLog({ sink, onFailure, log, metrics });
}

interface ApiServers {
  connect(kubeconfig: string | undefined): KubeClient;
  /** Closes the connections of all clients. */
  close(): void;
}

function createApiServers(env: Environment, { clock, log, metrics }: Shared): ApiServers {
  const clients: KubeClient[] = [];
  return {
    connect(kubeconfig) {
      const client = createKubeClient({ credential: createCredential({ kubeconfig, env, clock, log, metrics }), clock, metrics });
      clients.push(client);
      return client;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}

/** Our own first. */
type Clusters = readonly [WatchedCluster, ...WatchedCluster[]];

function createClusters(own: KubeClient, connect: ApiServers['connect'], { config, clock, log, metrics }: Shared): Clusters {
  const { audiences, whenApiServerAway, cluster, clusters } = config;
  const create = ({ id, aliases = [] }: Pick<RemoteCluster, 'id' | 'aliases'>, client: KubeClient): WatchedCluster =>
    createCluster({ id, aliases, client, audiences, whenApiServerAway, clock, log, metrics });
  return [create(cluster, own), ...clusters.map((remote) => create(remote, connect(remote.kubeconfig)))];
}

interface ServiceParts {
  /** The API server of our own cluster. */
  readonly own: KubeClient;
  readonly clusters: Clusters;
  readonly audit: AuditLog;
  readonly signal: AbortSignal;
}

/** The issuer first, which also signs what the service shows. */
async function openService({ own, clusters, audit, signal }: ServiceParts, shared: Shared) {
  const { config, passed, native, clock, log, metrics } = shared;
  const issuer = await openServedIssuer(own, shared, signal);
  const certifying = createCertifying(issuer, audit, shared);
  const service = createService(clusters, certifying, shared);
  const signers = createSigners(own, clusters[0], certifying, shared);
  const serving = createServingCertificate({ issuer: issuer.issuer, names: config.listen.names, clock, log, metrics });
  const onHeaders = config.listen.quickAck ? createQuickAck({ native, log }) : undefined;
  const grpc = createUnaryServer(service, { limits: config.limits, calls: callLimits, onHeaders, clock, metrics });
  const listener = await listenTls(
    {
      address: config.listen.address,
      fd: passed.get('ca'),
      minVersion: config.listen.tlsMinVersion,
      maxConnections: config.limits.connections,
      identity: await serving.create(),
      log,
    },
    grpc.accept,
  );
  return { issuer, service, signers, serving, grpc, listener };
}

async function openServedIssuer(client: KubeClient, { config, clock, log, metrics }: Shared, signal: AbortSignal): Promise<ClusterIssuer> {
  const { issuer, trustDomain, lease, rotation, roots, servingSecrets: wanted } = config;
  const leafLifetimeMs = config.certificate.maxLifetimeMs;
  if (issuer === undefined || !('secret' in issuer)) {
    const { directory } = config.state;
    const owner = await openIssuerOwner({ files: issuer, directory, trustDomain, leafLifetimeMs, clock, log, metrics });
    // Without a Lease each replica does what one would be enough for.
    return {
      ...owner,
      degradations: new Map(),
      run: async (own, alone) => void (await Promise.all([owner.run(own), alone?.(own)])),
    };
  }
  const { name: bundle, signerName } = roots.clusterTrustBundle;
  return await openClusterIssuer(
    {
      ...issuer.secret,
      client,
      lease,
      holder: createHolder(),
      trustDomain,
      leafLifetimeMs,
      lagMs: rotation.lagMs,
      configMaps: roots.configMaps,
      selects: (namespace) => (roots.namespaces?.includes(namespace) ?? true) && !roots.excludeNamespaces.includes(namespace),
      ...(bundle === undefined ? {} : { clusterTrustBundle: { name: bundle, ...(signerName === undefined ? {} : { signerName }) } }),
      servingSecrets: wanted,
      clock,
      log,
      metrics,
    },
    signal,
  );
}

/** In a pod its name; a process that comes after this one on the same host is another holder. */
function createHolder(): string {
  return `${hostname()}-${randomBytes(4).toString('hex')}`;
}

/** What decides and signs, whichever way a request comes. */
type Certifying = Pick<ServiceOptions, 'policy' | 'csr' | 'keys' | 'issue' | 'audit'>;

function createCertifying({ issuer, roots }: ClusterIssuer, audit: AuditLog, { config, clock }: Shared): Certifying {
  const { trustDomain, nodeAgents, deny } = config;
  return {
    policy: { trustDomain, nodeAgents: new Set(nodeAgents), deny },
    csr: config.csr,
    keys: createRecentKeys(),
    issue: createIssue({ issuer, roots, bounds: config.certificate, clock }),
    audit,
  };
}

function createService(clusters: Clusters, certifying: Certifying, shared: Shared): CertificateService {
  const byId = new Map(clusters.flatMap((cluster) => [cluster.id, ...cluster.aliases].map((id) => [id, cluster] as const)));
  const { config, clock, log, metrics } = shared;
  return createCertificateService({
    clusterOf: (id) => (id === '' ? clusters[0] : byId.get(id)),
    ...certifying,
    limits: config.limits,
    clock,
    log,
    metrics,
  });
}

/** Of the objects at the API server of our own cluster. */
function createSigners(client: KubeClient, own: WatchedCluster, certifying: Certifying, shared: Shared): RequestSigners {
  const { config, clock, log, metrics } = shared;
  const { kubernetesCsr, podCertificate } = config.requests;
  return createRequestSigners({
    client,
    authority: { ...certifying, cluster: own, maxLifetimeMs: config.certificate.maxLifetimeMs, clock, metrics },
    csrSigner: kubernetesCsr.signerName,
    csrApproved: kubernetesCsr.approveOnly,
    podCertificateSigner: podCertificate.signerName,
    deadlineMs: config.limits.deadlineMs,
    clock,
    log,
    metrics,
  });
}

/** Far above what the service itself bounds, which says why; of one address, behind which many nodes may be. */
const callLimits = { streams: 100_000, streamsPerOwner: 50_000, unfinishedBytes: 16 * 1024 * 1024 } as const;
