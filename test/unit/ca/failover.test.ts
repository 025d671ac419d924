import t from 'tap';
import type { CaClient, CaRequest } from '../../../agent/ca/ca-client.js';
import { acceptAnswer, isOwnKey } from '../../../agent/ca/ca-client.js';
import { createFailover } from '../../../agent/ca/failover.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { ErrorKind } from '../../../agent/runtime/errors.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { ReasonCode } from '../../../agent/runtime/reasons.js';
import { withDeadline } from '../../../agent/runtime/time.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createCsr, generateKey } from '../../../agent/x509/csr.js';
import type { FakeCa } from '../../fixtures/ca.js';
import { createFakeCa } from '../../fixtures/ca.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createRoot, testTime } from '../../fixtures/pki.js';

const id = createSpiffeId('example.org', 'shop', 'cart');
const key = await generateKey('ec-p256');
const csr = await createCsr(key, id, 'none');

const down = new SignetError('unavailable', 'connect to the ca', { reason: 'ca-unavailable' });
const failsWith = (kind: ErrorKind, reason: ReasonCode) => (): SignetError => new SignetError(kind, 'no', { reason });

/** Clients by `<upstream> <endpoint>`, in that order. */
function scene(...names: readonly string[]) {
  const clock = createFakeClock({ startAt: testTime });
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const cas = names.map((each) => {
    const [name = '', endpoint] = each.split(' ');
    return Object.assign(createFakeCa({ clock }), endpoint === undefined ? { name } : { name, endpoint });
  });
  const clients = cas as unknown as [CaClient, ...CaClient[]];
  const identities = new WatchedValue<ReadonlyMap<string, unknown>>(new Map([[id.uri, undefined]]));
  const failover = createFailover({ clients, deadlineMs: 10_000, identities, clock, log, metrics, random: () => 0 });
  /** The upstream that signed. */
  const ask = async (of: CaRequest['key'] = key): Promise<string> => {
    const signal = new AbortController().signal;
    const request = { id, csr, key: of, lifetimeMs: 3_600_000 };
    return await withDeadline(clock, 10_000, 'the call to the ca', signal, (inner) =>
      failover.request(
        request,
        ({ elements, roots, upstream }) => {
          if (inner.aborted) throw new SignetError('cancelled', 'too late');
          acceptAnswer(elements, { id, key, roots, now: clock.now() });
          return upstream;
        },
        inner,
      ),
    );
  };
  const calls = (): number[] => cas.map((ca) => ca.calls.length);
  return { clock, log, read, failover, cas: cas as unknown as [FakeCa, FakeCa, FakeCa], ask, calls };
}

t.test('the first in order signs while it works', async (t) => {
  const { ask, calls } = scene('one', 'two');
  for (let round = 0; round < 3; round += 1) t.equal(await ask(), 'one');
  t.same(calls(), [3, 0]);
});

t.test('a CA that is down is left out, the next signs in the same attempt, and the first comes back', async (t) => {
  const { ask, calls, cas, clock, failover, log, read } = scene('one a:1', 'two');
  cas[0].outcome = () => down;
  t.equal(await ask(), 'two');
  t.equal(await ask(), 'two');
  t.same(calls(), [1, 2], 'it is not asked at once again');
  t.equal(await read('signet_ca_endpoint_up', { upstream: 'one', endpoint: 'a:1' }), 0);
  t.match(failover.health, [
    { name: 'one a:1', reason: { value: { code: 'ca-unavailable' } } },
    { name: 'two', reason: { value: undefined } },
  ]);
  await clock.advance(500);
  t.equal(await ask(), 'two');
  t.same(calls(), [2, 3], 'but after a pause');
  await clock.advance(500);
  await ask();
  t.same(calls(), [2, 4], 'which grows');
  cas[0].outcome = () => undefined;
  await clock.advance(500);
  t.equal(await ask(), 'one');
  t.equal(await read('signet_ca_endpoint_up', { upstream: 'one', endpoint: 'a:1' }), 1);
  t.equal(failover.health[0]?.reason.value, undefined);
  t.same(
    log.lines.map(({ message }) => message),
    [
      'ca endpoint left out after a failure',
      'certificates come from another upstream',
      'ca endpoint answers again',
      'certificates come from another upstream',
    ],
    'each change is told once',
  );
  t.same(
    [
      await read('signet_ca_requests_total', { upstream: 'one', result: 'unavailable' }),
      await read('signet_ca_requests_total', { upstream: 'two', result: 'ok' }),
    ],
    [2, 4],
  );
});

t.test('one call at a time tries an endpoint that is left out', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two');
  cas[0].outcome = () => down;
  await ask();
  await clock.advance(500);
  cas[0].latencyMs = 100;
  const probe = ask();
  await until(() => cas[0].waiting === 1);
  t.equal(await ask(), 'two');
  t.same(calls(), [2, 2]);
  await clock.advance(100);
  t.equal(await probe, 'two');
});

t.test('an endpoint that refuses works', async (t) => {
  const { ask, cas, clock, failover } = scene('one', 'two');
  cas[0].outcome = () => down;
  await ask();
  await clock.advance(500);
  cas[0].outcome = failsWith('unauthenticated', 'ca-unauthenticated');
  t.equal(await ask(), 'two');
  t.equal(failover.health[0]?.reason.value, undefined);
});

t.test('an endpoint whose answers are of no use works, but says so until one is', async (t) => {
  const { ask, cas, failover } = scene('one', 'two');
  cas[0].outcome = failsWith('invalid', 'san-mismatch');
  t.equal(await ask(), 'two');
  t.equal(failover.health[0]?.reason.value, undefined, 'it is asked again');
  t.match(
    failover.health.map(({ unusable }) => unusable()),
    [{ code: 'san-mismatch', detail: 'no' }, undefined],
  );
  cas[0].outcome = () => undefined;
  t.equal(await ask(), 'one');
  t.equal(failover.health[0]?.unusable(), undefined);
});

t.test('an answer under a root that is not published is told until it is', async (t) => {
  const { ask, cas, failover } = scene('one');
  const [{ ownRoots, roots }] = cas;
  roots.set([]);
  await t.rejects(ask(), { name: 'SignetError', reason: 'trust-anchor-unknown' });
  t.match(failover.health[0]?.unusable(), { code: 'trust-anchor-unknown' });
  roots.set(ownRoots);
  t.equal(failover.health[0]?.unusable(), undefined);
});

t.test('what an endpoint says is cut and redacted', async (t) => {
  const { ask, cas, failover } = scene('one');
  const text = `-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----${'x'.repeat(50_000)}`;
  cas[0].outcome = () => new SignetError('unavailable', text, { reason: 'ca-unavailable' });
  await t.rejects(ask(), { name: 'SignetError', reason: 'ca-unavailable' });
  const { detail = '' } = failover.health[0]?.reason.value ?? {};
  t.match(detail, /^\[key removed\]x+$/);
  t.equal(detail.length, 500);
});

t.test('an endpoint that was left out while another hung is not asked', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two', 'three');
  cas[0].outcome = () => 'hang';
  cas[1].outcome = () => down;
  const [slow, other] = [ask(), ask()];
  await until(() => cas[0].waiting === 2);
  await clock.advance(5_000);
  t.same(await Promise.all([slow, other]), ['three', 'three']);
  t.ok((calls()[1] ?? 0) <= 2);
  t.equal(await ask(), 'three');
});

t.test('one that answers again is asked when the one that was asked in its place fails', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two');
  cas[0].outcome = () => down;
  t.equal(await ask(), 'two');
  cas[1].outcome = () => down;
  cas[1].latencyMs = 1_000;
  const answer = ask();
  await until(() => cas[1].waiting === 1);
  cas[0].outcome = () => undefined;
  await clock.advance(1_000);
  t.equal(await answer, 'one');
  t.same(calls(), [2, 2]);
});

t.test('the pause never grows over half a minute', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two');
  cas[0].outcome = () => down;
  for (let round = 0; round < 20; round += 1) {
    await ask();
    await clock.advance(30_000);
  }
  t.equal(calls()[0], 20);
});

t.test('endpoints of one upstream are tried in turn', async (t) => {
  const { ask, calls, cas } = scene('one a', 'one b', 'two');
  cas[0].outcome = () => down;
  t.equal(await ask(), 'one');
  t.same(calls(), [1, 1, 0]);
});

t.test('R042, F043: a CA that hangs costs half of the deadline, once', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two');
  cas[0].outcome = () => 'hang';
  const answer = ask();
  await until(() => cas[0].waiting === 1);
  await clock.advance(5_000);
  t.equal(await answer, 'two');
  t.equal(await ask(), 'two');
  t.same(calls(), [1, 2]);
  t.equal(clock.alarms, 0);
});

t.test('the last one has what is left of the deadline, and its end counts against it', async (t) => {
  const { ask, cas, clock, failover, read } = scene('one');
  cas[0].outcome = () => 'hang';
  const answer = t.rejects(ask(), { name: 'SignetError', kind: 'deadline' });
  await until(() => cas[0].waiting === 1);
  await clock.advance(9_999);
  t.equal(failover.health[0]?.reason.value, undefined);
  await clock.advance(1);
  await answer;
  await clock.advance(0);
  t.equal(failover.health[0]?.reason.value?.code, 'ca-deadline');
  t.equal(await read('signet_ca_requests_total', { upstream: 'one', result: 'deadline' }), 1);
});

t.test('a refusal is that of the upstream: its other endpoints are not asked, the next upstream is', async (t) => {
  for (const reason of ['ca-impersonation-refused', 'ca-unauthenticated', 'ca-denied', 'ca-token-expired', 'ca-roots-missing'] as const) {
    const { ask, calls, cas, failover } = scene('one a', 'one b', 'two');
    cas[0].outcome = failsWith(reason === 'ca-denied' ? 'denied' : 'unauthenticated', reason);
    t.equal(await ask(), 'two', reason);
    t.same(calls(), [1, 0, 1]);
    t.equal(failover.health[0]?.reason.value, undefined, 'and nobody is left out for it');
  }
});

t.test('a request that is at fault is asked nowhere else', async (t) => {
  for (const reason of ['ca-lifetime-refused', 'ca-refused-request'] as const) {
    const { ask, calls, cas } = scene('one', 'two');
    cas[0].outcome = failsWith('invalid', reason);
    await t.rejects(ask(), { name: 'SignetError', reason });
    t.same(calls(), [1, 0]);
  }
});

t.test('an answer that chains elsewhere than its upstream may is no answer, whatever the other may chain to', async (t) => {
  const { ask, calls, cas, failover } = scene('one', 'two');
  const [one, two] = cas;
  one.roots.set(two.ownRoots);
  t.equal(await ask(), 'two');
  two.roots.set(one.ownRoots);
  await t.rejects(ask(), {
    name: 'SignetError',
    kind: 'invalid',
    cause: { reason: 'trust-anchor-unknown' },
    fields: { others: [/^two: /] },
  });
  t.same(calls(), [2, 2]);
  t.same(failover.roots.value, [...two.ownRoots, ...one.ownRoots]);
});

t.test('when all fail the first explains it', async (t) => {
  const { ask, cas } = scene('one', 'two');
  cas[0].outcome = failsWith('unauthenticated', 'ca-unauthenticated');
  cas[1].outcome = () => down;
  await t.rejects(ask(), {
    name: 'SignetError',
    kind: 'unauthenticated',
    message: 'no upstream gave a certificate',
    cause: { reason: 'ca-unauthenticated' },
    fields: { others: ['two: connect to the ca'] },
  });
});

t.test('a single CA that is down is met by one call at a time', async (t) => {
  const { ask, calls, cas, clock } = scene('one');
  cas[0].outcome = () => down;
  await t.rejects(ask(), { name: 'SignetError', kind: 'unavailable', message: 'connect to the ca' });
  cas[0].latencyMs = 100;
  const probe = ask();
  await until(() => cas[0].waiting === 1);
  for (let other = 0; other < 10; other += 1) {
    await t.rejects(ask(), { name: 'SignetError', kind: 'unavailable', message: 'every ca failed, another call is trying', cause: down });
  }
  t.same(calls(), [2]);
  cas[0].outcome = () => undefined;
  await clock.advance(100);
  t.equal(await probe, 'one');
  await Promise.all([ask(), ask(), clock.advance(100)]);
  t.same(calls(), [4], 'and by all as soon as it answers');
});

t.test('calls that fail together count once', async (t) => {
  const { ask, calls, cas, clock } = scene('one', 'two');
  cas[0].outcome = () => down;
  cas[0].latencyMs = 10;
  const answers = Promise.all(Array.from({ length: 8 }, ask));
  await until(() => cas[0].waiting === 8);
  await clock.advance(10);
  t.same(new Set(await answers), new Set(['two']));
  await clock.advance(500);
  cas[0].outcome = () => undefined;
  const back = ask();
  await clock.advance(10);
  t.equal(await back, 'one');
  t.equal(calls()[0], 9);
});

t.test("what the caller gives up is nobody's fault", async (t) => {
  const { cas, failover } = scene('one', 'two');
  cas[0].outcome = () => 'hang';
  const giveUp = new AbortController();
  const rejected = t.rejects(
    failover.request({ id, csr, key, lifetimeMs: 1_000 }, () => {}, giveUp.signal),
    { name: 'SignetError', kind: 'cancelled' },
  );
  await until(() => cas[0].waiting === 1);
  giveUp.abort();
  await rejected;
  t.equal(failover.health[0]?.reason.value, undefined);
});

t.test('new roots of any upstream are told', async () => {
  const { cas, failover } = scene('one', 'two');
  let told = 0;
  failover.roots.subscribe(() => (told += 1));
  cas[1].roots.set([createRoot().certificate]);
  await until(() => told === 2);
});

t.test(
  'a request of others that an endpoint fails at takes it from nobody; one that cannot be reached is left out whoever asks',
  async (t) => {
    const { ask, cas, calls } = scene('one', 'two');
    const foreign = { publicKeySpki: key.publicKeySpki };
    cas[0].outcome = failsWith('internal', 'ca-failed');
    t.equal(await ask(foreign), 'two');
    cas[0].outcome = () => undefined;
    t.equal(await ask(), 'one');
    cas[0].outcome = () => down;
    t.equal(await ask(foreign), 'two');
    t.equal(await ask(), 'two');
    t.same(calls(), [3, 3]);
  },
);

t.test('who does not take a request is not asked, and not to blame', async (t) => {
  const { failover, ask, cas, calls } = scene('one', 'two');
  Object.assign(cas[0], { serves: ({ key: of }: CaRequest) => isOwnKey(of) });
  const foreign = { publicKeySpki: key.publicKeySpki };
  t.equal(await ask(foreign), 'two');
  cas[1].outcome = () => down;
  await t.rejects(ask(foreign), { name: 'SignetError', kind: 'unavailable', reason: 'ca-unavailable' });
  t.equal(await ask(), 'one');
  t.same(calls(), [1, 2]);
  t.equal(failover.health[0]?.reason.value, undefined);
  Object.assign(cas[1], { serves: () => false });
  await t.rejects(ask(foreign), { name: 'SignetError', kind: 'invalid', reason: 'forward-unserved' });
});
