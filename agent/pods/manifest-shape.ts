// One Kubernetes object, as a manifest or the Kubernetes API has it, to the fields that Signet keeps.
// Called by manifest.ts for each document of a pods file; pure. Faults are `invalid` errors with the path of the field.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { isNamespace, isServiceAccount } from '../identity/spiffe-id.js';
import { SignetError } from '../runtime/errors.js';
import type { Pod } from './pod.js';
import { dataplaneModeLabel } from './pod.js';

/** One object of a document, in the order of the file. */
export type ManifestObject = { readonly path: readonly string[] } & (
  | { readonly kind: 'pod'; readonly pod: Pod; /** spec.nodeName, where it has one. */ readonly node: string | undefined }
  | { readonly kind: 'namespace'; readonly name: string; readonly dataplaneMode: string | undefined }
  | { readonly kind: 'other'; readonly name: string }
);

const must = (be: string) => ({
  error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is missing' : `must be ${be}`),
});
const nameFault = 'is not a valid name (lower-case letters, digits, "-" and ".")';
const namespaceFault = 'is not a valid namespace (lower-case letters, digits and "-")';

const object = <S extends z.core.$ZodLooseShape>(shape: S) => z.object(shape, must('a mapping'));
const list = <S extends z.core.$ZodType>(item: S) => z.nullish(z.array(item, must('a list')));
const text = () => z.string(must('a string'));
// Names of pods are subdomains (RFC 1123), as those of service accounts are.
const name = () => text().check(z.refine(isServiceAccount, nameFault));
const orEmpty = (isValid: (text: string) => boolean, fault: string) =>
  z.nullish(text().check(z.refine((value) => value === '' || isValid(value), fault)));
const labels = () => z.nullish(z.record(z.string(), text(), must('a mapping of strings')));
const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

const typeShape = object({ apiVersion: text(), kind: text() });
const listShape = object({ items: list(z.unknown()) });
const namespaceShape = object({ metadata: object({ name: name(), labels: labels() }) });
const podShape = object({
  metadata: object({
    name: name(),
    namespace: orEmpty(isNamespace, namespaceFault),
    uid: z.nullish(text().check(z.regex(/^[A-Za-z0-9-]{0,128}$/, 'is not a valid uid'))),
    labels: labels(),
    annotations: labels(),
    ownerReferences: list(object({ kind: text() })),
  }),
  spec: z.nullish(
    object({
      serviceAccountName: orEmpty(isServiceAccount, nameFault),
      serviceAccount: orEmpty(isServiceAccount, nameFault),
      nodeName: z.nullish(text()),
      hostNetwork: z.nullish(z.boolean(must('true or false'))),
    }),
  ),
  status: z.nullish(object({ phase: z.nullish(z.enum(phases, must(`one of ${phases.join(', ')}`))) })),
});

/** The objects of one document: itself, or the items of a List. Throws at the first fault. */
export function readManifest(value: unknown): readonly ManifestObject[] {
  const { apiVersion, kind } = check(typeShape, value, []);
  if (apiVersion === 'v1' && (kind === 'List' || kind === 'PodList' || kind === 'NamespaceList')) {
    const items = check(listShape, value, []).items ?? [];
    // The API server leaves kind and apiVersion out of the items of a typed list.
    const defaults = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
    return items.map((item, index) => readObject(isMapping(item) ? { ...defaults, ...item } : item, ['items', String(index)]));
  }
  return [readObject(value, [])];
}

function readObject(value: unknown, path: readonly string[]): ManifestObject {
  const { apiVersion, kind } = check(typeShape, value, path);
  if (apiVersion === 'v1' && kind === 'Pod') return { path, ...readPod(value, path) };
  if (apiVersion === 'v1' && kind === 'Namespace') {
    const { metadata } = check(namespaceShape, value, path);
    return { path, kind: 'namespace', name: metadata.name, dataplaneMode: metadata.labels?.[dataplaneModeLabel] };
  }
  return { path, kind: 'other', name: kind };
}

function readPod(value: unknown, path: readonly string[]) {
  const { metadata, spec, status } = check(podShape, value, path);
  // An empty text means the default, as it does to Kubernetes.
  const namespace = metadata.namespace || 'default';
  const annotations = metadata.annotations ?? {};
  const source = annotations['kubernetes.io/config.source'] ?? 'api';
  const pod: Pod = {
    uid: metadata.uid || uidFromName(namespace, metadata.name),
    namespace,
    name: metadata.name,
    serviceAccount: spec?.serviceAccountName || spec?.serviceAccount || 'default',
    phase: status?.phase ?? 'Running',
    labels: metadata.labels ?? {},
    hostNetwork: spec?.hostNetwork ?? false,
    // The API server's copy of a static pod, or the static pod itself as the kubelet lists it.
    mirror:
      source !== 'api' ||
      annotations['kubernetes.io/config.mirror'] !== undefined ||
      (metadata.ownerReferences ?? []).some((owner) => owner.kind === 'Node'),
  };
  return { kind: 'pod' as const, pod, node: spec?.nodeName || undefined };
}

/** A UUID that stays the same over restarts: version 8, made of a hash of the name (RFC 9562 §5.8). */
function uidFromName(namespace: string, name: string): string {
  const hash = createHash('sha256').update(`${namespace}/${name}`).digest('hex');
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, variant + hash.slice(17, 20), hash.slice(20, 32)].join('-');
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function check<S extends z.ZodMiniType>(shape: S, value: unknown, path: readonly string[]): z.output<S> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = [...path, ...(issue?.path ?? []).map(String)];
  throw new SignetError('invalid', 'manifest is not valid', {
    fields: { path: at, fault: `${at.length === 0 ? 'the manifest' : at.join('.')} ${issue?.message}` },
  });
}
