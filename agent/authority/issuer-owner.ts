// The issuer of the CA in a Secret: opened at start, made there when there is none, followed afterwards. Wired by the server.
// Promises: replicas that start at once agree on one issuer; no leaf is signed that the published roots do not verify; a faulty
// Secret is told and the issuer from before stays in use; a replica that cannot follow the Secret for long stops signing.

import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../kube/client.js';
import type { LeaseOptions } from '../kube/lease.js';
import { leasePath } from '../kube/lease.js';
import { applyObject, patchObject } from '../kube/objects.js';
import type { ReflectorOptions } from '../kube/reflector.js';
import { createReflector } from '../kube/reflector.js';
import { SignetError, describeError, isRetryable, kindOf, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields, reasonFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff, formatInstant, sleep } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { isSameList } from '../x509/certificate.js';
import { certificateFields } from '../x509/chain.js';
import type { Issuer } from '../x509/issuer.js';
import { generateIssuer, issuerLifetimeMs } from '../x509/self-signed.js';
import type { IssuerSecret } from './issuer-secret.js';
import { createSecretData, operationsTo, readIssuerSecret } from './issuer-secret.js';
import { publishedRoots, takeStep, without } from './rotation.js';

export interface SecretIssuerOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Of the Secret. */
  readonly name: string;
  /** Of the replicas; one that exists shows that there was an issuer before. */
  readonly lease: Pick<LeaseOptions, 'namespace' | 'name' | 'durationMs'>;
  readonly trustDomain: string;
  /** The longest life that this CA gives a leaf, in ms. */
  readonly leafLifetimeMs: number;
  /** Of an issuer that is made here, in ms. Default ten years. */
  readonly issuerLifetimeMs?: number;
  /**
   * How long a replica may sign by what it last read of the Secret, in ms: half of it without contact, the other half is for a
   * watch that died without a word, which is found in 5 min (kube/reflector.ts). Rotations wait that much longer. Default 30 min.
   */
  readonly lagMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReflectorOptions<unknown>['metrics'];
}

export interface SecretIssuer {
  readonly issuer: Watched<Issuer>;
  /** The issuer's roots first, then those that come and go. Changes before `issuer` does. */
  readonly roots: Watched<readonly Certificate[]>;
  /** Why the Secret is not what is in use. */
  readonly reason: Watched<Reason | undefined>;
  /** What the Secret says, for whoever rotates. */
  readonly secret: Watched<IssuerSecret>;
  /** Roots that were published and that the Secret lacks, since somebody put an older copy of it back; published until it has them. */
  readonly lost: Watched<readonly Certificate[]>;
  run(signal: AbortSignal): Promise<void>;
}

export const defaultLagMs = 30 * 60_000;

export function secretPath({ namespace, name }: Pick<SecretIssuerOptions, 'namespace' | 'name'>): string {
  return `/api/v1/namespaces/${namespace}/secrets/${name}`;
}

const retryAfter = { minMs: 1_000, maxMs: 30_000 };

/** The issuer in the Secret, made there when there is none. Waits for the API server; throws what waiting does not mend. */
export async function openIssuerSecret(options: SecretIssuerOptions, signal: AbortSignal): Promise<IssuerSecret> {
  const { clock, log, namespace, name } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(options, signal);
    } catch (error) {
      // A conflict: another replica wrote in between, so look again.
      const isConflict = kindOf(error) === 'conflict';
      if (signal.aborted || !(isConflict || isRetryable(error))) throw error;
      if (attempt === 1 && !isConflict)
        log.warn('cannot open the secret of the issuer yet', { secret: `${namespace}/${name}`, ...errorFields(error) });
      await sleep(clock, backoff(attempt, retryAfter), signal);
    }
  }
}

async function open(options: SecretIssuerOptions, signal: AbortSignal): Promise<IssuerSecret> {
  const { client, clock, log, leafLifetimeMs, lagMs = defaultLagMs } = options;
  const path = secretPath(options);
  const found = (await find(client, path, signal)) ?? (await create(options, signal));
  const secret = readIssuerSecret(found, clock.now());
  if (secret.state.longestLifetimeMs >= leafLifetimeMs) return secret;
  // Before the first leaf of that life: a rotation has to wait for it.
  const noted = takeStep(secret.state, 'note', clock.now(), { confirmed: undefined, leafLifetimeMs, lagMs });
  try {
    const patch = { path, version: secret.version, operations: operationsTo(secret, noted) };
    return readIssuerSecret(await patchObject(client, patch, signal), clock.now());
  } catch (error) {
    if (kindOf(error) !== 'denied') throw error;
    log.warn('the secret of the issuer may not be written, and so not rotated', errorFields(error));
    return secret;
  }
}

async function find(client: KubeClient, path: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  return (await client.request({ path }, signal).catch((error: unknown) => {
    if (kindOf(error) !== 'notFound') throw error;
  })) as KubeObject | undefined;
}

/** Of several replicas that do this at once one succeeds; the others get a conflict over the key. */
async function create(options: SecretIssuerOptions, signal: AbortSignal): Promise<KubeObject> {
  const { client, namespace, name, trustDomain, lease, issuerLifetimeMs: lifetimeMs = issuerLifetimeMs, clock, log } = options;
  if ((await find(client, leasePath(lease), signal)) !== undefined) {
    // A replica makes the Lease after the Secret: it may have done both since we looked. Else a new issuer, which nobody trusts,
    // would take the place of one that was lost.
    const made = await find(client, secretPath(options), signal);
    if (made !== undefined) return made;
    throw new SignetError('notFound', 'the secret of the issuer is gone: restore it, or delete the lease of the ca to begin anew', {
      reason: 'issuer-unreadable',
      fields: { secret: `${namespace}/${name}`, lease: `${lease.namespace}/${lease.name}` },
    });
  }
  const { certificate, privateKeyPem } = await generateIssuer({ trustDomain, now: clock.now(), lifetimeMs });
  try {
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name, namespace, labels: { 'app.kubernetes.io/managed-by': 'signet-ca' } },
      data: createSecretData(certificate, privateKeyPem),
    };
    // A manager of its own: only fields of others can be in conflict.
    const manager = `signet-ca-${randomBytes(8).toString('hex')}`;
    const created = await applyObject(client, { path: secretPath(options), object, manager, force: false }, signal);
    log.info('made an issuer', { secret: `${namespace}/${name}`, ...certificateFields(certificate) });
    return created;
  } finally {
    privateKeyPem.fill(0);
  }
}

/** What a version of the Secret holds. */
interface Reading {
  readonly version: string;
  readonly secret?: IssuerSecret;
  readonly fault?: Reason;
}

export function createSecretIssuer(options: SecretIssuerOptions & { readonly initial: IssuerSecret }): SecretIssuer {
  const { client, namespace, name, initial, lagMs = defaultLagMs, clock, log, metrics } = options;
  const label = `secret ${namespace}/${name}`;
  /** Since when (monotonic) the Secret cannot be followed. */
  let lostAt: number | undefined;

  /** The issuer, as long as it is sure to be the one of the Secret. */
  const fenced = (issuer: Issuer): Issuer => ({
    ...issuer,
    sign: async (data) => {
      if (lostAt === undefined || clock.monotonic() - lostAt < lagMs / 2) return await issuer.sign(data);
      throw new SignetError('unavailable', 'the secret of the issuer could not be followed for too long', { reason: 'issuer-stale' });
    },
  });
  const secret = new WatchedValue(initial, (a, b) => a.version === b.version);
  const issuer = new WatchedValue(fenced(initial.issuer));
  const roots = new WatchedValue(publishedRoots(initial.state), isSameList);
  const lost = new WatchedValue<readonly Certificate[]>([], isSameList);
  const reason = new WatchedValue<Reason | undefined>(undefined, isDeepStrictEqual);

  const take = (next: IssuerSecret): void => {
    const before = secret.value.issuer;
    const published = publishedRoots(next.state);
    if (next.generation < secret.value.generation) {
      log.warn('an older copy of the secret of the issuer was put back', { generation: next.generation, before: secret.value.generation });
      lost.set(without(roots.value, published));
    } else {
      lost.set(without(lost.value, published));
    }
    secret.set(next);
    roots.set([...published, ...lost.value]);
    if (isSameList(partsOf(before), partsOf(next.issuer))) return;
    issuer.set(fenced(next.issuer));
    log.info('issuer changed', { ...certificateFields(next.issuer.certificate), notAfter: formatInstant(next.issuer.notAfter) });
  };
  const onReading = (reading: Reading | undefined): void => {
    if (reading?.secret !== undefined) {
      take(reading.secret);
      reason.set(undefined);
      return;
    }
    const fault: Reason = reading?.fault ?? { code: 'issuer-unreadable', detail: `${label} is gone` };
    if (isDeepStrictEqual(fault, reason.value)) return;
    reason.set(fault);
    log.warn('the secret of the issuer has a fault, the issuer from before stays in use', reasonFields(fault));
  };

  return {
    issuer,
    roots,
    reason,
    secret,
    lost,
    async run(signal) {
      const reflector = createReflector<Reading>({
        client,
        path: `/api/v1/namespaces/${namespace}/secrets`,
        query: { fieldSelector: `metadata.name=${name}` },
        resource: 'secrets',
        project: (object) => readVersion(object, label, clock),
        unread: { code: 'issuer-stale', detail: `${label}: not read yet` },
        clock,
        log,
        metrics,
      });
      reflector.snapshot.subscribe(({ objects, complete, reason: lost }) => {
        lostAt = lost === undefined ? undefined : (lostAt ?? clock.monotonic());
        if (lost !== undefined) reason.set(lost);
        else if (complete) onReading([...objects.values()][0]);
      }, signal);
      await reflector.run(signal);
    },
  };
}

function readVersion(object: KubeObject, label: string, clock: Clock): Reading {
  const version = object.metadata?.resourceVersion ?? '';
  try {
    return { version, secret: readIssuerSecret(object, clock.now()) };
  } catch (error) {
    const detail = `${label}: ${describeError(error)}; the issuer from before stays in use`;
    return { version, fault: { code: reasonOf(error) ?? 'issuer-unreadable', detail } };
  }
}

function partsOf({ certificate, chain, roots }: Issuer): readonly Certificate[] {
  return [certificate, ...chain, ...roots];
}
