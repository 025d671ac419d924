// How the kubelet of a node is reached with the credential that we have for the API server. Used by the kubelet pod source.
// Promises: the kubelet is always verified, by roots and name or by its key, before a token is sent to it.

import { readFile } from 'node:fs/promises';
import { SignetError } from '../runtime/errors.js';
import type { Access, Credential, TlsMaterial } from './credentials.js';

export interface KubeletOptions {
  /** Who we are; also whose roots count when no `ca` is given. */
  readonly credential: Credential;
  readonly server: URL;
  /** File with the roots of the kubelet's serving certificate, PEM. Default: those of the API server. */
  readonly ca?: string | undefined;
  /** The name that the certificate must have. Default: the host of the server. */
  readonly serverName?: string | undefined;
  /** SHA-256 of its public key, hex: alone decides. */
  readonly pin?: string | undefined;
}

export function createKubeletCredential({ credential, server, ca, serverName, pin }: KubeletOptions): Credential {
  const toKubelet = async ({ tls, authorization }: Access): Promise<Access> => {
    const roots = ca === undefined ? tls.ca : await readRoots(ca);
    const material: TlsMaterial = {
      ...(roots === undefined ? {} : { ca: roots }),
      ...(tls.cert === undefined ? {} : { cert: tls.cert }),
      ...(tls.key === undefined ? {} : { key: tls.key }),
      ...(serverName === undefined ? {} : { serverName }),
      ...(pin === undefined ? {} : { pin }),
    };
    return { server, tls: material, ...(authorization === undefined ? {} : { authorization }) };
  };
  return {
    access: async () => await toKubelet(await credential.access()),
    async accessAfter(refused) {
      const own = await credential.access();
      const other = await credential.accessAfter(own);
      if (other === undefined) return undefined;
      const next = await toKubelet(other);
      return next.authorization === refused.authorization && next.tls.cert === refused.tls.cert ? undefined : next;
    },
  };
}

async function readRoots(path: string): Promise<Buffer> {
  return await readFile(path).catch((error: unknown) => {
    throw new SignetError('unavailable', 'read the roots of the kubelet', { cause: error, reason: 'kubelet-tls', fields: { path } });
  });
}
