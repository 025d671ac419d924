// Exit codes of `signet fetch`, and what becomes of keys on the way.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import t from 'tap';
import type { Test } from 'tap';
import { exitCodeOf } from '../../../agent/commands/command.js';
import { createFetchCommand } from '../../../agent/commands/fetch.js';
import { until } from '../../fixtures/clock.js';
import type { SdsScene } from '../../fixtures/sds-scene.js';
import { openSdsScene } from '../../fixtures/sds-scene.js';
import { uri } from '../../fixtures/secrets.js';
import { createRecordingTerminal, runCommand } from '../../fixtures/terminal.js';

const a = uri('a');

/** Not in t.testdir(), whose path is longer than that of a socket may be. */
function createDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'fetch-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A socket that does this with each connection. */
async function listen(t: Test, onConnection: (socket: Socket) => void): Promise<string> {
  const path = join(createDirectory(t), 's.sock');
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return path;
}

async function grpcWithoutSds(t: Test): Promise<string> {
  const path = join(createDirectory(t), 's.sock');
  const server = new Server();
  await new Promise((resolve) => server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), resolve));
  t.teardown(() => server.forceShutdown());
  return path;
}

async function peer(t: Test, act: (scene: SdsScene) => void = () => {}, options: Parameters<typeof openSdsScene>[1] = {}): Promise<string> {
  const scene = await openSdsScene(t, options);
  const { path } = await scene.peer({ kind: 'patterns', patterns: [a, uri('late'), uri('absent')] });
  act(scene);
  return path;
}

interface Case {
  readonly name: string;
  readonly code: number;
  readonly socket: (t: Test) => Promise<string>;
  readonly args?: readonly string[];
  readonly message?: RegExp;
  readonly skip?: boolean;
}

const cases: readonly Case[] = [
  // Cannot reach
  { name: 'no socket', code: 3, socket: async (t) => join(createDirectory(t), 'none.sock'), message: /is the agent running/ },
  {
    name: 'a file that nobody listens on',
    code: 3,
    socket: async (t) => {
      const path = join(createDirectory(t), 'file');
      writeFileSync(path, '');
      return path;
    },
    message: /cannot reach/,
  },
  {
    name: 'a server that is none of gRPC',
    code: 3,
    socket: async (t) => await listen(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    message: /no sds server/,
  },
  { name: 'a gRPC server without SDS', code: 3, socket: grpcWithoutSds, message: /no sds server/ },
  { name: 'an agent that stops', code: 3, socket: (t) => peer(t, ({ service }) => void service.drain(1_000)), message: /the agent stops/ },
  {
    name: 'a directory with a file that is not ours',
    code: 3,
    socket: (t) => peer(t),
    args: ['--write', '.'],
    message: /cannot write|was not written by signet/,
  },
  // No such identity, or not in time
  { name: 'a name that is not there', code: 4, socket: (t) => peer(t), args: [uri('absent')] },
  {
    name: 'a certificate that is not there in time',
    code: 4,
    socket: (t) => peer(t, ({ secrets }) => secrets.wait(uri('late'))),
    args: [uri('late'), '--timeout', '0.1'],
  },
  { name: 'a socket that never answers', code: 4, socket: (t) => listen(t, () => {}), args: [a, '--timeout', '0.1'] },
  // Refused
  {
    name: 'a process that no rule names',
    code: 5,
    socket: (t) => listen(t, (socket) => socket.destroy()),
    message: /refuses this process/,
  },
  { name: 'a name that is for others', code: 5, socket: (t) => peer(t), args: [uri('b')] },
  { name: 'default without an identity of its own', code: 5, socket: (t) => peer(t), args: ['default'] },
  { name: 'a limit', code: 5, socket: (t) => peer(t, () => {}, { limits: { streamsPerOwner: 0 } }) },
  {
    name: 'a socket that this user may not open',
    code: 5,
    async socket(t) {
      const path = await listen(t, () => {});
      chmodSync(path, 0);
      return path;
    },
    message: /may not open/,
    skip: process.getuid?.() === 0,
  },
];

for (const { name, code, socket, args = [a], message = /./, skip = false } of cases) {
  t.test(`exit code ${code}: ${name}`, { skip }, async (t) => {
    const directory = t.testdir({ 'svid.pem': 'mine' });
    const path = await socket(t);
    const given = args.map((each) => (each === '.' ? directory : each));
    const error: unknown = await runCommand(createFetchCommand, [
      '--socket',
      path,
      ...(given[0]?.startsWith('--') ? [a] : []),
      ...given,
    ]).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.match(error, { name: 'SignetError', message });
    t.equal(exitCodeOf(error), code);
  });
}

/** How many buffers hold a private key, of those that the client has made. */
function keysLeft(t: Test): () => number {
  const allocate = Buffer.allocUnsafeSlow.bind(Buffer);
  const made: Buffer[] = [];
  t.intercept(Buffer, 'allocUnsafeSlow', {
    value: (size: number): Buffer => {
      const buffer = allocate(size);
      // The server, in the same process, has keys of its own.
      if (/sds\/client\.[jt]s/.test(new Error().stack ?? '')) made.push(buffer);
      return buffer;
    },
  });
  return () => made.filter((buffer) => buffer.includes('PRIVATE KEY')).length;
}

t.test('no key is left when a fetch fails midway', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'node' });
  scene.secrets.setRoots([]);
  const left = keysLeft(t);
  const [one, two] = [runCommand(createFetchCommand, [a, '--socket', path, '--timeout', '2']), until(() => left() > 0, 'a key')];
  await two;
  await t.rejects(one, { name: 'SignetError', kind: 'deadline' }, 'the roots did not come');
  t.equal(left(), 0);
});

t.test('while following, each key is written whole and wiped when another takes its place', async (t) => {
  const scene = await openSdsScene(t);
  const { path } = await scene.peer({ kind: 'node' });
  const left = keysLeft(t);
  const directory = join(createDirectory(t), 'written');
  const terminal = createRecordingTerminal();
  const shown = async (count: number): Promise<void> => await terminal.until((output) => output.split('written to').length > count);
  const key = (): string => readFileSync(join(directory, 'svid.key'), 'utf8');
  const watching = runCommand(createFetchCommand, [a, '--watch', '--write', directory, '--socket', path], terminal);
  await shown(1);
  const first = key();
  await until(() => left() === 1, 'the key that is followed');
  scene.secrets.issue(a);
  await shown(2);
  const second = key();
  t.match(second, /PRIVATE KEY/);
  t.not(second, first);
  scene.secrets.setRoots([scene.secrets.root, scene.secrets.root]);
  await shown(3);
  t.equal(key(), second, 'new roots leave the key as it is');
  t.equal(left(), 1);
  scene.secrets.remove(a);
  await until(() => terminal.errors.includes('not there any more'));
  await until(() => left() === 0, 'the key of what has ended is wiped');
  scene.secrets.issue(a);
  await shown(4);
  terminal.stop();
  await watching;
  t.equal(left(), 0);
  t.ok(existsSync(join(directory, 'bundle.pem')));
});
