// Issuers on disk for `signet dev`: a root and an intermediate, published as Kubernetes publishes a Secret, all files in one
// step through a `..data` link.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../agent/runtime/time.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import type { TestCertificate } from '../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, dayMs, hourMs, keyPem, pemOf } from '../fixtures/pki.js';
import type { TlsOptions } from '../fixtures/traffic.js';

export interface Authority {
  readonly root: TestCertificate;
  readonly intermediate: TestCertificate;
}

const validity = (): { notBefore: number; notAfter: number } => ({
  notBefore: systemClock.now() - hourMs,
  notAfter: systemClock.now() + dayMs,
});

/** A root and an intermediate of the given name, valid now. */
export function createAuthority(name: string): Authority {
  const root = createRoot({ subject: name, ...validity() });
  return { root, intermediate: createIntermediate(root, { subject: `${name} issuer`, ...validity() }) };
}

/** A client with a certificate of this authority for the SPIFFE ID, valid now. */
export function leafOf({ intermediate }: Authority, id: string): TlsOptions {
  const leaf = createLeaf(intermediate, id, validity());
  return { certificate: pemOf(leaf, intermediate).toString(), privateKey: keyPem(leaf).toString() };
}

export interface IssuerDirectory {
  /** The value of `upstreams`. */
  readonly upstreams: readonly JsonObject[];
  publish(authority: Authority): void;
}

export function createIssuerDirectory(directory: string, first: Authority): IssuerDirectory {
  const files = { certificate: join(directory, 'tls.crt'), privateKey: join(directory, 'tls.key'), roots: join(directory, 'ca.crt') };
  let version = 0;
  const publish = ({ root, intermediate }: Authority): void => {
    version += 1;
    const fresh = join(directory, `..${version}`);
    mkdirSync(fresh);
    writeFileSync(join(fresh, 'tls.crt'), intermediate.pem);
    writeFileSync(join(fresh, 'tls.key'), keyPem(intermediate), { mode: 0o600 });
    writeFileSync(join(fresh, 'ca.crt'), root.pem);
    symlinkSync(`..${version}`, join(directory, '..next'));
    renameSync(join(directory, '..next'), join(directory, '..data'));
  };
  mkdirSync(directory);
  publish(first);
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) symlinkSync(join('..data', name), join(directory, name));
  return { upstreams: [{ kind: 'built-in', issuer: files }], publish };
}
