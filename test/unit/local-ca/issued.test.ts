// What was handed out: for whom it counts, and how urgent the next one is.

import t from 'tap';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { createIssued, observeIssued } from '../../../agent/local-ca/issued.js';
import type { NodeIdentity } from '../../../agent/pods/identity-index.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

function createScene(...accounts: readonly string[]) {
  const clock = createFakeClock();
  const all = (names: readonly string[]): ReadonlyMap<string, NodeIdentity> =>
    new Map(
      names.map((name) => [createSpiffeId('x.org', 'shop', name).uri, { id: createSpiffeId('x.org', 'shop', name), pods: [], since: 0 }]),
    );
  const identities = new WatchedValue(all(accounts));
  return { clock, issued: createIssued({ identities, clock }), set: (...names: readonly string[]) => identities.set(all(names)) };
}

const uri = (name: string): string => createSpiffeId('x.org', 'shop', name).uri;

t.test('a renewal in time is routine, all else is waited for', async (t) => {
  const { clock, issued } = createScene('web');
  t.equal(issued.priorityOf(uri('web')), 'waiting', 'the first');
  issued.record(uri('web'), clock.now() + 100_000);
  for (const [seconds, priority] of [
    [0, 'waiting'],
    [39, 'waiting'],
    [1, 'routine'],
    [49, 'routine'],
    [1, 'waiting'],
    [100, 'waiting'],
  ] as const) {
    await clock.advance(seconds * 1_000);
    t.equal(issued.priorityOf(uri('web')), priority, `${seconds} s later`);
  }
});

t.test('kept as long as the identity is on the node', async (t) => {
  const { clock, issued, set } = createScene('web', 'cart');
  issued.record(uri('web'), clock.now() + 1_000);
  issued.record(uri('cart'), clock.now() + 1_000);
  await clock.advance(5_000);
  t.same([...issued.all().keys()], [uri('web'), uri('cart')], 'one that lapsed is shown');
  set('cart');
  t.same([...issued.all().keys()], [uri('cart')]);
});

t.test('the metrics say what lapses first', async (t) => {
  const { clock, issued } = createScene('web', 'cart');
  const { metrics, read } = createTestMetrics();
  observeIssued(issued.all(), metrics, clock.now());
  t.equal(await read('signet_local_ca_earliest_expiry_timestamp_seconds'), 0);
  const lapses = clock.now() + 1_000;
  issued.record(uri('web'), lapses);
  issued.record(uri('cart'), lapses + 1_000);
  observeIssued(issued.all(), metrics, clock.now());
  t.equal(await read('signet_local_ca_earliest_expiry_timestamp_seconds'), lapses / 1_000);
  t.equal(await read('signet_local_ca_identities', { state: 'valid' }), 2);
  await clock.advance(1_000);
  observeIssued(issued.all(), metrics, clock.now());
  t.equal(await read('signet_local_ca_earliest_expiry_timestamp_seconds'), lapses / 1_000 + 1);
  t.equal(await read('signet_local_ca_identities', { state: 'lapsed' }), 1);
});
