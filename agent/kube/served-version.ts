// Which version of an API group serves a resource. Used by those who can speak several.

import { SignetError } from '../runtime/errors.js';
import type { KubeClient } from './client.js';

/** The first of these versions in which the API server has the resource; undefined: none. Throws like `KubeClient.request`. */
export async function findServedVersion<V extends string>(
  client: KubeClient,
  group: string,
  resource: string,
  versions: readonly V[],
  signal: AbortSignal,
): Promise<V | undefined> {
  for (const version of versions) {
    const found = await client.request({ path: `/apis/${group}/${version}` }, signal).catch((error: unknown) => {
      if (error instanceof SignetError && error.kind === 'notFound') return undefined;
      throw error;
    });
    const { resources } = (found ?? {}) as { resources?: unknown };
    if (Array.isArray(resources) && resources.some((each: { name?: unknown } | null) => each?.name === resource)) return version;
  }
  return undefined;
}
