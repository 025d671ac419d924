// The wiring of the node agent, top to bottom: pods -> identities -> certificates -> SDS, roots beside it, and two doors for
// people and machines. Used by `signet agent` and `signet dev`. No logic of its own.

import { createAdminServer } from './admin.js';
import type { AdminSources } from './admin/status.js';
import { createCallQueue } from './ca/call-queue.js';
import type { CsrForwarder } from './ca/forward.js';
import { createCsrForwarder } from './ca/forward.js';
import type { IssuerOwner } from './ca/issuer-owner.js';
import { openIssuerOwner } from './ca/issuer-owner.js';
import type { SvidCache } from './cache/svid-cache.js';
import { createSvidCache } from './cache/svid-cache.js';
import { observeStates } from './cache/svid-report.js';
import type { Config, ConfigInput, Environment, LoadedConfig } from './config.js';
import { processEnvironment } from './config.js';
import { createFollowedSettings } from './config/followed.js';
import { createHttpDoor } from './http.js';
import type { KubeAccess } from './kube/access.js';
import { createKubeAccess } from './kube/access.js';
import { createTokenRequester, followRefusals } from './kube/token-request.js';
import { createQuickAck } from './listen/quick-ack.js';
import type { LocalCa } from './local-ca.js';
import { createLocalCa } from './local-ca.js';
import { observeIssued } from './local-ca/issued.js';
import { createNodeRoot, createServingFiles } from './local-ca/serving.js';
import type { Metrics } from './metrics.js';
import { createMetrics, observeReadiness } from './metrics.js';
import { createNodeSecrets } from './node-secrets.js';
import { selectionWith } from './pods/ambient-namespaces.js';
import type { IdentityIndex, NodeIdentity } from './pods/identity-index.js';
import { createIdentityIndex } from './pods/identity-index.js';
import type { PodSource } from './pods/pod.js';
import { beginProcess } from './process.js';
import type { Weight } from './runtime/lifecycle.js';
import { createReadiness, createTaskGroup } from './runtime/lifecycle.js';
import type { RootLogger } from './runtime/log.js';
import type { Native } from './runtime/native.js';
import type { Reason, ReasonCode } from './runtime/reasons.js';
import type { SelfCheck } from './runtime/self-check.js';
import { createSelfCheck } from './runtime/self-check.js';
import type { Clock } from './runtime/time.js';
import { aborted } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { until } from './runtime/watched.js';
import { createPeerPolicy } from './sds/peer.js';
import { createAttestor, readStandpoint } from './sds/process.js';
import { createSdsServer } from './sds/server.js';
import { createSdsService } from './sds/service.js';
import type { Sealing } from './sealing.js';
import { openSealing } from './sealing.js';
import { createKubeSelfChecks } from './kube-needs.js';
import { adminPeers, openSockets, tcpPlace } from './sockets.js';
import { createNotifier } from './systemd/notify.js';
import { createOutsideRoots, createNamespaces, createPodSources, createRootSources } from './sources.js';
import type { RootSource, TrustBundleOwner } from './trust-bundle.js';
import { createTrustBundle } from './trust-bundle.js';
import type { Upstreams } from './upstreams.js';
import { createUpstreams, rootsOf } from './upstreams.js';
import { version } from './version.js';

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
  /** Of the local CA endpoint; undefined without one. */
  readonly localCa: LocalCa['address'] | undefined;
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
  const { log, native, registry, metrics } = await beginProcess({ loaded, createMetrics, writeLog });

  const settings = createFollowedSettings({ loaded, input, clock, log, metrics });
  const { kubeconfig, node } = config;
  const env = input.env ?? processEnvironment();
  const kube = createKubeAccess({ kubeconfig, env, node, clock, log, metrics });
  const shared: Shared = { config, kube, clock, log, metrics };
  const sealing = openSealing({ config, env, clock, log, metrics });
  const sources = createPodSources(config, shared);
  const namespaces = createNamespaces(config, shared, sealing.namespaces);
  const index = createIdentityIndex({
    sources,
    restored: sealing.pods,
    trustDomain: config.trustDomain,
    select: namespaces === undefined ? settings.select : selectionWith(settings.select, namespaces),
    lingerMs: config.pods.lingerMs,
    clock,
    log,
    metrics,
  });
  const certificates = await createCertificates(index, sealing, shared);
  const { cache, roots, upstreams } = certificates;
  const sds = createSds({ native, index, certificates, rules: settings.peers, isDev: input.defaults === 'dev' }, shared);

  const localCa = createLocalCaDoor({ native, env, index, certificates }, shared);

  const readiness = createReadiness();
  readiness.follow('pods', index.reason, needed);
  if (namespaces !== undefined) readiness.follow('namespaces', namespaces.reason, 'noted');
  readiness.follow('roots', roots.reason, needed);
  // With several upstreams one that lacks something keeps nobody from becoming ready. A Service of the local CA leads to agents that are
  // ready, and one that says why it has no certificate is of more use to its callers than none.
  const isOnly = config.upstreams.length === 1 && localCa === undefined;
  for (const { name, reason } of upstreams.needs) readiness.follow(name, reason, isOnly ? needed : 'noted');
  if (localCa !== undefined) readiness.follow('local ca', localCa.reason, 'noted');
  readiness.follow('sealed state', sealing.reason, 'noted');
  if (certificates.issuer !== undefined) readiness.follow('issuer', certificates.issuer.reason, 'noted');
  readiness.follow('configuration', settings.reason, 'noted');
  const selfCheck = createAgentSelfCheck(index, sources, certificates, shared);
  for (const { name, fault } of selfCheck.checks) readiness.follow(`check ${name}`, fault, 'noted');
  const beforeScrape = (): void => {
    observeReadiness(readiness.state.value, metrics);
    observeStates(cache.states(), metrics, clock.now());
    if (localCa !== undefined) observeIssued(localCa.issued.all(), metrics, clock.now());
  };
  const place = tcpPlace('http', config.http.address, { config, env });
  const http = createHttpDoor({ place, readiness: readiness.state, registry, beforeScrape, clock, log });
  readiness.follow('http', http.reason, 'noted');

  const sockets = await openSockets({ native, config, env, clock, log, metrics }, sds.server.accept);
  const view: AdminSources = {
    about: { version, trustDomain: config.trustDomain, node: config.node },
    readiness: readiness.state,
    identities: index.identities,
    cache,
    explain: index.explain,
    sources: [
      ...sources.map((source) => ({
        of: 'pods',
        get name() {
          return source.name;
        },
        reason: () => source.view.value.reason,
      })),
      ...certificates.rootSources.map(({ name, reason }) => ({ of: 'roots', name, reason: () => reason.value })),
      ...upstreams.endpoints.map(({ name, reason, unusable }) => ({ of: 'certificates', name, reason: () => reason.value ?? unusable() })),
    ],
    selfCheck,
    ...(localCa === undefined ? {} : { localCa }),
    bundle: roots.bundle,
    streams: sds.service.streams,
    logLevel: log,
  };
  const admin = createAdminServer({ view, listen: sockets.admin, ...adminPeers(native, config), clock, log });

  // Two groups: at the end nobody may connect any more while what is open is still being served.
  const doors = createTaskGroup(clock, log);
  doors.start('sds', sockets.sds);
  if (localCa !== undefined) doors.start('local ca', (signal) => localCa.run(signal));
  const notifier = createNotifier({ env, pid: process.pid, native, check: sockets.check, readiness: readiness.state, clock, log });
  doors.start('word to systemd', notifier.run);
  const tasks = createTaskGroup(clock, log);
  const { issuer } = certificates;
  const parts = {
    settings,
    ...(namespaces === undefined ? {} : { namespaces }),
    index,
    ...(issuer === undefined ? {} : { issuer }),
    upstreams,
    roots,
    cache,
    policy: sds.policy,
    http,
    admin,
    selfCheck,
  };
  for (const [name, part] of Object.entries(parts)) tasks.start(name, (signal) => part.run(signal));
  // It ends before the keys are wiped.
  const keeper = createTaskGroup(clock, log);
  keeper.start('sealed state', (signal) => sealing.run({ index, cache, namespaces }, signal));

  return {
    addresses: { sds: config.sds.socket.path, admin: config.admin.socket.path },
    http: http.address,
    localCa: localCa?.address,
    identities: index.identities,
    podsRead: until(index.reason, (reason) => reason === undefined),
    async run(signal) {
      try {
        await Promise.race([aborted(signal), tasks.ended, doors.ended, keeper.ended]);
      } finally {
        log.info('stopping');
        readiness.drain();
        await doors.stop(stopMs);
        await sds.server.drain(drainMs);
        await keeper.stop(stopMs);
        await tasks.stop(stopMs);
        log.info('stopped');
      }
    },
  };
}

interface Shared {
  readonly config: Config;
  readonly kube: KubeAccess;
  readonly clock: Clock;
  readonly log: RootLogger;
  readonly metrics: Metrics;
}

/** Restored pods and roots are enough to serve, and without the roots that are expired the bundle is complete. */
const degradations: ReadonlySet<ReasonCode> = new Set(['pods-restored', 'bundle-restored', 'root-expired']);

const needed = ({ code }: Reason): Weight => (degradations.has(code) ? 'noted' : 'needed');

/** Issuer, roots and the cache between them. */
async function createCertificates(index: IdentityIndex, sealing: Sealing, shared: Shared): Promise<Certificates> {
  const { config, kube, clock, log, metrics } = shared;
  const issuer = await createIssuer(shared);
  const rootSources = createRootSources(config.trustBundle.sources, issuer?.roots, shared).map(sealing.keepRoots);
  const roots = createTrustBundle({ sources: rootSources, clock, log, metrics });
  const { auth, address, deadlineMs: forwardMs } = config.localCa;
  // Whoever waits the shorter time is to hear from the second upstream too.
  const deadlineMs = Math.min(config.certificate.deadlineMs, address === undefined ? Infinity : forwardMs);
  const asNode = tokensAs(config) === 'node' ? kube.asNode : kube.own;
  const { createToken, refusal } = followRefusals(createTokenRequester(asNode));
  const upstreams = createUpstreams({
    upstreams: config.upstreams,
    issuer,
    bundle: roots.bundle,
    kube: { own: kube.own, asNode, anonymous: kube.anonymous, createToken },
    node: config.node,
    createRoots: (source) => sealing.keepRoots(createOutsideRoots(source, shared)),
    index,
    deadlineMs,
    clock,
    log,
    metrics,
  });
  const { identities } = index;
  const restored = sealing.svids(rootSources);
  const queue = createCallQueue({ ...config.certificate, metrics });
  const cache = createSvidCache({
    identities,
    restored,
    ca: upstreams.ca,
    roots: rootsOf(roots.bundle),
    queue,
    ...config.certificate,
    clock,
    log,
    metrics,
  });
  const forwarder = createCsrForwarder({ ca: upstreams.ca, queue, auth, deadlineMs: forwardMs, clock, metrics });
  return { issuer, upstreams, tokenRefusal: refusal, rootSources, roots, cache, forwarder };
}

interface Certificates {
  readonly issuer: IssuerOwner | undefined;
  readonly upstreams: Upstreams;
  /** Why the API server gave no token of a workload the last time. */
  readonly tokenRefusal: Watched<Reason | undefined>;
  readonly rootSources: readonly RootSource[];
  readonly roots: TrustBundleOwner;
  readonly cache: SvidCache;
  /** Of requests that others made. */
  readonly forwarder: CsrForwarder;
}

/** The kubeconfig of a node is of that node; the account of a pod has to act as it. */
const tokensAs = ({ kubeconfig }: Config): 'node' | 'own' => (kubeconfig === undefined ? 'node' : 'own');

/** What the API server and each endpoint of a CA say to us. */
function createAgentSelfCheck(
  index: IdentityIndex,
  podSources: readonly PodSource[],
  certificates: Certificates,
  shared: Shared,
): SelfCheck {
  const { config, kube, clock, log } = shared;
  const { upstreams, roots, tokenRefusal } = certificates;
  const kubeChecks = createKubeSelfChecks({ config, kube, podSources, tokensAs: tokensAs(config), clock });
  const signs = [index.reason, roots.reason, tokenRefusal, ...[...upstreams.needs, ...upstreams.endpoints].map(({ reason }) => reason)];
  return createSelfCheck({ checks: [...kubeChecks, ...upstreams.checks], signs, clock, log });
}

/** The issuer of the built-in upstream, if that is one of them. */
async function createIssuer({ config, clock, log, metrics }: Shared): Promise<IssuerOwner | undefined> {
  const builtIn = config.upstreams.find((upstream) => upstream.kind === 'built-in');
  if (builtIn === undefined) return undefined;
  return await openIssuerOwner({
    files: builtIn.issuer,
    directory: config.state.directory,
    trustDomain: config.trustDomain,
    leafLifetimeMs: config.certificate.lifetimeMs,
    clock,
    log,
    metrics,
  });
}

interface LocalCaParts {
  readonly native: Native;
  readonly env: Environment;
  readonly index: IdentityIndex;
  readonly certificates: Certificates;
}

/** The endpoint for proxies that make their keys themselves, if there is to be one. */
function createLocalCaDoor({ native, env, index, certificates }: LocalCaParts, shared: Shared): LocalCa | undefined {
  const { config, kube, clock, log, metrics } = shared;
  const { node, trustDomain, localCa: settings, state, certificate } = config;
  const { address, serving, names, rootDirectory, delegates, waitForPodMs, audiences, whenApiServerAway, deadlineMs, quickAck } = settings;
  if (address === undefined) return undefined;
  return createLocalCa({
    place: tcpPlace('local-ca', address, { config, env }),
    serving:
      serving === 'node-root'
        ? createNodeRoot({ stateDirectory: state.directory, rootDirectory, names, trustDomain, clock, log, metrics })
        : createServingFiles({ ...serving, clock, log, metrics }),
    ...(quickAck ? { quickAck: createQuickAck({ native, log }) } : {}),
    admission: { index, node, trustDomain, delegates: new Set(delegates), waitMs: waitForPodMs },
    client: kube.own,
    audiences,
    whenApiServerAway,
    forwarder: certificates.forwarder,
    bundle: certificates.roots.bundle,
    lifetimeMs: certificate.lifetimeMs,
    deadlineMs,
    clock,
    log,
    metrics,
  });
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
