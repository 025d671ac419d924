// The stand-in for ztunnel on the wire, before anything is tested with it: what it sends and in which order, what it takes for an
// answer, how it follows its files.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createHttp2Server } from 'node:http2';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { systemClock } from '../../agent/runtime/time.js';
import { parseCsr } from '../../agent/x509/csr.js';
import { createFakeClock, until } from '../fixtures/clock.js';
import type { FakeIstioCa } from '../fixtures/istio-ca.js';
import { createFakeIstioCa } from '../fixtures/istio-ca.js';
import { createIntermediate, createLeaf, createRoot, dayMs, hourMs, keyPem } from '../fixtures/pki.js';
import type { ZtunnelOptions } from '../fixtures/ztunnel-client.js';
import { createZtunnelClient, readAnswer } from '../fixtures/ztunnel-client.js';
import { createCaChannel } from '../fixtures/ztunnel-wire.js';

const identity = 'spiffe://cluster.local/ns/shop/sa/cart';

function createFiles(t: Test) {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [tokenFile, caRootFile] = [join(directory, 'token'), join(directory, 'root.pem')];
  writeFileSync(tokenFile, 'first-token');
  return { tokenFile, caRootFile };
}

async function createScene(t: Test, more: Partial<ZtunnelOptions> = {}) {
  const ca = await createFakeIstioCa(t, { names: ['localhost'] });
  const files = createFiles(t);
  writeFileSync(files.caRootFile, ca.servingRoot.pem);
  const client = createZtunnelClient({ caAddress: `https://localhost:${ca.port}`, clock: systemClock, ...files, ...more });
  t.teardown(() => client.close());
  return { ca, client, ...files };
}

const callOf = ({ calls }: FakeIstioCa, index: number) => {
  const call = calls.at(index);
  if (call === undefined) throw new Error('no call');
  return call;
};

t.test('what it asks, and what it holds then', async (t) => {
  const { ca, client, tokenFile } = await createScene(t);
  const { chain, roots } = await client.request(identity);
  t.match(chain[0]?.subjectAltName, identity);
  t.equal(roots[0]?.fingerprint256, roots.at(-1)?.fingerprint256);
  const call = callOf(ca, 0);
  t.match(call, { impersonatedIdentity: identity, lifetimeMs: dayMs });
  t.match(call.headers, { authorization: 'Bearer first-token', clusterid: 'Kubernetes' });
  const csr = parseCsr(Buffer.from(call.csrPem.replace(/-----[^-]+-----/g, ''), 'base64'));
  t.same(csr.extensions.subjectAltName?.uris, [identity]);
  writeFileSync(tokenFile, 'second-token');
  await client.request('spiffe://cluster.local/ns/shop/sa/web');
  t.equal(callOf(ca, 1).headers['authorization'], 'Bearer second-token', 'read for each request');
  t.not(callOf(ca, 1).csrPem, call.csrPem);
  t.equal(ca.connections, 1);
});

t.test('a token that cannot be sent fails before the call', async (t) => {
  const { ca, client, tokenFile } = await createScene(t);
  writeFileSync(tokenFile, 'token\n');
  await t.rejects(client.request(identity), /header/);
  writeFileSync(tokenFile, '');
  await t.rejects(client.request('spiffe://cluster.local/ns/shop/sa/web'), /header/);
  t.equal(ca.calls.length, 0);
});

t.test('what the CA says, as ztunnel words it', async (t) => {
  const { ca, client } = await createScene(t);
  ca.outcome = () => ({ code: 16, details: 'request authenticate failure: 100 %' });
  await t.rejects(client.request(identity), { message: 'signing gRPC error (16): request authenticate failure: 100 %', code: 16 } as never);
  t.equal(client.state(identity), 'Unavailable: signing gRPC error (16): request authenticate failure: 100 %');
});

t.test('a broken connection is made again with the next fetch', async (t) => {
  const { ca, client } = await createScene(t);
  ca.outcome = () => 'hang';
  const waiting = client.request(identity);
  await until(() => ca.calls.length === 1, 'the call');
  ca.outcome = () => undefined;
  await ca.move();
  await t.rejects(waiting, /gRPC error \(14\)/);
  await client.request('spiffe://cluster.local/ns/shop/sa/web');
  t.equal(ca.connections, 2);
});

t.test('new roots for the connection count with the next fetch', async (t) => {
  const { ca, client, caRootFile } = await createScene(t);
  const next = createRoot({ notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs });
  await client.request(identity);
  ca.replaceServing(next);
  writeFileSync(caRootFile, next.pem);
  await client.request('spiffe://cluster.local/ns/shop/sa/web');
  t.equal(ca.connections, 2);
});

t.test('a root file that is missing at the start is no root, for ever', async (t) => {
  const files = createFiles(t);
  const { ca, client } = await createScene(t, files);
  writeFileSync(files.caRootFile, ca.servingRoot.pem);
  await t.rejects(client.request(identity), /certificate/);
});

t.test('what it takes for an answer', (t) => {
  const dates = { notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs };
  const root = createRoot(dates);
  const intermediate = createIntermediate(root, dates);
  const leaf = String(createLeaf(intermediate, identity, dates).pem);
  const [middle, top] = [String(intermediate.pem), String(root.pem)];
  t.match(readAnswer([leaf, middle, top], identity), { chain: { length: 2 }, roots: { length: 1 } });
  t.match(readAnswer([leaf + middle, top + top], identity), { chain: { length: 1 }, roots: { length: 2 } }, 'one a chain element counts');
  t.throws(() => readAnswer([], identity), /got none/);
  t.throws(() => readAnswer([leaf], identity), /no root certificate/);
  t.throws(() => readAnswer([leaf, middle, top], `${identity}x`), /expected SAN/);
  t.throws(() => readAnswer([leaf, 'nothing', top], identity), Error);
  t.end();
});

/** A server that shows frames rather than calls. */
async function createBareServer(t: Test) {
  const dates = { notBefore: Date.now() - hourMs, notAfter: Date.now() + dayMs };
  const root = createRoot(dates);
  const leaf = createLeaf(root, 'spiffe://x/ns/a/sa/b', { ...dates, dnsNames: ['localhost'] });
  const http2 = createHttp2Server();
  const sockets: TLSSocket[] = [];
  const tls = createServer({ cert: leaf.pem, key: keyPem(leaf), ALPNProtocols: ['h2'] }, (socket) => {
    sockets.push(socket);
    http2.emit('connection', socket);
  }).listen(0, '127.0.0.1');
  await once(tls, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    tls.close();
  });
  const clock = createFakeClock();
  const client = createCaChannel({ address: `https://localhost:${(tls.address() as AddressInfo).port}`, roots: String(root.pem), clock });
  t.teardown(() => client.close());
  const call = () => client.createCertificate({ token: 'x', clusterId: 'Kubernetes', csr: 'x', seconds: 60, impersonate: 'x' });
  return { http2, clock, call, sockets };
}

t.test('pings after 30 s while a call is open, and only then', async (t) => {
  const { http2, clock, call } = await createBareServer(t);
  let pings = 0;
  http2.on('session', (session) => session.on('ping', () => (pings += 1)));
  const streams: ServerHttp2Stream[] = [];
  http2.on('stream', (stream) => streams.push(stream));
  const waiting = call();
  await until(() => streams.length === 1, 'the call');
  t.equal(clock.alarms, 1);
  await clock.advance(29_999);
  t.equal(pings, 0);
  await clock.advance(1);
  await until(() => pings === 1, 'a ping');
  await until(() => clock.alarms === 1, 'its answer');
  streams[0]?.respond({ ':status': 200, 'grpc-status': '5', 'grpc-message': 'none' }, { endStream: true });
  await t.rejects(waiting, /\(5\): none/);
  t.equal(clock.alarms, 0);
});
