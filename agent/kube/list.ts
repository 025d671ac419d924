// All objects at one path of the API, page by page. Used by kube/reflector.ts.

import type { KubeClient, KubeObject, Query } from './client.js';
import { invalidAnswer, isVersionUnusable } from './status.js';

export interface ListRequest {
  readonly path: string;
  readonly query?: Query;
  /** The newest there is, instead of what the server has at hand, which costs it less. */
  readonly newest: boolean;
}

export interface Listed {
  readonly items: readonly KubeObject[];
  readonly version: string | undefined;
}

const pageSize = 500;

/** More pages than this are a server that goes in circles. */
const maxPages = 1_000;

const listDeadlineMs = 30_000;

/** Throws like `KubeClient.request`. */
export async function listAll(client: KubeClient, { path, query = {}, newest }: ListRequest, signal: AbortSignal): Promise<Listed> {
  const start: Query = newest ? {} : { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' };
  const items: KubeObject[] = [];
  let position: Query = { ...start, limit: pageSize };
  for (let page = 1; page <= maxPages; page += 1) {
    const answer = await client
      .request({ path, query: { ...query, ...position }, deadlineMs: listDeadlineMs }, signal)
      // The rest of the pages is of a version that is gone: all of it once more, in one piece.
      .catch(async (error: unknown) => {
        if (page === 1 || !isVersionUnusable(error)) throw error;
        items.length = 0;
        return await client.request({ path, query: { ...query, ...start }, deadlineMs: listDeadlineMs }, signal);
      });
    const read = readPage(answer);
    items.push(...read.items);
    if (read.continue === '') return { items, version: read.version };
    position = { limit: pageSize, continue: read.continue };
  }
  throw invalidAnswer('kube', 'the list does not end');
}

function readPage(answer: unknown): Listed & { readonly continue: string } {
  const list = answer as { items?: unknown; metadata?: { resourceVersion?: unknown; continue?: unknown } } | null;
  // Go writes `items: null` for a list that has none.
  const items = typeof list === 'object' && list?.items === null ? [] : list?.items;
  if (!Array.isArray(items)) throw invalidAnswer('kube', 'the answer is not a list');
  const { resourceVersion, continue: next } = list?.metadata ?? {};
  return {
    items: items.filter((item): item is KubeObject => typeof item === 'object' && item !== null),
    version: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    continue: typeof next === 'string' ? next : '',
  };
}
