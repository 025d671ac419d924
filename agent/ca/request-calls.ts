// The calls to the API server about request objects: put one there, look at it, follow it, remove it. No state and no retries.
// Used by ca/request-objects.ts.

import { createHash } from 'node:crypto';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { KubeObject } from '../kube/client.js';
import { listAll } from '../kube/list.js';
import { detailOf, statusOf } from '../kube/status.js';
import { SignetError } from '../runtime/errors.js';
import type { CaRequest } from './ca-client.js';
import type { RequestKind, Verdict } from './request-kind.js';
import { unserved } from './request-kind.js';

/** Where a request lies. */
export interface RequestObject {
  readonly name: string;
  readonly namespace: string;
}

/** A request as it was read; undefined: there is none. */
export interface Seen {
  readonly object: KubeObject | undefined;
  /** What a watch goes on from. */
  readonly version: string | undefined;
}

export interface RequestCalls {
  /** Throws with status 409 when it is there already. */
  create(object: RequestObject, request: CaRequest, signal: AbortSignal): Promise<Seen>;
  look(object: RequestObject, signal: AbortSignal): Promise<Seen>;
  /** What has come of it as it was seen, then after each change, until the server ends the watch. Throws, reason `request-deleted`, when it goes. */
  follow(object: RequestObject, seen: Seen, signal: AbortSignal): AsyncGenerator<Verdict, void, undefined>;
  /** Resolves too when there is none. */
  remove(object: RequestObject, signal: AbortSignal): Promise<void>;
  /** All that agents of this node made. */
  list(signal: AbortSignal): Promise<readonly RequestObject[]>;
}

const nodeLabel = 'signet-agent/node';
const idAnnotation = 'signet-agent/identity';

/** Equal for the same identity and key. */
export const requestName = (id: SpiffeId, publicKeySpki: Buffer): string => `signet-${digestOf(id.uri, publicKeySpki)}`;

/** `watchMs`: how long a watch may last. */
export function createRequestCalls(kind: RequestKind, node: string, watchMs: number): RequestCalls {
  const { reader, resource, fieldSelector = '' } = kind;
  const labels = { 'app.kubernetes.io/managed-by': 'signet-agent', [nodeLabel]: labelOf(node) };
  const collection = async ({ namespace }: RequestObject, signal: AbortSignal): Promise<string> =>
    `${await kind.group(signal)}/${kind.namespaced ? `namespaces/${namespace}/` : ''}${resource}`;
  const selectorOf = ({ name }: RequestObject): string => `metadata.name=${name}${fieldSelector === '' ? '' : `,${fieldSelector}`}`;

  return {
    async create(object, request, signal) {
      const metadata = { name: object.name, labels, annotations: { [idAnnotation]: request.id.uri } };
      const answer = await kind.create(request, await collection(object, signal), metadata, signal).catch((error: unknown) => {
        throw isUnserved(error) ? unserved(error) : error;
      });
      const created = typeof answer === 'object' && answer !== null ? (answer as KubeObject) : {};
      return { object: created, version: created.metadata?.resourceVersion };
    },
    async look(object, signal) {
      const query = { fieldSelector: selectorOf(object) };
      const { items, version } = await listAll(reader, { path: await collection(object, signal), query, newest: true }, signal);
      return { object: items[0], version };
    },
    async *follow(object, seen, signal) {
      if (seen.object === undefined) throw deleted();
      yield kind.read(seen.object);
      const query = { fieldSelector: selectorOf(object), resourceVersion: seen.version, timeoutSeconds: Math.ceil(watchMs / 1_000) };
      for await (const event of reader.watch({ path: await collection(object, signal), query, deadlineMs: watchMs }, signal)) {
        // Mostly a version that is gone: the caller looks again.
        if (event.type === 'ERROR') return;
        if (event.type === 'DELETED') throw deleted();
        if (event.type !== 'BOOKMARK') yield kind.read(event.object);
      }
    },
    async remove(object, signal) {
      const path = `${await collection(object, signal)}/${object.name}`;
      await reader.request({ method: 'DELETE', path }, signal).catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error;
      });
    },
    async list(signal) {
      const labelSelector = Object.entries(labels)
        .map((label) => label.join('='))
        .join(',');
      const path = `${await kind.group(signal)}/${resource}`;
      const { items } = await listAll(reader, { path, query: { labelSelector }, newest: true }, signal);
      return items.map(({ metadata }) => ({ name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' }));
    },
  };
}

function digestOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 40);
}

/** The value of a label holds 63 characters, the name of a node may have 253. */
const labelOf = (node: string): string => (node.length <= 63 ? node : digestOf(node));

/** Of the path, not of an object: such as the namespace, or a service account. */
const isUnserved = (error: unknown): boolean =>
  statusOf(error) === 404 && /could not find the requested resource|page not found/.test(detailOf(error));

function deleted(): SignetError {
  return new SignetError('unavailable', 'the request was deleted before it was answered', { reason: 'request-deleted' });
}
