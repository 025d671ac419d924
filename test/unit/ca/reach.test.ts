// A handshake with a CA, and what each failure is called.

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { createReachCheck } from '../../../agent/ca/reach.js';
import type { Reason } from '../../../agent/runtime/reasons.js';
import { systemClock } from '../../../agent/runtime/time.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { createFakeIstioCa } from '../../fixtures/istio-ca.js';
import { createLeaf, createRoot, dayMs, hourMs, keyPem } from '../../fixtures/pki.js';

const never = new AbortController().signal;

t.test('a CA that is there, and one that is not as it should be', async (t) => {
  const ca = await createFakeIstioCa(t);
  const tlsRoots = new WatchedValue<readonly Certificate[] | undefined>([ca.servingRoot.certificate]);
  const endpoint = { host: ca.host, port: ca.port };
  const name = `istio ${ca.host}:${ca.port}`;
  const look = async (serverName = 'ca.test'): Promise<Reason | undefined> => {
    const checks = createReachCheck({ name: 'istio', endpoint, serverName, tlsRoots, clock: systemClock });
    t.same(checks.names, [name]);
    const found = await checks.look(never);
    t.ok(found.has(name));
    return found.get(name);
  };
  t.equal(await look(), undefined);
  t.equal(ca.calls.length, 0, 'nothing was asked');
  t.match(await look('other.test'), { code: 'ca-name-mismatch', detail: /serverName other\.test/ });
  t.match(await look('127.0.0.1'), { code: 'ca-name-mismatch' });
  ca.replaceServing(ca.servingRoot, ['ca.test'], { notAfter: Date.now() - 1_000 });
  t.match(await look(), { code: 'ca-tls', detail: /CERT_HAS_EXPIRED.*validFrom .*, validTo / });
  ca.replaceServing(ca.servingRoot, ['ca.test'], { notBefore: Date.now() + hourMs });
  t.match(await look(), { code: 'ca-tls', detail: /CERT_NOT_YET_VALID/ });
  ca.replaceServing(ca.servingRoot);
  tlsRoots.set([createRoot({ notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs }).certificate]);
  t.match(await look(), { code: 'ca-root-unknown' });
  await ca.stop();
  t.match(await look(), { code: 'ca-unavailable', detail: /ECONNREFUSED/ });
  tlsRoots.set(undefined);
  const found = await createReachCheck({ name: 'istio', endpoint, tlsRoots, clock: systemClock }).look(never);
  t.equal(found.size, 0, 'without roots nothing can be told');
});

t.test('something else at the address: no TLS, no HTTP/2, nobody who answers', async (t) => {
  const root = createRoot({ notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs });
  const leaf = createLeaf(root, 'spiffe://test/web', {
    notBefore: Date.now() - hourMs,
    notAfter: Date.now() + dayMs,
    dnsNames: ['ca.test'],
  });
  const tlsRoots = new WatchedValue([root.certificate]);
  const checkOf = async (server: ReturnType<typeof createServer>, clock = systemClock) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const endpoint = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
    const checks = createReachCheck({ name: 'istio', endpoint, serverName: 'ca.test', tlsRoots, clock });
    return async (): Promise<Reason | undefined> => (await checks.look(never)).get(checks.names[0] ?? '');
  };
  const plain = await checkOf(createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  t.match(await plain(), { code: 'ca-tls' });
  const web = createTlsServer({ cert: leaf.pem, key: keyPem(leaf) }, (socket) => socket.on('error', () => {}));
  t.match(await (await checkOf(web))(), { code: 'ca-unavailable', detail: /http\/2/ });

  const clock = createFakeClock();
  let connections = 0;
  const silent = await checkOf(
    createServer((socket) => {
      connections += 1;
      socket.on('error', () => {}).on('close', () => (connections -= 1));
      socket.resume();
    }),
    clock,
  );
  const answer = silent();
  await until(() => connections === 1);
  await clock.advance(5_000);
  t.match(await answer, { code: 'ca-deadline' });
  await until(() => connections === 0, 'the connection is closed');
});
