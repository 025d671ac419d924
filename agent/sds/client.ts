// The SDS client of the command line: secrets by name over a Unix socket, once or followed. Speaks delta, because only delta
// says that a name does not exist. Every failure is a SignetError; a connection that breaks is made again while following.

import { Client, credentials, status as grpcStatus } from '@grpc/grpc-js';
import type { StatusObject } from '@grpc/grpc-js';
import { SignetError, fromGrpcCode, isRetryable, kindOf } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { backoff, sleep, withDeadline } from '../runtime/time.js';
import { DeltaDiscoveryRequest, DeltaDiscoveryResponse, SPIFFECertValidatorConfig, Secret, deltaPath, secretTypeUrl } from './wire.js';

export type ReceivedSecret =
  /** `privateKeyPem` belongs to the receiver, who wipes it. */
  | {
      readonly kind: 'certificate';
      readonly name: string;
      readonly version: string;
      readonly chainPem: Buffer;
      readonly privateKeyPem: Buffer;
    }
  | { readonly kind: 'roots'; readonly name: string; readonly version: string; readonly rootsPem: Buffer };

/** News about one name; without a secret it does not exist, for now. */
export interface SecretUpdate {
  readonly name: string;
  readonly secret: ReceivedSecret | undefined;
}

export interface SdsClientOptions {
  /** Path of the socket. */
  readonly path: string;
  readonly clock: Clock;
  /** What the server shows as node id. Default `signet`. */
  readonly nodeId?: string;
  /** For the jitter of reconnects. Default Math.random. */
  readonly random?: () => number;
}

export interface SdsClient {
  /**
   * The secrets of these names, in this order. Rejects with `unavailable` (nobody answers on the socket), `notFound` (not on
   * this node, or not issued within the time that the agent waits), `denied`, or `deadline` when not all are there in time.
   */
  fetchOnce(
    names: readonly string[],
    options: { readonly deadlineMs: number; readonly signal: AbortSignal },
  ): Promise<readonly ReceivedSecret[]>;
  /**
   * Calls `onUpdate` with each secret and each change, across reconnects, until the signal aborts; the same version is
   * told once. Rejects when the server will never answer (`denied`, `invalid`). `onRetry` hears of each lost connection.
   */
  watch(
    names: readonly string[],
    onUpdate: (update: SecretUpdate) => void,
    options: { readonly signal: AbortSignal; readonly onRetry?: (error: unknown, delayMs: number) => void },
  ): Promise<void>;
}

const reconnect = { minMs: 100, maxMs: 5_000 };

/** Creates the client; it connects when it is asked for something. */
export function createSdsClient(options: SdsClientOptions): SdsClient {
  const { clock, path } = options;
  const subscription = (names: readonly string[], versions: ReadonlyMap<string, string>): Subscription => ({
    node: { id: options.nodeId ?? 'signet', userAgentName: 'signet' },
    typeUrl: secretTypeUrl,
    resourceNamesSubscribe: [...names],
    initialResourceVersions: Object.fromEntries(versions),
  });
  return {
    async fetchOnce(names, { deadlineMs, signal }) {
      const found = new Map<string, ReceivedSecret>();
      const wanted = new Set(names);
      await withDeadline(clock, deadlineMs, 'fetching secrets', signal, async (within) => {
        const done = new AbortController();
        const stop = AbortSignal.any([within, done.signal]);
        await follow(path, subscription(names, new Map()), stop, (update) => {
          if (update.secret === undefined) throw new SignetError('notFound', 'no such secret', { fields: { name: update.name } });
          if (wanted.has(update.name)) found.set(update.name, update.secret);
          if (found.size === wanted.size) done.abort();
        });
        if (!done.signal.aborted && !within.aborted) throw new SignetError('unavailable', 'the server ended the stream');
      });
      return names.flatMap((name) => found.get(name) ?? []);
    },
    async watch(names, onUpdate, { signal, onRetry }) {
      const versions = new Map<string, string>();
      let attempt = 0;
      const tell = (update: SecretUpdate): void => {
        attempt = 0;
        const version = update.secret?.version ?? '';
        if (versions.get(update.name) === version) return;
        versions.set(update.name, version);
        onUpdate(update);
      };
      while (!signal.aborted) {
        const error = await follow(path, subscription(names, versions), signal, tell).catch((caught: unknown) => caught);
        if (signal.aborted) return;
        if (error !== undefined && !isRetryable(error)) throw error;
        attempt += 1;
        const delayMs = backoff(attempt, reconnect, options.random);
        onRetry?.(error, delayMs);
        await sleep(clock, delayMs, signal).catch((caught: unknown) => {
          if (kindOf(caught) !== 'cancelled') throw caught;
        });
      }
    },
  };
}

type Subscription = Parameters<typeof DeltaDiscoveryRequest.encode>[0];

/**
 * One stream on a connection of its own. Resolves when the signal aborts or the server ends the stream with OK; rejects
 * with any other status, and with what `onUpdate` throws.
 */
async function follow(path: string, request: Subscription, signal: AbortSignal, onUpdate: (update: SecretUpdate) => void): Promise<void> {
  if (signal.aborted) return;
  const client = new Client(`unix:${path}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const call = client.makeBidiStreamRequest(
    deltaPath,
    (message: Subscription) => Buffer.from(DeltaDiscoveryRequest.encode(message).finish()),
    (bytes: Buffer) => DeltaDiscoveryResponse.decode(bytes),
  );
  const cancel = (): void => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      call.on('data', (response: DeltaDiscoveryResponse) => {
        try {
          for (const update of readResponse(response)) onUpdate(update);
          call.write({ typeUrl: secretTypeUrl, responseNonce: response.nonce });
        } catch (error) {
          reject(error);
        }
      });
      call.on('error', () => {}); // the status, which always comes, says it
      call.once('status', (status: StatusObject) => {
        if (signal.aborted || status.code === grpcStatus.OK) resolve();
        else reject(toError(status, path));
      });
      call.write(request);
    });
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
    client.close();
  }
}

function toError(status: StatusObject, path: string): SignetError {
  const kind = fromGrpcCode(status.code);
  const message = kind === 'unavailable' ? explainUnavailable(status.details) : 'the sds server refused';
  return new SignetError(kind, message, { cause: new Error(status.details), fields: { path } });
}

/** A peer that no rule names is disconnected before it can be told anything. */
function explainUnavailable(details: string): string {
  return /ENOENT|ECONNREFUSED|EACCES/.test(details)
    ? 'cannot reach the sds socket'
    : 'the sds socket hung up: no rule under peers matches this process, or the agent stops; its log says which';
}

function readResponse(response: DeltaDiscoveryResponse): SecretUpdate[] {
  const present = response.resources.map((resource) => {
    const bytes = resource.resource?.value ?? new Uint8Array();
    const secret = readSecret(bytes, resource.version ?? '');
    bytes.fill(0);
    return { name: secret.name, secret };
  });
  return [...present, ...response.removedResources.map((name) => ({ name, secret: undefined }))];
}

function readSecret(bytes: Uint8Array, version: string): ReceivedSecret {
  const { name, tlsCertificate, validationContext } = Secret.decode(bytes);
  if (tlsCertificate !== null && tlsCertificate !== undefined) {
    const { certificateChain, privateKey } = tlsCertificate;
    return { kind: 'certificate', name, version, chainPem: inlineBytes(certificateChain), privateKeyPem: inlineBytes(privateKey) };
  }
  const { trustedCa, customValidatorConfig } = validationContext ?? {};
  if (trustedCa !== null && trustedCa !== undefined) return { kind: 'roots', name, version, rootsPem: inlineBytes(trustedCa) };
  const custom = customValidatorConfig?.typedConfig;
  if (custom?.type_url !== SPIFFECertValidatorConfig.getTypeUrl()) {
    throw new SignetError('internal', 'the sds server sent a secret of an unknown kind', { fields: { name } });
  }
  const { trustDomains } = SPIFFECertValidatorConfig.decode(custom.value ?? new Uint8Array());
  const bundles = trustDomains.map(({ trustBundle }) => inlineBytes(trustBundle));
  return { kind: 'roots', name, version, rootsPem: Buffer.concat(bundles) };
}

// A copy in memory of its own: a key must not stay in the buffer of the connection.
function inlineBytes(source: { readonly inlineBytes?: Uint8Array | null } | null | undefined): Buffer {
  const bytes = source?.inlineBytes ?? new Uint8Array();
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
