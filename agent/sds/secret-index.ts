// Which encoded secret is behind a target and a name now. One entry for all streams that ask for the same thing: it follows
// the source while somebody watches, encodes each content once, and lets the keys be wiped when they are replaced.

import type { Watched } from '../runtime/watched.js';
import type { Target } from './names.js';
import type { Offer, SecretState, Secrets } from './offer.js';
import { EncodedSecret, rootsContent, spiffeRootsContent, svidContent } from './secret.js';
import type { TrustBundle } from '../trust-bundle.js';

export interface SecretIndex {
  /**
   * Follows what the target gives under this name: the current offer at once, then the newest after each change of the
   * source. Listeners do not throw. Returns the unsubscribe function (idempotent).
   */
  watch(target: Target, name: string, listener: (offer: Offer) => void): () => void;
  /** How many targets are followed. */
  readonly size: number;
}

interface Entry {
  offer(): Offer;
  // Called directly: sources call their subscribers in a microtask of the newest value already, and a second one for each of
  // thousands of streams would cost as much as the push.
  readonly listeners: Set<(offer: Offer) => void>;
  readonly stop: () => void;
}

export function createSecretIndex(secrets: Secrets): SecretIndex {
  const entries = new Map<string, Entry>();
  let edition = 0;

  // Turns each state of a source into an offer; `encode` gives undefined while the state cannot be served.
  const follow = <S, C extends object>(
    name: string,
    source: Watched<S>,
    contentOf: (state: S) => C | undefined,
    encode: (content: C) => ConstructorParameters<typeof EncodedSecret>[2] | undefined,
    otherwise: (state: S) => Offer,
  ): Entry => {
    let content: C | undefined;
    let secret: EncodedSecret | undefined;
    let offer: Offer = { status: 'waiting', reason: { code: 'issuing', detail: '' } };
    const listeners = new Set<(offer: Offer) => void>();
    const replace = (next: EncodedSecret | undefined): void => {
      secret?.retire();
      secret = next;
    };
    const take = (state: S): void => {
      const next = contentOf(state);
      if (next !== undefined && next === content) return;
      content = next;
      const encoded = next === undefined ? undefined : encode(next);
      replace(encoded === undefined ? undefined : new EncodedSecret(name, (edition += 1), encoded));
      offer = secret === undefined ? otherwise(state) : { status: 'ready', secret };
      for (const listener of listeners) listener(offer);
    };
    const unsubscribe = source.subscribe(take);
    return {
      // The source looks at the clock when it is read, and tells its subscribers afterwards: whoever comes in between must
      // not get a certificate that has just expired.
      offer: () => {
        if (content !== undefined && contentOf(source.value) !== content) take(source.value);
        return offer;
      },
      listeners,
      stop: () => {
        unsubscribe();
        replace(undefined);
      },
    };
  };

  const roots = (name: string, encode: (bundle: TrustBundle) => ReturnType<typeof rootsContent>): Entry =>
    follow(
      name,
      secrets.bundle,
      (bundle) => bundle,
      encode,
      () => ({
        status: 'waiting',
        reason: { code: 'bundle-missing', detail: '' },
      }),
    );

  const open = (target: Exclude<Target, { readonly reason: unknown }>, name: string): Entry => {
    switch (target.kind) {
      case 'identity':
        return follow(name, secrets.identity(target.uri), svidOf, svidContent, offerWithout);
      case 'roots':
        return roots(name, rootsContent);
      case 'spiffe-roots':
        return roots(name, (bundle) => spiffeRootsContent(bundle, secrets.trustDomain));
    }
  };

  return {
    get size() {
      return entries.size;
    },
    watch(target, name, listener) {
      if ('reason' in target) {
        listener({ status: target.kind === 'undecided' ? 'absent' : target.kind, reason: target.reason });
        return () => {};
      }
      const key = target.kind === 'identity' ? `${target.uri} ${name}` : name;
      const entry = entries.get(key) ?? open(target, name);
      entries.set(key, entry);
      // Wrapped, so that one listener may follow one thing twice.
      const own = (offer: Offer): void => listener(offer);
      entry.listeners.add(own);
      listener(entry.offer());
      return () => {
        if (!entry.listeners.delete(own) || entry.listeners.size > 0) return;
        entries.delete(key);
        entry.stop();
      };
    },
  };
}

function svidOf(state: SecretState) {
  return state.status === 'ready' ? state.svid : undefined;
}

function offerWithout(state: SecretState): Offer {
  if (state.status === 'ready') throw new Error('bug: a certificate that was not encoded');
  return { status: state.status, reason: state.reason };
}
