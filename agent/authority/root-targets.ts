// Writes the roots of the CA to where workloads read them: a ConfigMap in each namespace, and a ClusterTrustBundle where that is
// served. Run by the one replica that holds the Lease. Promises: what others change or remove is put back; what is there is
// compared with what belongs there and never read as a root, so that a root that is retired is gone everywhere.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../kube/client.js';
import type { Snapshot } from '../kube/copy.js';
import { applyObject } from '../kube/objects.js';
import type { Reflector, ReflectorOptions } from '../kube/reflector.js';
import { createReflector } from '../kube/reflector.js';
import { findTrustBundleVersion, followServed } from '../kube/served-version.js';
import { watchChanges } from '../runtime/bell.js';
import { describeError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import { reasons } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue, joinWatched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { formatCertificates } from '../x509/pem.js';
import { defaultLagMs } from './issuer-owner.js';

export interface RootTargetsOptions {
  readonly client: KubeClient;
  readonly roots: Watched<readonly Certificate[]>;
  /** Names of ConfigMaps, each in all selected namespaces, under the key `root-cert.pem`. */
  readonly configMaps: readonly string[];
  readonly selects: (namespace: string) => boolean;
  readonly clusterTrustBundle?: ClusterTrustBundleTarget;
  /**
   * How long an API server has to say that it has no ClusterTrustBundles before that is believed, in ms: while a control plane is
   * upgraded, kubelets may read one at another of its servers. Default 30 min.
   */
  readonly lagMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReflectorOptions<unknown>['metrics'];
}

export interface ClusterTrustBundleTarget {
  /** Begins with the signer's name, `/` written as `:`, and another `:`; without a signer it has no colon. */
  readonly name: string;
  readonly signerName?: string;
}

export interface RootTargets {
  /**
   * The roots that every target was last seen with; undefined until then. New ones are not confirmed while it is unknown whether there
   * are ClusterTrustBundles, nor before they were found missing for `lagMs` without a break: the other targets are written meanwhile.
   */
  readonly confirmed: Watched<readonly Certificate[] | undefined>;
  /** When a target was last seen with something else than we wrote, ms since the epoch: clients may have read that. */
  readonly lapsedAt: Watched<number | undefined>;
  /** Why they are not everywhere. */
  readonly reason: Watched<Reason | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

const key = 'root-cert.pem';
const bundleGroup = 'certificates.k8s.io';

/** One object that has to hold the roots. */
interface Target {
  readonly path: string;
  readonly object: (pem: string) => KubeObject;
  /** Digest of what it was last seen with; undefined: nothing. */
  readonly held: string | undefined;
}

/** Targets of one sort, kept by what is watched. */
interface TargetSet {
  readonly watched: readonly Watched<unknown>[];
  /** Undefined while they are not known. */
  targets(): readonly Target[] | undefined;
  /** False while clients may read another one beside them: nothing is confirmed. */
  isComplete(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

export function createRootTargets(options: RootTargetsOptions): RootTargets {
  const { roots, clock, log } = options;
  const confirmed = new WatchedValue<readonly Certificate[] | undefined>(undefined);
  const lapsedAt = new WatchedValue<number | undefined>(undefined);
  const reason = new WatchedValue<Reason | undefined>(undefined, isDeepStrictEqual);
  /** Digests of what was to be written since every target held the same. */
  let ours = new Set<string>();

  /** Writes what is missing and due. Tells how long there is nothing more to do. */
  const bring = async (sets: readonly TargetSet[], pace: Pace, signal: AbortSignal): Promise<number> => {
    const wanted = roots.value;
    const pem = formatCertificates(wanted);
    const digest = digestOf(pem);
    ours.add(digest);
    const known = sets.map((set) => set.targets());
    const missing = known.flatMap((each) => each ?? []).filter(({ held }) => held !== digest);
    if (missing.length === 0) {
      if (known.includes(undefined)) return lookEveryMs;
      pace.settle();
      reason.set(undefined);
      if (!sets.every((set) => set.isComplete())) return lookEveryMs;
      confirmed.set(wanted);
      ours = new Set([digest]);
      return lookEveryMs;
    }
    // What is new holds nothing yet, and what we wrote before is only late.
    if (missing.some(({ held }) => held !== undefined && !ours.has(held))) lapsedAt.set(clock.now());
    const due = missing.filter(({ path }) => pace.dueAt(path) <= clock.monotonic());
    const faults = await inParallel(due, async ({ path, object }) => {
      pace.wrote(path);
      await applyObject(options.client, { path, object: object(pem) }, signal);
    });
    if (signal.aborted) return 0;
    const [fault] = faults;
    if (fault !== undefined) {
      const detail = `${fault.target.path}: ${describeError(fault.error)}${faults.length === 1 ? '' : `, and ${faults.length - 1} more`}`;
      if (reason.value === undefined)
        log.warn('cannot write roots', { path: fault.target.path, failed: faults.length, ...errorFields(fault.error) });
      reason.set({ code: 'roots-not-published', detail });
    } else if (due.length > 0) log.debug('wrote roots', { targets: due.length, roots: wanted.length });
    return Math.max(Math.min(...missing.map(({ path }) => pace.dueAt(path))) - clock.monotonic(), 0);
  };

  return {
    confirmed,
    lapsedAt,
    reason,
    async run(signal) {
      const sets = [createConfigMapTargets(options), createBundleTargets(options)];
      const inputs = joinWatched<unknown>([roots, ...sets.flatMap(({ watched }) => watched)]);
      const changes = watchChanges(inputs, clock, signal);
      const pace = createPace(clock);
      const watching = Promise.all(sets.map((set) => set.run(signal)));
      while (!signal.aborted) await changes.wait(await bring(sets, pace, signal));
      await watching;
      // The next one to write them may have others in mind.
      confirmed.set(undefined);
      ours = new Set();
      reason.set(undefined);
    },
  };
}

const lookEveryMs = 60_000;

function createConfigMapTargets({ configMaps, selects, ...shared }: RootTargetsOptions): TargetSet {
  const namespaces = reflect(shared, {
    path: '/api/v1/namespaces',
    resource: 'namespaces',
    // Nothing can be created in one that goes.
    project: ({ metadata }) =>
      metadata?.deletionTimestamp === undefined && metadata?.name !== undefined && selects(metadata.name) ? metadata.name : undefined,
  });
  const held = configMaps.map((name) =>
    reflect(shared, {
      path: '/api/v1/configmaps',
      query: { fieldSelector: `metadata.name=${name}` },
      resource: 'configmaps',
      project: ({ metadata, data }) => ({ namespace: metadata?.namespace ?? '', digest: digestIn(data, key) }),
    }),
  );
  const watched = [namespaces.snapshot, ...held.map(({ snapshot }) => snapshot)];
  return {
    watched,
    targets() {
      if (!watched.every(({ value }) => isCurrent(value))) return undefined;
      return configMaps.flatMap((name, index) => {
        const digests = new Map(
          [...(held[index]?.snapshot.value.objects.values() ?? [])].map(({ namespace, digest }) => [namespace, digest]),
        );
        return [...namespaces.snapshot.value.objects.values()].map((namespace) => configMapTarget(namespace, name, digests.get(namespace)));
      });
    },
    isComplete: () => true,
    run: async (signal) => void (await Promise.all([namespaces, ...held].map((each) => each.run(signal)))),
  };
}

function configMapTarget(namespace: string, name: string, held: string | undefined): Target {
  return {
    path: `/api/v1/namespaces/${namespace}/configmaps/${name}`,
    object: (pem) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { [key]: pem } }),
    held,
  };
}

/** None where the API server has no such objects, or none is wanted. */
function createBundleTargets(options: RootTargetsOptions): TargetSet {
  const { clusterTrustBundle: wanted, lagMs = defaultLagMs, client, clock, log } = options;
  const targets = new WatchedValue<readonly Target[] | undefined>(wanted === undefined ? [] : undefined);
  let told: 'unknown' | 'none' | undefined;
  /** By the monotonic clock, the first of the answers in a row that there are none; undefined: the last answer was another. */
  let noneSince: number | undefined;
  /** They were for `lagMs`, or none are wanted. */
  let isGone = wanted === undefined;

  const onMissing = (error: unknown): void => {
    const missing = error === undefined ? 'none' : 'unknown';
    if (missing === 'none') {
      noneSince ??= clock.monotonic();
      isGone ||= clock.monotonic() - noneSince >= lagMs;
      targets.set([]);
    } else noneSince = undefined;
    const unserved = { reason: 'bundle-unserved', action: reasons['bundle-unserved'].action };
    if (missing !== told && missing === 'none') log.warn('this api server has no clustertrustbundles', unserved);
    else if (missing !== told) log.warn('cannot find out about clustertrustbundles', errorFields(error));
    told = missing;
  };
  const follow = async (target: ClusterTrustBundleTarget, version: string, signal: AbortSignal): Promise<void> => {
    const round = new AbortController();
    const { held, targetOf } = openBundle(options, target, version);
    told = undefined;
    noneSince = undefined;
    isGone = false;
    held.snapshot.subscribe((snapshot) => {
      targets.set(isCurrent(snapshot) ? [targetOf([...snapshot.objects.values()][0])] : undefined);
    }, round.signal);
    await held.run(signal).finally(() => round.abort());
    targets.set(undefined);
  };
  return {
    watched: [targets],
    targets: () => targets.value,
    isComplete: () => isGone || targets.value?.length !== 0,
    async run(signal) {
      if (wanted === undefined) return;
      const find = (own: AbortSignal) => findTrustBundleVersion(client, own);
      const use = (version: string, own: AbortSignal) => follow(wanted, version, own);
      await followServed({ find, use, onMissing, pause: askVersionAgain, clock }, signal);
    },
  };
}

/** The one object, as it is served in the version. */
function openBundle(options: RootTargetsOptions, { name, signerName }: ClusterTrustBundleTarget, version: string) {
  const path = `/apis/${bundleGroup}/${version}/clustertrustbundles`;
  const held = reflect(options, {
    path,
    query: { fieldSelector: `metadata.name=${name}` },
    resource: 'clustertrustbundles',
    project: ({ spec }) => digestIn(spec, 'trustBundle') ?? '',
    endsWhenGone: true,
  });
  const object = (pem: string): KubeObject => ({
    apiVersion: `${bundleGroup}/${version}`,
    kind: 'ClusterTrustBundle',
    metadata: { name },
    spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle: pem },
  });
  return { held, targetOf: (digest: string | undefined): Target => ({ path: `${path}/${name}`, object, held: digest }) };
}

function reflect<T>(
  { client, clock, log, metrics }: Pick<RootTargetsOptions, 'client' | 'clock' | 'log' | 'metrics'>,
  what: Pick<ReflectorOptions<T>, 'path' | 'query' | 'resource' | 'project' | 'endsWhenGone'>,
): Reflector<T> {
  return createReflector({
    ...what,
    client,
    clock,
    log,
    metrics,
    unread: { code: 'roots-not-published', detail: `${what.resource}: not read yet` },
  });
}

/** Whether it is what the server has now. */
function isCurrent({ complete, reason }: Snapshot<unknown>): boolean {
  return complete && reason === undefined;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function digestIn(value: unknown, name: string): string | undefined {
  const text = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof text === 'string' ? digestOf(text) : undefined;
}

const retryAfter = { minMs: 500, maxMs: 60_000 };
/** Which version of ClusterTrustBundles is served, if any. */
const askVersionAgain = { minMs: 500, maxMs: 300_000 };
/** Whoever changes a target again this soon after it was written is met more slowly each time. */
const calmAfterMs = 600_000;

/** How often each target may be written. */
interface Pace {
  /** When (monotonic) it may be. */
  dueAt(path: string): number;
  wrote(path: string): void;
  /** Forgets those that were left alone. */
  settle(): void;
}

function createPace(clock: Clock): Pace {
  const writes = new Map<string, { readonly count: number; readonly at: number; readonly dueAt: number }>();
  const isCalm = (at: number): boolean => clock.monotonic() - at > calmAfterMs;
  return {
    dueAt: (path) => writes.get(path)?.dueAt ?? 0,
    wrote(path) {
      const last = writes.get(path);
      const at = clock.monotonic();
      const count = last === undefined || isCalm(last.at) ? 1 : last.count + 1;
      writes.set(path, { count, at, dueAt: at + backoff(count, retryAfter) });
    },
    settle() {
      for (const [path, { at }] of writes) if (isCalm(at)) writes.delete(path);
    },
  };
}

interface Fault {
  readonly target: Target;
  readonly error: unknown;
}

const parallel = 8;

async function inParallel(targets: readonly Target[], work: (target: Target) => Promise<void>): Promise<readonly Fault[]> {
  const queue = [...targets];
  const faults: Fault[] = [];
  const worker = async (): Promise<void> => {
    for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
      try {
        await work(target);
      } catch (error) {
        faults.push({ target, error });
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return faults;
}
