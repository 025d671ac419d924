import t from 'tap';
import type { SvidState } from '../../../agent/cache/svid-state.js';
import { observeStates, toReason } from '../../../agent/cache/svid-report.js';
import { renewAt } from '../../../agent/cache/schedule.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { ErrorKind } from '../../../agent/runtime/errors.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { Svid } from '../../../agent/x509/svid.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createLeaf, createRoot, hourMs, testTime } from '../../fixtures/pki.js';

t.test('every kind of error has a reason; one that the error names comes first', async (t) => {
  const expected: Record<ErrorKind, string> = {
    invalid: 'ca-refused-request',
    notFound: 'ca-refused-request',
    conflict: 'ca-refused-request',
    denied: 'ca-denied',
    unauthenticated: 'ca-denied',
    deadline: 'ca-deadline',
    unavailable: 'ca-unavailable',
    exhausted: 'ca-unavailable',
    cancelled: 'ca-unavailable',
    internal: 'ca-unavailable',
  };
  for (const [kind, code] of Object.entries(expected)) t.equal(toReason(new SignetError(kind as ErrorKind, 'x')).code, code, kind);
  t.equal(toReason(new Error('foreign')).code, 'ca-unavailable');
  const named = new SignetError('invalid', 'outer', {
    cause: new SignetError('invalid', 'inner', {
      reason: 'san-mismatch',
      fields: { requested: 'a', received: ['b', 'c'], none: undefined },
    }),
  });
  t.same(toReason(named), { code: 'san-mismatch', detail: 'outer: inner, requested a, received b,c' });
});

t.test('what a CA says is cut and cleaned', async (t) => {
  const long = toReason(new SignetError('denied', 'x'.repeat(100_000)));
  t.equal(long.detail.length, 500);
  t.equal(toReason(new Error('-----BEGIN PRIVATE KEY-----\nabc')).detail, '[key removed]');
});

const root = createRoot();
function certificate(lifeMs: number): Svid {
  const id = createSpiffeId('example.org', 'test', 'a');
  const leaf = createLeaf(root, id.uri, { notAfter: testTime + lifeMs });
  return new Svid({ id, chain: [leaf.certificate], root: root.certificate, privateKeyPem: Buffer.from('key'), receivedAt: testTime });
}

t.test('gauges', async (t) => {
  const { metrics, read } = createTestMetrics();
  const [short, long] = [certificate(2 * hourMs), certificate(10 * hourMs)];
  const down = { code: 'ca-unavailable', detail: '' } as const;
  const withdrawn = { code: 'root-withdrawn', detail: '' } as const;
  const states: SvidState[] = [
    { status: 'pending', reason: { code: 'issuing', detail: '' } },
    { status: 'issued', svid: long, renewAt: renewAt(long) },
    { status: 'retained', svid: short, reason: down, retryAt: 0, failures: 3 },
    { status: 'unavailable', reason: down, retryAt: 0, failures: 3 },
    { status: 'unavailable', reason: { code: 'ca-denied', detail: '' }, retryAt: 0, failures: 3 },
    { status: 'retained', svid: long, reason: withdrawn, unverified: withdrawn, retryAt: 0, failures: 0 },
  ];
  const now = testTime + 1.5 * hourMs;
  observeStates(new Map(states.map((state, index) => [String(index), state])), metrics, now);
  const by = async (name: string, label: string, values: readonly string[]): Promise<(number | undefined)[]> =>
    await Promise.all(values.map(async (value) => await read(name, { [label]: value })));
  t.same(await by('signet_identities', 'state', ['pending', 'issued', 'retained', 'unavailable']), [1, 1, 2, 2]);
  t.same(await by('signet_identities_with_reason', 'reason', ['issuing', 'ca-unavailable', 'ca-denied', 'ca-deadline']), [
    1,
    2,
    1,
    undefined,
  ]);
  t.equal(await read('signet_identities_unverified'), 1);
  t.equal(await read('signet_renewals_overdue'), 1);
  t.equal(await read('signet_svid_earliest_expiry_timestamp_seconds'), (testTime + 2 * hourMs) / 1_000);
  t.equal(await read('signet_outage_budget_seconds'), 1_800);

  observeStates(new Map(), metrics, now);
  t.same(await by('signet_identities', 'state', ['pending', 'issued', 'retained', 'unavailable']), [0, 0, 0, 0]);
  t.equal(await read('signet_identities_with_reason', { reason: 'ca-unavailable' }), undefined);
  t.equal(await read('signet_identities_unverified'), 0);
  t.equal(await read('signet_renewals_overdue'), 0);
  t.equal(await read('signet_svid_earliest_expiry_timestamp_seconds'), 0);
  t.equal(await read('signet_outage_budget_seconds'), 0);
});
