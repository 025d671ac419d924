import t from 'tap';
import type { DeltaRequest } from '../../../agent/sds/delta.js';
import { deltaNext, deltaRequest } from '../../../agent/sds/delta.js';
import type { StreamState } from '../../../agent/sds/subscriptions.js';
import { createStreamState, setOffer } from '../../../agent/sds/subscriptions.js';
import { ready, show, without } from '../../fixtures/offers.js';

function request(state: StreamState, now: number, change: Partial<DeltaRequest>) {
  return deltaRequest(state, { subscribe: [], unsubscribe: [], brought: [], nonce: '', error: undefined, ...change }, now);
}

function next(state: StreamState, now = 0): string {
  return show(deltaNext(state, now, 3_000));
}

void t.test('what a request changes', async (t) => {
  const state = createStreamState();
  t.match(request(state, 0, { subscribe: ['a', 'b', 'a'], unsubscribe: ['b', 'never'] }), {
    kind: 'subscribe',
    watch: ['a', 'b'],
    unwatch: [],
  });
  t.match(request(state, 0, {}), { kind: 'empty' });
  t.match(request(state, 0, { subscribe: ['a'], unsubscribe: ['b'] }), { kind: 'subscribe', watch: [], unwatch: ['b'] });
  t.match(request(state, 0, { unsubscribe: ['b'] }), { kind: 'empty', unwatch: [] });
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state), 'send a=1');
  t.match(request(state, 0, { nonce: 'unknown', error: 'x' }), { kind: 'ack', refused: undefined });
  t.match(request(state, 0, { nonce: state.lastNonce, error: 'x'.repeat(5_000), subscribe: ['c'] }), {
    kind: 'nack',
    watch: ['c'],
    refused: { secrets: [{ name: 'a', version: '1' }], message: 'x'.repeat(1_024) },
  });
});

void t.test('every subscription is answered: resource, removal, or after a while removal', async (t) => {
  const state = createStreamState();
  request(state, 100, { subscribe: ['a', 'waiting', 'absent', 'unknown', 'denied'] });
  setOffer(state, 'a', ready('a', '1'));
  for (const status of ['waiting', 'absent', 'unknown', 'denied'] as const) setOffer(state, status, without(status));
  t.equal(next(state, 100), 'send a=1 -absent -unknown -denied');
  t.equal(next(state, 100), 'wait 3100');
  t.equal(next(state, 3_100), 'send -waiting');
  t.equal(next(state, 60_000), 'wait');
  request(state, 60_000, { subscribe: ['a', 'absent'] });
  t.equal(next(state, 60_000), 'send a=1 -absent', 'also when it was told before');
});

void t.test('asking again does not hold the answer for longer', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a'] });
  setOffer(state, 'a', without('waiting'));
  request(state, 2_000, { subscribe: ['a'] });
  t.equal(next(state, 2_000), 'wait 3000');
});

void t.test('what a client brings from an earlier stream is not taken back while nobody can tell', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a', 'b', 'absent', 'new'], brought: ['a', 'b', 'absent'] });
  for (const name of ['a', 'b', 'new']) setOffer(state, name, without('waiting'));
  setOffer(state, 'absent', without('absent'));
  t.equal(next(state), 'send -absent', 'what is known to be gone is told');
  t.equal(next(state, 3_000), 'send -new');
  t.equal(next(state, 60_000), 'wait');
  setOffer(state, 'a', ready('a', '1'));
  setOffer(state, 'b', without('absent'));
  t.equal(next(state, 60_000), 'send a=1 -b');
  setOffer(state, 'a', without('waiting'));
  request(state, 70_000, { subscribe: ['a'], brought: ['a'] });
  t.equal(next(state, 73_000), 'send -a', 'asked for again on the same stream it is answered');
});

void t.test('an identity that ends is told once, at once, and counts as changed when it is back', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a'] });
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  setOffer(state, 'a', without('absent'));
  t.equal(next(state), 'send -a', 'a removal waits for no ACK');
  setOffer(state, 'a', without('absent'));
  t.equal(next(state), 'wait');
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state), 'wait 5000');
  t.equal(next(state, 5_000), 'send a=1');
});

void t.test('a certificate that lapsed is not taken back: what the client holds is all there is', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a'] });
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  setOffer(state, 'a', without('waiting'));
  t.equal(next(state, 60_000), 'wait');
});

void t.test('refused bytes come again only when asked for, and 10 s later', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a'] });
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  request(state, 1_000, { nonce: state.lastNonce, error: 'bad' });
  setOffer(state, 'a', without('absent'));
  t.equal(next(state, 1_000), 'send -a');
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state, 60_000), 'wait');
  request(state, 2_000, { subscribe: ['a'] });
  t.equal(next(state, 2_000), 'wait 11000');
  t.equal(next(state, 11_000), 'send a=1');
});

void t.test('an ACK of an older response counts for what it carried', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a'] });
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  const first = state.lastNonce;
  request(state, 0, { subscribe: ['b'] });
  setOffer(state, 'b', ready('b', '1'));
  next(state);
  request(state, 0, { nonce: first });
  t.equal(state.subscriptions.get('a')?.answer, 'acked');
  t.equal(state.subscriptions.get('b')?.answer, 'none');
  request(state, 0, { nonce: state.lastNonce });
  t.equal(state.subscriptions.get('b')?.answer, 'acked');
});

void t.test('a client that acknowledges nothing makes nothing grow', async (t) => {
  const state = createStreamState();
  for (let index = 0; index < 100; index += 1) {
    request(state, 0, { subscribe: ['a'] });
    setOffer(state, 'a', ready('a', String(index)));
    t.equal(next(state), `send a=${index}`);
  }
  t.ok(state.unacknowledged.size <= 16);
});

void t.test('when all is denied, what the client holds is taken back before the end', async (t) => {
  const state = createStreamState();
  request(state, 0, { subscribe: ['a', 'b'] });
  setOffer(state, 'a', ready('a', '1'));
  setOffer(state, 'b', without('denied'));
  t.equal(next(state), 'send a=1 -b');
  setOffer(state, 'a', without('denied'));
  t.equal(next(state), 'send -a');
  t.equal(next(state), 'end denied');
  const never = createStreamState();
  request(never, 0, { subscribe: ['b'] });
  setOffer(never, 'b', without('denied'));
  t.equal(next(never), 'end denied', 'before any message');
});
