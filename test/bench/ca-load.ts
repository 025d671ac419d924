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
  /** Of the process that is called. */
  readonly pid: number;
  readonly rootsFile: string;
  /** Used in turn; as many as there are calls make each call one with a new token. */
  readonly tokens: readonly string[];
  readonly identity: string;
  readonly inFlight: number;
  /** Calls before it is measured, as many in flight: they let V8 compile what is called, at both ends. */
  readonly unmeasured: number;
  /** Ends when so much time is over or so many calls are made, whichever is first. */
  readonly forMs: number;
  readonly calls: number;
}

export interface LoadResult {
  readonly calls: number;
  readonly failed: number;
  readonly ms: number;
  /** CPU time that was used meanwhile by the process that is called, and by this one. */
  readonly cpuMs: number;
  readonly ownCpuMs: number;
  readonly latencies: readonly number[];
}

async function run({ target, pid, rootsFile, tokens, identity, inFlight, unmeasured, forMs, calls }: Load): Promise<LoadResult> {
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
  let next = 0;
  let failed = 0;
  const latencies: number[] = [];
  const keepCalling = async (isOver: () => boolean): Promise<void> => {
    const worker = async (): Promise<void> => {
      while (!isOver()) {
        const index = next++;
        const at = now();
        if (!(await call(index))) failed += 1;
        latencies.push(now() - at);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  };

  await keepCalling(() => next >= unmeasured);
  latencies.length = 0;
  const startedAt = now();
  const ownBefore = process.cpuUsage();
  const before = cpuMsOf(pid);
  const begun = next;
  await keepCalling(() => next - begun >= calls || now() - startedAt >= forMs);
  const ms = now() - startedAt;
  const { user, system } = process.cpuUsage(ownBefore);
  client.close();
  return { calls: latencies.length, failed, ms, cpuMs: cpuMsOf(pid) - before, ownCpuMs: (user + system) / 1_000, latencies };
}

/** utime and stime of proc(5), in ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

if (process.argv[2] !== undefined) {
  const result = await run(JSON.parse(readFileSync(process.argv[2], 'utf8')) as Load);
  process.stdout.write(JSON.stringify(result));
}
