// The reference for pushes: a grpc-js server with nothing but one stored message, written to every stream on command.
// Started by the bench with the socket path and the size of the secret; answers 'pushed' by IPC after the write loop.

import grpc from '@grpc/grpc-js';
import { envoy } from '#proto/sds.js';

const { DiscoveryResponse } = envoy.service.discovery.v3;
const typeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const [path = '', size = '0'] = process.argv.slice(2);

let version = 0;
function message(): Buffer {
  version += 1;
  const bytes = DiscoveryResponse.encode({
    versionInfo: String(version),
    nonce: String(version),
    typeUrl,
    resources: [{ type_url: typeUrl, value: Buffer.alloc(Number(size), 65) }],
  }).finish();
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

let current = message();
const streams = new Set<grpc.ServerDuplexStream<Buffer, Buffer>>();
const server = new grpc.Server();
server.addService(
  {
    StreamSecrets: {
      path: '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets',
      requestStream: true,
      responseStream: true,
      requestSerialize: (value: Buffer) => value,
      requestDeserialize: (value: Buffer) => value,
      responseSerialize: (value: Buffer) => value,
      responseDeserialize: (value: Buffer) => value,
    },
  },
  {
    StreamSecrets: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
      streams.add(call);
      call.once('data', () => call.write(current));
      call.on('data', () => {});
      call.on('error', () => {});
      call.on('close', () => streams.delete(call));
      call.on('end', () => call.end());
    },
  },
);
server.bindAsync(`unix:${path}`, grpc.ServerCredentials.createInsecure(), (error) => {
  process.send?.(error === null ? 'listening' : String(error));
});
process.on('message', () => {
  current = message();
  for (const stream of streams) stream.write(current);
  process.send?.('pushed');
});
process.on('disconnect', () => process.exit(0));
