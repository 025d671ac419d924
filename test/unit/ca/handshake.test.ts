// A handshake that only looks: whatever comes of it, the connection is closed.

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { shakeHands } from '../../../agent/ca/handshake.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { createFakeIstioCa } from '../../fixtures/istio-ca.js';

const never = new AbortController().signal;

t.test('whoever looks sees the certificate, and whether it is good', async (t) => {
  const ca = await createFakeIstioCa(t);
  const endpoint = { host: ca.host, port: ca.port };
  const handshake = { endpoint, deadlineMs: 5_000, clock: systemClock };
  const look = async (serverName: string, roots?: string): Promise<readonly [string | undefined, boolean]> =>
    await shakeHands(
      { ...handshake, serverName, ...(roots === undefined ? {} : { ca: roots }) },
      (socket) => [socket.getPeerX509Certificate()?.fingerprint256, socket.authorized],
      never,
    );
  const roots = ca.servingRoot.pem.toString();
  const [shown, isGood] = await look('ca.test', roots);
  t.ok(shown);
  t.equal(isGood, true);
  t.same(await look('127.0.0.1', roots), [shown, false], 'of another name');
  t.same(await look('ca.test'), [shown, false], 'of a root that is not known');
  const fails = (): never => {
    throw new Error('seen enough');
  };
  await t.rejects(shakeHands({ ...handshake, serverName: 'ca.test' }, fails, never), { message: 'seen enough' });
  t.equal(ca.calls.length, 0, 'nothing was asked');
});

t.test('nobody who answers: until the deadline, or until nobody waits', async (t) => {
  let open = 0;
  const server = createServer((socket) => {
    open += 1;
    socket.on('error', () => {}).on('close', () => (open -= 1));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const clock = createFakeClock();
  const endpoint = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const shake = (signal: AbortSignal): Promise<boolean> =>
    shakeHands({ endpoint, serverName: 'ca.test', deadlineMs: 5_000, clock }, ({ authorized }) => authorized, signal);

  const late = t.rejects(shake(never), { name: 'SignetError', kind: 'deadline' });
  await until(() => open === 1);
  await clock.advance(5_000);
  await late;
  await until(() => open === 0, 'closed at the deadline');

  const stop = new AbortController();
  const unwanted = t.rejects(shake(stop.signal), { name: 'SignetError', kind: 'cancelled' });
  await until(() => open === 1);
  stop.abort();
  await unwanted;
  await until(() => open === 0, 'closed when nobody waits');
  await t.rejects(shake(stop.signal), { name: 'SignetError', kind: 'cancelled' });
  t.equal(clock.alarms, 0);
});
