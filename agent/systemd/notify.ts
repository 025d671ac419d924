// What a service tells systemd (sd_notify(3)): that it is ready, that it is alive, how it is, that it stops. Called by the wiring of
// both servers. Promise: where nobody listens nothing is sent, and what cannot be sent is logged and fails nothing.

import type { ReadinessState } from '../runtime/lifecycle.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Native } from '../runtime/native.js';
import type { Clock } from '../runtime/time.js';
import { aborted, sleep, withDeadline } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';

export interface NotifierOptions {
  /** May hold NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly native: Pick<Native, 'sendDatagram'>;
  /**
   * Asked before the watchdog is told that the service lives, which it is not unless this settles, before the watchdog's time is over.
   * Default: it lives while its event loop does.
   */
  readonly check?: (signal: AbortSignal) => Promise<void>;
  /** Shown by `systemctl status`. It decides nothing: without pods or a CA the service has started all the same. */
  readonly readiness: Watched<ReadinessState>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Notifier {
  /** Says that the service has started, then that it is alive, until the signal aborts; then that it stops. */
  run(this: void, signal: AbortSignal): Promise<void>;
}

/** After a message that was not sent: for the first one systemd waits no longer than TimeoutStartSec=. */
const retryMs = 1_000;
const alive = 'WATCHDOG=1';

export function createNotifier(options: NotifierOptions): Notifier {
  const { env, pid, native, check = async () => {}, readiness, clock, log } = options;
  const socket = env['NOTIFY_SOCKET'] ?? '';
  const aliveMs = watchdogMs(env, pid) / 2;
  // READY=1 once more changes nothing, so that every message may stand for one that was lost.
  const state = (): string => `READY=1\nSTATUS=${describe(readiness.value)}`;
  let heard = true;
  const send = (text: string): void => {
    try {
      native.sendDatagram(socket, text);
      heard = true;
    } catch (error) {
      if (heard) log.warn('systemd cannot be told', { text, ...errorFields(error) });
      heard = false;
    }
  };
  const lives = (signal: AbortSignal): Promise<boolean> =>
    withDeadline(clock, aliveMs, 'check of the service', signal, check).then(
      () => true,
      (error: unknown) => {
        if (!signal.aborted) log.error('the watchdog is not told that the service lives', errorFields(error));
        return false;
      },
    );
  return {
    async run(signal) {
      if (socket === '') return await aborted(signal);
      readiness.subscribe(() => send(state()), signal);
      while (await passes(clock, heard ? aliveMs : Math.min(retryMs, aliveMs), signal)) {
        if (!heard) send(state());
        if (await lives(signal)) send(alive);
      }
      send('STOPPING=1');
    },
  };
}

/** WatchdogSec= of the unit, sd_watchdog_enabled(3); Infinity without one for this process. */
function watchdogMs({ WATCHDOG_USEC: usec = '', WATCHDOG_PID: owner = '' }: NotifierOptions['env'], pid: number): number {
  if (!/^[1-9][0-9]*$/.test(usec) || (owner !== '' && owner !== String(pid))) return Infinity;
  return Number(usec) / 1_000;
}

/** One line: systemd ends a message at a line break. */
function describe({ ready, reasons }: ReadinessState): string {
  const faults = [...reasons].map(([name, { code }]) => `${name}: ${code}`).join(', ');
  return [ready ? 'ready' : 'not ready', ...(faults === '' ? [] : [faults])].join('; ');
}

/** Waits; false as soon as the signal aborts. */
function passes(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  );
}
