// The HTTP door over real sockets.

import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import koffi from 'koffi';
import t, { type Test } from 'tap';
import type { HttpAddress } from '../../agent/http.js';
import { createHttpDoor } from '../../agent/http.js';
import type { TcpPlace } from '../../agent/listen/place.js';
import type { ReadinessState } from '../../agent/runtime/lifecycle.js';
import { reasons as reasonTexts } from '../../agent/runtime/reasons.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createFakeClock, until } from '../fixtures/clock.js';
import { createRecordingLogger } from '../fixtures/log.js';

const dup = koffi.load(null).func('int dup(int)') as (fd: number) => number;

interface Seen {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

async function start(
  t: Test,
  { address = { host: '127.0.0.1', port: 0 }, fd, metrics }: Partial<TcpPlace> & { metrics?: () => Promise<string> } = {},
) {
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const readiness = new WatchedValue<ReadinessState>({ ready: true, reasons: new Map() });
  let scrapes = 0;
  const door = createHttpDoor({
    place: { address, fd },
    readiness,
    registry: {
      contentType: 'text/plain; version=0.0.4',
      metrics: metrics ?? (() => Promise.resolve(`scrapes ${scrapes}\n`)),
    },
    beforeScrape: () => (scrapes += 1),
    clock,
    log,
  });
  const stop = new AbortController();
  const running = door.run(stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  t.teardown(close);
  return { door, clock, log, readiness, close };
}

async function portOf(door: { readonly address: { readonly value: HttpAddress | undefined } }): Promise<number> {
  await until(() => door.address.value !== undefined, 'the door is open');
  return door.address.value?.port ?? 0;
}

function ask(port: number, path: string, { method = 'GET', headers = {}, host = '127.0.0.1', body = '' } = {}): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const call = request({ host, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    call.on('error', reject).end(body);
  });
}

t.test('the three resources and nothing else', async (t) => {
  const { door } = await start(t);
  const port = await portOf(door);
  t.match(await ask(port, '/livez'), { status: 200, body: 'live\n' });
  t.match(await ask(port, '/readyz'), { status: 200, body: 'ready\n' });
  t.match(await ask(port, '/metrics'), { status: 200, body: 'scrapes 1\n', headers: { 'content-type': 'text/plain; version=0.0.4' } });
  t.match(await ask(port, '/metrics'), { body: 'scrapes 2\n' }, 'the hook runs before each scrape');
  t.match(await ask(port, '/metrics', { method: 'HEAD' }), { status: 200, body: '', headers: { 'content-length': '10' } });
  t.equal((await ask(port, '/')).status, 404);
  t.equal((await ask(port, '/readyz/')).status, 404);
  t.equal((await ask(port, '/debug/pprof')).status, 404);
  t.match(await ask(port, '/readyz', { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } });
  t.equal((await ask(port, '/livez', { method: 'DELETE' })).status, 405);
});

t.test('readiness says why, with what to change', async (t) => {
  const { door, readiness } = await start(t);
  const port = await portOf(door);
  const reasons = new Map([['pods', { code: 'pods-file-missing', detail: '/etc/signet/pods.yaml' } as const]]);
  const { sentence, action } = reasonTexts['pods-file-missing'];
  const line = `pods: pods-file-missing: ${sentence} (/etc/signet/pods.yaml) ${action}\n`;
  readiness.set({ ready: false, reasons });
  t.match(await ask(port, '/readyz'), { status: 503, body: `not ready\n${line}` });
  t.equal((await ask(port, '/livez')).status, 200, 'it lives all the same');
  readiness.set({ ready: true, reasons });
  t.match(await ask(port, '/readyz'), { status: 200, body: 'ready\n' });
  t.match(await ask(port, '/readyz?verbose'), { status: 200, body: `ready\n${line}` });
  t.match(await ask(port, '/readyz?verbose=1&x'), { body: `ready\n${line}` });
});

t.test('bodies, long paths and large headers are refused', async (t) => {
  const { door } = await start(t);
  const port = await portOf(door);
  t.equal((await ask(port, '/livez', { body: 'x', headers: { 'content-length': '1' } })).status, 413);
  t.equal((await ask(port, '/livez', { headers: { 'transfer-encoding': 'chunked' }, body: 'x' })).status, 413);
  t.equal((await ask(port, `/livez?${'x'.repeat(2000)}`)).status, 414);
  t.equal((await ask(port, '/livez', { headers: { large: 'x'.repeat(9000) } })).status, 431);
  t.equal((await ask(port, '/livez')).status, 200);
});

t.test('a collector that fails is an error for the scraper alone', async (t) => {
  const { door, log } = await start(t, { metrics: () => Promise.reject(new Error('collector failed')) });
  const port = await portOf(door);
  t.match(await ask(port, '/metrics'), { status: 500, body: 'internal error\n' });
  t.match(log.lines.at(-1), { level: 'error', message: 'http request failed', fields: { error: 'collector failed' } });
  t.equal((await ask(port, '/livez')).status, 200);
});

t.test('IPv6', async (t) => {
  const { door, log } = await start(t, { address: { host: '::1', port: 0 } });
  await until(() => door.address.value !== undefined || door.reason.value !== undefined);
  if (door.reason.value !== undefined) {
    t.strictSame(door.reason.value, { code: 'http-port-taken', detail: '[::1]:0' }, 'no IPv6 here');
    return;
  }
  const port = await portOf(door);
  t.equal((await ask(port, '/livez', { host: '::1' })).status, 200);
  t.match(log.lines[0], { message: 'http is served', fields: { address: `[::1]:${port}` } });
});

t.test('a socket that systemd bound is served, and the log names where that is', async (t) => {
  const bound = createServer();
  bound.listen(0, '127.0.0.1');
  await once(bound, 'listening');
  const { port } = bound.address() as AddressInfo;
  // A descriptor of its own, as a process has it that was started with the socket.
  const fd = dup((bound as unknown as { _handle: { fd: number } })._handle.fd);
  bound.close();
  const { door, log } = await start(t, { address: { host: '192.0.2.1', port: 9470 }, fd });
  t.equal(await portOf(door), port);
  t.equal((await ask(port, '/livez')).status, 200);
  t.match(log.lines, [{ message: 'http is served', fields: { address: `127.0.0.1:${port}` } }]);
});

t.test('what was passed in and is no socket is told as such', async (t) => {
  const fd = openSync('/dev/null', 'r');
  t.teardown(() => closeSync(fd));
  const { door, log } = await start(t, { address: { host: '192.0.2.1', port: 9470 }, fd });
  await until(() => door.reason.value !== undefined, 'the reason');
  t.strictSame(door.reason.value, { code: 'http-port-taken', detail: `socket ${fd}, passed in` });
  t.match(log.lines, [{ message: 'http address cannot be bound, trying again', fields: { address: `socket ${fd}, passed in` } }]);
});

t.test('connections beyond 64 are closed at once, the others are served', async (t) => {
  const { door } = await start(t);
  const port = await portOf(door);
  const sockets: Socket[] = [];
  for (let index = 0; index < 64; index += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
  }
  const late = connect(port, '127.0.0.1').resume();
  await once(late, 'close');
  const [first] = sockets;
  first?.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
  const [answer] = (await once(first ?? late, 'data')) as [Buffer];
  t.match(answer.toString(), /^HTTP\/1\.1 200 /);
  sockets.forEach((socket) => socket.destroy());
});

t.test('a taken port is told once and tried again, every 30 s at the latest', async (t) => {
  const blocker = createServer();
  blocker.listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const { port } = blocker.address() as AddressInfo;
  const { door, clock, log } = await start(t, { address: { host: '127.0.0.1', port } });
  await until(() => clock.alarms === 1, 'a retry is planned');
  t.strictSame(door.reason.value, { code: 'http-port-taken', detail: `127.0.0.1:${port}` });
  await clock.advance(30_000);
  await until(() => clock.alarms === 1, 'the next retry is planned');
  t.match(log.lines, [{ level: 'error', message: 'http address cannot be bound, trying again', fields: { reason: 'http-port-taken' } }]);
  t.equal(log.lines.length, 1, 'the second failure is not told again');
  blocker.close();
  await once(blocker, 'close');
  await clock.advance(30_000);
  t.equal(await portOf(door), port);
  t.equal(door.reason.value, undefined);
  t.equal((await ask(port, '/livez')).status, 200);
});

t.test('stop ends open connections and the wait for a port', { timeout: 5_000 }, async (t) => {
  let scraped = false;
  const hang = (): Promise<string> => {
    scraped = true;
    return new Promise(() => {});
  };
  const open = await start(t, { metrics: hang });
  const port = await portOf(open.door);
  const cut = t.rejects(ask(port, '/metrics'), { code: 'ECONNRESET' });
  await until(() => scraped);
  await open.close();
  await cut;
  t.equal(open.door.address.value, undefined);
  await t.rejects(ask(port, '/livez'), { code: 'ECONNREFUSED' });

  const waiting = await start(t, { address: { host: '203.0.113.1', port: 1 } });
  await until(() => waiting.clock.alarms === 1);
  await waiting.close();
  t.equal(waiting.clock.alarms, 0);
});
