// The SDS client of the command line: secrets by name over a Unix socket, once or followed. Speaks delta, because only delta
// says that a name does not exist. Every failure is a SignetError; a connection that breaks is made again while following.

import { Client, credentials, status as grpcStatus } from '@grpc/grpc-js';
import type { StatusObject } from '@grpc/grpc-js';
import { SignetError, connectionFault, fromGrpcCode, isRetryable, kindOf, reasonOf } from '../runtime/errors.js';
import type { ErrorOptions } from '../runtime/errors.js';
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

/** Wipes the key, if there is one. */
export function wipeSecret(secret: ReceivedSecret | undefined): void {
  if (secret?.kind === 'certificate') secret.privateKeyPem.fill(0);
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
   * The secrets of these names, in this order. Rejects with `unavailable` (no agent answers on the socket), `notFound` (not on
   * this node, or not issued within the time that the agent waits), `denied` (a name, or this process at all), or `deadline`
   * when not all are there in time; what came until then is wiped.
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
      const take = ({ name, secret }: SecretUpdate): void => {
        if (secret === undefined) throw new SignetError('notFound', 'no such secret', { fields: { name } });
        wipeSecret(wanted.has(name) ? found.get(name) : secret);
        if (wanted.has(name)) found.set(name, secret);
      };
      try {
        await withDeadline(clock, deadlineMs, 'fetching secrets', signal, async (within) => {
          const done = new AbortController();
          await follow(path, subscription(names, new Map()), AbortSignal.any([within, done.signal]), (update) => {
            take(update);
            if (found.size === wanted.size) done.abort();
          });
          if (!done.signal.aborted && !within.aborted) throw new SignetError('unavailable', 'the server ended the stream');
        });
      } catch (error) {
        found.forEach(wipeSecret);
        throw error;
      }
      return names.flatMap((name) => found.get(name) ?? []);
    },
    async watch(names, onUpdate, { signal, onRetry }) {
      const versions = new Map<string, string>();
      let attempt = 0;
      const tell = (update: SecretUpdate): void => {
        attempt = 0;
        const version = update.secret?.version ?? '';
        if (versions.get(update.name) === version) {
          wipeSecret(update.secret);
          return;
        }
        versions.set(update.name, version);
        onUpdate(update);
      };
      while (!signal.aborted) {
        const error = await follow(path, subscription(names, versions), signal, tell).catch((caught: unknown) => caught);
        if (signal.aborted) return;
        // Who has been answered before meets an agent that stops, not a rule.
        const isStop = reasonOf(error) === hungUp && versions.size > 0;
        if (error !== undefined && !isRetryable(error) && !isStop) throw error;
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
          for (const update of readResponse(response)) {
            // Nobody waits for what comes after the end.
            if (signal.aborted) wipeSecret(update.secret);
            else onUpdate(update);
          }
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

/** The end of a connection at accept: a peer that may ask for nothing is disconnected before it can be told anything. */
const hungUp = 'peer-unknown';

function toError({ code, details }: StatusObject, path: string): SignetError {
  const options: ErrorOptions = { cause: new Error(connectionFault(details)), fields: { path } };
  const unavailable = (message: string): SignetError => new SignetError('unavailable', message, options);
  if (code === grpcStatus.UNIMPLEMENTED || /Protocol error/.test(details))
    return unavailable('what listens on the socket is no sds server');
  if (code !== grpcStatus.UNAVAILABLE) return new SignetError(fromGrpcCode(code), 'the sds server refused', options);
  if (/EACCES|EPERM/.test(details)) return new SignetError('denied', 'this user may not open the sds socket', options);
  if (/ENOENT|ECONNREFUSED/.test(details)) return unavailable('cannot reach the sds socket');
  if (!/Failed to connect/.test(details)) return unavailable('the sds socket hung up: the agent stops');
  return new SignetError('denied', 'the sds socket hung up: the agent refuses this process; its log says why', {
    ...options,
    reason: hungUp,
  });
}

/** One update after the other; the bytes that they were read from are wiped whether or not all of them are taken. */
function* readResponse({ resources, removedResources }: DeltaDiscoveryResponse): Generator<SecretUpdate> {
  try {
    for (const { resource, version } of resources) {
      const secret = readSecret(resource?.value ?? new Uint8Array(), version ?? '');
      yield { name: secret.name, secret };
    }
    for (const name of removedResources) yield { name, secret: undefined };
  } finally {
    for (const { resource } of resources) resource?.value?.fill(0);
  }
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
