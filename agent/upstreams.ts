// The wiring of the upstreams: from the setting to one CA for the cache, the files it reads, and what they have to tell.
// Called by agent.ts. No logic of its own.

import { createBuiltIn } from './ca/built-in.js';
import type { CaClient } from './ca/ca-client.js';
import { createCertManager } from './ca/cert-manager.js';
import type { EndpointHealth } from './ca/failover.js';
import { createFailover } from './ca/failover.js';
import type { IssuerOwner } from './ca/issuer-owner.js';
import type { IstioAuth } from './ca/istio-auth.js';
import { createNodeAuth, createWorkloadAuth } from './ca/istio-auth.js';
import { createIstioClient } from './ca/istio.js';
import { createReachCheck } from './ca/reach.js';
import { createKubernetesCsr } from './ca/kubernetes-csr.js';
import { createPodCertificate } from './ca/pod-certificate.js';
import type { RequestKind } from './ca/request-kind.js';
import { createRequestObjects } from './ca/request-objects.js';
import { createTokenFile } from './ca/token-file.js';
import type { CertManagerUpstream, Config, IstioUpstream, KubernetesCsrUpstream, OutsideRoots, PodCertificateUpstream } from './config.js';
import type { SpiffeId } from './identity/spiffe-id.js';
import type { KubeClient } from './kube/client.js';
import type { CreateToken } from './kube/token-request.js';
import type { Metrics } from './metrics.js';
import type { IdentityIndex } from './pods/identity-index.js';
import { SignetError } from './runtime/errors.js';
import type { Logger } from './runtime/log.js';
import type { Reason } from './runtime/reasons.js';
import type { Checks } from './runtime/self-check.js';
import type { Clock } from './runtime/time.js';
import { aborted } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import { joinWatched, mapWatched } from './runtime/watched.js';
import type { RootSource, TrustBundle } from './trust-bundle.js';
import type { Certificate } from './x509/certificate.js';

export interface UpstreamsOptions {
  readonly upstreams: Config['upstreams'];
  /** Of the built-in upstream; undefined when there is none. */
  readonly issuer: IssuerOwner | undefined;
  readonly bundle: Watched<TrustBundle | undefined>;
  readonly kube: {
    /** As whoever we are at the API server. */
    readonly own: KubeClient;
    readonly asNode: KubeClient;
    readonly anonymous: KubeClient;
    /** A token of an account with a pod on this node, as the node. */
    readonly createToken: CreateToken;
  };
  readonly node: string;
  readonly createRoots: (source: OutsideRoots) => RootSource;
  readonly index: Pick<IdentityIndex, 'identities' | 'pods'>;
  /** For one request, ms. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Something that an upstream needs, with the reason why it is not as it should be. */
export interface UpstreamPart {
  readonly name: string;
  readonly reason: Watched<Reason | undefined>;
}

export interface Upstreams {
  readonly ca: CaClient;
  /** Tokens and roots, without which an upstream cannot be asked. */
  readonly needs: readonly UpstreamPart[];
  readonly endpoints: readonly EndpointHealth[];
  /** Whether each endpoint can be reached. */
  readonly checks: readonly Checks[];
  /** Follows the files, and closes connections when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { upstreams, issuer, bundle, index, deadlineMs, clock, log, metrics } = options;
  const clients: CaClient[] = [];
  const needs: UpstreamPart[] = [];
  const checks: Checks[] = [];
  const tasks: Runnable[] = [];
  for (const [index, upstream] of upstreams.entries()) {
    if (upstream.kind === 'built-in') {
      // What the CA signs must be of use to those who verify: it may chain to the roots of the trust bundle and to no other.
      if (issuer !== undefined) clients.push(createBuiltIn({ issuer: issuer.issuer, roots: rootsOf(bundle), clock }));
      continue;
    }
    const name = nameOf(upstreams, index);
    const wired = upstream.kind === 'istio' ? createIstio(name, upstream, options) : createRequests(name, upstream, options);
    clients.push(...wired.clients);
    needs.push(...wired.needs);
    checks.push(...wired.checks);
    tasks.push(...wired.tasks);
  }
  const [first, ...more] = clients;
  if (first === undefined) throw new Error('bug: no upstream');
  const run = async (signal: AbortSignal): Promise<void> => {
    await Promise.all([aborted(signal), ...tasks.map((task) => task.run(signal))]);
  };
  // The CA of this process is never away.
  if (more.length === 0 && issuer !== undefined) return { ca: first, needs, endpoints: [], checks, run };
  const failover = createFailover({ clients: [first, ...more], deadlineMs, identities: index.identities, clock, log, metrics });
  return { ca: failover, needs, endpoints: failover.health, checks, run };
}

/** The kind, with its number where there are several of it. */
function nameOf(upstreams: Config['upstreams'], index: number): string {
  const { kind } = upstreams[index] ?? { kind: 'istio' };
  const isOfKind = (each: { readonly kind: string }): boolean => each.kind === kind;
  if (upstreams.filter(isOfKind).length === 1) return kind;
  return `${kind}-${upstreams.slice(0, index + 1).filter(isOfKind).length}`;
}

interface WiredUpstream {
  readonly clients: readonly CaClient[];
  readonly needs: readonly UpstreamPart[];
  readonly checks: readonly Checks[];
  readonly tasks: readonly Runnable[];
}

function createIstio(name: string, upstream: IstioUpstream, options: UpstreamsOptions): WiredUpstream {
  const { clock, createRoots } = options;
  const { endpoints, tls, audience, clusterId, headers } = upstream;
  const tlsRoots = createRoots(tls.roots);
  const chain = createChainRoots(name, upstream, options);
  const auth = createAuth(name, upstream, options);
  const reach = {
    name,
    tlsRoots: tlsRoots.roots,
    clock,
    ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
  };
  const clients = endpoints.map((endpoint) =>
    createIstioClient({
      ...reach,
      endpoint,
      roots: chain.roots,
      auth: auth.auth,
      audience,
      ...(clusterId === undefined ? {} : { clusterId }),
      ...(headers === undefined ? {} : { headers }),
    }),
  );
  const missing = ({ code, detail }: Reason): Reason => ({ code: code === 'bundle-missing' ? 'ca-roots-missing' : code, detail });
  return {
    clients,
    needs: [
      ...auth.needs,
      { name: `${name} tls roots`, reason: mapWatched(tlsRoots.reason, (reason) => (reason === undefined ? undefined : missing(reason))) },
      ...chain.needs,
    ],
    checks: endpoints.map((endpoint) => createReachCheck({ ...reach, endpoint })),
    tasks: [...clients, ...auth.tasks, tlsRoots, ...chain.tasks],
  };
}

/** What the answers of an upstream may chain to: the trust bundle, or those roots of it that the upstream names. */
function createChainRoots(name: string, { roots: setting }: { readonly roots?: OutsideRoots }, { bundle, createRoots }: UpstreamsOptions) {
  if (setting === undefined) return { roots: rootsOf(bundle), needs: [], tasks: [] };
  const source = createRoots(setting);
  const named = mapWatched(source.roots, (roots) => roots ?? []);
  return { roots: intersect(rootsOf(bundle), named), needs: [{ name: `${name} roots`, reason: source.reason }], tasks: [source] };
}

type RequestUpstream = KubernetesCsrUpstream | PodCertificateUpstream | CertManagerUpstream;

function createRequests(name: string, upstream: RequestUpstream, options: UpstreamsOptions): WiredUpstream {
  const { upstreams, node, index, deadlineMs, clock, log, metrics } = options;
  const { roots, needs, tasks } = createChainRoots(name, upstream, options);
  // Whoever waits hears from the upstream why, before the time that it has is over.
  const waitMs = (upstreams.length === 1 ? deadlineMs : deadlineMs / 2) * 0.9;
  const client = createRequestObjects(createKind(upstream, options), {
    name,
    node,
    identities: index.identities,
    roots,
    waitMs,
    clock,
    log,
    metrics,
  });
  return { clients: [client], needs, checks: [], tasks: [client, ...tasks] };
}

function createKind(upstream: RequestUpstream, options: UpstreamsOptions): RequestKind {
  const { kube, node, index, clock } = options;
  const { own, asNode, anonymous } = kube;
  switch (upstream.kind) {
    case 'kubernetes-csr':
      return createKubernetesCsr({ client: own, signerName: upstream.signerName, clock });
    case 'pod-certificate': {
      const { signerName } = upstream;
      return createPodCertificate({ client: asNode, own, node, signerName, podOf: (id) => boundTo(id, index).pod });
    }
    case 'cert-manager':
      return createCertManager({ client: own, anonymous, createToken: tokensOfWorkloads(options), issuerRef: upstream.issuerRef });
  }
}

interface WiredAuth extends Pick<WiredUpstream, 'needs' | 'tasks'> {
  readonly auth: IstioAuth;
}

function createAuth(name: string, { auth, audience, tokenFile }: IstioUpstream, options: UpstreamsOptions): WiredAuth {
  const { clock, log, metrics } = options;
  if (auth === 'node') {
    const file = createTokenFile({ upstream: name, path: tokenFile ?? '', audience, clock, log, metrics });
    return { auth: createNodeAuth(file), needs: [{ name: `${name} token`, reason: file.reason }], tasks: [file] };
  }
  return { auth: createWorkloadAuth({ createToken: tokensOfWorkloads(options, audience), clock }), needs: [], tasks: [] };
}

/** The shortest that an API server gives: it is used within seconds. */
const workloadTokenSeconds = 600;

/** Gives tokens of the accounts with pods here, bound to such a pod. Default audience: the API server. */
function tokensOfWorkloads({ kube, index }: UpstreamsOptions, audience?: string) {
  return async (id: SpiffeId, signal: AbortSignal): Promise<string> => {
    const request = { ...boundTo(id, index), ...(audience === undefined ? {} : { audience }), lifetimeSeconds: workloadTokenSeconds };
    return (await kube.createToken(request, signal)).token;
  };
}

/** The account of an identity and a pod of it on this node. */
function boundTo({ uri, namespace, serviceAccount }: SpiffeId, { identities, pods }: UpstreamsOptions['index']) {
  for (const uid of identities.value.get(uri)?.pods ?? []) {
    const pod = pods.value.get(uid);
    if (pod !== undefined) return { namespace, serviceAccount, pod: { name: pod.name, uid } };
  }
  throw new SignetError('notFound', 'no pod of the identity is left to ask a token for', { reason: 'not-on-node' });
}

/** The roots of a bundle; empty while there is none. */
export const rootsOf = (bundle: Watched<TrustBundle | undefined>): Watched<readonly Certificate[]> =>
  mapWatched(bundle, (value) => value?.roots ?? []);

/** Those of `all` that `some` has too. */
function intersect(all: Watched<readonly Certificate[]>, some: Watched<readonly Certificate[]>): Watched<readonly Certificate[]> {
  return mapWatched(joinWatched([all, some]), ([every = [], own = []]) => {
    const named = new Set(own.map(({ fingerprint }) => fingerprint));
    return every.filter(({ fingerprint }) => named.has(fingerprint));
  });
}
