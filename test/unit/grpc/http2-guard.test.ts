import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { Client, Server, credentials } from '@grpc/grpc-js';
import t from 'tap';
import type { CallLimits } from '../../../agent/grpc/call-bounds.js';
import { createCallBounds } from '../../../agent/grpc/call-bounds.js';
import type { Http2Limits } from '../../../agent/grpc/http2-guard.js';
import { createGuardedInjector, keepaliveOptions } from '../../../agent/grpc/http2-guard.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import type { RawClient } from '../../fixtures/http2-raw.js';
import {
  connectRaw,
  createRawMethod,
  errorCode,
  frame,
  frameFlag,
  frameType,
  grpcHeaders,
  headerBlock,
  ping,
  rstStream,
} from '../../fixtures/http2-raw.js';
import { defaultLimits } from '../../fixtures/limits.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

type Test = Pick<typeof t, 'teardown' | 'ok'>;

const echo = createRawMethod('/test.Echo/Echo');

/** A guarded echo server, and a well-behaved client that shows whether others are still served. */
async function start(t: Test, limits: Partial<Http2Limits> = {}, callLimits?: CallLimits) {
  const [clock, metrics] = [createFakeClock(), createTestMetrics()];
  // A test directory of tap is too deep for the path of a socket.
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  const path = join(directory, 's');
  const server = new Server({ 'grpc.enable_channelz': 0, 'grpc.max_concurrent_streams': 20_000, ...keepaliveOptions });
  let calls = 0;
  server.addService(
    { echo },
    {
      echo(call: ServerDuplexStream<Buffer, Buffer>) {
        calls += 1;
        call.on('data', (message: Buffer) => call.write(message));
        call.on('end', () => call.end());
      },
    },
  );
  const injector = createGuardedInjector(server, {
    limits: { ...defaultLimits, ...limits },
    ...(callLimits === undefined ? {} : { calls: createCallBounds(callLimits, (key) => key) }),
    clock,
    metrics: metrics.metrics,
  });
  const listener = createServer({ pauseOnConnect: true }, (socket) => {
    Object.defineProperty(socket, 'remoteAddress', { value: 'peer' });
    socket.on('error', () => {});
    injector.inject(socket);
  });
  await new Promise<void>((resolve) => listener.listen({ path, backlog: 4096 }, resolve));

  const client = new Client(`unix:${path}`, credentials.createInsecure());
  const stream = client.makeBidiStreamRequest(echo.path, echo.requestSerialize, echo.responseDeserialize);
  const echoed: string[] = [];
  stream.on('data', (message: Buffer) => echoed.push(message.toString()));
  stream.on('error', (error) => echoed.push(`error ${error.message}`));
  const served = async (text: string): Promise<boolean> => {
    stream.write(Buffer.from(text));
    await until(() => echoed.length > 0, 'an echo');
    return echoed.shift() === text;
  };
  const raw: RawClient[] = [];
  t.teardown(async () => {
    stream.cancel();
    client.close();
    for (const one of raw) one.close();
    injector.close();
    server.forceShutdown();
    await new Promise((resolve) => listener.close(resolve));
    rmSync(directory, { recursive: true });
    await until(() => clock.alarms === 0, 'all alarms cancelled');
  });
  t.ok(await served('first'));
  calls = 0;
  return {
    clock,
    served,
    calls: () => calls,
    close: () => injector.close(),
    async connect(options: { open?: boolean } = {}) {
      const one = await connectRaw(path, options);
      raw.push(one);
      if (options.open !== false) await until(() => one.frames.length > 0, 'settings of the server');
      return one;
    },
    limit: (limit: string) => metrics.read('signet_limit_reached_total', { limit }),
  };
}

const times = (count: number, make: (index: number) => Buffer): Buffer[] => Array.from({ length: count }, (_, index) => make(index));
const headers = (stream: number, block = grpcHeaders(echo.path), flags: number = frameFlag.endHeaders): Buffer =>
  frame(frameType.headers, flags, stream, block);
const settings = (): Buffer => frame(frameType.settings, 0, 0);

for (const flood of [
  { name: 'ping', limit: 'http2-ping', frames: [headers(1), ...times(200, ping)] },
  { name: 'settings', limit: 'http2-settings', frames: [headers(1), ...times(200, settings)] },
]) {
  t.test(`closes a connection that floods with ${flood.name} while another is served`, async (t) => {
    const server = await start(t, { controlFrames: 100 });
    const attacker = await server.connect();
    void attacker.send(...flood.frames);
    await until(() => attacker.closed, 'the end of the connection');
    t.equal(attacker.goaway(), errorCode.enhanceYourCalm);
    t.equal(await server.limit(flood.limit), 1);
    t.ok(await server.served('after'));
  });
}

t.test('a bucket of control frames fills again', async (t) => {
  const server = await start(t, { controlFrames: 10 });
  const client = await server.connect();
  for (let second = 0; second < 5; second += 1) {
    const before = client.frames.length;
    await client.send(...times(9, ping));
    await until(() => client.frames.length >= before + 9, 'nine acknowledgements');
    await server.clock.advance(1000);
  }
  t.notOk(client.closed);
  t.equal(client.goaway(), undefined);
});

t.test('U05: pings of a keepalive are answered, however many there are over time', async (t) => {
  const server = await start(t);
  const client = await server.connect();
  for (let second = 0; second < 40; second += 1) {
    await client.send(ping());
    await server.clock.advance(1000);
  }
  await until(() => client.frames.filter((next) => next.type === frameType.ping).length === 40, '40 acknowledgements');
  t.equal(client.goaway(), undefined);
  t.notOk(client.closed);
});

t.test('a rapid reset ends the connection, and what it opened before is not served on', async (t) => {
  const server = await start(t);
  const attacker = await server.connect();
  void attacker.send(...times(4000, (n) => Buffer.concat([headers(2 * n + 1), rstStream(2 * n + 1, errorCode.cancel)])));
  await until(() => attacker.closed, 'the end of the connection');
  t.equal(await server.limit('http2-reset'), 1);
  t.ok(server.calls() < 4000, `${server.calls()} calls were begun`);
  t.ok(await server.served('after'));
});

t.test('many resets of a proxy that drops its names leave its other streams alone', async (t) => {
  const server = await start(t, { controlFrames: 100 });
  const proxy = await server.connect();
  await proxy.send(headers(1), ...times(150, (n) => headers(2 * n + 3)));
  await until(() => server.calls() === 151, 'all calls');
  await proxy.send(...times(150, (n) => rstStream(2 * n + 3, errorCode.cancel)));
  await until(() => proxy.goaway() !== undefined, 'a goaway');
  t.equal(proxy.goaway(), errorCode.noError);
  t.equal(await server.limit('http2-reset'), 1);
  const message = Buffer.from([0, 0, 0, 0, 1, 65]);
  await proxy.send(frame(frameType.data, 0, 1, message));
  await until(() => proxy.frames.some((next) => next.type === frameType.data && next.payload.equals(message)), 'an echo on the old stream');
  await proxy.send(rstStream(1, errorCode.cancel));
  await until(() => proxy.closed, 'the end after the last stream');
});

t.test('empty data frames end the connection', async (t) => {
  const server = await start(t);
  const attacker = await server.connect();
  void attacker.send(headers(1), ...times(3000, () => frame(frameType.data, 0, 1)));
  await until(() => attacker.closed, 'the end of the connection');
  t.equal(await server.limit('http2-empty-data'), 1);
  t.ok(await server.served('after'));
});

t.test('continuation frames without end end the connection', async (t) => {
  const server = await start(t);
  const attacker = await server.connect();
  const block = headerBlock([['x', 'y']]);
  void attacker.send(headers(1, grpcHeaders(echo.path), 0), ...times(1000, () => frame(frameType.continuation, 0, 1, block)));
  await until(() => attacker.closed, 'the end of the connection');
  t.equal(await server.limit('http2-continuation'), 1);
  t.equal(server.calls(), 0);
  t.ok(await server.served('after'));
});

t.test('acknowledgements that nobody reads end the connection', async (t) => {
  const server = await start(t, { controlFrames: 1_000_000 });
  const attacker = await server.connect();
  attacker.socket.pause();
  void attacker.send(...times(30_000, ping));
  await until(() => attacker.socket.destroyed || attacker.socket.writableLength === 0, 'the bytes to leave');
  attacker.socket.resume();
  await until(() => attacker.closed, 'the end of the connection');
  t.equal(await server.limit('http2-unread-acks'), 1);
  t.ok(await server.served('after'));
});

t.test('a header list over the limit is reset, and costs no call', async (t) => {
  const server = await start(t);
  const client = await server.connect();
  const field = 'x'.repeat(12_000);
  await client.send(
    headers(1, grpcHeaders(echo.path, [['a', field]]), 0),
    frame(frameType.continuation, frameFlag.endHeaders, 1, headerBlock([['b', field]])),
  );
  await until(() => client.frames.some((next) => next.type === frameType.rstStream), 'a reset');
  t.equal(client.frames.find((next) => next.type === frameType.rstStream)?.payload.readUInt32BE(0), errorCode.enhanceYourCalm);
  t.equal(await server.limit('header-list'), 1);
  t.equal(server.calls(), 0);
  await client.send(headers(3, grpcHeaders(echo.path, [['a', field]])));
  await until(() => server.calls() === 1, 'a call within the limit on the same connection');
  // Far over it Node itself resets the stream.
  await client.send(
    headers(5, grpcHeaders(echo.path, [['a', field]]), 0),
    frame(frameType.continuation, 0, 5, headerBlock([['b', field]])),
    frame(frameType.continuation, frameFlag.endHeaders, 5, headerBlock([['c', field]])),
  );
  await until(() => client.frames.filter((next) => next.type === frameType.rstStream).length === 2, 'a second reset');
  t.ok(await server.served('after'));
});

t.test('a compressed request is refused before anything is unpacked, an uncompressed one under that name too', async (t) => {
  const server = await start(t);
  const client = await server.connect();
  await client.send(
    headers(1, grpcHeaders(echo.path, [['grpc-encoding', 'gzip']])),
    headers(3, grpcHeaders(echo.path, [['grpc-encoding', 'identity']])),
  );
  await until(() => client.frames.some((next) => next.type === frameType.headers && next.stream === 1), 'an answer');
  t.equal(server.calls(), 1, 'only the one that says identity is a call');
  t.ok(await server.served('after'));
});

t.test('calls are counted from their headers on: what goes over a bound is reset and counted, others are served', async (t) => {
  const server = await start(t, {}, { streams: 100, streamsPerOwner: 3, unfinishedBytes: 1000 });
  const client = await server.connect();
  await client.send(headers(1), headers(3), headers(5));
  await until(() => client.frames.filter((next) => next.type === frameType.rstStream).length === 1, 'a reset');
  t.equal(await server.limit('streams-per-owner'), 1);
  const incomplete = Buffer.from([0, 0, 1, 0, 0, ...Buffer.alloc(1500)]);
  await client.send(frame(frameType.data, 0, 1, incomplete));
  await until(() => client.frames.filter((next) => next.type === frameType.rstStream).length === 2, 'another reset');
  t.equal(await server.limit('unfinished-messages'), 1);
  t.ok(await server.served('after'));
});

t.test('a connection without a preface is closed after the time it has, one with a preface is not', async (t) => {
  const server = await start(t);
  const [silent, idle] = [await server.connect({ open: false }), await server.connect()];
  const stuck = await server.connect({ open: false });
  await stuck.send(Buffer.from('PRI * HTTP/2.0\r\n'));
  await until(() => silent.frames.length > 0 && stuck.frames.length > 0, 'settings of the server');
  await server.clock.advance(9_999);
  t.notOk(silent.closed);
  await server.clock.advance(1);
  await until(() => silent.closed && stuck.closed, 'the end of both');
  t.notOk(idle.closed);
  t.equal(await server.limit('half-open'), 2);
  t.ok(await server.served('after'));
});

t.test('garbage ends the connection and is no limit', async (t) => {
  const server = await start(t);
  const client = await server.connect({ open: false });
  await client.send(Buffer.alloc(4096, 'A'));
  await until(() => client.closed, 'the end of the connection');
  t.ok(await server.served('after'));
});

t.test('closing says goaway', async (t) => {
  const server = await start(t);
  const client = await server.connect();
  server.close();
  await until(() => client.closed, 'the end of an idle connection');
  t.equal(client.goaway(), errorCode.noError);
});

t.test('another layout of grpc-js is found at start', async (t) => {
  const strange = Object.create(new Server(), { http2Servers: { value: new Set() }, createConnectionInjector: { value: () => ({}) } });
  t.throws(
    () =>
      createGuardedInjector(strange as Server, {
        limits: defaultLimits,
        clock: createFakeClock(),
        metrics: createTestMetrics().metrics,
      }),
    /bug: grpc-js/,
  );
});
