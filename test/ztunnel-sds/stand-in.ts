#!/usr/bin/env node
// Stands for a ztunnel that takes its certificates by SDS, to try real.ts and its suite where there is none: it follows the identities of
// its workloads, keeps what it has until its end, and shows it as ztunnel does. `chmod +x` what it is compiled to, and give that as
// ZTUNNEL_SDS_BIN.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { systemClock } from '../../agent/runtime/time.js';
import { createSdsClient } from '../../agent/sds/client.js';
import { readCertificates } from '../../agent/x509/pem.js';

interface Workload {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

const file = process.env['LOCAL_XDS_PATH'] ?? '';
const { workloads } = JSON.parse(readFileSync(file, 'utf8')) as { readonly workloads: readonly Workload[] };
const identities = workloads.map(
  ({ trustDomain, namespace, serviceAccount }) => `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`,
);
const path = (process.env['CA_ADDRESS'] ?? '').replace(/^unix:/, '');
const chains = new Map<string, readonly X509Certificate[]>();
let roots: readonly X509Certificate[] = [];

const certificatesOf = (pem: Buffer): readonly X509Certificate[] =>
  readCertificates(pem, { source: path }).map(({ der }) => new X509Certificate(der));
const viewOf = ({ serialNumber, validTo }: X509Certificate) => ({
  serialNumber: BigInt(`0x${serialNumber}`).toString(),
  expirationTime: new Date(validTo).toISOString(),
});

createServer((_request, response) => {
  const certificates = identities.map((identity) => {
    const chain = chains.get(identity) ?? [];
    const isValid = chain[0] !== undefined && Date.parse(chain[0].validTo) > systemClock.now();
    if (!isValid) return { identity, state: 'Unavailable: not served' };
    return { identity, state: 'Available', certChain: chain.map(viewOf), rootCerts: roots.map(viewOf) };
  });
  response.end(JSON.stringify({ certificates }));
}).listen(15_000, '127.0.0.1');

await createSdsClient({ path, clock: systemClock }).watch(
  [...identities, 'ROOTCA'],
  ({ secret }) => {
    if (secret?.kind === 'certificate') chains.set(secret.name, certificatesOf(secret.chainPem));
    if (secret?.kind === 'roots') roots = certificatesOf(secret.rootsPem);
  },
  { signal: new AbortController().signal },
);
