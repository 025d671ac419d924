// The wiring of the node agent, top to bottom: pods -> identities -> certificates -> SDS, roots beside it, and two doors for
// people and machines. Used by `signet agent` and `signet dev`. No logic of its own.

import type { Socket } from 'node:net';
import { Registry } from 'prom-client';
import type { AdminPeer } from './admin.js';
import { createAdminServer } from './admin.js';
import { createAdminClient } from './admin/client.js';
import type { AdminSources } from './admin/status.js';
import { createBuiltIn } from './ca/built-in.js';
import type { IssuerOwner } from './ca/issuer-owner.js';
import { createFixedIssuer, createIssuerFromFiles } from './ca/issuer-owner.js';
import type { SvidCache } from './cache/svid-cache.js';
import { createSvidCache } from './cache/svid-cache.js';
import { observeStates } from './cache/svid-report.js';
import type { Config, ConfigInput, LoadedConfig } from './config.js';
import { configFields, processEnvironment } from './config.js';
import { createFollowedSettings } from './config/followed.js';
import { createHttpDoor } from './http.js';
import type { Listener } from './listen.js';
import { listenFd, listenUnix } from './listen.js';
import type { Metrics } from './metrics.js';
import { addProcessMetrics, createMetrics } from './metrics.js';
import { createNodeSecrets } from './node-secrets.js';
import { createFileSource } from './pods/file-source.js';
import type { IdentityIndex, NodeIdentity } from './pods/identity-index.js';
import { createIdentityIndex } from './pods/identity-index.js';
import { findGroupId } from './runtime/group.js';
import { createReadiness, createTaskGroup } from './runtime/lifecycle.js';
import type { RootLogger } from './runtime/log.js';
import { createLogger } from './runtime/log.js';
import type { Native } from './runtime/native.js';
import { loadNative, socketFd } from './runtime/native.js';
import type { Clock } from './runtime/time.js';
import { aborted } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { mapWatched, until } from './runtime/watched.js';
import { createPeerPolicy } from './sds/peer.js';
import { createAttestor, readStandpoint } from './sds/process.js';
import { createSdsServer } from './sds/server.js';
import { createSdsService } from './sds/service.js';
import { passedFds } from './systemd.js';
import type { RootSource, TrustBundleOwner } from './trust-bundle.js';
import { createFileRootSource, createTrustBundle, createWatchedRootSource } from './trust-bundle.js';
import { version } from './version.js';
import { loadIssuer } from './x509/issuer.js';
import { openIssuer } from './x509/self-signed.js';

export interface AgentOptions {
  readonly loaded: LoadedConfig;
  /** The sources it was loaded from, to follow. */
  readonly input: ConfigInput;
  readonly clock: Clock;
  /** Receives log lines. Default: standard error. */
  readonly writeLog?: (line: string) => void;
}

export interface Agent {
  readonly addresses: { readonly sds: string; readonly admin: string };
  readonly http: Watched<{ readonly host: string; readonly port: number } | undefined>;
  readonly identities: Watched<ReadonlyMap<string, NodeIdentity>>;
  /** Settles when the pods have been read completely for the first time. */
  readonly podsRead: Promise<void>;
  /** Serves until the signal aborts or a part fails, then drains; rejects with what failed. */
  run(signal: AbortSignal): Promise<void>;
}

/** How long streams, and after them connections, have to end, and each group of parts; together less than 5 s. */
const drainMs = 1_000;
const stopMs = 1_000;

/** Starts all parts; both sockets are there when it returns. Throws a SignetError when that cannot be. */
export async function startAgent({ loaded, input, clock, writeLog }: AgentOptions): Promise<Agent> {
  const { config } = loaded;
  const log = createLogger({ level: config.log.level, ...(writeLog === undefined ? {} : { write: writeLog }) });
  for (const warning of loaded.warnings) log.warn(warning);
  log.info('starting', { version, ...configFields(loaded) });
  const native = await loadNative();
  native.forbidDumps();
  const registry = new Registry();
  addProcessMetrics(registry);
  const metrics = createMetrics(registry);
  metrics.buildInfo.set({ version, node: process.versions.node }, 1);
  const shared: Shared = { config, clock, log, metrics };

  const settings = createFollowedSettings({ loaded, input, clock, log, metrics });
  const sources = config.pods.sources.map(({ path }) => createFileSource({ path, node: config.node, clock, log, metrics }));
  const index = createIdentityIndex({
    sources,
    trustDomain: config.trustDomain,
    select: settings.select,
    lingerMs: config.pods.lingerMs,
    clock,
    log,
    metrics,
  });
  const certificates = await createCertificates(index, shared);
  const { cache, roots } = certificates;
  const sds = createSds({ native, index, certificates, rules: settings.peers, isDev: input.defaults === 'dev' }, shared);

  const readiness = createReadiness();
  readiness.follow('pods', index.reason, 'needed');
  // Without the roots that are expired the bundle is complete.
  readiness.follow('roots', roots.reason, ({ code }) => (code === 'root-expired' ? 'noted' : 'needed'));
  readiness.follow('issuer', certificates.issuer.reason, 'noted');
  readiness.follow('configuration', settings.reason, 'noted');
  const beforeScrape = (): void => {
    metrics.ready.set(readiness.state.value.ready ? 1 : 0);
    observeStates(cache.states(), metrics, clock.now());
  };
  const http = createHttpDoor({ address: config.http.address, readiness: readiness.state, registry, beforeScrape, clock, log });
  readiness.follow('http', http.reason, 'noted');

  const sockets = await openSockets(native, sds.server.accept, shared, input);
  const view: AdminSources = {
    about: { version, trustDomain: config.trustDomain, node: config.node },
    readiness: readiness.state,
    identities: index.identities,
    cache,
    explain: index.explain,
    sources: [
      ...sources.map(({ name, view: pods }) => ({ of: 'pods', name, reason: () => pods.value.reason })),
      ...certificates.rootSources.map(({ name, reason }) => ({ of: 'roots', name, reason: () => reason.value })),
    ],
    bundle: roots.bundle,
    streams: sds.service.streams,
    logLevel: log,
  };
  const admin = createAdminServer({ view, listen: sockets.admin, ...adminPeers(native, config), clock, log });

  // Two groups: at the end nobody may connect any more while what is open is still being served.
  const doors = createTaskGroup(clock, log);
  doors.start('sds', sockets.sds);
  const tasks = createTaskGroup(clock, log);
  const parts = { settings, index, issuer: certificates.issuer, roots, cache, policy: sds.policy, http, admin };
  for (const [name, part] of Object.entries(parts)) tasks.start(name, (signal) => part.run(signal));

  return {
    addresses: { sds: config.sds.socket.path, admin: config.admin.socket.path },
    http: http.address,
    identities: index.identities,
    podsRead: until(index.reason, (reason) => reason === undefined),
    async run(signal) {
      try {
        await Promise.race([aborted(signal), tasks.ended, doors.ended]);
      } finally {
        log.info('stopping');
        readiness.drain();
        await doors.stop(stopMs);
        await sds.server.drain(drainMs);
        await tasks.stop(stopMs);
        log.info('stopped');
      }
    },
  };
}

interface Shared {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: RootLogger;
  readonly metrics: Metrics;
}

/** Issuer, roots and the cache between them. */
async function createCertificates(index: IdentityIndex, { config, clock, log, metrics }: Shared): Promise<Certificates> {
  const issuer = await createIssuer({ config, clock, log, metrics });
  const rootSources = config.trustBundle.sources.map((source) =>
    source.kind === 'file'
      ? createFileRootSource({ path: source.path, clock, log, metrics })
      : createWatchedRootSource('issuer', issuer.roots),
  );
  const roots = createTrustBundle({ sources: rootSources, clock, log, metrics });
  // What the CA signs must be of use to those who verify: it may chain to the roots of the trust bundle and to no other.
  const ca = createBuiltIn({ issuer: issuer.issuer, roots: mapWatched(roots.bundle, (bundle) => bundle?.roots ?? []), clock });
  const cache = createSvidCache({ identities: index.identities, ca, ...config.certificate, clock, log, metrics });
  return { issuer, rootSources, roots, cache };
}

interface Certificates {
  readonly issuer: IssuerOwner;
  readonly rootSources: readonly RootSource[];
  readonly roots: TrustBundleOwner;
  readonly cache: SvidCache;
}

async function createIssuer({ config, clock, log, metrics }: Shared): Promise<IssuerOwner> {
  const files = config.upstreams[0]?.issuer;
  if (files === undefined) {
    return createFixedIssuer(await openIssuer({ directory: config.state.directory, trustDomain: config.trustDomain, clock }));
  }
  const initial = await loadIssuer(files, clock.now());
  return createIssuerFromFiles({ files, initial, leafLifetimeMs: config.certificate.lifetimeMs, clock, log, metrics });
}

interface SdsParts {
  readonly native: Native;
  readonly index: IdentityIndex;
  readonly certificates: Certificates;
  readonly rules: Watched<Config['peers']>;
  /** In `dev` a process of our own container is one of the node. */
  readonly isDev: boolean;
}

/** Who may ask, what there is, and the server between them. */
function createSds({ native, index, certificates, rules, isDev }: SdsParts, { config, clock, log, metrics }: Shared) {
  const { limits, holdMs } = config.sds;
  const standpoint = readStandpoint();
  const policy = createPeerPolicy({
    index,
    rules,
    attestor: createAttestor({ native, standpoint }),
    ownPod: standpoint.pod,
    ownContainer: isDev ? 'host' : 'pod',
    limits,
    clock,
    log,
    metrics,
  });
  const { cache, roots } = certificates;
  const secrets = createNodeSecrets({ trustDomain: config.trustDomain, index, cache, bundle: roots.bundle });
  const service = createSdsService({ secrets, peerOf: policy.peerOf, limits, holdMs, clock, log, metrics });
  return { policy, service, server: createSdsServer({ service, policy, limits, clock, metrics }) };
}

type OnConnection = (socket: Socket) => void;

/** Binds both sockets, or takes over those that systemd passed in under the names `sds` and `admin`. */
async function openSockets(native: Native, onSds: OnConnection, { config, clock, log }: Shared, { env }: ConfigInput) {
  const passed = passedFds(env ?? processEnvironment(), process.pid);
  if (passed.warning !== undefined) log.warn(passed.warning);
  const isSameAgent = async (): Promise<boolean> => {
    const other = await createAdminClient({ path: config.admin.socket.path, clock }).status(new AbortController().signal);
    return other.trustDomain === config.trustDomain && other.node === config.node;
  };
  const takeover = config.sds.socket.takeover ? { takeover: { native, isSameAgent } } : {};
  const open = async (
    name: 'sds' | 'admin',
    path: string,
    mode: number,
    group: string | undefined,
    onConnection: OnConnection,
  ): Promise<Listener> => {
    const shared = { pauseOnConnect: name === 'sds', log };
    // One socket without a name is the SDS socket.
    const given = passed.fds.find((each) => each.name === name || (name === 'sds' && passed.fds.length === 1));
    if (given !== undefined) return await listenFd(given.fd, shared, onConnection);
    return await listenUnix(
      { path, mode, ...(group === undefined ? {} : { gid: findGroupId(group) }), ...takeover, ...shared, clock },
      onConnection,
    );
  };
  let onAdmin: OnConnection = (socket) => socket.destroy();
  const { socket } = config.sds;
  // The control socket second: until then it is that of the agent which may be taken over.
  const sds = await open('sds', socket.path, socket.mode, socket.group, onSds);
  const adminMode = config.admin.group === undefined ? 0o600 : 0o660;
  const admin = await open('admin', config.admin.socket.path, adminMode, config.admin.group, (connection) => onAdmin(connection)).catch(
    async (error: unknown) => {
      await sds.run(AbortSignal.abort());
      throw error;
    },
  );
  return {
    sds: (signal: AbortSignal) => sds.run(signal),
    admin: (onConnection: OnConnection, signal: AbortSignal) => {
      onAdmin = onConnection;
      return admin.run(signal);
    },
  };
}

function adminPeers(native: Native, { admin }: Config) {
  return {
    peerOf(socket: Socket): AdminPeer | undefined {
      const fd = socketFd(socket);
      if (fd === undefined) return undefined;
      const { uid, gid } = native.peerCredentials(fd);
      return { uid, groups: [gid, ...native.peerGroups(fd)] };
    },
    uid: process.getuid?.() ?? 0,
    ...(admin.group === undefined ? {} : { groupId: findGroupId(admin.group) }),
  };
}
