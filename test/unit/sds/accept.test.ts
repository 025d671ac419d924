import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { Client, Server, credentials } from '@grpc/grpc-js';
import t from 'tap';
import type { PeerRule } from '../../../agent/config.js';
import { listenUnix } from '../../../agent/listen.js';
import { loadNative } from '../../../agent/runtime/native.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import { createAcceptor } from '../../../agent/sds/accept.js';
import { createGuardedInjector } from '../../../agent/grpc/http2-guard.js';
import { createPeerPolicy } from '../../../agent/sds/peer.js';
import { createAttestor, readStandpoint } from '../../../agent/sds/process.js';
import { createFakeClock, until } from '../../fixtures/clock.js';
import { connectRaw, createRawMethod } from '../../fixtures/http2-raw.js';
import { defaultLimits } from '../../fixtures/limits.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

const ourUid = process.getuid?.() ?? 0;
const whoami = createRawMethod('/test.Who/Who');

/** The whole path from a socket to a call, with the kernel's own answers; a call is told its peer's process and grant. */
async function start(test: Pick<typeof t, 'teardown'>, rules: readonly PeerRule[]) {
  const [clock, log, metrics, stop] = [createFakeClock(), createRecordingLogger(), createTestMetrics(), new AbortController()];
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  const path = join(directory, 's');
  const policy = createPeerPolicy({
    index: { pods: new WatchedValue(new Map()), identities: new WatchedValue(undefined), idOf: () => undefined },
    rules: new WatchedValue(rules),
    attestor: createAttestor({ native: await loadNative(), standpoint: readStandpoint() }),
    ownContainer: 'host',
    limits: defaultLimits,
    clock,
    log,
    metrics: metrics.metrics,
  });
  const server = new Server({ 'grpc.enable_channelz': 0 });
  server.addService(
    { whoami },
    {
      whoami(call: ServerDuplexStream<Buffer, Buffer>) {
        const peer = policy.peerOf(call.getPeer());
        call.write(Buffer.from(JSON.stringify({ grant: peer?.grant.value.kind, owner: peer?.owner, pid: peer?.fields['pid'] })));
        call.end();
      },
    },
  );
  const injector = createGuardedInjector(server, { limits: defaultLimits, clock, metrics: metrics.metrics });
  const listener = await listenUnix({ path, mode: 0o666, pauseOnConnect: true, clock, log }, createAcceptor(policy, injector));
  const ended = [listener.run(stop.signal), policy.run(stop.signal)];
  test.teardown(async () => {
    stop.abort();
    injector.close();
    server.forceShutdown();
    await Promise.all(ended);
    rmSync(directory, { recursive: true });
  });
  return { path, log, metrics };
}

t.test('a call knows the process that made it', async (t) => {
  const s = await start(t, [{ host: { uid: ourUid }, grant: 'node' }]);
  const client = new Client(`unix:${s.path}`, credentials.createInsecure());
  t.teardown(() => client.close());
  const call = client.makeBidiStreamRequest(whoami.path, whoami.requestSerialize, whoami.responseDeserialize);
  const [message] = (await once(call, 'data')) as [Buffer];
  t.same(JSON.parse(message.toString()), { grant: 'node', owner: `uid:${ourUid}`, pid: process.pid });
  call.cancel();
  call.on('error', () => {});
  t.equal(await s.metrics.read('signet_peer_connections_total', { grant: 'node' }), 1);
  client.close();
  await until(async () => (await s.metrics.read('signet_sds_connections')) === 0, 'the connection is not counted any more');
});

t.test('U07: a peer that may not ask gets no byte', async (t) => {
  const s = await start(t, [{ host: { uid: ourUid + 1 }, grant: 'node' }]);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const client = await connectRaw(s.path);
    await until(() => client.closed, 'the end of the connection');
    t.equal(client.frames.length, 0);
  }
  t.equal(await s.metrics.read('signet_peer_connections_total', { grant: 'refused' }), 50);
  t.match(
    s.log.lines.filter((line) => line.level === 'warn'),
    { length: 1, 0: { fields: { pid: process.pid, uid: ourUid, reason: 'peer-unknown' } } },
  );
});

t.test('a process that ends right after it connected is refused or forgotten, never mistaken', async (t) => {
  const s = await start(t, [{ host: { uid: ourUid }, grant: 'node' }]);
  const code = `const s = require('net').connect(${JSON.stringify(s.path)}, () => process.kill(process.pid, 'SIGKILL')); s.on('error', () => {})`;
  for (let attempt = 0; attempt < 5; attempt += 1) await once(spawn(process.execPath, ['-e', code], { stdio: 'ignore' }), 'exit');
  const connections = async (grant: string): Promise<number> => (await s.metrics.read('signet_peer_connections_total', { grant })) ?? 0;
  await until(async () => (await connections('node')) + (await connections('refused')) === 5, 'all five are accepted');
  await until(async () => (await s.metrics.read('signet_sds_connections')) === 0, 'none is left');
});
