// Both reducers against clients that do anything at all: what holds after every sequence of events.

import fc from 'fast-check';
import t from 'tap';
import { deltaNext, deltaRequest } from '../../../agent/sds/delta.js';
import type { Offer } from '../../../agent/sds/offer.js';
import { sotwNext, sotwRequest } from '../../../agent/sds/sotw.js';
import type { Output, StreamState } from '../../../agent/sds/subscriptions.js';
import { encodeResponse } from '../../../agent/sds/secret.js';
import { createStreamState, setOffer } from '../../../agent/sds/subscriptions.js';
import { ready, without } from '../../fixtures/offers.js';

const names = ['a', 'b', 'c', 'd'];
const holdMs = 3_000;

type Event =
  | { readonly kind: 'names'; readonly names: readonly string[]; readonly nonce: 'last' | 'none' | 'random' }
  | { readonly kind: 'ack' }
  | { readonly kind: 'nack' }
  | { readonly kind: 'change'; readonly name: string; readonly to: 'new' | 'same' | 'waiting' | 'absent' | 'unknown' }
  | { readonly kind: 'time'; readonly ms: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant('names' as const),
    names: fc.subarray(names),
    nonce: fc.constantFrom('last' as const, 'none' as const, 'random' as const),
  }),
  fc.constant({ kind: 'ack' as const }),
  fc.constant({ kind: 'nack' as const }),
  fc.record({
    kind: fc.constant('change' as const),
    name: fc.constantFrom(...names),
    to: fc.constantFrom('new' as const, 'new' as const, 'same' as const, 'waiting' as const, 'absent' as const, 'unknown' as const),
  }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 6_000 }) }),
);

/** A server's stream and a client that believes what it is told. */
class World {
  readonly state = createStreamState();
  readonly offers = new Map<string, Offer>(names.map((name) => [name, without('absent')]));
  readonly held = new Map<string, string>();
  readonly refused = new Map<string, string>();
  readonly #nonces = new Set<string>();
  readonly #editions = new Map<string, number>();
  readonly #protocol: 'sotw' | 'delta';
  now = 0;

  constructor(protocol: 'sotw' | 'delta') {
    this.#protocol = protocol;
  }

  subscribe(wanted: readonly string[], nonce: string, error?: string): void {
    const before = [...this.state.subscriptions.keys()];
    const unsubscribe = before.filter((name) => !wanted.includes(name));
    const demand =
      this.#protocol === 'sotw'
        ? sotwRequest(this.state, { names: wanted, nonce, error }, this.now)
        : deltaRequest(
            this.state,
            { subscribe: wanted.filter((name) => !before.includes(name)), unsubscribe, brought: [], nonce, error },
            this.now,
          );
    for (const { name, version } of demand.refused?.secrets ?? []) if (version !== '') this.refused.set(name, version);
    for (const name of demand.unwatch) this.held.delete(name);
    for (const name of demand.watch) setOffer(this.state, name, this.offers.get(name) ?? without('absent'));
    this.flush();
  }

  change(name: string, offer: Offer): void {
    const before = this.offers.get(name);
    if (before?.status === 'ready') before.secret.retire();
    this.offers.set(name, offer);
    setOffer(this.state, name, offer);
    this.flush();
  }

  flush(): void {
    for (let round = 0; round < 20; round += 1) {
      const output = this.#protocol === 'sotw' ? sotwNext(this.state, this.now) : deltaNext(this.state, this.now, holdMs);
      if (output.kind !== 'send') return;
      this.#receive(output);
    }
    throw new Error('sends without end');
  }

  #receive({ nonce, secrets, removed }: Extract<Output, { kind: 'send' }>): void {
    if (this.#nonces.has(nonce)) throw new Error(`nonce ${nonce} twice`);
    this.#nonces.add(nonce);
    const told = [...secrets.map(({ name }) => name), ...removed];
    if (told.length === 0 || new Set(told).size !== told.length) throw new Error(`told twice or nothing: ${told.join()}`);
    if (this.#protocol === 'sotw' && removed.length > 0) throw new Error('sotw cannot remove');
    for (const secret of secrets) {
      if (!this.state.subscriptions.has(secret.name)) throw new Error('not subscribed');
      if (secret.retired) throw new Error('retired');
      if (secret.edition < (this.#editions.get(secret.name) ?? 0)) throw new Error('went back');
      this.#editions.set(secret.name, secret.edition);
      this.held.set(secret.name, secret.version);
    }
    for (const name of removed) this.held.delete(name);
  }
}

for (const protocol of ['sotw', 'delta'] as const) {
  void t.test(`${protocol}: whatever happens, in the end the client holds what there is`, async () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const world = new World(protocol);
        let version = 0;
        for (const next of events) {
          const subscribed = [...world.state.subscriptions.keys()];
          if (next.kind === 'time') world.now += next.ms;
          if (next.kind === 'time') world.flush();
          if (next.kind === 'ack') world.subscribe(subscribed, world.state.lastNonce);
          if (next.kind === 'nack') world.subscribe(subscribed, world.state.lastNonce, 'bad');
          if (next.kind === 'names') world.subscribe(next.names, { last: world.state.lastNonce, none: '', random: 'r' }[next.nonce]);
          if (next.kind === 'change') {
            const { name, to } = next;
            const before = world.offers.get(name);
            if (to === 'new') world.change(name, ready(name, String((version += 1))));
            else if (to !== 'same') world.change(name, without(to));
            else if (before?.status === 'ready') world.change(name, ready(name, before.secret.version));
          }
        }
        // A client that behaves from here on.
        for (let round = 0; round < 4; round += 1) {
          world.now += 20_000;
          world.subscribe([...world.state.subscriptions.keys()], world.state.lastNonce);
        }
        for (const [name, subscription] of world.state.subscriptions) {
          const offer = world.offers.get(name);
          const { refusal } = subscription;
          if (offer?.status === 'ready' && refusal?.version !== offer.secret.version && world.held.get(name) !== offer.secret.version) {
            throw new Error(`${name}: holds ${world.held.get(name)} and not ${offer.secret.version}`);
          }
          const gone = offer?.status === 'absent' || offer?.status === 'unknown';
          if (protocol === 'delta' && gone && world.held.has(name)) throw new Error(`${name}: still holds what is gone`);
        }
        const quiet = protocol === 'sotw' ? sotwNext(world.state, Infinity) : deltaNext(world.state, Infinity, holdMs);
        if (quiet.kind !== 'wait' || world.state.unacknowledged.size > { sotw: 1, delta: 16 }[protocol]) throw new Error('is not at rest');
      }),
      { numRuns: 400 },
    );
  });
}

for (const protocol of ['sotw', 'delta'] as const) {
  const next = protocol === 'sotw' ? sotwNext : (state: StreamState, now: number) => deltaNext(state, now, holdMs);
  /** The sizes of the responses that these offers make. */
  const sizesOf = (offers: ReadonlyMap<string, Offer>): number[] => {
    const state = createStreamState();
    if (protocol === 'sotw') sotwRequest(state, { names: [...offers.keys()], nonce: '', error: undefined }, 0);
    else deltaRequest(state, { subscribe: [...offers.keys()], unsubscribe: [], brought: [], nonce: '', error: undefined }, 0);
    for (const [name, offer] of offers) setOffer(state, name, offer);
    const sizes: number[] = [];
    for (let output = next(state, 0); output.kind === 'send'; output = next(state, 0)) {
      sizes.push(encodeResponse(protocol, output.nonce, output.secrets, output.removed).length);
    }
    return sizes;
  };
  const mebibyte = 1024 * 1024;

  void t.test(`${protocol}: a response is cut before it has more than 1 MiB on the wire`, async (t) => {
    const counts = new Set<number>();
    for (let slack = 0; slack < 1_024; slack += 16) {
      const sizes = sizesOf(new Map(['a', 'b'].map((name) => [name, ready(name, 'v'.repeat(32), mebibyte / 2 - slack)])));
      counts.add(sizes.length);
      if (sizes.some((size) => size > mebibyte)) t.fail(`${sizes.join(' and ')} bytes`);
    }
    t.same([...counts], [2, 1], 'both sides of the cut were seen');
  });
}

void t.test('removals count by their bytes, not by their characters', async (t) => {
  const state = createStreamState();
  const subscribe = Array.from({ length: 1_000 }, (_, index) => `${index}${'\u20ac'.repeat(1_000)}`);
  deltaRequest(state, { subscribe, unsubscribe: [], brought: [], nonce: '', error: undefined }, 0);
  for (const name of subscribe) setOffer(state, name, without('absent'));
  const told: string[] = [];
  for (let output = deltaNext(state, 0, holdMs); output.kind === 'send'; output = deltaNext(state, 0, holdMs)) {
    t.ok(encodeResponse('delta', output.nonce, output.secrets, output.removed).length <= 1024 * 1024);
    told.push(...output.removed);
  }
  t.same(told, subscribe);
});
