// Acknowledgements at once, seen in the kernel on real TLS connections of a client that leaves Nagle's algorithm on.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, Socket } from 'node:net';
import koffi from 'koffi';
import t from 'tap';
import type { Test } from 'tap';
import { createUnaryServer } from '../../../agent/grpc/unary-server.js';
import { createCertificateMethod } from '../../../agent/istio-wire.js';
import { createQuickAck } from '../../../agent/listen/quick-ack.js';
import { listenTls } from '../../../agent/listen/tls.js';
import type { Native } from '../../../agent/runtime/native.js';
import { loadNative, socketFd } from '../../../agent/runtime/native.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createLeaf, createRoot, dayMs, hourMs, keyPem } from '../../fixtures/pki.js';
import { createCaChannel } from '../../fixtures/ztunnel-wire.js';

const native = await loadNative();
const libc = koffi.load(null);
const getsockopt = libc.func('int getsockopt(int, int, int, _Out_ void *, _Inout_ uint32_t *)');
const setsockopt = libc.func('int setsockopt(int, int, int, const void *, uint32_t)');
const option = [6, 12] as const;

/** TCP_QUICKACK of a connection: 0 when acknowledgements wait for an answer to go with. */
function quickAckOf(fd: number): number {
  const value = Buffer.alloc(4);
  if (getsockopt(fd, ...option, value, [value.length]) !== 0) throw new Error('getsockopt TCP_QUICKACK');
  return value.readInt32LE(0);
}

/** As the kernel does by itself after an answer. */
function delay(fd: number): void {
  if (setsockopt(fd, ...option, Buffer.alloc(4), 4) !== 0) throw new Error('setsockopt TCP_QUICKACK');
}

/** A server that answers at once, and a client with Nagle's algorithm on. */
async function createScene(t: Test, acknowledge: Native['acknowledge']) {
  const log = createRecordingLogger();
  const clock = createFakeClock();
  const dates = { notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs };
  const root = createRoot(dates);
  const leaf = createLeaf(root, 'spiffe://x/ns/a/sa/b', { ...dates, dnsNames: ['localhost'] });
  const service = {
    definition: { CreateCertificate: createCertificateMethod },
    handlers: { CreateCertificate: (_call: unknown, reply: (error: null, elements: string[]) => void) => reply(null, ['leaf', 'root']) },
    missed: () => {},
  };
  const grpc = createUnaryServer(service, {
    limits: { callsPerConnection: 10, messageBytes: 65_536 },
    calls: { streams: 10, streamsPerOwner: 10, unfinishedBytes: 65_536 },
    onHeaders: createQuickAck({ native: { acknowledge }, log }),
    clock,
    metrics: createTestMetrics().metrics,
  });
  const identity = { chain: String(leaf.pem), privateKey: keyPem(leaf) };
  const address = { host: '127.0.0.1', port: 0 };
  const listener = await listenTls({ address, minVersion: '1.3', maxConnections: 10, identity, log }, grpc.accept);
  const end = new AbortController();
  const running = listener.run(end.signal);
  const client = createCaChannel({ address: `https://localhost:${listener.address.port}`, roots: String(root.pem), clock });
  t.teardown(async () => {
    client.close();
    end.abort();
    await grpc.drain(0);
    await running;
  });
  const call = () =>
    client.createCertificate({ token: 'x'.repeat(900), clusterId: 'Kubernetes', csr: 'x'.repeat(500), seconds: 60, impersonate: 'x' });
  return { call, log };
}

t.test('each call is acknowledged at its headers, also when the kernel delays again', async (t) => {
  const seen: number[] = [];
  const { call, log } = await createScene(t, (fd) => {
    delay(fd);
    t.equal(quickAckOf(fd), 0);
    const works = native.acknowledge(fd);
    seen.push(quickAckOf(fd));
    return works;
  });
  for (let calls = 1; calls <= 5; calls += 1) {
    t.same(await call(), ['leaf', 'root']);
    t.same(seen, Array(calls).fill(1), 'once a call');
  }
  t.same(
    log.lines.map(({ message }) => message),
    ['listening'],
  );
});

t.test('where the kernel cannot, it is asked once and calls are answered', async (t) => {
  let asked = 0;
  const { call, log } = await createScene(t, () => {
    asked += 1;
    return false;
  });
  for (let calls = 0; calls < 3; calls += 1) t.same(await call(), ['leaf', 'root']);
  t.equal(asked, 1);
  t.equal(log.lines.filter(({ message }) => message.startsWith('the kernel does not acknowledge at once')).length, 1);
});

t.test('a connection that is gone has nothing to acknowledge', (t) => {
  let asked = 0;
  const acknowledge = (): boolean => (asked += 1) > 0;
  createQuickAck({ native: { acknowledge }, log: createRecordingLogger() })(new Socket());
  t.equal(asked, 0);
  t.end();
});

t.test('the kernel acknowledges on TCP, and says of what is no connection that it cannot', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  t.teardown(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  t.equal(native.acknowledge(socketFd(socket) ?? -1), true);
  t.equal(native.acknowledge(-1), false);
});
