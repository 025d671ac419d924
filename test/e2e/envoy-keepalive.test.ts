// A client that pings as an Envoy with `connection_keepalive` does: raw frames, in real time, against the real binary. See suites.md.

import t from 'tap';
import { idOf } from '../fixtures/envoy-config.js';
import { connectRaw, frame, frameFlag, frameType, grpcHeaders, ping } from '../fixtures/http2-raw.js';
import { createScene } from '../fixtures/scene.js';
import { createSignet } from '../fixtures/signet.js';
import { pause, until } from '../fixtures/until.js';

const pings = 40;
const method = '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets';

await t.test('U05: 40 pings in 40 s on a connection without streams are answered, and it stays of use', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['server'] });
  await signet.start();
  const client = await connectRaw(signet.socket);
  t.teardown(() => client.close());
  const answers = (): number => client.frames.filter(({ type, flags }) => type === frameType.ping && (flags & frameFlag.ack) !== 0).length;
  for (let sent = 1; sent <= pings; sent += 1) {
    await client.send(ping());
    await until(`answer ${sent}`, 60_000, () => answers() === sent);
    await pause(1_000);
  }
  t.equal(client.goaway(), undefined, 'no GOAWAY');
  t.notOk(client.closed);

  const name = Buffer.from(idOf('server'));
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, name.length + 2, 0x1a, name.length]), name]); // resource_names (3)
  await client.send(frame(frameType.headers, frameFlag.endHeaders, 1, grpcHeaders(method)), frame(frameType.data, 0, 1, message));
  const answered = (): boolean =>
    client.frames.some(({ type, payload }) => type === frameType.data && payload.includes('-----BEGIN CERTIFICATE-----'));
  await until('a certificate on the same connection', 60_000, answered);
  t.pass('a stream is served on it');
});
