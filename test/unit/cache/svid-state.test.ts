import t from 'tap';
import type { SvidEvent, SvidState } from '../../../agent/cache/svid-state.js';
import { failuresOf, isChange, nextState, svidOf } from '../../../agent/cache/svid-state.js';
import { renewAt } from '../../../agent/cache/schedule.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { Reason } from '../../../agent/runtime/reasons.js';
import { Svid } from '../../../agent/x509/svid.js';
import { createLeaf, createRoot, testTime } from '../../fixtures/pki.js';

const root = createRoot();
const id = createSpiffeId('example.org', 'test', 'a');
const svidOfTest = (): Svid =>
  new Svid({
    id,
    chain: [createLeaf(root, id.uri).certificate],
    root: root.certificate,
    privateKeyPem: Buffer.from('key'),
    receivedAt: testTime,
  });

const svid = svidOfTest();
const next = svidOfTest();
const issuing: Reason = { code: 'issuing', detail: '' };
const down: Reason = { code: 'ca-unavailable', detail: 'connect' };
const former: Reason = { code: 'root-withdrawn', detail: 'sha-256 a' };
const other: Reason = { code: 'root-withdrawn', detail: 'sha-256 b' };

const states = {
  idle: { status: 'idle', reason: { code: 'issued-on-demand', detail: '' } },
  pending: { status: 'pending', reason: issuing },
  issued: { status: 'issued', svid, renewAt: renewAt(svid) },
  retained: { status: 'retained', svid, reason: down, retryAt: 5, failures: 2 },
  withdrawn: { status: 'retained', svid, reason: former, unverified: former, retryAt: 5, failures: 0 },
  failing: { status: 'retained', svid, reason: down, unverified: former, retryAt: 5, failures: 2 },
  unavailable: { status: 'unavailable', reason: down, retryAt: 5, failures: 2 },
} as const satisfies Record<string, SvidState>;

const denied: Reason = { code: 'ca-denied', detail: 'no' };
const expired: Reason = { code: 'certificate-expired', detail: 'not renewed in time' };
const events = {
  issued: { kind: 'issued', svid: next },
  failed: { kind: 'failed', reason: denied, retryAt: 9, failures: 7 },
  hastened: { kind: 'hastened', retryAt: 1 },
  expired: { kind: 'expired', retryAt: 7 },
  withdrawn: { kind: 'root-withdrawn', reason: other, retryAt: 3 },
  published: { kind: 'root-published', isDue: false },
  publishedDue: { kind: 'root-published', isDue: true },
  asked: { kind: 'asked' },
  gone: { kind: 'gone' },
} as const satisfies Record<string, SvidEvent>;

t.test('the whole table of moves', async (t) => {
  const issued: SvidState = { status: 'issued', svid: next, renewAt: renewAt(next) };
  const table: Record<keyof typeof states, Record<keyof typeof events, SvidState | undefined>> = {
    idle: {
      issued,
      failed: { status: 'unavailable', reason: denied, retryAt: 9, failures: 7 },
      hastened: states.idle,
      expired: states.idle,
      withdrawn: states.idle,
      published: states.idle,
      publishedDue: states.idle,
      asked: states.pending,
      gone: undefined,
    },
    pending: {
      issued,
      failed: { status: 'unavailable', reason: denied, retryAt: 9, failures: 7 },
      hastened: states.pending,
      expired: states.pending,
      withdrawn: states.pending,
      published: states.pending,
      publishedDue: states.pending,
      asked: states.pending,
      gone: undefined,
    },
    issued: {
      issued,
      failed: { status: 'retained', svid, reason: denied, retryAt: 9, failures: 7 },
      hastened: states.issued,
      expired: { status: 'unavailable', reason: expired, retryAt: 7, failures: 0 },
      withdrawn: { status: 'retained', svid, reason: other, unverified: other, retryAt: 3, failures: 0 },
      published: states.issued,
      publishedDue: states.issued,
      asked: states.issued,
      gone: undefined,
    },
    retained: {
      issued,
      failed: { status: 'retained', svid, reason: denied, retryAt: 9, failures: 7 },
      hastened: { ...states.retained, retryAt: 1 },
      expired: { status: 'unavailable', reason: down, retryAt: 7, failures: 2 },
      withdrawn: { ...states.retained, unverified: other, retryAt: 3 },
      published: states.retained,
      publishedDue: states.retained,
      asked: states.retained,
      gone: undefined,
    },
    withdrawn: {
      issued,
      failed: { status: 'retained', svid, reason: denied, unverified: former, retryAt: 9, failures: 7 },
      hastened: { ...states.withdrawn, retryAt: 1 },
      expired: { status: 'unavailable', reason: expired, retryAt: 7, failures: 0 },
      withdrawn: { ...states.withdrawn, unverified: other, retryAt: 3 },
      published: states.issued,
      publishedDue: states.issued,
      asked: states.withdrawn,
      gone: undefined,
    },
    failing: {
      issued,
      failed: { status: 'retained', svid, reason: denied, unverified: former, retryAt: 9, failures: 7 },
      hastened: { ...states.failing, retryAt: 1 },
      expired: { status: 'unavailable', reason: down, retryAt: 7, failures: 2 },
      withdrawn: { ...states.failing, unverified: other, retryAt: 3 },
      published: states.issued,
      publishedDue: states.retained,
      asked: states.failing,
      gone: undefined,
    },
    unavailable: {
      issued,
      failed: { status: 'unavailable', reason: denied, retryAt: 9, failures: 7 },
      hastened: { ...states.unavailable, retryAt: 1 },
      expired: states.unavailable,
      withdrawn: states.unavailable,
      published: states.unavailable,
      publishedDue: states.unavailable,
      asked: states.unavailable,
      gone: undefined,
    },
  };
  for (const [from, row] of Object.entries(table)) {
    for (const [event, expectedState] of Object.entries(row)) {
      const state = nextState(states[from as keyof typeof states], events[event as keyof typeof events]);
      t.strictSame(state, expectedState, `${from} on ${event}`);
      if (expectedState !== undefined) t.equal(svidOf(state), svidOf(expectedState), `${from} on ${event}: the same certificate`);
    }
  }
});

t.test('what is a change that people and subscribers are told', async (t) => {
  const table: readonly (readonly [string, SvidState, SvidState | undefined, boolean])[] = [
    ['another status', states.issued, states.retained, true],
    ['another certificate', states.issued, { ...states.issued, svid: next }, true],
    ['another reason', states.unavailable, { ...states.unavailable, reason: denied }, true],
    ['gone', states.issued, undefined, true],
    [
      'another detail, attempt and time',
      states.retained,
      { ...states.retained, reason: { ...down, detail: 'x' }, retryAt: 8, failures: 3 },
      false,
    ],
    ['another time', states.issued, { ...states.issued, renewAt: 1 }, false],
  ];
  for (const [name, before, after, expectedChange] of table) t.equal(isChange(before, after), expectedChange, name);
});

t.test('what a state holds', async (t) => {
  t.same(Object.values(states).map(failuresOf), [0, 0, 0, 2, 0, 2, 2]);
  t.same(
    Object.values(states).map((state) => svidOf(state) === svid),
    [false, false, true, true, true, true, false],
  );
  t.equal(svidOf(undefined), undefined);
});
