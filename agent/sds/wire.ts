// envoy.service.secret.v3.SecretDiscoveryService on the wire: paths, type URL and codecs, for the service and the client.
// Responses are already bytes when they get here: one buffer may go to thousands of streams.

import type { MethodDefinition } from '@grpc/grpc-js';
import { envoy } from '#proto/sds.js';

export const { DiscoveryRequest, DiscoveryResponse, DeltaDiscoveryRequest, DeltaDiscoveryResponse } = envoy.service.discovery.v3;
export type DiscoveryRequest = envoy.service.discovery.v3.DiscoveryRequest;
export type DiscoveryResponse = envoy.service.discovery.v3.DiscoveryResponse;
export type DeltaDiscoveryRequest = envoy.service.discovery.v3.DeltaDiscoveryRequest;
export type DeltaDiscoveryResponse = envoy.service.discovery.v3.DeltaDiscoveryResponse;

export const { Secret, SPIFFECertValidatorConfig } = envoy.extensions.transport_sockets.tls.v3;

/** Type URL of a secret, in the responses and around each resource. */
export const secretTypeUrl = Secret.getTypeUrl();

const servicePath = '/envoy.service.secret.v3.SecretDiscoveryService';
export const deltaPath = `${servicePath}/DeltaSecrets`;

/** Stands for a message over the limit: it was not decoded, its stream ends. */
export const oversized = Symbol('oversized message');
export type Received<T> = T | typeof oversized;

/** Messages up to the limit are decoded; gRPC itself refuses to buffer those of twice the limit (`grpcServerOptions`). */
export function createDefinition(maxMessageBytes: number) {
  const bounded =
    <T>(decode: (bytes: Buffer) => T) =>
    (bytes: Buffer): Received<T> =>
      bytes.length > maxMessageBytes ? oversized : decode(bytes);
  const method = <T>(name: string, streaming: boolean, decode: (bytes: Buffer) => T) =>
    ({
      path: `${servicePath}/${name}`,
      requestStream: streaming,
      responseStream: streaming,
      requestSerialize: notOurSide,
      requestDeserialize: bounded(decode),
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: notOurSide,
    }) satisfies MethodDefinition<Received<T>, Buffer>;
  return {
    StreamSecrets: method('StreamSecrets', true, (bytes) => DiscoveryRequest.decode(bytes)),
    DeltaSecrets: method('DeltaSecrets', true, (bytes) => DeltaDiscoveryRequest.decode(bytes)),
    FetchSecrets: method('FetchSecrets', false, (bytes) => DiscoveryRequest.decode(bytes)),
  };
}

function notOurSide(): never {
  throw new Error('bug: a server neither sends requests nor receives responses');
}
