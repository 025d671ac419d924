// What one owner, and all owners together, may have open on the SDS socket. Asked before any work is done for a stream or a
// name; a refusal is `exhausted`, counted by the limit it met. An owner costs memory only while it has or had streams.

import type { Metrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { LineBound } from '../runtime/line-bound.js';
import { createLineBound } from '../runtime/line-bound.js';
import type { Clock } from '../runtime/time.js';
import type { TokenBucket } from '../runtime/token-bucket.js';
import { createTokenBucket } from '../runtime/token-bucket.js';

/** From the settings `sds.limits`, where the defaults stand. */
export interface SdsLimits {
  /** Open streams in all. */
  readonly streams: number;
  /** Open streams of one owner. */
  readonly streamsPerOwner: number;
  /** Names on one stream. */
  readonly namesPerStream: number;
  /** Names on all streams of one owner. */
  readonly namesPerOwner: number;
  /** Streams that one owner may open at once. */
  readonly openBurst: number;
  /** Streams per second that one owner may open when the burst is used up. */
  readonly openRate: number;
  /** Bytes of one request. */
  readonly messageBytes: number;
  /** How long a client may leave a response unread before its stream ends. */
  readonly stalledWriteMs: number;
}

export type SdsLimit =
  'streams' | 'streams-per-owner' | 'names-per-stream' | 'names-per-owner' | 'opens-per-owner' | 'message' | 'stalled-write';

/** Log lines at once of one owner. */
const lineBurst = 20;
/** Owners without streams are looked through when this many are known, and forgotten once they may do everything again. */
const ownersKept = 1024;

/** What one owner uses. */
export interface Account {
  readonly owner: string;
  streams: number;
  names: number;
  readonly opens: TokenBucket;
  /** Log lines that it causes by what it sends. */
  readonly lines: LineBound;
}

export interface Admission {
  /** The account of an owner, which may be over its limits. */
  account(owner: string): Account;
  /** Counts a stream in, or throws `exhausted`. */
  open(account: Account): void;
  close(account: Account): void;
  /** Counts names in, or throws `exhausted`. */
  addNames(account: Account, count: number): void;
  removeNames(account: Account, count: number): void;
  /** The error for a limit that was met, counted. */
  refuse(limit: SdsLimit): SignetError;
}

export function createAdmission(limits: SdsLimits, clock: Clock, metrics: Metrics): Admission {
  const accounts = new Map<string, Account>();
  let streams = 0;

  const forgetIdle = (): void => {
    for (const [owner, account] of accounts) if (account.streams === 0 && account.opens.isFull) accounts.delete(owner);
  };
  const accountOf = (owner: string): Account => {
    const known = accounts.get(owner);
    if (known !== undefined) return known;
    if (accounts.size >= ownersKept) forgetIdle();
    const account: Account = {
      owner,
      streams: 0,
      names: 0,
      opens: createTokenBucket(clock, limits.openBurst, limits.openRate),
      lines: createLineBound(clock, lineBurst),
    };
    accounts.set(owner, account);
    return account;
  };
  const refuse = (limit: SdsLimit): SignetError => {
    metrics.limits.inc({ limit });
    return new SignetError('exhausted', `limit reached: ${limit}`, { reason: 'peer-limit' });
  };

  return {
    refuse,
    account: accountOf,
    open(account) {
      if (!account.opens.take()) throw refuse('opens-per-owner');
      if (account.streams >= limits.streamsPerOwner) throw refuse('streams-per-owner');
      if (streams >= limits.streams) throw refuse('streams');
      streams += 1;
      account.streams += 1;
    },
    close(account) {
      streams -= 1;
      account.streams -= 1;
    },
    addNames(account, count) {
      if (account.names + count > limits.namesPerOwner) throw refuse('names-per-owner');
      account.names += count;
    },
    removeNames(account, count) {
      account.names -= count;
    },
  };
}
