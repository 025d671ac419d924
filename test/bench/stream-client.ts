// An SDS client for measurements: a process of its own with any number of raw HTTP/2 connections and streams over a Unix socket.
// The bench drives it by IPC. Raw frames instead of a gRPC library, so that the client costs as little as possible of the shared cores.
// Arrival times are CLOCK_MONOTONIC in ms, comparable between processes of one machine.

import http2 from 'node:http2';
import net from 'node:net';
import { envoy } from '#proto/sds.js';

const { DiscoveryRequest, DiscoveryResponse, DeltaDiscoveryRequest, DeltaDiscoveryResponse } = envoy.service.discovery.v3;
const typeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

export interface OpenCommand {
  readonly kind: 'open';
  readonly path: string;
  readonly connections: number;
  readonly streams: number;
  readonly protocol: 'sotw' | 'delta';
  /** Stream i asks for `namesPerStream` names from i * namesPerStream on, around the list. */
  readonly names: readonly string[];
  readonly namesPerStream: number;
}
/** Forgets the arrivals so far, then answers as soon as `count` responses have arrived (or after 30 s). */
export interface AwaitCommand {
  readonly kind: 'await';
  readonly count: number;
}
export interface ResetCommand {
  readonly kind: 'reset';
}
/** Opens `count` streams one after the other on a connection of its own, each closed after its answer; the arrivals are latencies in ms. */
export interface ProbeCommand {
  readonly kind: 'probe';
  readonly path: string;
  readonly name: string;
  readonly count: number;
}
export type Command = OpenCommand | AwaitCommand | ResetCommand | ProbeCommand;

export interface Arrivals {
  readonly kind: 'opened' | 'arrivals' | 'reset';
  /** When each resource arrived, in order. */
  readonly at: readonly number[];
  readonly errors: number;
  readonly openedAt: number;
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

let arrivals: number[] = [];
let errors = 0;
let openedAt = 0;
let waiting: { count: number; answer: () => void } | undefined;

function arrived(resources: number): void {
  const at = now();
  for (let index = 0; index < resources; index += 1) arrivals.push(at);
  if (waiting !== undefined && arrivals.length >= waiting.count) waiting.answer();
}

function frame(message: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(5 + message.length);
  out[0] = 0;
  out.writeUInt32BE(message.length, 1);
  out.set(message, 5);
  return out;
}

// Splits DATA into gRPC messages (length-prefixed, gRPC over HTTP/2).
function messages(stream: http2.ClientHttp2Stream, onMessage: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      onMessage(rest.subarray(5, end));
      rest = rest.subarray(end);
    }
  });
}

function request(session: http2.ClientHttp2Session, method: 'StreamSecrets' | 'DeltaSecrets'): http2.ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':path': `/envoy.service.secret.v3.SecretDiscoveryService/${method}`,
    'content-type': 'application/grpc',
    'te': 'trailers',
  });
}

const node = { id: 'bench', cluster: 'bench' };

async function probe(command: ProbeCommand): Promise<void> {
  const session = http2.connect('http://localhost', { createConnection: () => net.connect(command.path) });
  const latencies: number[] = [];
  for (let index = 0; index < command.count; index += 1) {
    const startedAt = now();
    const stream = request(session, 'StreamSecrets');
    await new Promise<void>((resolve, reject) => {
      stream.on('error', reject);
      messages(stream, () => resolve());
      stream.write(frame(DiscoveryRequest.encode({ node, typeUrl, resourceNames: [command.name] }).finish()));
    });
    latencies.push(now() - startedAt);
    stream.close(http2.constants.NGHTTP2_CANCEL);
  }
  session.destroy();
  process.send?.({ kind: 'arrivals', at: latencies, errors: 0, openedAt: 0 } satisfies Arrivals);
}

function openStream(session: http2.ClientHttp2Session, protocol: 'sotw' | 'delta', names: readonly string[]): void {
  const method = protocol === 'sotw' ? 'StreamSecrets' : 'DeltaSecrets';
  const stream = request(session, method);
  const failed = (): void => {
    errors += 1;
  };
  stream.on('error', failed);
  stream.on('response', (headers) => {
    if (headers[':status'] !== 200 || headers['grpc-status'] !== undefined) failed();
  });
  if (protocol === 'sotw') {
    messages(stream, (message) => {
      const response = DiscoveryResponse.decode(message);
      stream.write(
        frame(
          DiscoveryRequest.encode({
            versionInfo: response.versionInfo,
            responseNonce: response.nonce,
            typeUrl,
            resourceNames: [...names],
          }).finish(),
        ),
      );
      arrived(response.resources.length);
    });
    stream.write(frame(DiscoveryRequest.encode({ node, typeUrl, resourceNames: [...names] }).finish()));
  } else {
    messages(stream, (message) => {
      const response = DeltaDiscoveryResponse.decode(message);
      stream.write(frame(DeltaDiscoveryRequest.encode({ responseNonce: response.nonce, typeUrl }).finish()));
      arrived(response.resources.length);
    });
    stream.write(frame(DeltaDiscoveryRequest.encode({ node, typeUrl, resourceNamesSubscribe: [...names] }).finish()));
  }
}

function open(command: OpenCommand): void {
  openedAt = now();
  for (let connection = 0; connection < command.connections; connection += 1) {
    const session = http2.connect('http://localhost', { createConnection: () => net.connect(command.path) });
    session.on('error', () => {
      errors += 1;
    });
    for (let index = connection; index < command.streams; index += command.connections) {
      const names = Array.from(
        { length: command.namesPerStream },
        (_, n) => command.names[(index * command.namesPerStream + n) % command.names.length] ?? '',
      );
      openStream(session, command.protocol, names);
    }
  }
}

function send(kind: Arrivals['kind']): void {
  process.send?.({ kind, at: arrivals, errors, openedAt } satisfies Arrivals);
}

process.on('message', (command: Command) => {
  if (command.kind === 'open') {
    open(command);
    send('opened');
  } else if (command.kind === 'probe') {
    probe(command).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  } else if (command.kind === 'reset') {
    arrivals = [];
    send('reset');
  } else {
    const timer = setTimeout(() => waiting?.answer(), 30_000);
    waiting = {
      count: command.count,
      answer: () => {
        clearTimeout(timer);
        waiting = undefined;
        send('arrivals');
      },
    };
    if (arrivals.length >= command.count) waiting.answer();
  }
});
process.on('disconnect', () => process.exit(0));
