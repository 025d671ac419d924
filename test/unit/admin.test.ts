// The control socket and its client over a real Unix socket.

import { strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { AdminPeer } from '../../agent/admin.js';
import { createAdminServer } from '../../agent/admin.js';
import { createAdminClient } from '../../agent/admin/client.js';
import type { AdminSources, CertificateState } from '../../agent/admin/status.js';
import type { ErrorKind } from '../../agent/runtime/errors.js';
import { SignetError, kindOf } from '../../agent/runtime/errors.js';
import type { ReadinessState } from '../../agent/runtime/lifecycle.js';
import type { LogLevel } from '../../agent/runtime/log.js';
import type { Reason } from '../../agent/runtime/reasons.js';
import { reasons } from '../../agent/runtime/reasons.js';
import { systemClock } from '../../agent/runtime/time.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { createFakeClock, until } from '../fixtures/clock.js';
import { createRecordingLogger } from '../fixtures/log.js';

const never = new AbortController().signal;
const web = 'spiffe://example.org/ns/shop/sa/web';
const at = (text: string): number => Date.parse(text);

function createView() {
  const states = new Map<string, CertificateState>();
  const renewed: string[] = [];
  const logLevel = {
    level: 'info' as LogLevel,
    setLevel(level: LogLevel) {
      logLevel.level = level;
    },
  };
  const view = {
    about: { version: '0.1.0', trustDomain: 'example.org', node: 'node-1' },
    readiness: new WatchedValue<ReadinessState>({ ready: true, reasons: new Map() }),
    identities: new WatchedValue<ReadonlyMap<string, { readonly pods: readonly string[] }>>(new Map()),
    cache: { states: () => states, renew: (uri: string) => void renewed.push(uri) },
    explain: (uri) => ({ code: 'not-on-node', detail: uri }),
    sources: [
      { of: 'pods', name: 'file', reason: () => ({ code: 'pods-file-missing', detail: '/p' }) },
      { of: 'roots', name: 'issuer', reason: () => undefined },
    ],
    selfCheck: {
      checks: [
        { name: 'api server', fault: new WatchedValue<Reason | undefined>(undefined), isTold: new WatchedValue(true) },
        {
          name: 'clock',
          fault: new WatchedValue<Reason | undefined>({ code: 'clock-differs', detail: '40 s' }),
          isTold: new WatchedValue(false),
        },
        { name: 'pods', fault: new WatchedValue<Reason | undefined>(undefined), isTold: new WatchedValue(false) },
      ],
      lookedAt: new WatchedValue<number | undefined>(at('2026-01-01T00:00:00Z')),
    },
    bundle: new WatchedValue<AdminSources['bundle']['value']>(undefined),
    streams: (limit: number) => ({ total: 1, streams: [{ protocol: 'delta', limit }] }),
    logLevel,
  } satisfies AdminSources;
  return { view, states, renewed };
}

async function start(
  t: Test,
  { peer = { uid: 0, groups: [] } as AdminPeer | 'gone' | Error, uid = 1000, groupId = undefined as number | undefined } = {},
) {
  const path = join(createDirectory(t), 'admin.sock');
  const clock = createFakeClock({ startAt: at('2026-01-01T00:00:00Z') });
  const log = createRecordingLogger();
  const { view, states, renewed } = createView();
  const server = createAdminServer({
    view,
    listen: async (onConnection, signal) => {
      const listener = createServer(onConnection);
      listener.listen(path);
      await once(signal, 'abort');
      listener.close();
    },
    peerOf: () => {
      if (peer instanceof Error) throw peer;
      return peer === 'gone' ? undefined : peer;
    },
    uid,
    ...(groupId === undefined ? {} : { groupId }),
    clock,
    log,
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await running;
    strictEqual(clock.alarms, 0);
  };
  t.teardown(close);
  const client = createAdminClient({ path, clock: systemClock });
  return { path, clock, log, view, states, renewed, client, close };
}

/** Short, since a socket path has at most 107 bytes. */
function createDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-admin-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The kind of the error that the call ends with. */
async function failureOf(call: Promise<unknown>): Promise<ErrorKind | undefined> {
  return await call.then(() => undefined, kindOf);
}

/** One raw exchange: what a client that is not ours may send. */
async function raw(path: string, text: string): Promise<string> {
  const socket = connect(path);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

t.test('status shows all states of identities, sources, bundle and readiness', async (t) => {
  const { client, view, states, clock } = await start(t);
  const svid = { serial: '0a', notAfter: at('2026-01-02T00:00:00Z'), expiresAt: at('2026-01-01T12:00:00Z') };
  states.set(web, { status: 'issued', svid, renewAt: at('2026-01-01T09:00:00Z') });
  states.set(`${web}-1`, { status: 'retained', svid, reason: { code: 'ca-denied', detail: 'no' }, retryAt: at('2026-01-01T01:00:00Z') });
  states.set(`${web}-2`, { status: 'unavailable', reason: { code: 'ca-deadline', detail: '' }, retryAt: at('2026-01-01T01:00:00Z') });
  states.set('spiffe://example.org/ns/a/sa/first', { status: 'pending', reason: { code: 'issuing', detail: '' } });
  view.identities.set(new Map([[web, { pods: ['uid-1', 'uid-2'] }]]));
  view.bundle.set({ version: 'ab', roots: [{ notAfter: at('2030-01-01T00:00:00Z') }, { notAfter: at('2029-01-01T00:00:00Z') }] });
  view.readiness.set({ ready: false, reasons: new Map([['bundle', { code: 'bundle-missing', detail: '' }]]) });
  await clock.advance(61_500);
  const denied = { code: 'ca-denied', ...reasons['ca-denied'], detail: 'no' };
  t.match(await client.status(never), {
    version: '0.1.0',
    trustDomain: 'example.org',
    node: 'node-1',
    pid: process.pid,
    uptimeSeconds: 61,
    ready: false,
    reasons: [{ gate: 'bundle', code: 'bundle-missing', sentence: 'A source of roots has none yet or cannot be read.' }],
    logLevel: 'info',
    identities: [
      { name: 'spiffe://example.org/ns/a/sa/first', state: 'pending', pods: [], reason: { code: 'issuing' } },
      {
        name: web,
        state: 'issued',
        pods: ['uid-1', 'uid-2'],
        serial: '0a',
        notAfter: '2026-01-02T00:00:00.000Z',
        nextAttempt: '2026-01-01T09:00:00.000Z',
      },
      { name: `${web}-1`, state: 'retained', serial: '0a', nextAttempt: '2026-01-01T01:00:00.000Z', reason: denied },
      { name: `${web}-2`, state: 'unavailable', reason: { code: 'ca-deadline' } },
    ],
    sources: [
      { of: 'pods', name: 'file', reason: { code: 'pods-file-missing', detail: '/p' } },
      { of: 'roots', name: 'issuer' },
    ],
    bundle: { version: 'ab', roots: 2, notAfter: '2029-01-01T00:00:00.000Z' },
    outageBudgetSeconds: 12 * 3600 - 62,
  });
});

t.test('without certificates and roots there is no budget and no bundle', async (t) => {
  const { client } = await start(t);
  const status = await client.status(never);
  t.notOk('outageBudgetSeconds' in status);
  t.notOk('bundle' in status);
  t.strictSame(status.identities, []);
});

t.test('nothing but what is listed is shown of a certificate', async (t) => {
  const { path, states } = await start(t);
  const svid = { serial: '0a', notAfter: 1, expiresAt: 1, privateKeyPem: 'SECRET' };
  states.set(web, { status: 'issued', svid, renewAt: 1 });
  t.notMatch(await raw(path, 'GET /v1/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'), 'SECRET');
});

t.test('streams are passed on, at most 1,000', async (t) => {
  const { client } = await start(t);
  t.strictSame(await client.streams(never), { total: 1, streams: [{ protocol: 'delta', limit: 1_000 }] });
});

t.test('explain says why a name has no certificate, and nothing when it has one', async (t) => {
  const { client, states } = await start(t);
  t.match(await client.explain('spiffe://example.org/ns/x/sa/y', never), { code: 'not-on-node', detail: 'spiffe://example.org/ns/x/sa/y' });
  states.set(web, { status: 'unavailable', reason: { code: 'ca-denied', detail: 'no' }, retryAt: 1 });
  t.match(await client.explain(web, never), { code: 'ca-denied', detail: 'no', action: /\S/ });
  states.set(web, { status: 'issued', svid: { serial: '0a', notAfter: 1, expiresAt: 1 }, renewAt: 1 });
  t.equal(await client.explain(web, never), undefined);
});

t.test('renew reaches the cache; an unknown name is told why', async (t) => {
  const { client, view, renewed, log } = await start(t);
  view.identities.set(new Map([[web, { pods: [] }]]));
  await client.renew(web, never);
  t.strictSame(renewed, [web]);
  t.match(log.lines, [{ level: 'info', fields: { identity: web } }]);
  await t.rejects(client.renew('spiffe://example.org/ns/x/sa/y', never), {
    message: 'no such identity on this node',
    kind: 'notFound',
    reason: 'not-on-node',
    fields: { detail: 'spiffe://example.org/ns/x/sa/y' },
  });
  t.equal(renewed.length, 1);
});

t.test('log level', async (t) => {
  const { client, view, log } = await start(t);
  await client.setLogLevel('debug', never);
  t.equal(view.logLevel.level, 'debug');
  t.match(log.lines, [{ message: 'log level changed', fields: { before: 'info', level: 'debug' } }]);
  await t.rejects(client.setLogLevel('loud' as LogLevel, never), {
    kind: 'invalid',
    message: 'level must be one of error, warn, info, debug',
  });
  t.equal(view.logLevel.level, 'debug');
});

t.test('only root, our uid and the group are answered', async (t) => {
  const table: readonly (readonly [string, AdminPeer | 'gone', number | undefined, boolean])[] = [
    ['root', { uid: 0, groups: [] }, undefined, true],
    ['our uid', { uid: 1000, groups: [] }, undefined, true],
    ['another uid', { uid: 1001, groups: [0, 1000] }, undefined, false],
    ['the group', { uid: 1001, groups: [7, 8] }, 8, true],
    ['another group', { uid: 1001, groups: [7] }, 8, false],
    ['a peer that is gone', 'gone', 8, false],
  ];
  for (const [name, peer, groupId, expected] of table) {
    await t.test(name, async (t) => {
      const { client, log, view } = await start(t, { peer, groupId });
      if (expected) {
        t.ok(await client.status(never));
        return;
      }
      t.equal(await failureOf(client.status(never)), 'denied');
      t.equal(await failureOf(client.setLogLevel('debug', never)), 'denied');
      t.equal(view.logLevel.level, 'info');
      t.equal(log.lines.filter(({ level }) => level === 'warn').length, peer === 'gone' ? 0 : 2);
    });
  }
});

t.test('a peer that the kernel cannot tell is refused, and nothing else happens', async (t) => {
  const { client, log } = await start(t, {
    peer: new SignetError('internal', 'getsockopt SO_PEERGROUPS failed', { fields: { errno: 92 } }),
  });
  t.equal(await failureOf(client.status(never)), 'denied');
  t.match(log.lines, [{ level: 'warn', message: 'admin peer cannot be told and is refused', fields: { errno: 92 } }]);
});

t.test('what is not a request of ours is refused and costs nothing', async (t) => {
  const { path, view } = await start(t);
  const send = (line: string, body: string): Promise<string> =>
    raw(path, `${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  t.match(await send('GET /', ''), /^HTTP\/1\.1 404 [^]*"kind":"notFound"/);
  t.match(await send('DELETE /v1/status', ''), /^HTTP\/1\.1 404 /);
  t.match(await send('GET /v1/status?x', ''), /^HTTP\/1\.1 404 /);
  t.match(await send('PUT /v1/log-level', 'level=debug'), /^HTTP\/1\.1 400 [^]*body is not json/);
  t.match(await send('PUT /v1/log-level', 'null'), /^HTTP\/1\.1 400 [^]*body must be/);
  t.match(await send('PUT /v1/log-level', '{"level":7}'), /^HTTP\/1\.1 400 [^]*body must be/);
  t.match(await send('POST /v1/renew', JSON.stringify({ name: 'x'.repeat(5000) })), /^HTTP\/1\.1 413 [^]*"kind":"exhausted"/);
  t.match(await raw(path, 'garbage\r\n\r\n'), /^HTTP\/1\.1 400 /);
  t.equal(view.logLevel.level, 'info');
});

t.test('a fault of ours is told as such, and logged', async (t) => {
  const { client, view, log } = await start(t);
  view.cache.states = () => {
    throw new TypeError('bug: with a detail');
  };
  await t.rejects(client.status(never), { kind: 'internal', message: 'internal error' });
  t.match(log.lines, [{ level: 'error', message: 'admin request failed', fields: { error: 'bug: with a detail' } }]);
});

t.test('connections beyond 64 are closed at once', async (t) => {
  const { path, client } = await start(t);
  const sockets: Socket[] = [];
  for (let index = 0; index < 64; index += 1) {
    const socket = connect(path);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  t.equal(await failureOf(client.status(never)), 'unavailable');
  sockets.forEach((socket) => socket.destroy());
  let answered = false;
  for (let round = 0; round < 100 && !answered; round += 1) answered = (await failureOf(client.status(never))) === undefined;
  t.ok(answered, 'served again once they are gone');
});

t.test('a connection ends after a minute, whatever it does', async (t) => {
  const { path, clock } = await start(t);
  const slow = connect(path).resume();
  await once(slow, 'connect');
  slow.write('GET /v1/status HTTP/1.1\r\n');
  await until(() => clock.alarms === 1);
  const gone = once(slow, 'close');
  await clock.advance(60_000);
  await gone;
  t.equal(clock.alarms, 0);
});

t.test('stop cuts what is open', async (t) => {
  const { path, close, client } = await start(t);
  await client.status(never);
  const idle = connect(path).resume();
  await once(idle, 'connect');
  const gone = once(idle, 'close');
  await close();
  await gone;
  t.equal(await failureOf(client.status(never)), 'unavailable');
});

t.test('the client tells apart why there is no answer', async (t) => {
  const path = join(createDirectory(t), 'other.sock');
  await t.rejects(createAdminClient({ path, clock: systemClock }).status(never), {
    kind: 'unavailable',
    message: 'there is no control socket at this path; is the agent running, or has it another --config?',
    fields: { path },
  });

  let answer = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';
  const sockets = new Set<Socket>();
  const other = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => void (answer === '' ? undefined : socket.end(answer)));
  });
  other.listen(path);
  await once(other, 'listening');
  t.teardown(() => {
    sockets.forEach((socket) => socket.destroy());
    other.close();
  });
  const clock = createFakeClock();
  const client = createAdminClient({ path, clock, deadlineMs: 100 });
  await t.rejects(client.status(never), { kind: 'unavailable', message: 'what listens on the control socket is no signet agent' });
  answer = 'HTTP/1.1 500 x\r\ncontent-length: 4\r\n\r\nnull';
  await t.rejects(client.status(never), { kind: 'internal', message: 'agent answered with an error' });
  answer = 'SSH-2.0-x\r\n';
  await t.rejects(client.status(never), { kind: 'unavailable', message: 'the agent does not answer on the control socket' });

  answer = '';
  const late = client.status(never);
  const failed = t.rejects(late, { kind: 'deadline', message: 'call to the agent took too long' });
  await until(() => sockets.size === 4, 'the call arrived');
  await clock.advance(100);
  await failed;
  const stop = new AbortController();
  const cancelled = failureOf(client.status(stop.signal));
  stop.abort();
  t.equal(await cancelled, 'cancelled');
  t.equal(clock.alarms, 0);

  if (process.getuid?.() !== 0) {
    chmodSync(path, 0);
    t.equal(await failureOf(client.status(never)), 'denied');
  }
});
