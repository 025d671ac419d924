// List and watch against a real HTTPS server with every fault that one was seen to have.

import t from 'tap';
import type { Test } from 'tap';
import type { KubeObject } from '../../../agent/kube/client.js';
import { createReflector } from '../../../agent/kube/reflector.js';
import type { ApiCall, ApiStream } from '../../fixtures/api-server.js';
import { apiList, apiPod } from '../../fixtures/api-server.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';

const allThere = { metadata: { resourceVersion: '50', annotations: { 'k8s.io/initial-events-end': 'true' } } };

/** A server of pods: `initial` says how it treats watches that ask for initial events. */
async function scene(t: Test, initial: (call: ApiCall, stream: () => ApiStream) => void) {
  const streams: { readonly call: ApiCall; readonly stream: ApiStream }[] = [];
  const lists: ApiCall[] = [];
  const answers = {
    initial,
    list: (call: ApiCall) => call.json(apiList([apiPod('a')])),
    watch: (_call: ApiCall, stream: () => ApiStream): void => void stream(),
  };
  const kube = await createKubeScene(t, (call) => {
    const stream = (): ApiStream => {
      const opened = call.stream();
      streams.push({ call, stream: opened });
      return opened;
    };
    if (call.query['watch'] === undefined) {
      lists.push(call);
      answers.list(call);
    } else if (call.query['sendInitialEvents'] !== undefined) answers.initial(call, stream);
    else answers.watch(call, stream);
  });
  const reflector = createReflector<string>({
    client: kube.client,
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName=node-a' },
    resource: 'pods',
    project: (object: KubeObject) =>
      object.metadata?.name === 'hidden' ? undefined : `${object.metadata?.name} ${object.metadata?.labels?.['v'] ?? ''}`.trim(),
    unread: { code: 'pods-unread', detail: '' },
    clock: kube.clock,
    log: kube.log,
    metrics: kube.metrics,
    random: () => 0,
  });
  const stop = new AbortController();
  const ended = reflector.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await ended;
    if (kube.clock.alarms > 0) throw new Error('an alarm was left behind');
  });
  const names = (): string[] => [...reflector.snapshot.value.objects.values()].sort();
  const has = async (...expected: string[]): Promise<void> =>
    await until(() => reflector.snapshot.value.complete && names().join() === expected.join(), `${expected} (now ${names()})`);
  return { ...kube, reflector, streams, lists, answers, names, has, last: () => streams.at(-1)?.stream as ApiStream };
}

const served =
  (...pods: unknown[]) =>
  (_call: ApiCall, stream: () => ApiStream): void => {
    const opened = stream();
    for (const pod of pods) opened.event('ADDED', pod);
    opened.event('BOOKMARK', allThere);
  };
const notServed = (call: ApiCall): void => call.status(422, 'sendInitialEvents: Forbidden');
const pod = (name: string, v?: string): unknown => apiPod(name, { metadata: v === undefined ? {} : { labels: { v } } });

t.test('all objects by a watch, then their changes', async (t) => {
  const { reflector, streams, has, last, lists } = await scene(t, (_call, stream) => void stream());
  await until(() => streams.length === 1);
  t.match(streams[0]?.call.query, {
    fieldSelector: 'spec.nodeName=node-a',
    allowWatchBookmarks: 'true',
    resourceVersionMatch: 'NotOlderThan',
    timeoutSeconds: '240',
  });
  last().event('ADDED', pod('a'));
  last().event('ADDED', pod('hidden'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.match(reflector.snapshot.value, { complete: false, reason: { code: 'pods-unread' } });
  last().event('BOOKMARK', allThere);
  await has('a');
  t.equal(reflector.snapshot.value.reason, undefined);
  last().event('ADDED', pod('b'));
  last().event('MODIFIED', pod('a', '2'));
  await has('a 2', 'b');
  last().event('DELETED', { metadata: { uid: 'uid-a' } });
  await has('b');
  t.equal(lists.length, 0);
});

t.test('a clean end goes on from the last version, that of a bookmark included', async (t) => {
  const { streams, has, last, clock, lists } = await scene(t, served(pod('a')));
  await has('a');
  last().event('BOOKMARK', { metadata: { resourceVersion: '77' } });
  await clock.advance(10_000);
  last().end();
  await until(() => streams.length === 2, 'a second watch');
  t.match(streams[1]?.call.query, { resourceVersion: '77', sendInitialEvents: undefined });
  last().event('ADDED', pod('b'));
  await has('a', 'b');
  t.equal(lists.length, 0);
});

for (const [name, initial] of [
  ['422', notServed],
  ['400', (call) => call.status(400, 'resourceVersionMatch is forbidden for watch')],
  ['a 500 in the stream', (_call, stream) => stream().event('ERROR', { code: 500, message: 'RequestWatchProgress is disabled' })],
  ['an end before all was there', (_call, stream) => stream().end()],
] as [string, Parameters<typeof scene>[1]][]) {
  t.test(`initial events are not served: ${name}`, async (t) => {
    const { streams, has, lists, last } = await scene(t, initial);
    await has('a');
    t.match(lists[0]?.query, {
      fieldSelector: 'spec.nodeName=node-a',
      resourceVersion: '0',
      resourceVersionMatch: 'NotOlderThan',
      limit: '500',
    });
    await until(() => streams.at(-1)?.call.query['resourceVersion'] === '100', 'a watch from the list');
    last().event('ADDED', pod('b'));
    await has('a', 'b');
  });
}

t.test('a server that does not know initial events never says that all is there', async (t) => {
  const { streams, has, clock, names } = await scene(t, (_call, stream) => stream().event('ADDED', pod('x')));
  await until(() => streams.length === 1);
  await advanceUntil(clock, 1_000, () => names().length > 0);
  await has('a');
});

t.test('the time that initial events may take begins when the watch is accepted', async (t) => {
  let accept: (() => void) | undefined;
  const { has, clock, lists } = await scene(t, (call, stream) => {
    accept = () => served(pod('a'))(call, stream);
  });
  await until(() => accept !== undefined);
  await clock.advance(19_000);
  accept?.();
  await has('a');
  t.equal(lists.length, 0);
});

t.test('initial events that were not served are asked for again after an hour', async (t) => {
  const { answers, streams, has, last, clock, lists } = await scene(t, notServed);
  /** The version that is watched is gone, so that all is read anew. */
  const lose = async (): Promise<void> => {
    const before = streams.length;
    last().event('ERROR', { code: 410, message: 'too old resource version' });
    for (let wait = 0; wait < 40 && streams.length === before; wait += 1) {
      await clock.advance(1_000);
      await until(() => streams.length > before || clock.alarms === 1);
    }
  };
  await has('a');
  await until(() => streams.length === 1);
  answers.initial = served(pod('b'));
  await lose();
  t.equal(lists.length, 2, 'not within the hour');
  for (let passed = 0; passed < 3_600; passed += 240) {
    await until(() => clock.alarms === 1);
    const before = streams.length;
    await clock.advance(240_000);
    last().end();
    for (let wait = 0; wait < 40 && streams.length === before; wait += 1) await clock.advance(1_000);
    await until(() => streams.length > before);
  }
  await lose();
  await has('b');
  t.equal(lists.length, 2);
});

t.test('a long list comes in pages, and anew when their version is gone', async (t) => {
  const { answers, has, lists } = await scene(t, (call) => {
    answers.list = ({ query, json, status }) => {
      if (query['continue'] === 'next') status(410, 'the continue parameter is too old');
      else if (query['limit'] === undefined) json(apiList([pod('a'), pod('b'), pod('c')]));
      else json(apiList([pod('z')], '90', 'next'));
    };
    notServed(call);
  });
  await has('a', 'b', 'c');
  t.equal(lists.length, 3);
});

t.test('R068, F031: 410 as a status and as an event: everything is read anew, consistently, and the watch goes on', async (t) => {
  const { answers, streams, has, last, clock, lists, reflector } = await scene(t, notServed);
  await has('a');
  await until(() => streams.length === 1);
  answers.list = (call) => call.json(apiList([pod('b')], '200'));
  last().event('ERROR', { code: 410, reason: 'Expired', message: 'too old resource version' });
  await until(() => clock.alarms === 1);
  t.same([reflector.snapshot.value.reason, lists.length], [undefined, 1]);
  await clock.advance(2_000);
  await has('b');
  t.equal(lists[1]?.query['resourceVersion'], undefined);
  await until(() => streams.length === 2);

  answers.list = (call) => call.json(apiList([pod('c')], '300'));
  answers.watch = (call, stream) => (call.query['resourceVersion'] === '200' ? call.status(410, 'gone') : void stream());
  last().cut();
  await until(() => reflector.snapshot.value.reason?.code === 'kube-unavailable');
  for (let wait = 0; wait < 4 && reflector.snapshot.value.objects.size > 0 && !reflector.snapshot.value.objects.has('uid-c'); wait += 1)
    await clock.advance(4_000);
  await has('c');
});

t.test('F031: 410 without end does not become a storm', async (t) => {
  const { answers, clock, server, reflector } = await scene(t, notServed);
  answers.watch = (call) => call.status(410, 'gone');
  await until(() => server.calls.length >= 3 && clock.alarms === 1);
  const before = server.calls.length;
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000);
    await until(() => clock.alarms >= 1);
  }
  t.ok(server.calls.length - before < 20, `${server.calls.length - before} calls in a minute`);
  t.ok(reflector.snapshot.value.complete);
});

t.test('R069, F032: watches that end at once are met by growing pauses of at least a second', async (t) => {
  const { answers, clock, streams } = await scene(t, notServed);
  answers.watch = (_call, stream) => stream().end();
  const gaps: number[] = [];
  for (let watches = 1; watches <= 50; watches += 1) {
    await until(() => streams.length === watches && clock.alarms === 1, `watch ${watches}`);
    const before = clock.monotonic();
    while (streams.length === watches) {
      await clock.advance(500);
      if (clock.alarms !== 1) await until(() => streams.length > watches || clock.alarms === 1);
    }
    gaps.push(clock.monotonic() - before);
  }
  t.ok(
    gaps.every((gap) => gap >= 1_000),
    String(gaps),
  );
  t.ok((gaps.at(-1) ?? 0) >= 15_000, String(gaps));
});

t.test('R073, F030, F034: an API server that is down keeps what was read and says why; back again, nothing is lost', async (t) => {
  const { answers, streams, has, last, clock, reflector, log } = await scene(t, served(pod('a'), pod('b')));
  await has('a', 'b');
  answers.watch = (call) => call.drop();
  last().cut();
  await until(() => reflector.snapshot.value.reason?.code === 'kube-unavailable');
  for (let second = 0; second < 3_600; second += 1) {
    // Only the pause between two tries: time does not pass while a call is under way.
    await until(() => clock.alarms === 1);
    await clock.advance(1_000);
  }
  await until(() => clock.alarms === 1);
  t.same([reflector.snapshot.value.complete, reflector.snapshot.value.objects.size], [true, 2]);
  t.equal(log.lines.filter(({ message }) => message.startsWith('cannot watch')).length, 1, 'one line, not one a try');
  answers.watch = (_call, stream) => void stream();
  const before = streams.length;
  await advanceUntil(clock, 1_000, () => streams.length > before);
  await until(() => reflector.snapshot.value.reason === undefined);
  t.equal(streams.at(-1)?.call.query['resourceVersion'], '50');
});

t.test('Retry-After is honoured', async (t) => {
  let calls = 0;
  const { clock, server } = await scene(t, (call) => {
    calls += 1;
    call.status(429, 'too many requests', { 'retry-after': '60' });
  });
  await until(() => calls === 1 && clock.alarms === 1);
  await clock.advance(59_000);
  t.equal(server.calls.length, 1);
  await clock.advance(1_000);
  await until(() => server.calls.length === 2);
});

t.test('F029: a watch that died without a word is found by its deadline', async (t) => {
  const { streams, has, clock, reflector } = await scene(t, served(pod('a')));
  await has('a');
  await clock.advance(255_000);
  await until(() => reflector.snapshot.value.reason?.code === 'kube-deadline');
  await clock.advance(2_000);
  await until(() => streams.length === 2);
});

t.test('F123: an empty list of what the server has at hand is asked for again, consistently', async (t) => {
  const { answers, has, lists } = await scene(t, notServed);
  answers.list = (call) => call.json(apiList(call.query['resourceVersion'] === '0' ? [] : [pod('a')]));
  await has('a');
  t.same(
    lists.map(({ query }) => query['resourceVersion']),
    ['0', undefined],
  );
});

t.test('a version from the future is dropped', async (t) => {
  const { answers, has, clock, lists } = await scene(t, notServed);
  answers.list = (call) =>
    call.query['resourceVersion'] === undefined
      ? call.json(apiList([pod('n')], '3'))
      : call.status(504, 'Timeout: Too large resource version: 99, current: 3');
  await advanceUntil(clock, 2_000, () => lists.length >= 2);
  await has('n');
});

for (const [name, list] of [
  ['items: null', apiList(null)],
  ['items that are no objects', { items: [null, 1, 'x'] }],
] as const) {
  t.test(`a list with ${name} is empty`, async (t) => {
    const { answers, has } = await scene(t, notServed);
    answers.list = (call) => call.json(list);
    await has();
  });
}

for (const list of [[1], {}, null, { items: {} }]) {
  t.test(`a list that is none says so: ${JSON.stringify(list)}`, async (t) => {
    const { answers, reflector } = await scene(t, notServed);
    answers.list = (call) => call.json(list);
    await until(() => reflector.snapshot.value.reason?.code === 'kube-answer-invalid');
    t.equal(reflector.snapshot.value.complete, false);
  });
}

t.test('F125: 100 watches in a row leave two connections at most', async (t) => {
  const { answers, clock, streams, server } = await scene(t, notServed);
  answers.watch = (_call, stream) => stream().end();
  await until(() => streams.length === 1);
  await advanceUntil(clock, 15_000, () => streams.length >= 100);
  t.ok(server.connections.open <= 2, `${server.connections.open} open`);
});
