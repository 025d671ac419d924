// May this caller have a certificate for that identity: its pod runs on this node, and it asks for its own identity or is a delegate.
// Called by the service once the token is known to be good. Refusals are SignetErrors whose reason says why; what is told of the
// node's pods is told to delegates alone, since nobody else gets an answer about another account.
// Promise: a pod that was only just scheduled is waited for, for a bounded time; nothing else is.

import type { SpiffeId } from '../identity/spiffe-id.js';
import { parseSpiffeId } from '../identity/spiffe-id.js';
import type { TokenHolder } from '../kube/token-review.js';
import type { IdentityIndex } from '../pods/identity-index.js';
import type { Pod } from '../pods/pod.js';
import { watchChanges } from '../runtime/bell.js';
import { SignetError } from '../runtime/errors.js';
import type { Fields } from '../runtime/errors.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';

export interface AdmissionOptions {
  readonly index: Pick<IdentityIndex, 'identities' | 'pods' | 'reason' | 'idOf' | 'explain'>;
  readonly node: string;
  readonly trustDomain: string;
  /** Accounts as `<namespace>/<service account>` whose pods may have any identity of their node. */
  readonly delegates: ReadonlySet<string>;
  /** How long a pod that is not seen yet is waited for, ms. */
  readonly waitMs: number;
  readonly clock: Clock;
}

/**
 * The identity that a certificate may be signed for; `requested`: the one that the call names, undefined for the caller's own. Throws
 * `unauthenticated`, `denied` or `invalid` for what is refused, `unavailable` while the pods of the node are not known.
 */
export type Admit = (holder: TokenHolder, requested: string | undefined, signal: AbortSignal) => Promise<SpiffeId>;

export function createAdmission(options: AdmissionOptions): Admit {
  const { index, node, trustDomain, delegates, waitMs, clock } = options;

  const callerPod = async (holder: TokenHolder, signal: AbortSignal): Promise<Pod> => {
    const { pod, namespace, serviceAccount } = holder;
    if (pod === undefined || pod.uid === '') throw refuse('unauthenticated', 'token-unbound');
    if (holder.node !== undefined && holder.node.name !== node)
      throw refuse('denied', 'caller-not-on-node', { callerNode: holder.node.name });
    const known = await awaited(index.pods, () => index.pods.value.get(pod.uid), signal);
    if (known === undefined) throw whyUnknown({ code: 'caller-not-on-node', detail: pod.uid });
    const differs = known.namespace !== namespace || known.serviceAccount !== serviceAccount || known.name !== pod.name;
    if (differs) throw refuse('denied', 'caller-pod-differs');
    return known;
  };

  /** Waits for the first defined value, unless the index says that it will not come. */
  const awaited = async <T>(source: Watched<unknown>, read: () => T | undefined, signal: AbortSignal): Promise<T | undefined> => {
    const end = new AbortController();
    const bell = watchChanges(source, clock, AbortSignal.any([signal, end.signal]));
    const endsAt = clock.monotonic() + waitMs;
    try {
      for (;;) {
        const value = read();
        const leftMs = endsAt - clock.monotonic();
        if (value !== undefined || leftMs <= 0 || signal.aborted) return value;
        await bell.wait(leftMs);
      }
    } finally {
      end.abort();
    }
  };

  /** An identity with a pod that is seen now. */
  const live = (uri: string): SpiffeId | undefined => {
    const found = index.identities.value.get(uri);
    return found === undefined || found.pods.length === 0 || found.restored === true ? undefined : found.id;
  };

  const onNode = async (uri: string, signal: AbortSignal): Promise<SpiffeId> => {
    const mayCome = (): boolean => index.explain(uri).code !== 'not-selected';
    const id = live(uri) ?? (mayCome() ? await awaited(index.identities, () => live(uri), signal) : undefined);
    if (id !== undefined) return id;
    const known = index.identities.value.get(uri);
    if (known?.restored === true) throw refuse('unavailable', 'pods-restored');
    throw whyUnknown(known === undefined ? index.explain(uri) : { code: 'not-on-node', detail: 'its last pod has just left' });
  };

  /** While the view of the pods is missing or old, nobody can say that there is no such pod. */
  const whyUnknown = ({ code, detail }: Reason): SignetError => {
    const blind = index.reason.value;
    if (blind !== undefined) return refuse('unavailable', blind.code, { detail: blind.detail });
    return refuse('denied', code, detail === '' ? {} : { detail });
  };

  return async (holder, requested, signal) => {
    const account = `${holder.namespace}/${holder.serviceAccount}`;
    const id = requested === undefined ? undefined : parseRequested(requested, trustDomain);
    const pod = await callerPod(holder, signal);
    const isOwn = id === undefined || (id.namespace === pod.namespace && id.serviceAccount === pod.serviceAccount);
    if (isOwn) {
      const own = index.idOf(pod.uid);
      return await onNode(own?.uri ?? `spiffe://${trustDomain}/ns/${pod.namespace}/sa/${pod.serviceAccount}`, signal);
    }
    if (!delegates.has(account)) throw refuse('denied', 'caller-no-node-agent', { account });
    return await onNode(id.uri, signal);
  };
}

function parseRequested(text: string, trustDomain: string): SpiffeId {
  let id: SpiffeId;
  try {
    id = parseSpiffeId(text);
  } catch (cause) {
    throw refuse('invalid', 'identity-invalid', {}, cause);
  }
  if (id.trustDomain !== trustDomain) throw refuse('denied', 'identity-foreign', { trustDomain: id.trustDomain });
  return id;
}

function refuse(
  kind: 'unauthenticated' | 'denied' | 'invalid' | 'unavailable',
  reason: ReasonCode,
  fields: Fields = {},
  cause?: unknown,
): SignetError {
  const text = kind === 'unavailable' ? 'the pods of this node are not known now' : 'the identity is refused';
  return new SignetError(kind, kind === 'unauthenticated' ? 'the token is not accepted' : text, { reason, fields, cause });
}
