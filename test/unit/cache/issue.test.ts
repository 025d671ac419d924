import t from 'tap';
import { AttemptKey, createIssue } from '../../../agent/cache/issue.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { PrivateKey, keyTypes } from '../../../agent/x509/csr.js';
import type { KeyType } from '../../../agent/x509/csr.js';
import { createFakeCa } from '../../fixtures/ca.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

const id = createSpiffeId('example.org', 'test', 'a');
const never = new AbortController().signal;

function scene(keyType: KeyType = 'ec-p256') {
  const clock = createFakeClock();
  const ca = createFakeCa({ clock });
  const { metrics, read } = createTestMetrics();
  return {
    clock,
    ca,
    read,
    issue: createIssue({ ca, clock, metrics, keyType, lifetimeMs: 3_600_000, deadlineMs: 10_000, queue: { concurrency: 1 } }),
  };
}

t.test('each key type leads to an SVID with a key of its own', async (t) => {
  for (const keyType of keyTypes) {
    const { issue, clock } = scene(keyType);
    const [one, other] = [await issue(id, new AttemptKey(), never), await issue(id, new AttemptKey(), never)];
    t.equal(one.id.uri, id.uri);
    t.equal(one.receivedAt, clock.now());
    t.not(one.privateKeyPem().toString(), other.privateKeyPem().toString());
    t.match(one.chain[0]?.publicKey.asymmetricKeyType, keyType.slice(0, 2));
  }
});

t.test('the key is let go when the CA has answered, whatever it said', async (t) => {
  const wiped = t.capture(PrivateKey.prototype, 'wipe', PrivateKey.prototype.wipe);
  const { issue, ca } = scene();
  await issue(id, new AttemptKey(), never);
  t.equal(wiped().length, 1);
  ca.outcome = () => new SignetError('denied', 'no');
  await t.rejects(issue(id, new AttemptKey(), never), { name: 'SignetError', kind: 'denied' });
  t.equal(wiped().length, 1);
});

t.test('F039 attempts of one identity have one key until the CA has answered, and none after', async (t) => {
  const wiped = t.capture(PrivateKey.prototype, 'wipe', PrivateKey.prototype.wipe);
  const { issue, ca } = scene();
  const keys: string[] = [];
  const { request } = ca;
  ca.request = (asked, ...rest) => {
    keys.push(asked.key.publicKeySpki.toString('hex'));
    return request(asked, ...rest);
  };
  const attemptKey = new AttemptKey();
  ca.outcome = () => new SignetError('deadline', 'not yet');
  for (let attempt = 0; attempt < 3; attempt += 1) await t.rejects(issue(id, attemptKey, never));
  t.equal(wiped().length, 0);
  ca.outcome = () => undefined;
  await issue(id, attemptKey, never);
  t.equal(new Set(keys).size, 1);
  t.equal(wiped().length, 1);
  await issue(id, attemptKey, never);
  t.equal(new Set(keys).size, 2, 'a certificate has a key of its own');
  ca.outcome = () => new SignetError('deadline', 'not yet');
  await t.rejects(issue(id, attemptKey, never));
  wiped();
  attemptKey.drop();
  attemptKey.drop();
  t.equal(wiped().length, 1, 'or is given up, once');
});

t.test('roots that come with the answer count for it', async (t) => {
  const { issue, ca } = scene();
  ca.roots.set([]);
  ca.outcome = () => {
    ca.roots.set(ca.ownRoots);
    return undefined;
  };
  t.equal((await issue(id, new AttemptKey(), never)).id.uri, id.uri);
});

t.test('results are counted by kind, refused answers by reason', async (t) => {
  const { issue, ca, read, clock } = scene();
  t.equal(await read('signet_requested_lifetime_seconds'), 3_600);
  await issue(id, new AttemptKey(), never);
  ca.outcome = () => new SignetError('unavailable', 'down');
  await t.rejects(issue(id, new AttemptKey(), never));
  ca.outcome = () => undefined;
  ca.roots.set(scene().ca.ownRoots);
  await t.rejects(issue(id, new AttemptKey(), never), { name: 'SignetError', reason: 'trust-anchor-unknown' });
  ca.roots.set([]);
  await t.rejects(issue(id, new AttemptKey(), never), { name: 'SignetError', reason: 'bundle-missing' });
  ca.outcome = () => 'hang';
  const cancelled = new AbortController();
  const hanging = issue(id, new AttemptKey(), cancelled.signal);
  const rejected = t.rejects(hanging, { name: 'SignetError', kind: 'cancelled' });
  await clock.nextAlarm();
  cancelled.abort();
  await rejected;
  const results = await Promise.all(
    ['ok', 'unavailable', 'invalid', 'cancelled'].map(async (result) => await read('signet_svid_requests_total', { result })),
  );
  t.same(results, [1, 2, 1, 1]);
  t.equal(await read('signet_ca_answers_refused_total', { upstream: 'fake', reason: 'trust-anchor-unknown' }), 1);
  t.equal(await read('signet_ca_answers_refused_total', { upstream: 'fake', reason: 'bundle-missing' }), undefined);
  t.equal(await read('signet_svid_request_seconds_count'), 5);
  t.equal(clock.alarms, 0);
});

t.test('an answer that comes after the deadline is not looked at', async (t) => {
  const { issue, ca, clock, read } = scene();
  let call: Promise<unknown> = Promise.resolve();
  const { request } = ca;
  ca.request = (...args) => {
    const answer = request(...args);
    call = answer;
    return answer;
  };
  ca.outcome = () => 'hang-and-ignore-abort';
  const late = t.rejects(issue(id, new AttemptKey(), never), { name: 'SignetError', kind: 'deadline' });
  await until(() => ca.waiting === 1);
  await clock.advance(10_000);
  await late;
  ca.release();
  await t.rejects(call, { name: 'SignetError', kind: 'cancelled' });
  t.equal(await read('signet_svid_requests_total', { result: 'ok' }), undefined);
});
