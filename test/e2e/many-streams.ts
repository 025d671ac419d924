// A process of its own that opens many streams on one connection, all for the same name: `node many-streams.js SOCKET NAME COUNT`.
// Prints one line of JSON when every stream has its first answer: {"streams", "allMs", "p99Ms"}. Afterwards it holds the
// streams open. Suites stop it with SIGSTOP to have a client that does not read.

import { Client, credentials } from '@grpc/grpc-js';
import { envoy } from '#proto/sds.js';
import { percentile, stopwatch } from '../fixtures/until.js';

const [socket = '', name = '', count = '0'] = process.argv.slice(2);
const { DiscoveryRequest, DiscoveryResponse } = envoy.service.discovery.v3;
const typeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const method = '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets';
const first = DiscoveryRequest.encode({ node: { id: 'many', cluster: 'many' }, typeUrl, resourceNames: [name] }).finish();

const client = new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' });
const elapsed = stopwatch();
const times: number[] = [];
for (let stream = 0; stream < Number(count); stream += 1) {
  const call = client.makeBidiStreamRequest(
    method,
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes: Buffer) => DiscoveryResponse.decode(bytes),
  );
  let answered = false;
  call.on('error', (error) => {
    process.stdout.write(`${JSON.stringify({ error: error.message })}\n`);
  });
  call.on('data', (response: ReturnType<typeof DiscoveryResponse.decode>) => {
    const { versionInfo, nonce: responseNonce } = response;
    call.write(DiscoveryRequest.encode({ typeUrl, resourceNames: [name], versionInfo, responseNonce }).finish());
    if (answered) return;
    answered = true;
    times.push(elapsed());
    if (times.length === Number(count)) {
      process.stdout.write(
        `${JSON.stringify({ streams: times.length, allMs: Math.round(elapsed()), p99Ms: Math.round(percentile(times, 0.99)) })}\n`,
      );
    }
  });
  call.write(first);
}
