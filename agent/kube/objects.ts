// Writes of objects: server-side apply of what is ours in an object, and patches of one version of it. Used by signet ca.
// Promises: a patch changes the version that it was made for, or fails with `conflict`. Throws like `KubeClient.request`.

import { SignetError, kindOf } from '../runtime/errors.js';
import type { KubeClient, KubeObject } from './client.js';

/** Who the fields that we write belong to (managedFields). */
const fieldManager = 'signet-ca';

export interface Apply {
  /** Of the object itself. It is created when there is none; the right for that can be limited to its name, unlike that of a POST. */
  readonly path: string;
  /** Our fields of the object, with apiVersion, kind and metadata.name. */
  readonly object: KubeObject;
  /** Default: `signet-ca`. */
  readonly manager?: string;
  /** Whether fields that others hold with other values become ours. Else that is a `conflict`. Default true. */
  readonly force?: boolean;
}

/** Server-side apply. The answer is the whole object. */
export async function applyObject(client: KubeClient, apply: Apply, signal: AbortSignal): Promise<KubeObject> {
  const { path, object, manager = fieldManager, force = true } = apply;
  const query = { fieldManager: manager, force };
  // JSON is YAML.
  const contentType = 'application/apply-patch+yaml';
  return (await client.request({ method: 'PATCH', path, query, body: object, contentType }, signal)) as KubeObject;
}

/** RFC 6902. `add` replaces a member that is there. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'move'; readonly from: string; readonly path: string }
  | { readonly op: 'remove'; readonly path: string };

export interface Patch {
  /** Of the object itself. */
  readonly path: string;
  /** What of it is patched, such as `status`; it is never read. Default: the object. */
  readonly subresource?: string;
  /** resourceVersion that the patch was made for. */
  readonly version: string;
  readonly operations: readonly PatchOperation[];
}

/** Patches an object that still is of the given version. Takes the right to get it, beside the one to patch. */
export async function patchObject(client: KubeClient, patch: Patch, signal: AbortSignal): Promise<KubeObject> {
  const { path, subresource, version, operations } = patch;
  const target = subresource === undefined ? path : `${path}/${subresource}`;
  const body = [{ op: 'replace', path: '/metadata/resourceVersion', value: version }, ...operations];
  const contentType = 'application/json-patch+json';
  try {
    return (await client.request({ method: 'PATCH', path: target, query: { fieldManager }, body, contentType }, signal)) as KubeObject;
  } catch (cause) {
    // The server applies operations before it compares versions: one that does not fit what is there now is invalid to it.
    if (kindOf(cause) !== 'invalid') throw cause;
    const current = (await client.request({ path }, signal)) as KubeObject;
    if (current.metadata?.resourceVersion === version) throw cause;
    throw new SignetError('conflict', 'the object has changed since it was read', { cause, fields: { path } });
  }
}
