// Tokens of service accounts that are bound to a pod (TokenRequest, authentication.k8s.io/v1). Used by CA clients that speak
// for a workload: as the node, the API server gives only tokens for pods that run on it.

import { SignetError, explainError, reasonOf } from '../runtime/errors.js';
import type { Reason, ReasonCode } from '../runtime/reasons.js';
import { parseInstant } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { KubeClient } from './client.js';
import { detailOf, invalidAnswer, statusOf } from './status.js';

export interface TokenOptions {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: { readonly name: string; readonly uid: string };
  /** Default: that of the API server. */
  readonly audience?: string;
  /** Asked for, at least 600 s; the server may give less or more. */
  readonly lifetimeSeconds: number;
}

export interface IssuedToken {
  readonly token: string;
  /** Wall clock, in ms. */
  readonly expiresAt: number;
}

/** Throws a SignetError whose reason says what the API server refused. */
export type CreateToken = (options: TokenOptions, signal: AbortSignal) => Promise<IssuedToken>;

const minLifetimeSeconds = 600;
const maxAnswerBytes = 1024 * 1024;

export function createTokenRequester(client: KubeClient): CreateToken {
  return async ({ namespace, serviceAccount, pod, audience, lifetimeSeconds }, signal) => {
    const answer = await client
      .request(
        {
          method: 'POST',
          path: `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
          body: {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              ...(audience === undefined ? {} : { audiences: [audience] }),
              expirationSeconds: Math.max(minLifetimeSeconds, Math.ceil(lifetimeSeconds)),
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid },
            },
          },
          maxBytes: maxAnswerBytes,
        },
        signal,
      )
      .catch((error: unknown) => {
        throw explained(error, audience);
      });
    return readToken(answer);
  };
}

/** The same, and beside it why the last one was not given. */
export function followRefusals(createToken: CreateToken): {
  readonly createToken: CreateToken;
  readonly refusal: Watched<Reason | undefined>;
} {
  const refusal = new WatchedValue<Reason | undefined>(undefined);
  return {
    refusal,
    async createToken(options, signal) {
      try {
        const token = await createToken(options, signal);
        refusal.set(undefined);
        return token;
      } catch (error) {
        const code = reasonOf(error);
        if (code !== undefined) refusal.set({ code, detail: explainError(error) });
        throw error;
      }
    },
  };
}

// The words differ between 1.35, 1.36 and 1.37; these parts of them have not.
const audienceWords = /not authorized to request tokens for/;
const podWords = /no relationship found between node|scheduled on a different node|does not match the UID|not found/;

function explained(error: unknown, audience: string | undefined): unknown {
  const status = statusOf(error);
  if (!(error instanceof SignetError) || status === undefined) return error;
  const detail = detailOf(error);
  const reason: ReasonCode | undefined =
    status === 403 && audienceWords.test(detail)
      ? 'token-audience-denied'
      : status === 404 || status === 409 || (status === 403 && podWords.test(detail))
        ? 'token-pod-denied'
        : undefined;
  if (reason === undefined) return error;
  return new SignetError(error.kind, 'the api server gave no token of the workload', { cause: error, reason, fields: { audience } });
}

function readToken(answer: unknown): IssuedToken {
  const { status } = (answer ?? {}) as { status?: { token?: unknown; expirationTimestamp?: unknown } };
  const expiresAt = parseInstant(String(status?.expirationTimestamp));
  if (typeof status?.token !== 'string' || expiresAt === undefined) throw invalidAnswer('kube', 'the answer holds no token');
  return { token: status.token, expiresAt };
}
