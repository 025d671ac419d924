// Certificates for servers beside the CA, each in a Secret of kubernetes.io/tls: that of istiod, which serves by `istiod-tls` when
// it is not the CA. Run by the one replica that holds the Lease. Promises: each Secret holds a key and a certificate of the current
// issuer with the names that are wanted, renewed at half of its life, and the published roots; what others change is put back.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../kube/client.js';
import { applyObject } from '../kube/objects.js';
import type { Reflector, ReflectorOptions } from '../kube/reflector.js';
import { createReflector } from '../kube/reflector.js';
import { watchChanges } from '../runtime/bell.js';
import { describeError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { backoff } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue, joinWatched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import type { Issuer } from '../x509/issuer.js';
import { formatCertificates, readCertificates } from '../x509/pem.js';
import { createServerLeaf } from '../x509/server-leaf.js';

/** What one Secret is for. */
export interface ServingSecret {
  readonly namespace: string;
  readonly name: string;
  /** DNS names and addresses of the server. */
  readonly hosts: readonly string[];
}

export interface ServingSecretsOptions {
  readonly client: KubeClient;
  readonly secrets: readonly ServingSecret[];
  readonly issuer: Watched<Issuer>;
  readonly roots: Watched<readonly Certificate[]>;
  /** Of a certificate, in ms; not above the longest life of a leaf, which rotations go by. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReflectorOptions<unknown>['metrics'];
}

export interface ServingSecrets {
  /** Why one of them is not as it should be. */
  readonly reason: Watched<Reason | undefined>;
  run(signal: AbortSignal): Promise<void>;
}

/** What is there: undefined parts are missing or cannot be read. */
interface Held {
  /** The leaf, if the key beside it is its own. */
  readonly leaf?: Certificate;
  readonly roots?: string;
  readonly hosts?: string;
}

const hostsAnnotation = 'signet-ca/hosts';
const retryAfter = { minMs: 1_000, maxMs: 60_000 };
const lookEveryMs = 60_000;

export function createServingSecrets(options: ServingSecretsOptions): ServingSecrets {
  const reason = new WatchedValue<Reason | undefined>(undefined, isDeepStrictEqual);
  return {
    reason,
    async run(signal) {
      const faults = new Map<ServingSecret, Reason>();
      const note = (secret: ServingSecret, fault: Reason | undefined): void => {
        if (fault === undefined) faults.delete(secret);
        else faults.set(secret, fault);
        reason.set([...faults.values()][0]);
      };
      await Promise.all(options.secrets.map((secret) => keep(options, secret, (fault) => note(secret, fault), signal)));
      reason.set(undefined);
    },
  };
}

/** Keeps one Secret until the signal aborts. */
async function keep(
  options: ServingSecretsOptions,
  secret: ServingSecret,
  note: (fault: Reason | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const { issuer, roots, clock, log } = options;
  const label = `${secret.namespace}/${secret.name}`;
  const held = watchSecret(options, secret);
  const changes = watchChanges(joinWatched<unknown>([held.snapshot, issuer, roots]), clock, signal);
  const watching = held.run(signal);
  let writes = 0;
  /** How long there is nothing to do. */
  const bring = async (): Promise<number> => {
    const { objects, complete, reason: lost } = held.snapshot.value;
    if (!complete || lost !== undefined) return lookEveryMs;
    const rest = restOf([...objects.values()][0], secret, options);
    if (rest > 0) {
      writes = 0;
      note(undefined);
      return Math.min(rest, lookEveryMs);
    }
    writes += 1;
    try {
      await write(options, secret, signal);
      log.info('serving certificate of another server is new', { secret: label, hosts: secret.hosts });
    } catch (error) {
      if (signal.aborted) return 0;
      note({ code: 'roots-not-published', detail: `secret ${label}: ${describeError(error)}` });
      log.warn('cannot write a serving certificate', { secret: label, ...errorFields(error) });
    }
    // The watch brings what was written; what brings something else is met with patience.
    await changes.wait(backoff(writes, retryAfter));
    return writes === 1 ? 0 : backoff(writes, retryAfter);
  };
  while (!signal.aborted) await changes.wait(await bring());
  await watching;
}

function watchSecret({ client, clock, log, metrics }: ServingSecretsOptions, { namespace, name }: ServingSecret): Reflector<Held> {
  return createReflector<Held>({
    client,
    path: `/api/v1/namespaces/${namespace}/secrets`,
    query: { fieldSelector: `metadata.name=${name}` },
    resource: 'secrets',
    project: readHeld,
    unread: { code: 'roots-not-published', detail: `secret ${namespace}/${name}: not read yet` },
    clock,
    log,
    metrics,
  });
}

function readHeld({ metadata, data }: KubeObject): Held {
  const values = (data ?? {}) as Readonly<Record<string, string | undefined>>;
  const decode = (name: string): Buffer => Buffer.from(values[name] ?? '', 'base64');
  const hosts = metadata?.annotations?.[hostsAnnotation];
  const privateKey = decode('tls.key');
  try {
    const [leaf] = readCertificates(decode('tls.crt'), { source: 'tls.crt' });
    const isOwn = leaf !== undefined && createPublicKey(createPrivateKey(privateKey)).equals(leaf.publicKey);
    return { roots: decode('ca.crt').toString(), ...(isOwn ? { leaf } : {}), ...(hosts === undefined ? {} : { hosts }) };
  } catch {
    // Whatever it is, it is none of ours and is written anew.
    return {};
  } finally {
    privateKey.fill(0);
  }
}

/** How long it is good as it is, in ms. */
function restOf(held: Held | undefined, { hosts }: ServingSecret, { issuer, roots, clock }: ServingSecretsOptions): number {
  const { leaf } = held ?? {};
  const { certificate } = issuer.value;
  const isRight =
    leaf?.issuer.equals(certificate.subject) === true &&
    leaf.isSignedBy(certificate) &&
    held?.hosts === hosts.join(',') &&
    held.roots === formatCertificates(roots.value);
  return isRight ? (leaf.notBefore + leaf.notAfter) / 2 - clock.now() : 0;
}

async function write(options: ServingSecretsOptions, { namespace, name, hosts }: ServingSecret, signal: AbortSignal): Promise<void> {
  const { client, roots, clock, lifetimeMs } = options;
  const { chain, privateKey } = await createServerLeaf(options.issuer.value, hosts, clock.now(), lifetimeMs);
  try {
    const encode = (text: string): string => Buffer.from(text).toString('base64');
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name, namespace, annotations: { [hostsAnnotation]: hosts.join(',') } },
      data: {
        'tls.crt': encode(chain),
        'tls.key': privateKey.toString('base64'),
        'ca.crt': encode(formatCertificates(roots.value)),
      },
    };
    await applyObject(client, { path: `/api/v1/namespaces/${namespace}/secrets/${name}`, object }, signal);
  } finally {
    privateKey.fill(0);
  }
}
