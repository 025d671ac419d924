// The settings that say where pods and roots come from: their shapes, and the zod schemas that read them.
// Used by the table of settings; the shapes are also the types of what the wiring is given.

import * as z from 'zod/mini';
import { isNamespace, isServiceAccount } from '../identity/spiffe-id.js';
import type { Kind, Schema } from './kinds.js';
import { checkedText, expected } from './kinds.js';
import { fileOnly, fileSource, mapping, notEmpty, pathSchema } from './lists.js';
import type { FileSource } from './lists.js';

export interface ApiServerSource {
  readonly kind: 'apiserver';
  /** `node`: as this node, by impersonation. Default `own`: as the credential says. */
  readonly as?: 'own' | 'node';
}

/** Reached and verified as pods.kubelet says. */
export interface KubeletSource {
  readonly kind: 'kubelet';
}

export interface KubeletPodsApiSource {
  readonly kind: 'kubelet-pods-api';
  /** Default: where the kubelet has it. */
  readonly socket?: string;
}

export interface AutoSource {
  readonly kind: 'auto';
}

export type PodSourceSettings = FileSource | ApiServerSource | KubeletSource | KubeletPodsApiSource | AutoSource;

export function podSources(): Kind<PodSourceSettings[]> {
  const allowed = 'a list of sources: {kind: auto, apiserver, kubelet, kubelet-pods-api or file, …}';
  const apiServer = () =>
    mapping({ kind: z.literal('apiserver'), as: z.exactOptional(z.enum(['own', 'node'], expected('own or node'))) }, 'a source');
  const kubelet = () => mapping({ kind: z.literal('kubelet') }, 'a source');
  const podsApi = () => mapping({ kind: z.literal('kubelet-pods-api'), socket: z.exactOptional(pathSchema()) }, 'a source');
  const auto = () => mapping({ kind: z.literal('auto') }, 'a source');
  const source = () =>
    z.discriminatedUnion(
      'kind',
      [fileSource(), apiServer(), kubelet(), podsApi(), auto()],
      expected('auto, apiserver, kubelet, kubelet-pods-api or file'),
    );
  return fileOnly(() => z.array(source(), expected(allowed)).check(notEmpty(allowed)), allowed);
}

/** The roots of the built-in CA. */
export interface IssuerSource {
  readonly kind: 'issuer';
}

export interface ConfigMapSource {
  readonly kind: 'configmap';
  readonly namespace: string;
  readonly name: string;
  /** Default `root-cert.pem`. */
  readonly key?: string;
}

export interface ClusterTrustBundleSource {
  readonly kind: 'cluster-trust-bundle';
  /** One object. */
  readonly name?: string;
  /** All objects of a signer. */
  readonly signerName?: string;
}

/** Roots that do not come from this process. */
export type OutsideRoots = FileSource | ConfigMapSource | ClusterTrustBundleSource;

export type RootSourceSettings = OutsideRoots | IssuerSource;

export const signerText = 'the name of a signer, such as example.com/ca';
export const isSignerName = (text: string): boolean => /^[a-z0-9.-]{1,253}\/[A-Za-z0-9._/-]{1,253}$/.test(text);

function configMapSchema() {
  return mapping(
    {
      kind: z.literal('configmap'),
      namespace: checkedText('the name of a namespace', isNamespace),
      name: checkedText('the name of a ConfigMap', isServiceAccount),
      key: z.exactOptional(checkedText('a key of a ConfigMap', (text) => /^[-._A-Za-z0-9]{1,253}$/.test(text))),
    },
    'a source',
  );
}

function clusterTrustBundleSchema() {
  return mapping(
    {
      kind: z.literal('cluster-trust-bundle'),
      name: z.exactOptional(checkedText('the name of a ClusterTrustBundle', (text) => /^[a-z0-9.:-]{1,253}$/.test(text))),
      signerName: z.exactOptional(checkedText(signerText, isSignerName)),
    },
    'a source',
  ).check(
    z.refine((source) => (source.name === undefined) !== (source.signerName === undefined), {
      error: 'must have either name or signerName',
    }),
  );
}

export function outsideRootsSchema(): Schema<OutsideRoots> {
  const allowed = '{kind: file, path}, {kind: configmap, namespace, name, key} or {kind: cluster-trust-bundle, name or signerName}';
  return z.discriminatedUnion('kind', [fileSource(), configMapSchema(), clusterTrustBundleSchema()], expected(allowed));
}

export function rootSources(): Kind<RootSourceSettings[]> {
  const allowed =
    'a list of sources: {kind: file, path}, {kind: issuer}, {kind: configmap, namespace, name, key} or {kind: cluster-trust-bundle, name or signerName}';
  const issuer = () => mapping({ kind: z.literal('issuer') }, 'a source');
  const source = () =>
    z.discriminatedUnion(
      'kind',
      [fileSource(), issuer(), configMapSchema(), clusterTrustBundleSchema()],
      expected('file, issuer, configmap or cluster-trust-bundle'),
    );
  return fileOnly(() => z.array(source(), expected(allowed)).check(notEmpty(allowed)), allowed);
}
