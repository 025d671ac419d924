// Roots from objects of the cluster: a key of a ConfigMap, or ClusterTrustBundles. Used by agent.ts.
// Promises: changes arrive by watch; an object that is gone, broken or out of reach changes nothing but the reason.

import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject, Query } from '../kube/client.js';
import type { Reflector } from '../kube/reflector.js';
import { createReflector } from '../kube/reflector.js';
import { findTrustBundleVersion, followServed } from '../kube/served-version.js';
import type { Metrics } from '../metrics.js';
import { SignetError, describeError, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { WatchedValue } from '../runtime/watched.js';
import type { RootSource } from '../trust-bundle.js';
import { readRoots } from '../trust-bundle.js';
import type { Certificate } from '../x509/certificate.js';
import { isSameList } from '../x509/certificate.js';

export interface ClusterRootOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface ConfigMapRootOptions extends ClusterRootOptions {
  readonly namespace: string;
  readonly name: string;
  /** Of the PEM in its data. */
  readonly key: string;
}

/** Roots from one key of a ConfigMap. The right that it takes can be limited to the name. */
export function createConfigMapRootSource(options: ConfigMapRootOptions): RootSource {
  const { namespace, name, key, ...shared } = options;
  const label = `configmap ${namespace}/${name}`;
  return createObjectRootSource(label, shared, async () =>
    reflect(shared, label, {
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      query: { fieldSelector: `metadata.name=${name}` },
      resource: 'configmaps',
      project: ({ data }) => textIn(data, key),
    }),
  );
}

export interface ClusterTrustBundleOptions extends ClusterRootOptions {
  /** Of one object, or a signer, of which all objects count. */
  readonly select: { readonly name: string } | { readonly signerName: string };
}

/** Roots from ClusterTrustBundles, v1 (Kubernetes 1.37) or v1beta1 (1.33), whichever is served. */
export function createClusterTrustBundleSource({ select, ...shared }: ClusterTrustBundleOptions): RootSource {
  const [field, value] = 'name' in select ? ['metadata.name', select.name] : ['spec.signerName', select.signerName];
  const label = `clustertrustbundle ${value}`;
  return createObjectRootSource(label, shared, async (signal) => {
    const version = await findTrustBundleVersion(shared.client, signal);
    if (version === undefined) return undefined;
    return reflect(shared, label, {
      path: `/apis/certificates.k8s.io/${version}/clustertrustbundles`,
      query: { fieldSelector: `${field}=${value}` },
      resource: 'clustertrustbundles',
      project: ({ spec }) => textIn(spec, 'trustBundle'),
      endsWhenGone: true,
    });
  });
}

interface Objects {
  readonly path: string;
  readonly query: Query;
  readonly resource: string;
  /** The PEM in an object. */
  readonly project: (object: KubeObject) => string | undefined;
  readonly endsWhenGone?: boolean;
}

function reflect({ client, clock, log, metrics }: ClusterRootOptions, label: string, objects: Objects): Reflector<string> {
  return createReflector({ ...objects, client, unread: unread(label), clock, log, metrics });
}

const unread = (label: string): Reason => ({ code: 'bundle-missing', detail: `${label}: not read yet` });

const retryAfter = { minMs: 2_000, maxMs: 60_000 };

/** Roots from the texts that a reflector keeps; `open` finds out what to reflect, undefined: the API server has no such objects. */
function createObjectRootSource(
  label: string,
  { clock, log, metrics }: ClusterRootOptions,
  open: (signal: AbortSignal) => Promise<Reflector<string> | undefined>,
): RootSource {
  const roots = new WatchedValue<readonly Certificate[] | undefined>(undefined, isSameList);
  const reason = new WatchedValue<Reason | undefined>(unread(label), isDeepStrictEqual);

  const take = (texts: readonly string[]): void => {
    try {
      if (texts.length === 0) throw new SignetError('notFound', 'there is no such object or key', { reason: 'bundle-missing' });
      roots.set(texts.flatMap((text) => readRoots(Buffer.from(text), label)));
      reason.set(undefined);
      metrics.reloads.inc({ file: 'roots', result: 'ok' });
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      reason.set({ code: error.reason === 'bundle-missing' ? 'bundle-missing' : 'bundle-invalid', detail: `${label}: ${error.message}` });
      metrics.reloads.inc({ file: 'roots', result: error.kind });
      log.warn('cannot use roots of the cluster, keeping the last good ones', { source: label, ...errorFields(error) });
    }
  };
  const follow = async (reflector: Reflector<string>, signal: AbortSignal): Promise<void> => {
    const round = new AbortController();
    let taken: string | undefined;
    reflector.snapshot.subscribe(({ objects, complete, reason: fault }) => {
      const texts = [...objects.values()].sort();
      const content = JSON.stringify(texts);
      if (fault !== undefined) {
        reason.set(fault.code === 'bundle-missing' ? fault : { code: fault.code, detail: `${label}: ${fault.detail}` });
        // Whatever it was, the same content has to be looked at again to take the reason back.
        taken = undefined;
      } else if (complete && content !== taken) {
        taken = content;
        take(texts);
      }
    }, round.signal);
    await reflector.run(signal).finally(() => round.abort());
  };
  const onMissing = (error: unknown): void => {
    if (error === undefined) reason.set({ code: 'bundle-unserved', detail: `${label}: this api server has no clustertrustbundles` });
    else reason.set({ code: reasonOf(error) ?? 'bundle-missing', detail: `${label}: ${describeError(error)}` });
  };
  return {
    name: label,
    roots,
    reason,
    run: (signal) => followServed({ find: open, use: follow, onMissing, pause: retryAfter, clock }, signal),
  };
}

function textIn(value: unknown, key: string): string | undefined {
  const text =
    typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}
