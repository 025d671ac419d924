// The wiring of the node agent, top to bottom: pods -> identities -> certificates -> SDS, roots beside it, and two doors for
// people and machines. Used by `signet agent` and `signet dev`. No logic of its own.

import { Server } from '@grpc/grpc-js';
import { Registry } from 'prom-client';
import { createAdminClient } from './admin/client.js';
import { createAdminServer } from './admin.js';
import { createBuiltIn } from './ca/built-in.js';
import type { IssuerOwner } from './ca/issuer-owner.js';
import { createFixedIssuer, createIssuerFromFiles } from './ca/issuer-owner.js';
import { createSvidCache } from './cache/svid-cache.js';
import { observeStates } from './cache/svid-report.js';
import type { Config, ConfigInput, LoadedConfig } from './config.js';
import { configFields } from './config.js';
import { createFollowedSettings } from './config/followed.js';
import { createHttpDoor } from './http.js';
import { listenUnix } from './listen.js';
import { addProcessMetrics, createMetrics } from './metrics.js';
import type { Metrics } from './metrics.js';
import { createNodeSecrets } from './node-secrets.js';
import { createFileSource } from './pods/file-source.js';
import type { NodeIdentity } from './pods/identity-index.js';
import { createIdentityIndex } from './pods/identity-index.js';
import { createReadiness, createTaskGroup } from './runtime/lifecycle.js';
import type { Logger } from './runtime/log.js';
import { createLogger } from './runtime/log.js';
import { findGroupId } from './runtime/group.js';
import { loadNative, socketFd } from './runtime/native.js';
import type { Clock } from './runtime/time.js';
import { aborted } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { WatchedValue, mapWatched, until } from './runtime/watched.js';
import { createAcceptor } from './sds/accept.js';
import { createGuardedInjector, keepaliveOptions } from './sds/http2-guard.js';
import { createPeerPolicy } from './sds/peer.js';
import { createAttestor, readStandpoint } from './sds/process.js';
import { createSdsService, grpcServerOptions } from './sds/service.js';
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

/** How long streams have to end, and after that the parts; together less than 5 s. */
const drainMs = 2_000;
const stopMs = 2_000;

/** Starts all parts; both sockets are there when it returns. Throws a SignetError when that cannot be. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { loaded, input, clock, writeLog } = options;
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
  const shared = { clock, log, metrics };

  const settings = createFollowedSettings({ loaded, input, ...shared });
  const podSources = config.pods.sources.map(({ path }) => createFileSource({ path, node: config.node, ...shared }));
  const { trustDomain } = config;
  const index = createIdentityIndex({ sources: podSources, trustDomain, select: settings.select, lingerMs: config.pods.lingerMs, ...shared });

  const issuer = await createIssuer(config, shared);
  const rootSources = config.trustBundle.sources.map((source) =>
    source.kind === 'file' ? createFileRootSource({ path: source.path, ...shared }) : createWatchedRootSource('issuer', issuer.roots),
  );
  const roots = createTrustBundle({ sources: rootSources, ...shared });
  const cache = createSvidCache({
    identities: index.identities,
    // What it signs must be of use to those who verify: it may chain to the roots of the trust bundle and to no other.
    ca: createBuiltIn({ issuer: issuer.issuer, roots: mapWatched(roots.bundle, (bundle) => bundle?.roots ?? []), clock }),
    ...config.certificate,
    ...shared,
  });

  const secrets = createNodeSecrets({ trustDomain, index, cache, bundle: roots.bundle });
  const standpoint = readStandpoint();
  const attestor = createAttestor({ native, standpoint });
  const ownContainer = input.defaults === 'dev' ? 'host' : 'pod';
  const { socket, limits, holdMs } = config.sds;
  const policy = createPeerPolicy({ index, rules: settings.peers, attestor, ownPod: standpoint.pod, ownContainer, limits, ...shared });
  const service = createSdsService({ secrets, peerOf: policy.peerOf, limits, holdMs, ...shared });
  const server = new Server({ ...grpcServerOptions(limits), ...keepaliveOptions });
  server.addService(service.definition, service.handlers);
  const injector = createGuardedInjector(server, { limits, clock, metrics });
  const takeover = socket.takeover ? { takeover: { native, isSameAgent: () => isSameAgent(config, clock) } } : {};
  const sds = await listenUnix(
    { path: socket.path, mode: socket.mode, ...withGroup(socket.group), ...takeover, pauseOnConnect: true, clock, log },
    createAcceptor(policy, injector),
  );

  const readiness = createReadiness();
  readiness.follow('pods', index.reason, 'needed');
  readiness.follow('roots', roots.reason, 'needed');
  readiness.follow('configuration', settings.reason, 'noted');
  const http = createHttpDoor({
    address: config.http.address,
    readiness: readiness.state,
    registry,
    beforeScrape: () => {
      metrics.ready.set(readiness.state.value.ready ? 1 : 0);
      observeStates(cache.states(), metrics, clock.now());
    },
    clock,
    log,
  });
  readiness.follow('http', http.reason, 'noted');
  const adminBound = new WatchedValue(false);
  const admin = createAdminServer({
    view: {
      about: { version, trustDomain, node: config.node },
      readiness: readiness.state,
      identities: index.identities,
      cache,
      explain: index.explain,
      sources: [
        ...podSources.map(({ name, view }) => ({ of: 'pods', name, reason: () => view.value.reason })),
        ...rootSources.map(({ name, reason }) => ({ of: 'roots', name, reason: () => reason.value })),
      ],
      bundle: roots.bundle,
      streams: service.streams,
      logLevel: log,
    },
    listen: async (onConnection, signal) => {
      const mode = config.admin.group === undefined ? 0o600 : 0o660;
      const listener = await listenUnix({ path: config.admin.socket.path, mode, ...withGroup(config.admin.group), ...takeover, clock, log }, onConnection);
      adminBound.set(true);
      await listener.run(signal);
    },
    peerOf: (connection) => {
      const fd = socketFd(connection);
      if (fd === undefined) return undefined;
      const { uid, gid } = native.peerCredentials(fd);
      return { uid, groups: [gid, ...native.peerGroups(fd)] };
    },
    uid: process.getuid?.() ?? 0,
    clock,
    log,
  });
  // Two groups: at the end nobody may connect any more while what is open is still being served.
  const doors = createTaskGroup(clock, log);
  doors.start('sds', (signal) => sds.run(signal));
  const tasks = createTaskGroup(clock, log);
  const parts = { settings, index, issuer, roots, cache, policy, http, admin };
  for (const [name, part] of Object.entries(parts)) tasks.start(name, (signal) => part.run(signal));

  const stop = async (): Promise<void> => {
    await doors.stop(stopMs);
    injector.close();
    await service.drain(drainMs);
    server.forceShutdown();
    await tasks.stop(stopMs);
  };
  try {
    await Promise.race([until(adminBound, (bound) => bound), tasks.ended]);
  } catch (error) {
    await stop();
    throw error;
  }

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
        await stop();
        log.info('stopped');
      }
    },
  };
}

function withGroup(group: string | undefined): { readonly gid?: number } {
  return group === undefined ? {} : { gid: findGroupId(group) };
}

/** Whether the agent that listens serves what this one would: it may be taken over then. */
async function isSameAgent(config: Config, clock: Clock): Promise<boolean> {
  const other = await createAdminClient({ path: config.admin.socket.path, clock }).status(new AbortController().signal);
  return other.trustDomain === config.trustDomain && other.node === config.node;
}

async function createIssuer(config: Config, shared: { clock: Clock; log: Logger; metrics: Metrics }): Promise<IssuerOwner> {
  const files = config.upstreams[0]?.issuer;
  const { clock } = shared;
  if (files === undefined) {
    return createFixedIssuer(await openIssuer({ directory: config.state.directory, trustDomain: config.trustDomain, clock }));
  }
  const initial = await loadIssuer(files, clock.now());
  return createIssuerFromFiles({ files, initial, leafLifetimeMs: config.certificate.lifetimeMs, ...shared });
}
