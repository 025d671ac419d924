// A process that calls a certificate service as fast as so many calls in flight allow, with requests made before. Started by
// ca-rates.ts with the load as JSON in its argument; prints what it saw as JSON.

import { readFileSync } from 'node:fs';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import { istio } from '#proto/istio-ca.js';
import { csrFor } from '../fixtures/authority.js';
import { now } from './measure.js';

export interface Load {
  /** host:port */
  readonly target: string;
  readonly rootsFile: string;
  /** Used in turn; as many as there are calls make each call one with a new token. */
  readonly tokens: readonly string[];
  readonly identity: string;
  readonly inFlight: number;
  /** Ends when so much time is over or so many calls are made, whichever is first. */
  readonly forMs: number;
  readonly calls: number;
}

export interface LoadResult {
  readonly calls: number;
  readonly failed: number;
  readonly ms: number;
  readonly latencies: readonly number[];
}

async function run({ target, rootsFile, tokens, identity, inFlight, forMs, calls }: Load): Promise<LoadResult> {
  const { IstioCertificateRequest } = istio.v1.auth;
  const client = new Client(target, credentials.createSsl(readFileSync(rootsFile)));
  const requests = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const fields = { ImpersonatedIdentity: { stringValue: identity } };
      return Buffer.from(
        IstioCertificateRequest.encode({ csr: await csrFor(identity), validityDuration: 3_600, metadata: { fields } }).finish(),
      );
    }),
  );
  const headers = tokens.map((token) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    metadata.set('clusterid', 'Kubernetes');
    return metadata;
  });
  const pick = <T>(from: readonly T[], index: number): T => from[index % from.length] as T;
  const call = (index: number): Promise<boolean> =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        '/istio.v1.auth.IstioCertificateService/CreateCertificate',
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        pick(requests, index),
        pick(headers, index),
        { deadline: Date.now() + 30_000 },
        (error) => resolve(error === null),
      );
    });
  const latencies: number[] = [];
  let made = 0;
  let failed = 0;
  // Unmeasured: the connection, and the first compilation of what is called.
  for (let index = 0; index < 20; index += 1) await call(0);
  const startedAt = now();
  const worker = async (): Promise<void> => {
    while (made < calls && now() - startedAt < forMs) {
      const index = made++;
      const at = now();
      if (!(await call(index))) failed += 1;
      latencies.push(now() - at);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const ms = now() - startedAt;
  client.close();
  return { calls: latencies.length, failed, ms, latencies };
}

if (process.argv[2] !== undefined) {
  const result = await run(JSON.parse(readFileSync(process.argv[2], 'utf8')) as Load);
  process.stdout.write(JSON.stringify(result));
}
