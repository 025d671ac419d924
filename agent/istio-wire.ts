// istio.v1.auth.IstioCertificateService on the wire: the path and both codecs. For the upstream CA client and every server of
// this service.
// Promises: the impersonated identity travels as a protobuf Struct value, never as a plain object that encodes to nothing.

import type { Metadata } from '@grpc/grpc-js';
import { istio } from '#proto/istio-ca.js';

const { IstioCertificateRequest, IstioCertificateResponse } = istio.v1.auth;

/** What a CSR is sent with, as both ends see it. */
export interface CertificateRequest {
  /** PKCS#10. */
  readonly csrPem: string;
  /** What is asked for, ms; the wire has whole seconds. 0 leaves it to the CA. */
  readonly lifetimeMs: number;
  /** The SPIFFE ID a node asks for on behalf of its pod; without it the CA issues the caller's own identity. */
  readonly impersonatedIdentity?: string;
}

/** Key in the metadata Struct of a request. */
const impersonatedIdentityKey = 'ImpersonatedIdentity';

function encodeRequest({ csrPem, lifetimeMs, impersonatedIdentity }: CertificateRequest): Buffer {
  const metadata =
    impersonatedIdentity === undefined
      ? {}
      : { metadata: { fields: { [impersonatedIdentityKey]: { stringValue: impersonatedIdentity } } } };
  const request = { csr: csrPem, validityDuration: Math.floor(lifetimeMs / 1_000), ...metadata };
  return Buffer.from(IstioCertificateRequest.encode(request).finish());
}

function decodeRequest(bytes: Buffer): CertificateRequest {
  const { csr, validityDuration, metadata } = IstioCertificateRequest.decode(bytes);
  const impersonated = metadata?.fields?.[impersonatedIdentityKey]?.stringValue ?? '';
  return {
    csrPem: csr,
    lifetimeMs: validityDuration * 1_000,
    // As Istio's servers read it: what is empty or no string is not impersonating.
    ...(impersonated === '' ? {} : { impersonatedIdentity: impersonated }),
  };
}

/** The method as grpc-js wants it, for a server or a client; an answer is its PEM elements, as they stand. */
export const createCertificateMethod = {
  path: '/istio.v1.auth.IstioCertificateService/CreateCertificate',
  requestStream: false,
  responseStream: false,
  requestSerialize: encodeRequest,
  requestDeserialize: decodeRequest,
  responseSerialize: (certChain: readonly string[]): Buffer =>
    Buffer.from(IstioCertificateResponse.encode({ certChain: [...certChain] }).finish()),
  responseDeserialize: (bytes: Buffer): readonly string[] => IstioCertificateResponse.decode(bytes).certChain,
} as const;

/** What a caller says of itself beside its request. */
export interface CallerMetadata {
  /** The bearer token; undefined when there is none. */
  readonly token: string | undefined;
  /** The cluster it says it is of; '' when it says none. */
  readonly clusterId: string;
}

/** As Istio's servers read it: the first bearer token counts, and a cluster that is named exactly once. */
export function readCaller(metadata: Metadata): CallerMetadata {
  const bearer = metadata
    .get('authorization')
    .map(String)
    .find((value) => value.startsWith('Bearer '));
  const [clusterId = '', ...more] = metadata.get('clusterid').map(String);
  return { token: bearer?.slice('Bearer '.length), clusterId: more.length === 0 ? clusterId : '' };
}
