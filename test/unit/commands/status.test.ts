import t from 'tap';
import type { Status } from '../../../agent/admin/client.js';
import { formatStatus } from '../../../agent/commands/status.js';

const now = Date.parse('2026-11-30T12:00:00Z');
const base: Status = {
  version: '1.2.3',
  trustDomain: 'td.test',
  node: 'node-a',
  pid: 7,
  uptimeSeconds: 90,
  ready: true,
  reasons: [],
  logLevel: 'info',
  identities: [],
  sources: [{ of: 'pods', name: 'file' }],
  selfCheck: { checks: [] },
};

t.test('an agent without anything', async (t) => {
  const text = formatStatus({ ...base, ready: false }, { total: 0, streams: [] }, now);
  t.match(text, /agent +1\.2\.3, pid 7, up 1m 30s, NOT READY\n/);
  t.match(text, /node +node-a in trust domain td\.test\n/);
  t.match(text, /roots +none\n/);
  t.match(text, /pods \(file\) +ok\n/);
  t.match(text, /no identities on this node\n/);
  t.match(text, /no open streams\n/);
});

t.test('the self-check in one line: whether it was done, and how much is at fault', (t) => {
  const of = (selfCheck: Status['selfCheck']): string => formatStatus({ ...base, selfCheck }, { total: 0, streams: [] }, now);
  const reason = { code: 'clock-differs', sentence: 'S.', detail: '', action: 'A.' } as const;
  const lookedAt = '2026-11-30T11:58:00.000Z';
  t.notMatch(of({ checks: [] }), /self-check/, 'nothing to check');
  const [ok, unknown] = [
    { name: 'pods', state: 'ok' },
    { name: 'ca', state: 'unknown' },
  ] as const;
  const fault = { name: 'clock', state: 'fault', reason } as const;
  t.match(of({ checks: [unknown] }), /self-check +not done yet\n/);
  t.match(of({ lookedAt, checks: [ok] }), /self-check +1 ok, 2m 0s ago\n/);
  t.match(of({ lookedAt, checks: [unknown, ok] }), /self-check +1 could not be told \(ca\), 1 ok, 2m 0s ago\n/);
  t.match(of({ lookedAt, checks: [fault, unknown, ok] }), /self-check +1 at fault, 1 could not be told \(ca\), 1 ok, 2m 0s ago\n/);
  t.end();
});

t.test('what the local CA handed out, and when it lapses', async (t) => {
  const of = (localCa: Status['localCa'] & object): string => formatStatus({ ...base, localCa }, { total: 0, streams: [] }, now);
  t.match(of({ certificates: [] }), /local CA +does not listen, certificates of 0 identities handed out\n/);
  const text = of({
    address: { host: '::', port: 15_812 },
    certificates: [
      { name: 'spiffe://td.test/ns/a/sa/old', notAfter: '2026-11-30T11:00:00Z', state: 'lapsed' },
      { name: 'spiffe://td.test/ns/a/sa/b', notAfter: '2026-11-30T13:00:00Z', state: 'valid' },
    ],
  });
  t.match(text, /local CA +on port 15812, certificates of 2 identities handed out, 1 lapsed\n/);
  t.match(text, /HANDED OUT BY THE LOCAL CA +EXPIRES IN\n.*\/sa\/old +lapsed\n.*\/sa\/b +1h 0m\n/);
});

t.test('identities, reasons and streams with what to change', async (t) => {
  const reason = {
    code: 'ca-unavailable',
    sentence: 'The CA cannot be reached.',
    detail: 'ECONNREFUSED',
    action: 'Check the CA.',
  } as const;
  const status: Status = {
    ...base,
    reasons: [{ gate: 'pods', ...reason, detail: '' }],
    bundle: { version: 'abc', roots: 2, notAfter: '2026-12-01T12:00:00Z' },
    outageBudgetSeconds: 3600,
    sources: [{ of: 'roots', name: 'issuer', reason }],
    identities: [
      {
        name: 'spiffe://td.test/ns/a/sa/b',
        state: 'issued',
        pods: ['1'],
        serial: '0a',
        notAfter: '2026-11-30T13:00:00Z',
        nextAttempt: '2026-11-30T12:24:00Z',
      },
      { name: 'spiffe://td.test/ns/a/sa/c', state: 'unavailable', pods: ['2'], reason },
    ],
  };
  const stream = {
    protocol: 'delta',
    peer: { pid: 12, uid: 0 },
    nodeId: '',
    nameCount: 40,
    names: [{ name: 'ROOTCA', state: 'acked' }],
  };
  const text = formatStatus(status, { total: 2000, streams: [stream] }, now);
  t.match(text, /roots +2, first expiry in 1d 0h\n/);
  t.match(text, /the first identity lapses after 1h 0m without a CA/);
  t.match(text, /! pods +ca-unavailable: The CA cannot be reached\. Check the CA\.\n/);
  t.match(text, /roots \(issuer\) +ca-unavailable: The CA cannot be reached\. \(ECONNREFUSED\) Check the CA\.\n/);
  t.match(text, /sa\/b +issued +1h 0m +24m 0s\n/);
  t.match(text, /sa\/c +unavailable +– +– +ca-unavailable: The CA cannot be reached\./);
  t.match(text, /delta +pid=12 uid=0 +– +ROOTCA acked, … \(40 in all\)\n/);
  t.match(text, /… 2000 streams in all\n/);
});
