// One line for each call, and no more than an address may cause.

import t from 'tap';
import { createAuditLines } from '../../../agent/local-ca/audit-lines.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

t.test('refusals are bounded for each address, certificates are not', async (t) => {
  const [clock, log] = [createFakeClock(), createRecordingLogger()];
  const lines = createAuditLines(log, clock);
  for (let call = 0; call < 60; call += 1) lines.refused(`10.0.0.1:${call}`, { reason: 'token-refused' });
  t.equal(log.lines.length, 50);
  lines.refused('[fd00::1]:1', { reason: 'token-refused' });
  t.equal(log.lines.length, 51, 'another address has lines of its own');
  await clock.advance(1_000);
  lines.refused('10.0.0.1:1', { reason: 'token-refused' });
  t.match(log.lines.at(-1), { message: 'certificate refused', fields: { audit: true, suppressed: 10 } });
  for (let call = 0; call < 100; call += 1) lines.granted({ identity: 'x' });
  t.equal(log.lines.filter(({ message }) => message === 'certificate handed out').length, 100);
});

t.test('many addresses take no more memory than some', async (t) => {
  const [clock, log] = [createFakeClock(), createRecordingLogger()];
  const lines = createAuditLines(log, clock);
  for (let call = 0; call < 2_000; call += 1) lines.refused(`10.0.${call >> 8}.${call & 255}:1`, {});
  t.equal(log.lines.length, 1_024 + 50, 'those without room share');
  await clock.advance(60_000);
  lines.refused('10.9.9.9:1', {});
  t.equal(log.lines.length, 1_024 + 51, 'there is room again');
});
