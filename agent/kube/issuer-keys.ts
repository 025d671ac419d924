// The keys by which the API server signs service account tokens (its OpenID discovery), kept so that tokens can be told apart while it
// is away. Used by `signet ca` and the local CA with whenApiServerAway: jwks. What this cannot know is whether a token was revoked
// meanwhile. Promise: keys count for a bounded time after they were read.

import type { KeyObject } from 'node:crypto';
import { createPublicKey, verify } from 'node:crypto';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import { sleep } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { readJwtPart } from './jwt.js';
import type { TokenHolder } from './token-review.js';
import { refuseToken } from './token-review.js';

export interface IssuerKeys {
  /**
   * Throws `unauthenticated` for a token that no kept key has signed or whose claims are not right, `unavailable` without keys and
   * with such as were read more than `maxAwayMs` ago.
   */
  verify(token: string): TokenHolder;
  /** Reads the keys every few minutes. */
  run(signal: AbortSignal): Promise<void>;
}

export interface IssuerKeysOptions {
  readonly client: KubeClient;
  /** A token must be for one of these. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** For how long the API server may be away until nothing that was read from it counts any more. */
export const maxAwayMs = 900_000;
const refreshMs = 300_000;
const retryMs = 30_000;
const maxAnswerBytes = 256 * 1024;

interface Keys {
  /** Monotonic; when they were asked for. */
  readonly readAt: number;
  readonly issuer: string;
  /** By `kid`. */
  readonly byId: ReadonlyMap<string, KeyObject>;
}

export function createIssuerKeys({ client, audiences, clock, log }: IssuerKeysOptions): IssuerKeys {
  let keys: Keys | undefined;
  const read = async (signal: AbortSignal): Promise<Keys> => {
    const readAt = clock.monotonic();
    const about = await client.request({ path: '/.well-known/openid-configuration', maxBytes: maxAnswerBytes }, signal);
    // RFC 7517 §8.5; the server knows it by no other type.
    const set = await client.request({ path: '/openid/v1/jwks', accept: 'application/jwk-set+json', maxBytes: maxAnswerBytes }, signal);
    return { readAt, issuer: String((about as { issuer?: unknown } | null)?.issuer), byId: importKeys(set) };
  };
  return {
    verify(token) {
      if (keys === undefined) throw new SignetError('unavailable', 'no keys of tokens are known', { reason: 'kube-unavailable' });
      if (clock.monotonic() - keys.readAt > maxAwayMs) {
        throw new SignetError('unavailable', 'the keys of tokens were read too long ago', { reason: 'kube-unavailable' });
      }
      return holderOf(verified(token, keys), keys.issuer, audiences, clock.now());
    },
    async run(signal) {
      let failing = false;
      while (!signal.aborted) {
        try {
          keys = await read(signal);
          failing = false;
        } catch (error) {
          if (signal.aborted) return;
          if (!failing) log.warn('the keys of service account tokens cannot be read, keeping what was read', errorFields(error));
          failing = true;
        }
        // Rejects only when the signal aborts, which ends the loop.
        await sleep(clock, failing ? retryMs : refreshMs, signal).catch(() => undefined);
      }
    },
  };
}

/** RFC 7517 §5; what OpenSSL cannot read is left out. */
function importKeys(set: unknown): ReadonlyMap<string, KeyObject> {
  const list = (set as { keys?: unknown } | null)?.keys;
  const keys = new Map<string, KeyObject>();
  for (const key of Array.isArray(list) ? (list as { readonly kid?: unknown }[]) : []) {
    try {
      if (typeof key.kid === 'string') keys.set(key.kid, createPublicKey({ key, format: 'jwk' }));
    } catch {
      // A key of a type that is not known here signs nothing that could be checked here.
    }
  }
  return keys;
}

/** RFC 7518 §3.1, as far as API servers use it. */
const algorithms: Readonly<Record<string, readonly [keyType: string, digest: string]>> = {
  RS256: ['rsa', 'sha256'],
  RS384: ['rsa', 'sha384'],
  RS512: ['rsa', 'sha512'],
  ES256: ['ec', 'sha256'],
  ES384: ['ec', 'sha384'],
  ES512: ['ec', 'sha512'],
};

/** The claims of a token whose signature is right (RFC 7515 §5.2). */
function verified(token: string, { byId }: Keys): Readonly<Record<string, unknown>> {
  const [head = '', payload = '', signature = '', ...rest] = token.split('.');
  const { alg, kid } = parsePart(head);
  const [keyType, digest] = algorithms[String(alg)] ?? [];
  const key = typeof kid === 'string' ? byId.get(kid) : undefined;
  // The algorithm is that of the key, whatever the token says.
  if (rest.length > 0 || key === undefined || key.asymmetricKeyType !== keyType)
    throw refuseToken('token-refused', { detail: 'no key fits' });
  const input = Buffer.from(`${head}.${payload}`);
  if (!verify(digest, input, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))) {
    throw refuseToken('token-refused', { detail: 'signature' });
  }
  return parsePart(payload);
}

function parsePart(part: string): Readonly<Record<string, unknown>> {
  const content = readJwtPart(part);
  if (content === undefined) throw refuseToken('token-malformed');
  return content;
}

/** `kubernetes.io` among the claims. */
interface KubernetesClaims {
  readonly namespace?: unknown;
  readonly serviceaccount?: { readonly name?: unknown };
  readonly pod?: { readonly name?: unknown; readonly uid?: unknown };
  readonly node?: { readonly name?: unknown; readonly uid?: unknown };
}

function holderOf(claims: Readonly<Record<string, unknown>>, issuer: string, audiences: readonly string[], now: number): TokenHolder {
  const { iss, aud, exp, nbf, sub, jti } = claims;
  const seconds = now / 1_000;
  if (iss !== issuer) throw refuseToken('token-refused', { detail: 'issuer' });
  if (typeof exp !== 'number' || exp <= seconds) throw refuseToken('token-expired');
  if (typeof nbf === 'number' && nbf > seconds + 60) throw refuseToken('token-refused', { detail: 'not valid yet' });
  const named = [aud].flat();
  if (!audiences.some((audience) => named.includes(audience))) throw refuseToken('token-audience');
  const about = (claims['kubernetes.io'] ?? {}) as KubernetesClaims;
  const [namespace, serviceAccount] = [about.namespace, about.serviceaccount?.name];
  if (
    typeof namespace !== 'string' ||
    typeof serviceAccount !== 'string' ||
    sub !== `system:serviceaccount:${namespace}:${serviceAccount}`
  ) {
    throw refuseToken('caller-no-account');
  }
  const bound = (object: { readonly name?: unknown; readonly uid?: unknown } | undefined) =>
    typeof object?.name === 'string' ? { name: object.name, uid: typeof object.uid === 'string' ? object.uid : '' } : undefined;
  return {
    namespace,
    serviceAccount,
    pod: bound(about.pod),
    node: bound(about.node),
    credentialId: typeof jti === 'string' ? `JTI=${jti}` : '',
  };
}
