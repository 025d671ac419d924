// The audit log: lines that are there before the answer, together where they come together, and what happens when they cannot be.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { AuditRecord, LineSink } from '../../../agent/authority/audit.js';
import { createAuditLog, createAuditOutput, openAuditFile } from '../../../agent/authority/audit.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import { Registry } from 'prom-client';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

const record = (requestId: string): AuditRecord => ({
  at: '2026-01-01T00:00:00.000Z',
  requestId,
  peer: '10.0.0.1:1',
  decision: 'refuse',
  reason: 'token-missing',
});

function createScene(sink: LineSink, onFailure: 'refuse' | 'continue' = 'refuse') {
  const log = createRecordingLogger();
  return { log, audit: createAuditLog({ sink, onFailure, log, metrics: createAuthorityMetrics(new Registry()) }) };
}

t.test('lines that come during a write are the next write together', async (t) => {
  const writes: string[] = [];
  let finish = (): void => {};
  const { audit } = createScene({
    append: async (lines) => {
      writes.push(lines);
      await new Promise<void>((resolve) => (finish = resolve));
    },
    close: async () => {},
  });
  const first = audit.write(record('1'));
  await settle();
  const rest = [audit.write(record('2')), audit.write(record('3'))];
  await settle();
  t.equal(writes.length, 1);
  let answered = false;
  void rest[0]?.then(() => (answered = true));
  finish();
  await first;
  await settle();
  t.notOk(answered, 'not before its own line is written');
  t.equal(writes.length, 2);
  t.equal(writes[1]?.split('\n').length, 3, 'two lines');
  finish();
  await Promise.all(rest);
  await audit.close();
});

t.test('a line that cannot be written refuses what it is about, or is said in the log', async (t) => {
  const failing = { append: () => Promise.reject(new Error('no space')), close: async () => {} };
  const refusing = createScene(failing);
  await t.rejects(refusing.audit.write(record('1')), { name: 'SignetError', kind: 'unavailable', reason: 'audit-failed' });
  await t.rejects(refusing.audit.write(record('2')), { name: 'SignetError', kind: 'unavailable' });
  t.equal(refusing.log.lines.length, 1, 'said once');
  const going = createScene(failing, 'continue');
  await t.resolves(going.audit.write(record('1')));
  t.match(going.log.lines, [{ level: 'error', fields: { onFailure: 'continue' } }]);
});

t.test('a fault is over with the next write that works', async (t) => {
  let broken = true;
  const written: string[] = [];
  const { audit, log } = createScene({
    append: async (lines) => (broken ? Promise.reject(new Error('full')) : void written.push(lines)),
    close: async () => {},
  });
  await t.rejects(audit.write(record('1')));
  broken = false;
  await audit.write(record('2'));
  t.equal(written.length, 1);
  broken = true;
  await t.rejects(audit.write(record('3')));
  t.equal(log.lines.length, 2, 'a new fault is said again');
});

t.test('a file that is moved away is made anew, closed to others', async (t) => {
  const path = join(t.testdir({}), 'audit.log');
  const clock = createFakeClock();
  const file = await openAuditFile(path, clock);
  await file.append('one\n');
  t.equal(statSync(path).mode & 0o777, 0o600);
  renameSync(path, `${path}.1`);
  await file.append('two\n');
  t.equal(readFileSync(`${path}.1`, 'utf8'), 'one\ntwo\n', 'not looked at more than once a second');
  await clock.advance(1_000);
  await file.append('three\n');
  t.equal(readFileSync(path, 'utf8'), 'three\n');
  rmSync(path);
  await clock.advance(1_000);
  await file.append('four\n');
  t.equal(readFileSync(path, 'utf8'), 'four\n');
  await file.close();
});

t.test('a file that cannot be opened is no start', async (t) => {
  const directory = t.testdir({});
  mkdirSync(join(directory, 'audit.log'));
  await t.rejects(openAuditFile(join(directory, 'audit.log'), createFakeClock()), {
    name: 'SignetError',
    kind: 'unavailable',
    reason: 'audit-failed',
  });
});

t.test('standard output', async (t) => {
  const out: string[] = [];
  const { audit } = createScene(createAuditOutput((text) => out.push(text)));
  await audit.write({ ...record('1'), identity: 'line\nfeed' });
  t.equal(out.join('').split('\n').length, 2, 'one line, whatever a caller sends');
  t.match(JSON.parse(out.join('')), { identity: 'line\nfeed', reason: 'token-missing' });
  await audit.close();
});
