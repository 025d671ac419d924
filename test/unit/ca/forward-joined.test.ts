// Several callers with one identity and key: how long the call goes on that they share, and for whom.

import t from 'tap';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { alsoAsked, createForwardRequest, createForwardScene, holdAnswers, never } from '../../fixtures/forward.js';
import { createFakeIstioCa } from '../../fixtures/istio-ca.js';
import { id } from '../../fixtures/istio-scene.js';

const deadlineMs = 10_000;
const late = { name: 'SignetError', kind: 'deadline', reason: 'ca-deadline' };

t.test('with its token, a caller that leaves ends its call; whoever had joined asks with its own', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder } = createForwardScene(t, [ca], { auth: 'caller' });
  const leaving = new AbortController();
  const request = await createForwardRequest();
  const left = t.rejects(forwarder.forward(request, leaving.signal), { name: 'SignetError', kind: 'cancelled' });
  const joined = forwarder.forward(alsoAsked(request), never);
  await until(() => ca.calls.length === 1);
  leaving.abort();
  await left;
  await until(() => ca.calls.length === 2);
  answer();
  answer();
  t.match((await joined).chain[0].uriSans, [id.uri]);
});

t.test('as the agent asks, the call goes on for whoever is left', async (t) => {
  const ca = await createFakeIstioCa(t);
  const { answer } = holdAnswers(ca);
  const { forwarder, read } = createForwardScene(t, [ca], { auth: 'upstream' });
  const request = await createForwardRequest();
  const callers = [new AbortController(), new AbortController(), new AbortController()];
  const answers = callers.map(({ signal }) => forwarder.forward(alsoAsked(request), signal));
  const left = answers.slice(0, 2).map((each) => t.rejects(each, { name: 'SignetError', kind: 'cancelled' }));
  await until(() => ca.calls.length === 1);
  for (const caller of callers.slice(0, 2)) caller.abort();
  await Promise.all(left);
  answer();
  t.match((await answers[2])?.chain[0].uriSans, [id.uri]);
  t.equal(ca.calls.length, 1);

  const again = await createForwardRequest();
  const [one, two] = [new AbortController(), new AbortController()];
  const both = [one, two].map(({ signal }) => t.rejects(forwarder.forward(again, signal), { name: 'SignetError', kind: 'cancelled' }));
  await until(() => ca.calls.length === 2);
  one.abort();
  two.abort();
  await Promise.all(both);
  await until(async () => (await read('signet_svid_requests_in_flight')) === 0, 'and ends when nobody is');
});

t.test('each caller has a deadline of its own', async (t) => {
  for (const auth of ['caller', 'upstream'] as const) {
    const ca = await createFakeIstioCa(t);
    const { answer } = holdAnswers(ca);
    const clock = createFakeClock({ startAt: Date.now() });
    const { forwarder } = createForwardScene(t, [ca], { auth, clock, deadlineMs });
    const request = await createForwardRequest();
    const first = t.rejects(forwarder.forward(request, never), late);
    await until(() => ca.calls.length === 1);
    await clock.advance(6_000);
    const second = forwarder.forward(alsoAsked(request), never);
    await clock.advance(4_000);
    await first;
    if (auth === 'caller') await until(() => ca.calls.length === 2, 'with its own token');
    await clock.advance(5_000);
    answer();
    answer();
    t.match((await second).chain[0].uriSans, [id.uri], auth);
    t.equal(ca.calls.length, auth === 'caller' ? 2 : 1);
  }
});

t.test('a call that hangs ends, however many follow each other', async (t) => {
  const ca = await createFakeIstioCa(t);
  ca.outcome = () => 'hang';
  const clock = createFakeClock({ startAt: Date.now() });
  const { forwarder } = createForwardScene(t, [ca], { auth: 'upstream', clock, deadlineMs });
  const request = await createForwardRequest();
  const answers = [t.rejects(forwarder.forward(request, never), late)];
  await until(() => ca.calls.length === 1);
  for (const passMs of [9_000, 2_000]) {
    await clock.advance(passMs);
    answers.push(t.rejects(forwarder.forward(alsoAsked(request), never), { name: 'SignetError', kind: 'deadline' }));
  }
  await clock.advance(7_999);
  t.equal(ca.calls.length, 1, 'the second caller holds it');
  await clock.advance(1);
  await until(() => ca.calls.length === 2, 'the third, who came later than that, asks anew');
  await clock.advance(2_000);
  await Promise.all(answers);
});
