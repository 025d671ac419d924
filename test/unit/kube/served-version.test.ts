import t from 'tap';
import { findServedVersion, followServed } from '../../../agent/kube/served-version.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { createKubeScene, never } from '../../fixtures/kube.js';

t.test('the first version that has the resource', async (t) => {
  const served: Readonly<Record<string, unknown>> = {
    v1: { resources: [{ name: 'others' }, null] },
    v1beta1: { resources: [{ name: 'things' }] },
    v1alpha1: { resources: 'things' },
  };
  const { client, server } = await createKubeScene(t, (call) => {
    const answer = served[call.path.split('/').at(-1) ?? ''];
    if (answer === undefined) call.status(404, 'not found');
    else call.json(answer);
  });
  t.equal(await findServedVersion(client, 'example.com', 'things', ['v2', 'v1', 'v1beta1', 'v1alpha1'], never), 'v1beta1');
  t.same(
    server.calls.map(({ path }) => path),
    ['/apis/example.com/v2', '/apis/example.com/v1', '/apis/example.com/v1beta1'],
  );
  t.equal(await findServedVersion(client, 'example.com', 'things', ['v1', 'v1alpha1'], never), undefined);
});

t.test('what is no answer is no version', async (t) => {
  const { client } = await createKubeScene(t, (call) => call.status(503, 'not now'));
  await t.rejects(findServedVersion(client, 'example.com', 'things', ['v1'], never), { name: 'SignetError', reason: 'kube-unavailable' });
});

t.test('what is served is used, and looked for again when that ends, is not there, or cannot be told', async (t) => {
  const clock = createFakeClock();
  const found: (string | undefined | Error)[] = [new Error('away'), undefined, 'v1beta1', 'v1', undefined];
  const seen: unknown[] = [];
  let end = (): void => {};
  const stop = new AbortController();
  const running = followServed(
    {
      find: async () => {
        const next = found.shift();
        if (next instanceof Error) throw next;
        return next;
      },
      use: async (version, signal) => {
        seen.push(version);
        await new Promise<void>((resolve) => {
          end = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      },
      onMissing: (error) => seen.push(error instanceof Error ? error.message : 'none'),
      pause: { minMs: 1_000, maxMs: 100_000 },
      clock,
    },
    stop.signal,
  );
  const next = async (count: number): Promise<void> => await until(() => seen.length === count);
  await until(() => clock.alarms === 1);
  await clock.advance(1_000);
  await until(() => clock.alarms === 1);
  await clock.advance(2_000);
  await next(3);
  await clock.advance(60_000);
  end();
  await until(() => clock.alarms === 1, 'soon, as it was sound');
  await clock.advance(1_000);
  await next(4);
  end();
  await until(() => clock.alarms === 1);
  await clock.advance(1_000);
  t.equal(seen.length, 4, 'later, as it was not');
  await clock.advance(1_000);
  await next(5);
  t.same(seen, ['away', 'none', 'v1beta1', 'v1', 'none']);
  stop.abort();
  await running;
  t.equal(clock.alarms, 0);
});

t.test('what is not served is asked for ever less often; where that cannot be told, once a minute at least', async (t) => {
  const pausesAfter = async (answer: undefined | Error): Promise<number[]> => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const find = async (): Promise<undefined> => {
      if (answer !== undefined) throw answer;
    };
    let next = clock.nextAlarm();
    const running = followServed(
      { find, use: async () => {}, onMissing: () => {}, pause: { minMs: 500, maxMs: 300_000 }, clock },
      stop.signal,
    );
    const pauses: number[] = [];
    while (pauses.length < 20) {
      const pause = await next;
      pauses.push(pause);
      next = clock.nextAlarm();
      await clock.advance(pause);
    }
    stop.abort();
    await running;
    return pauses;
  };
  const [unserved, unknown] = await Promise.all([pausesAfter(undefined), pausesAfter(new Error('away'))]);
  t.ok(unserved.slice(10).every((pause) => pause >= 150_000));
  t.ok(unknown.slice(10).every((pause) => pause >= 30_000 && pause <= 60_000));
});
