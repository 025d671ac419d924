// Who a service account token speaks for, as the API server says (TokenReview, authentication.k8s.io/v1). Used by those who are
// called with such tokens. Promises: audiences are checked at both ends; a good answer counts for ten seconds at most, never past
// the token's end, and not after its pod is gone; a token is kept as its hash alone; the API server being away is no refusal.

import { createHash } from 'node:crypto';
import type { AuthorityMetrics } from '../metrics.js';
import { SignetError, kindOf } from '../runtime/errors.js';
import type { Fields } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { formatInstant } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { readJwtClaims } from './jwt.js';
import { createRefusedTokens } from './refused-tokens.js';
import { invalidAnswer } from './status.js';

/** A pod or node that a token is bound to. */
export interface BoundObject {
  readonly name: string;
  readonly uid: string;
}

/** The service account that holds a token, and what the token is bound to. */
export interface TokenHolder {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: BoundObject | undefined;
  /** Of that pod. Its UID is '' where the API server does not tell it (before 1.30 neither). */
  readonly node: BoundObject | undefined;
  /** The id of the token, `JTI=<uuid>`; '' where the API server does not tell it. */
  readonly credentialId: string;
}

export interface TokenReviewer {
  /** Throws `unauthenticated` with a reason for a token that is refused; any other kind means that nobody could tell. */
  review(token: string): Promise<TokenHolder>;
  /** Nothing that is kept counts any more for tokens bound to this pod. */
  forgetPod(uid: string): void;
}

export interface TokenReviewOptions {
  readonly client: KubeClient;
  /** A token must be for one of these. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly metrics: Pick<AuthorityMetrics, 'tokenReviews'>;
}

const maxAgeMs = 10_000;
const maxKept = 20_000;
const deadlineMs = 5_000;
const maxAnswerBytes = 256 * 1024;

/** Larger tokens are none of Kubernetes: theirs have about 1 KiB. */
const maxTokenLength = 16 * 1024;

interface Kept {
  readonly holder: TokenHolder;
  /** Monotonic. */
  readonly until: number;
  /** `exp`, wall clock. */
  readonly expiresAt: number;
}

export function createTokenReviewer({ client, audiences, clock, metrics }: TokenReviewOptions): TokenReviewer {
  /** In the order in which they were put in, which is that of their ends. */
  const kept = new Map<string, Kept>();
  const ofPod = new Map<string, Set<string>>();
  const refused = createRefusedTokens(clock);
  const asked = new Map<string, Promise<TokenHolder>>();

  const drop = (key: string, { holder }: Kept): void => {
    kept.delete(key);
    const uid = holder.pod?.uid ?? '';
    const keys = ofPod.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) ofPod.delete(uid);
  };
  const dropOld = (): void => {
    const now = clock.monotonic();
    for (const [key, entry] of kept) {
      if (entry.until > now && kept.size < maxKept) break;
      drop(key, entry);
    }
  };
  const keep = (key: string, holder: TokenHolder, expiresAt: number): void => {
    dropOld();
    kept.set(key, { holder, until: clock.monotonic() + maxAgeMs, expiresAt });
    const uid = holder.pod?.uid ?? '';
    ofPod.set(uid, (ofPod.get(uid) ?? new Set()).add(key));
  };
  const ask = async (key: string, token: string, { notBefore, expiresAt }: Validity): Promise<TokenHolder> => {
    try {
      const holder = await askServer(client, token, audiences);
      metrics.tokenReviews.inc({ way: 'asked', result: 'ok' });
      refused.delete(key);
      keep(key, holder, expiresAt);
      return holder;
    } catch (error) {
      if (error instanceof SignetError && error.kind === 'unauthenticated') refused.add(key, error, notBefore);
      metrics.tokenReviews.inc({ way: 'asked', result: kindOf(error) });
      throw error;
    } finally {
      asked.delete(key);
    }
  };

  return {
    async review(token) {
      const key = createHash('sha256').update(token).digest('base64');
      const known = kept.get(key);
      if (known !== undefined && known.until > clock.monotonic() && known.expiresAt > clock.now()) {
        metrics.tokenReviews.inc({ way: 'cached', result: 'ok' });
        return known.holder;
      }
      const validity = preCheck(token, audiences, clock.now());
      const refusal = refused.get(key);
      if (refusal !== undefined) {
        metrics.tokenReviews.inc({ way: 'cached', result: refusal.kind });
        throw refusal;
      }
      const pending = asked.get(key) ?? ask(key, token, validity);
      asked.set(key, pending);
      return await pending;
    },
    forgetPod(uid) {
      for (const key of ofPod.get(uid) ?? []) kept.delete(key);
      ofPod.delete(uid);
    },
  };
}

/** What is said of a token that does not count, whoever found that out. */
export function refuseToken(reason: ReasonCode, fields: Fields = {}): SignetError {
  return new SignetError('unauthenticated', 'the token is not accepted', { reason, fields });
}

/** ms since the epoch, as a token says of itself. */
interface Validity {
  readonly notBefore: number;
  readonly expiresAt: number;
}

/** What a token says of itself is believed only where it speaks against it: that spares the API server the call. */
function preCheck(token: string, audiences: readonly string[], now: number): Validity {
  const claims = token.length > maxTokenLength ? undefined : readJwtClaims(token);
  if (claims === undefined) throw refuseToken('token-malformed');
  const { aud, nbf, iat, exp } = claims;
  const named = [aud].flat();
  if (!audiences.some((audience) => named.includes(audience))) {
    throw refuseToken('token-audience', { audiences: named.slice(0, 8).map((audience) => String(audience).slice(0, 256)) });
  }
  if (typeof exp !== 'number') throw refuseToken('token-malformed');
  if (exp * 1_000 <= now) throw refuseToken('token-expired', { expiredAt: formatInstant(Math.max(0, Math.min(exp * 1_000, now))) });
  const notBefore = Math.max(0, ...[nbf, iat].filter((at) => typeof at === 'number'));
  return { notBefore: notBefore * 1_000, expiresAt: exp * 1_000 };
}

async function askServer(client: KubeClient, token: string, audiences: readonly string[]): Promise<TokenHolder> {
  const answer = await client
    .request(
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } },
        deadlineMs,
        maxBytes: maxAnswerBytes,
      },
      new AbortController().signal,
    )
    .catch((error: unknown) => {
      // A refusal of this call is about us, never about the token.
      const kind = kindOf(error) === 'deadline' ? 'deadline' : 'unavailable';
      throw new SignetError(kind, 'the token could not be reviewed', { cause: error });
    });
  return readReview(answer, audiences);
}

/** A user as the API server writes it: into a review, and into what the user creates. */
export interface UserInfo {
  readonly username?: unknown;
  readonly groups?: unknown;
  readonly extra?: unknown;
}

interface ReviewStatus {
  readonly authenticated?: unknown;
  readonly error?: unknown;
  readonly audiences?: unknown;
  readonly user?: UserInfo;
}

const extraPrefix = 'authentication.kubernetes.io/';

function readReview(answer: unknown, audiences: readonly string[]): TokenHolder {
  const status = (answer as { status?: ReviewStatus } | null)?.status;
  if (typeof status !== 'object' || status === null) throw invalidAnswer('kube', 'the answer is no token review');
  if (status.authenticated !== true || (status.error !== undefined && status.error !== '')) {
    throw refuseToken('token-refused', { detail: typeof status.error === 'string' ? status.error.slice(0, 300) : '' });
  }
  // A server that knows no audiences names none, and has not checked any.
  const confirmed = Array.isArray(status.audiences) ? status.audiences : [];
  if (!audiences.some((audience) => confirmed.includes(audience)))
    throw refuseToken('token-audience', { audiences: confirmed.map(String) });
  return readHolder(status.user ?? {});
}

/** The account that a user is. Throws `unauthenticated` for one that is none. */
export function readHolder({ username, groups, extra }: UserInfo): TokenHolder {
  const [prefix, kind, namespace, serviceAccount, ...rest] = String(username).split(':');
  const isAccount = prefix === 'system' && kind === 'serviceaccount' && rest.length === 0 && Boolean(namespace) && Boolean(serviceAccount);
  if (!isAccount || !Array.isArray(groups) || !groups.includes('system:serviceaccounts')) {
    throw refuseToken('caller-no-account', { username: String(username).slice(0, 300) });
  }
  const first = (name: string): string => {
    const values = (extra as Readonly<Record<string, unknown>> | undefined)?.[extraPrefix + name];
    return Array.isArray(values) && typeof values[0] === 'string' ? values[0] : '';
  };
  const bound = (object: 'pod' | 'node'): BoundObject | undefined => {
    const name = first(`${object}-name`);
    return name === '' ? undefined : { name, uid: first(`${object}-uid`) };
  };
  return {
    namespace: namespace ?? '',
    serviceAccount: serviceAccount ?? '',
    pod: bound('pod'),
    node: bound('node'),
    credentialId: first('credential-id'),
  };
}
