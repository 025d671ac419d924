import t from 'tap';
import { sotwNext, sotwRequest } from '../../../agent/sds/sotw.js';
import type { StreamState } from '../../../agent/sds/subscriptions.js';
import { createStreamState, setOffer } from '../../../agent/sds/subscriptions.js';
import { ready, show, without } from '../../fixtures/offers.js';

function request(state: StreamState, now: number, names: readonly string[], nonce = '', error?: string) {
  return sotwRequest(state, { names, nonce, error }, now);
}

function next(state: StreamState, now = 0): string {
  return show(sotwNext(state, now));
}

void t.test('what a request changes', async (t) => {
  const state = createStreamState();
  t.match(request(state, 0, ['a', 'b', 'a'], 'of another stream', 'error'), {
    kind: 'subscribe',
    watch: ['a', 'b'],
    unwatch: [],
    refused: undefined,
  });
  t.match(request(state, 0, ['b', 'c'], 'of another stream'), { kind: 'stale', watch: [], unwatch: [] });
  t.match(request(state, 0, ['b', 'c']), { kind: 'subscribe', watch: ['c'], unwatch: ['a'] });
  t.match(request(state, 0, ['c', 'b']), { kind: 'empty', watch: [], unwatch: [] });
  setOffer(state, 'b', ready('b', '1'));
  t.equal(next(state), 'send b=1');
  t.match(request(state, 0, ['b', 'c'], state.lastNonce), { kind: 'ack' });
  setOffer(state, 'b', ready('b', '2'));
  t.equal(next(state), 'send b=2');
  const { lastNonce } = state;
  t.match(request(state, 0, [], lastNonce, 'bad'), {
    kind: 'nack',
    unwatch: ['b', 'c'],
    refused: { secrets: [{ name: 'b', version: '2' }], message: 'bad' },
  });
  t.match(request(state, 0, [], lastNonce, 'bad'), { kind: 'ack', refused: undefined }, 'one response is refused once');
  t.equal(state.subscriptions.size, 0);
});

void t.test('answers what is there and is silent about the rest', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a', 'waiting', 'absent', 'unknown', 'denied', 'none']);
  setOffer(state, 'a', ready('a', '1'));
  for (const status of ['waiting', 'absent', 'unknown', 'denied'] as const) setOffer(state, status, without(status));
  t.equal(next(state), 'send a=1');
  t.equal(next(state, 60_000), 'wait');
  setOffer(state, 'waiting', ready('waiting', '1'));
  t.equal(next(state), 'send waiting=1', 'asked for: it does not wait for an ACK');
  setOffer(state, 'a', without('absent'));
  t.equal(next(state, 60_000), 'wait');
});

void t.test('pushes a change once, after the ACK or 5 s', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a']);
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state, 1_000), 'send a=1');
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state, 1_000), 'wait', 'equal content is no change');
  setOffer(state, 'a', ready('a', '2'));
  setOffer(state, 'a', ready('a', '3'));
  t.equal(next(state, 1_000), 'wait 6000');
  t.equal(next(state, 6_000), 'send a=3');
  request(state, 6_000, ['a'], state.lastNonce);
  setOffer(state, 'a', ready('a', '4'));
  t.equal(next(state, 6_000), 'send a=4');
});

void t.test('a newer answer makes older nonces stale', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a']);
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  const first = state.lastNonce;
  request(state, 0, ['a', 'b']);
  setOffer(state, 'b', ready('b', '1'));
  t.equal(next(state), 'send b=1');
  t.same([...state.unacknowledged.keys()], [state.lastNonce]);
  t.match(request(state, 0, ['a', 'b'], first, 'bad'), { kind: 'stale' });
  t.equal(state.subscriptions.get('a')?.refusal, undefined);
});

void t.test('refused bytes do not come back, new ones do', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a']);
  setOffer(state, 'a', ready('a', '1'));
  next(state);
  request(state, 100, ['a'], state.lastNonce, '');
  setOffer(state, 'a', without('absent'));
  setOffer(state, 'a', ready('a', '1'));
  t.equal(next(state, 60_000), 'wait');
  setOffer(state, 'a', ready('a', '2'));
  t.equal(next(state, 60_000), 'send a=2');
});

void t.test('a refusal of an earlier stream holds the answer back', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a']);
  setOffer(state, 'a', ready('a', '1'), { version: '1', until: 7_000 });
  t.equal(next(state), 'wait 7000');
  t.equal(next(state, 7_000), 'send a=1');
  const other = createStreamState();
  request(other, 0, ['a']);
  setOffer(other, 'a', ready('a', '2'), { version: '1', until: 7_000 });
  t.equal(next(other), 'send a=2', 'other content is not held back');
});

void t.test('ends when all names are denied, and not before', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a', 'b']);
  setOffer(state, 'a', without('denied'));
  setOffer(state, 'b', without('unknown'));
  t.equal(next(state), 'wait');
  request(state, 0, ['a']);
  t.equal(next(state), 'end denied');
  request(state, 0, ['b']);
  t.equal(state.denied, 0);
  t.equal(next(state), 'wait');
});

void t.test('a retired secret is not sent; the one that replaced it is on its way', async (t) => {
  const state = createStreamState();
  request(state, 0, ['a']);
  const offer = ready('a', '1');
  setOffer(state, 'a', offer);
  if (offer.status === 'ready') offer.secret.retire();
  t.equal(next(state), 'wait');
  setOffer(state, 'a', ready('a', '2'));
  t.equal(next(state), 'send a=2');
});

void t.test('a response is cut at 1 MiB and the rest is an answer of its own', async (t) => {
  const state = createStreamState();
  const names = ['a', 'b', 'c', 'd', 'huge'];
  request(state, 0, names);
  for (const name of names) setOffer(state, name, ready(name, '1', name === 'huge' ? 2_000_000 : 400_000));
  t.equal(next(state), 'send a=1 b=1');
  t.equal(next(state), 'send c=1 d=1');
  t.equal(next(state), 'send huge=1', 'what is too large by itself still goes');
});
