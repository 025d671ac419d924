// The TLS listener over real sockets: versions, ALPN, a certificate that is replaced in place, and peers that do not behave.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTcp, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import type { TlsIdentity, TlsListenOptions } from '../../../agent/listen/tls.js';
import { listenTls } from '../../../agent/listen/tls.js';
import { until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createLeaf, createRoot, dayMs, hourMs, keyPem } from '../../fixtures/pki.js';

const dates = { notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs };
const root = createRoot(dates);
const identity = (name = 'one.test'): TlsIdentity => {
  const leaf = createLeaf(root, 'spiffe://x/ns/a/sa/b', { ...dates, dnsNames: ['localhost', name] });
  return { chain: String(leaf.pem), privateKey: keyPem(leaf) };
};

async function createScene(t: Test, more: Partial<TlsListenOptions> = {}) {
  const log = createRecordingLogger();
  const accepted: TLSSocket[] = [];
  const options: TlsListenOptions = {
    address: { host: '127.0.0.1', port: 0 },
    minVersion: '1.3',
    maxConnections: 100,
    identity: identity(),
    log,
    ...more,
  };
  const listener = await listenTls(options, (socket) => accepted.push(socket));
  const stop = new AbortController();
  const running = listener.run(stop.signal);
  const open: Socket[] = [];
  t.teardown(async () => {
    for (const socket of [...open, ...accepted]) socket.destroy();
    stop.abort();
    await running;
  });
  const dial = async (tls: ConnectionOptions = {}): Promise<TLSSocket> => {
    const socket = connect({ ...listener.address, ca: root.pem, servername: 'localhost', ALPNProtocols: ['h2'], ...tls });
    open.push(socket);
    await once(socket, 'secureConnect');
    return socket;
  };
  return { listener, accepted, log, dial, stop, running, options };
}

t.test('TLS 1.3 and HTTP/2, or not at all', async (t) => {
  const { dial, accepted } = await createScene(t);
  const socket = await dial();
  t.equal(socket.getProtocol(), 'TLSv1.3');
  t.equal(socket.alpnProtocol, 'h2');
  await until(() => accepted.length === 1);
  await t.rejects(dial({ maxVersion: 'TLSv1.2' }), /version|alert/i);
  await t.rejects(dial({ ALPNProtocols: ['http/1.1'] }), /no.application.protocol|alert/i);
  const without = await dial({ ALPNProtocols: [] });
  await once(without.resume(), 'close');
  t.equal(accepted.length, 1);
});

t.test('TLS 1.2 by setting', async (t) => {
  const { dial, listener } = await createScene(t, { minVersion: '1.2' });
  t.equal((await dial({ maxVersion: 'TLSv1.2' })).getProtocol(), 'TLSv1.2');
  listener.show(identity());
  t.equal((await dial({ maxVersion: 'TLSv1.2' })).getProtocol(), 'TLSv1.2', 'with the next certificate too');
});

t.test('one address has so many connections, and another when one of them ends', async (t) => {
  const { dial, accepted, listener } = await createScene(t, { maxPerAddress: 2 });
  const [first] = [await dial(), await dial()];
  await t.rejects(dial());
  await dial({ socket: connectTcp({ ...listener.address, localAddress: '127.0.0.2' }) });
  await until(() => accepted.length === 3);
  first.destroy();
  const isLetIn = (): Promise<boolean> =>
    dial().then(
      () => true,
      () => false,
    );
  await until(isLetIn, 'room for another');
  await until(() => accepted.length === 4);
});

t.test('another certificate counts for new connections; keys are wiped', async (t) => {
  const { dial, listener, options } = await createScene(t);
  t.ok(options.identity.privateKey.every((byte) => byte === 0));
  const before = await dial();
  const next = identity('two.test');
  listener.show(next);
  t.ok(next.privateKey.every((byte) => byte === 0));
  const after = await dial();
  t.match(before.getPeerX509Certificate()?.subjectAltName, /one\.test/);
  t.match(after.getPeerX509Certificate()?.subjectAltName, /two\.test/);
  t.notOk(before.destroyed);
  await t.rejects(dial({ maxVersion: 'TLSv1.2' }), /version|alert/i, 'the least version stays');
});

t.test('noise instead of a handshake costs its own connection', async (t) => {
  const { listener, log, dial } = await createScene(t);
  const noise = connectTcp(listener.address);
  noise.on('error', () => {});
  noise.write('GET / HTTP/1.1\r\n\r\n');
  await once(noise.resume(), 'close');
  t.match(log.lines.at(-1), { level: 'debug', message: 'a handshake failed' });
  await dial();
});

t.test('at its end it accepts nothing more and leaves open connections alone', async (t) => {
  const { dial, stop, running } = await createScene(t);
  const socket = await dial();
  stop.abort();
  await running;
  await t.rejects(dial(), { code: 'ECONNREFUSED' } as never);
  t.notOk(socket.destroyed);
});

t.test('an address that is taken', async (t) => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const address = { host: '127.0.0.1', port };
  await t.rejects(createScene(t, { address }), { name: 'SignetError', kind: 'unavailable', fields: { port } });
});
