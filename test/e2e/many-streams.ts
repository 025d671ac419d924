// A process of its own that opens many streams on one connection, all for the same name: `node many-streams.js SOCKET NAME COUNT`.
// Prints one line of JSON when every stream has its first answer: {"streams", "allMs", "p99Ms"}, by the time since the first
// request; then one for each push that every stream has got, by the time since the first stream got it. Holds the streams open.
// Suites stop it with SIGSTOP to have a client that does not read.

import { Client, credentials } from '@grpc/grpc-js';
import { envoy } from '#proto/sds.js';
import { percentile, stopwatch } from '../fixtures/until.js';

const [socket = '', name = '', count = '0'] = process.argv.slice(2);
const { DiscoveryRequest, DiscoveryResponse } = envoy.service.discovery.v3;
const typeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const method = '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets';
const first = DiscoveryRequest.encode({ node: { id: 'many', cluster: 'many' }, typeUrl, resourceNames: [name] }).finish();

const client = new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' });

interface Round {
  readonly elapsed: () => number;
  readonly times: number[];
}
const rounds: Round[] = [{ elapsed: stopwatch(), times: [] }];

/** Counts a response, the nth of its stream. */
function received(nth: number): void {
  const round = (rounds[nth] ??= { elapsed: stopwatch(), times: [] });
  round.times.push(round.elapsed());
  if (round.times.length < Number(count)) return;
  const figures = { streams: round.times.length, allMs: Math.round(round.elapsed()), p99Ms: Math.round(percentile(round.times, 0.99)) };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

for (let stream = 0; stream < Number(count); stream += 1) {
  const call = client.makeBidiStreamRequest(
    method,
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes: Buffer) => DiscoveryResponse.decode(bytes),
  );
  let responses = 0;
  call.on('error', (error) => {
    process.stdout.write(`${JSON.stringify({ error: error.message })}\n`);
  });
  call.on('data', (response: ReturnType<typeof DiscoveryResponse.decode>) => {
    const { versionInfo, nonce: responseNonce } = response;
    call.write(DiscoveryRequest.encode({ typeUrl, resourceNames: [name], versionInfo, responseNonce }).finish());
    received(responses);
    responses += 1;
  });
  call.write(first);
}
