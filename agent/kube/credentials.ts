// How this process reaches an API server and who it is there: the files of a pod, or a kubeconfig.
// Used by kube/client.ts before each call. Promises: what stands in files is never older than ten seconds in memory, and read
// again at once after a refusal; a file that is missing or empty for a moment changes nothing; no call with an expired token.

import { readFile } from 'node:fs/promises';
import type { CommonMetrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { readJwtPart } from './jwt.js';

/** With what a connection is opened. Whoever is at the other end is always verified: by roots and name, or by its pinned key. */
export interface TlsMaterial {
  /** PEM. Default: the roots that Node brings. */
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the certificate must have. Default: the host of the server. */
  readonly serverName?: string;
  /** SHA-256 of the public key (SubjectPublicKeyInfo) of the server, hex. When given it alone decides. */
  readonly pin?: string;
}

/** Who we are for one call, and over which connection. */
export interface Access {
  readonly server: URL;
  readonly tls: TlsMaterial;
  /** Value of the Authorization header. */
  readonly authorization?: string;
}

export interface Credential {
  /** What to call with now. Throws `unauthenticated` or `invalid` when there is nothing to call with. */
  access(): Promise<Access>;
  /** The server refused this access (401): another one, or undefined when there is none. */
  accessAfter(refused: Access): Promise<Access | undefined>;
}

/** Whether a connection that one was opened for may be used for the other. */
export function sameConnection(one: Access, other: Access): boolean {
  const materialOf = ({ server, tls }: Access) => [server.host, tls.ca, tls.cert, tls.key, tls.serverName, tls.pin];
  const others = materialOf(other);
  return materialOf(one).every((part, index) => part === others[index] || String(part ?? '') === String(others[index] ?? ''));
}

/** Where Kubernetes mounts the account of a pod. */
const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The token of that account. */
export const accountTokenFile = `${accountDirectory}/token`;

/** What is in memory is at most this old when it is used. */
const maxAgeMs = 10_000;

export interface InClusterOptions {
  /** host:port, from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly server: URL;
  /** Default: where Kubernetes mounts them. */
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CommonMetrics;
}

/** The address of the API server as every pod is told it; undefined outside pods. */
export function inClusterServer(env: Readonly<Record<string, string | undefined>>): URL | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return undefined;
  return new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

interface Token {
  readonly text: string;
  /** `exp` of the token; Infinity when it has none or is no JWT. */
  readonly expiresAt: number;
}

/** Token and root of the account of our own pod. */
export function createInClusterCredential(options: InClusterOptions): Credential {
  const { server, clock, log, metrics, tokenFile = accountTokenFile, caFile = `${accountDirectory}/ca.crt` } = options;
  let readAt = -Infinity;
  let ca: string | undefined;
  let token: Token | undefined;
  let previous: Token | undefined;
  let missing = false;

  const read = async (): Promise<void> => {
    const [nextToken, nextCa] = await Promise.all([readText(tokenFile), readText(caFile)]);
    const lost = nextToken === '' || nextCa === '';
    if (lost && !missing) log.debug('a file of the service account is missing or empty, keeping what was read', { tokenFile, caFile });
    missing = lost;
    if (nextCa !== '') ca = nextCa;
    if (nextToken !== '' && nextToken !== token?.text) {
      previous = token;
      token = { text: nextToken, expiresAt: expiryOf(nextToken) };
    }
    readAt = clock.monotonic();
  };
  const accessWith = ({ text }: Token): Access => ({ server, tls: ca === undefined ? {} : { ca }, authorization: `Bearer ${text}` });

  return {
    async access() {
      if (clock.monotonic() - readAt >= maxAgeMs || token === undefined || isOver(token, clock)) await read();
      if (token === undefined)
        throw new SignetError('unauthenticated', 'there is no token', { reason: 'kube-token-missing', fields: { tokenFile } });
      if (ca === undefined)
        throw new SignetError('invalid', 'there is no root for the api server', { reason: 'kube-config-invalid', fields: { caFile } });
      const expired = isOver(token, clock);
      metrics.kubeTokenExpired.set(expired ? 1 : 0);
      if (expired)
        throw new SignetError('unauthenticated', 'the token is expired', { reason: 'kube-token-expired', fields: { tokenFile } });
      return accessWith(token);
    },
    async accessAfter(refused) {
      await read();
      // A new token may not be known to every API server yet, and the old one is good until its end.
      const usable = [token, previous].filter((each) => each !== undefined && !isOver(each, clock)) as Token[];
      const other = usable.find(({ text }) => `Bearer ${text}` !== refused.authorization);
      return other === undefined ? undefined : accessWith(other);
    },
  };
}

function isOver({ expiresAt }: Token, clock: Clock): boolean {
  return expiresAt <= clock.now();
}

/** The text of a small file without white space around it; '' when it cannot be read. */
async function readText(path: string): Promise<string> {
  return await readFile(path, 'utf8').then(
    (text) => text.trim(),
    // The caller keeps what it has, and says so.
    () => '',
  );
}

/** `exp` of a JWT (RFC 7519 §4.1.4) in ms; Infinity for what has none. */
export function expiryOf(token: string): number {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' ? exp * 1_000 : Infinity;
}

/** The claims of a JWT (RFC 7519 §4), none for what is no JWT: nobody but the server knows what that says. Not verified. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return readJwtPart(token.split('.')[1] ?? '') ?? {};
}
