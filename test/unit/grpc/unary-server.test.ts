// A server of short calls over real sockets: how it ends.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { Test } from 'tap';
import t from 'tap';
import { createUnaryServer } from '../../../agent/grpc/unary-server.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { connectRaw, errorCode, frame, frameFlag, frameType, grpcHeaders, ping, rstStream } from '../../fixtures/http2-raw.js';
import type { RawClient } from '../../fixtures/http2-raw.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createScene } from '../../fixtures/scene.js';
import { until } from '../../fixtures/until.js';

const same = (bytes: Buffer): Buffer => bytes;
const path = '/test.Echo/Echo';
const echo = {
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
} as const;

type Handler = (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => void;

async function start(t: Test, handler: Handler = ({ request }, reply) => reply(null, request)) {
  const clock = createFakeClock();
  const server = createUnaryServer(
    {
      definition: { Echo: echo },
      handlers: { Echo: handler },
      missed: () => {},
    },
    {
      limits: { callsPerConnection: 10, messageBytes: 1_000 },
      calls: { streams: 100, streamsPerOwner: 100, unfinishedBytes: 10_000 },
      clock,
      metrics: createTestMetrics().metrics,
    },
  );
  const socketPath = join((await createScene(t)).directory, 's');
  const listener = createServer({ pauseOnConnect: true }, (socket: Socket) => server.accept(socket)).listen(socketPath);
  await once(listener, 'listening');
  t.teardown(async () => {
    await server.drain(0);
    listener.close();
  });
  const connect = async (): Promise<RawClient> => {
    const client = await connectRaw(socketPath);
    t.teardown(() => client.close());
    return client;
  };
  return { server, clock, connect };
}

const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 4]), Buffer.from('ping')]);

/** A call of which the server has the headers and half of the message. */
async function beginCall(client: RawClient): Promise<void> {
  await client.send(
    frame(frameType.headers, frameFlag.endHeaders, 1, grpcHeaders(path)),
    frame(frameType.data, 0, 1, message.subarray(0, 6)),
    ping(),
  );
  await until('the server has read that', 30_000, () => client.frames.some(({ type, flags }) => type === frameType.ping && flags === 1));
}

const answered = ({ frames }: RawClient): boolean =>
  frames.some(({ type, stream, flags }) => type === frameType.headers && stream === 1 && (flags & frameFlag.endStream) !== 0);

t.test('a call whose message is not all there at the end is answered', async (t) => {
  const { server, connect } = await start(t);
  const [busy, idle] = [await connect(), await connect()];
  await beginCall(busy);
  const drained = server.drain(60_000);
  await until('GOAWAY', 30_000, () => busy.goaway() !== undefined && idle.closed);
  t.notOk(busy.closed);
  await busy.send(frame(frameType.data, frameFlag.endStream, 1, message.subarray(6)));
  await drained;
  await until('the end', 30_000, () => busy.closed);
  t.ok(answered(busy));
  t.same(busy.frames.find(({ type }) => type === frameType.data)?.payload, message);
});

t.test('what does not end is ended at the deadline', async (t) => {
  const { server, clock, connect } = await start(t);
  const client = await connect();
  await beginCall(client);
  const drained = server.drain(5_000);
  await until('GOAWAY', 30_000, () => client.goaway() !== undefined);
  await clock.advance(5_000);
  await drained;
  await until('the end', 30_000, () => client.closed);
  t.notOk(answered(client));
});

t.test('a call that its caller takes back with its message is not left to its handler', async (t) => {
  const handled = { begun: 0, cancelled: 0 };
  const { connect } = await start(t, (call) => {
    handled.begun += 1;
    call.on('cancelled', () => (handled.cancelled += 1));
  });
  const client = await connect();
  for (let stream = 1; stream < 20; stream += 2) {
    await client.send(
      frame(frameType.headers, frameFlag.endHeaders, stream, grpcHeaders(path)),
      frame(frameType.data, frameFlag.endStream, stream, message),
      rstStream(stream, errorCode.cancel),
    );
  }
  await client.send(ping());
  await until('all was read', 30_000, () => client.frames.some(({ type, flags }) => type === frameType.ping && flags === 1));
  await until('each handler that began was told', 30_000, () => handled.cancelled === handled.begun);
  t.pass();
});
