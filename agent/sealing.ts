// The wiring of what survives a restart: what the state is bound to, and where what was restored goes. Called by agent.ts.
// No logic of its own.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeptRoots } from './cache/kept-roots.js';
import { restoreSvids } from './cache/restore-svids.js';
import { openSealedState } from './cache/sealed-state.js';
import type { SvidCache } from './cache/svid-cache.js';
import { svidOf } from './cache/svid-state.js';
import type { Config, Environment } from './config.js';
import { accountTokenFile } from './kube/credentials.js';
import { readNodeUid } from './kube/node-uid.js';
import type { Metrics } from './metrics.js';
import type { AmbientNamespaces } from './pods/ambient-namespaces.js';
import type { IdentityIndex } from './pods/identity-index.js';
import type { KnownPod } from './pods/pod.js';
import type { Logger } from './runtime/log.js';
import type { Reason } from './runtime/reasons.js';
import type { Clock } from './runtime/time.js';
import type { Watched } from './runtime/watched.js';
import type { RootSource } from './trust-bundle.js';
import type { Svid } from './x509/svid.js';

export interface SealingOptions {
  readonly config: Config;
  /** For the directory of credentials that systemd gives. */
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface Sealing {
  readonly pods: readonly KnownPod[];
  readonly namespaces: readonly string[] | undefined;
  /** Why nothing is sealed. */
  readonly reason: Watched<Reason | undefined>;
  /** The source with its roots from before the restart, until it has read its own. What it gives is sealed from now on. */
  keepRoots(this: void, source: RootSource): RootSource;
  /** The certificates that chain to these sources. Called once: the keys belong to the caller. */
  svids(sources: readonly RootSource[]): ReadonlyMap<string, Svid>;
  /** Seals what changes until the signal aborts. */
  run(owners: Owners, signal: AbortSignal): Promise<void>;
}

/** Of what is sealed beside the roots. */
export interface Owners {
  readonly index: Pick<IdentityIndex, 'known' | 'pods'>;
  readonly cache: Pick<SvidCache, 'states' | 'changes'>;
  readonly namespaces: Pick<AmbientNamespaces, 'names'> | undefined;
}

/** The name of the credential in a unit: `LoadCredential=signet-state-key:…`. */
const credentialName = 'signet-state-key';

export function openSealing({ config, env, clock, log, metrics }: SealingOptions): Sealing {
  const { state, node, trustDomain } = config;
  const tokenFiles = config.upstreams.flatMap((upstream) => (upstream.kind === 'istio' ? (upstream.tokenFile ?? []) : []));
  const sealed = openSealedState({
    enabled: state.sealed,
    directory: state.directory,
    credential: findCredential(env),
    binding: {
      bootId: readBootId(),
      nodeUid: readNodeUid([accountTokenFile, ...tokenFiles]) ?? '',
      node,
      trustDomain,
    },
    clock,
    log,
    metrics,
  });
  const { restored, reason } = sealed;
  const roots = createKeptRoots(restored.roots);
  return {
    pods: restored.pods,
    namespaces: restored.namespaces,
    reason,
    keepRoots: roots.keep,
    svids(sources) {
      const svids = restoreSvids(restored.svids, { roots: roots.anchors(sources), now: clock.now(), log });
      metrics.restored.set(svids.size);
      if (restored.pods.length > 0)
        log.info('what was sealed before is served again', { pods: restored.pods.length, certificates: svids.size });
      return svids;
    },
    run({ index, cache, namespaces }, signal) {
      const names = namespaces === undefined ? [] : [namespaces.names];
      return sealed.run(
        [cache.changes, index.pods, ...names, ...roots.sources.map((source) => source.roots)],
        () => ({
          pods: index.known(),
          namespaces: namesIn(namespaces),
          roots: roots.known(),
          svids: [...cache.states().values()].flatMap((state) => svidOf(state) ?? []),
        }),
        signal,
      );
    },
  };
}

function namesIn(namespaces: Owners['namespaces']): readonly string[] | undefined {
  const { value = 'unread' } = namespaces?.names ?? {};
  return value === 'unread' ? undefined : [...value];
}

/** Empty where it is hidden, as a unit with ProcSubset=pid has it (systemd.exec(5)). */
function readBootId(): string {
  const path = '/proc/sys/kernel/random/boot_id';
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
}

/** The credential of the unit, if it has one (systemd.exec(5), LoadCredential=). */
function findCredential({ CREDENTIALS_DIRECTORY: directory }: Environment): string | undefined {
  const path = directory === undefined ? undefined : join(directory, credentialName);
  return path !== undefined && existsSync(path) ? path : undefined;
}
