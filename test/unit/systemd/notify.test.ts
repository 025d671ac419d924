import t from 'tap';
import { SignetError } from '../../../agent/runtime/errors.js';
import type { ReadinessState } from '../../../agent/runtime/lifecycle.js';
import type { Reason } from '../../../agent/runtime/reasons.js';
import { aborted } from '../../../agent/runtime/time.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createNotifier } from '../../../agent/systemd/notify.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';

const pid = 4711;

function start(env: Readonly<Record<string, string>>, check?: (signal: AbortSignal) => Promise<void>) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const readiness = new WatchedValue<ReadinessState>({ ready: false, reasons: new Map() });
  const sent: string[] = [];
  const manager = { listens: true };
  const sendDatagram = (path: string, text: string): void => {
    if (!manager.listens) throw new SignetError('internal', 'sendto failed', { fields: { errno: 11 } });
    sent.push(`${path} ${text}`);
  };
  const end = new AbortController();
  const more = check === undefined ? {} : { check };
  const running = createNotifier({ env, pid, native: { sendDatagram }, ...more, readiness, clock, log }).run(end.signal);
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  return { clock, log, readiness, sent, manager, stop };
}

const reasons = (...of: readonly [string, Reason['code']][]): ReadonlyMap<string, Reason> =>
  new Map(of.map(([name, code]) => [name, { code, detail: 'a\nb' }]));

t.test('a service that systemd did not start says nothing', async (t) => {
  const { clock, sent, stop } = start({ WATCHDOG_USEC: '2000000' });
  t.equal(clock.alarms, 0);
  await stop();
  t.same(sent, []);
});

t.test('it says that it has started, each state once, and that it stops', async (t) => {
  const { clock, readiness, sent, stop } = start({ NOTIFY_SOCKET: '/n' });
  readiness.set({ ready: false, reasons: reasons(['pods', 'pods-unread'], ['roots', 'bundle-missing']) });
  await settle();
  readiness.set({ ready: true, reasons: new Map() });
  await settle();
  await clock.advance(3_600_000);
  await stop();
  readiness.set({ ready: false, reasons: new Map() });
  await settle();
  t.same(sent, [
    '/n READY=1\nSTATUS=not ready',
    '/n READY=1\nSTATUS=not ready; pods: pods-unread, roots: bundle-missing',
    '/n READY=1\nSTATUS=ready',
    '/n STOPPING=1',
  ]);
  t.equal(clock.alarms, 0);
});

for (const { name, env, beats } of [
  { name: 'of this process', env: { WATCHDOG_USEC: '2000000', WATCHDOG_PID: '4711' }, beats: 10 },
  { name: 'of any process', env: { WATCHDOG_USEC: '4000000' }, beats: 5 },
  { name: 'of another process', env: { WATCHDOG_USEC: '2000000', WATCHDOG_PID: '4712' }, beats: 0 },
  { name: 'without a time', env: { WATCHDOG_USEC: '0' }, beats: 0 },
  { name: 'that is no number', env: { WATCHDOG_USEC: '2s' }, beats: 0 },
]) {
  t.test(`the watchdog ${name} hears from it twice in its time`, async (t) => {
    const { clock, sent, stop } = start({ NOTIFY_SOCKET: '@n', ...env } as Record<string, string>);
    await clock.advance(10_000);
    t.equal(sent.filter((text) => text === '@n WATCHDOG=1').length, beats);
    await stop();
  });
}

t.test('what cannot be sent is logged once, and said again as soon as somebody listens', async (t) => {
  const { clock, log, sent, manager, stop } = start({ NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '60000000' });
  sent.length = 0;
  manager.listens = false;
  await clock.advance(90_000);
  t.equal(log.lines.length, 1);
  t.match(log.lines[0], { level: 'warn', message: 'systemd cannot be told' });
  manager.listens = true;
  await clock.advance(1_000);
  t.same(sent, ['/n READY=1\nSTATUS=not ready', '/n WATCHDOG=1']);
  await stop();
});

t.test('the watchdog hears nothing while the service does not answer', async (t) => {
  const service = { answers: true };
  const ends: AbortSignal[] = [];
  const check = async (signal: AbortSignal): Promise<void> => {
    ends.push(signal);
    if (!service.answers) await aborted(signal);
  };
  const { clock, log, sent, stop } = start({ NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '20000000' }, check);
  const beats = (): number => sent.filter((text) => text === '/n WATCHDOG=1').length;
  await clock.advance(20_000);
  t.equal(beats(), 2);
  service.answers = false;
  await clock.advance(30_000);
  t.equal(beats(), 2);
  t.match(log.lines[0], { level: 'error', message: 'the watchdog is not told that the service lives', fields: { kind: 'deadline' } });
  t.ok(ends[2]?.aborted, 'the wait is over');
  service.answers = true;
  await clock.advance(25_000);
  t.ok(beats() > 2);
  service.answers = false;
  await clock.advance(10_000);
  const { length } = log.lines;
  await stop();
  t.equal(sent.at(-1), '/n STOPPING=1', 'a stop does not wait for it');
  t.equal(log.lines.length, length, 'and is no fault');
  t.equal(clock.alarms, 0);
});
