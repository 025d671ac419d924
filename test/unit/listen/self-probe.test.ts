import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { SelfProbe } from '../../../agent/listen/self-probe.js';
import { createSelfProbe } from '../../../agent/listen/self-probe.js';
import { loadNative } from '../../../agent/runtime/native.js';
import { until } from '../../fixtures/clock.js';
import { openNotifySocket } from '../../fixtures/notify-socket.js';

const native = await loadNative();
const never = new AbortController().signal;

function createPath(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return join(directory, 's');
}

/** A listener of this process behind a probe, which may be deaf. */
async function listen(t: Test, { isDeaf = false } = {}): Promise<{ probe: SelfProbe; passedOn: Socket[]; path: string }> {
  const path = createPath(t);
  const passedOn: Socket[] = [];
  const probe = createSelfProbe({ path, native }, (socket) => passedOn.push(socket));
  const server = createServer(isDeaf ? (socket) => passedOn.push(socket) : probe.onConnection).listen(path);
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of passedOn) socket.destroy();
    server.close();
  });
  return { probe, passedOn, path };
}

t.test('a socket that is accepted on answers, and nobody else sees it', async (t) => {
  const { probe, passedOn } = await listen(t);
  await probe.check(never);
  await probe.check(never);
  t.equal(passedOn.length, 0);
});

t.test('connections of others are handed on, also those of this process while nobody asks', async (t) => {
  const { probe, passedOn, path } = await listen(t);
  const client = connect(path);
  t.teardown(() => client.destroy());
  await once(client, 'connect');
  await probe.check(never);
  t.equal(passedOn.length, 1);
});

t.test('a socket that nobody accepts on does not answer, as long as it is waited for', async (t) => {
  const { probe, passedOn, path } = await listen(t, { isDeaf: true });
  const end = new AbortController();
  const checked = probe.check(end.signal);
  // By the time that a second one is connected the first has been accepted and knows it.
  const second = connect(path);
  t.teardown(() => second.destroy());
  await until(() => passedOn.length === 2);
  end.abort();
  await t.rejects(checked, { name: 'SignetError', kind: 'unavailable', cause: { name: 'AbortError' } });
});

t.test('a path without a socket, or with that of another process, says nothing about this one', async (t) => {
  const path = createPath(t);
  const probe = createSelfProbe({ path, native }, () => t.fail('nothing is accepted here'));
  await t.resolves(probe.check(never));
  const script = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;
  const other = spawn(process.execPath, ['--eval', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(other, 'close');
  await once(other.stdout, 'data');
  await t.resolves(probe.check(never));
  other.kill('SIGKILL');
  await ended;
  await t.resolves(probe.check(never));
});

t.test('a connection that fails otherwise is a fault', async (t) => {
  const path = createPath(t);
  const datagrams = openNotifySocket(path);
  const probe = createSelfProbe({ path, native }, () => {});
  await t.rejects(probe.check(never), { name: 'SignetError', kind: 'unavailable' });
  datagrams.close();
});
