// The audit log: one JSON line for each decision, on its way to disk before the caller is answered. Written by the service and by the
// signers of request objects.
// Promises: lines of calls that end together are one write; a line is whole or not there; what a caller sent is cut and escaped; no
// token and no key is ever in one.

import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import type { AuthMode } from '../kube/token-authenticator.js';
import type { AuthorityMetrics } from '../metrics.js';
import { SignetError, explainError, reasonOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import type { ClusterPod } from './cluster-pod.js';
import type { Caller, Rule } from './node-authorizer.js';

/** How the caller was known: as `AuthMode` says, or the API server wrote the caller into a request object. */
export type CallerMode = AuthMode | 'request-object';

/** What is certified. */
export interface IssuedFacts {
  /** Lower-case hex. */
  readonly serial: string;
  /** Subject key identifier of the issuer, hex. */
  readonly issuerKeyId: string;
  /** RFC 3339. */
  readonly notAfter: string;
}

/** One line. Absent: not known when it was decided. */
export interface AuditRecord {
  /** RFC 3339. */
  readonly at: string;
  /** For a request object its UID. */
  readonly requestId: string;
  /** Where the call came from; for a request object its path at the API server. */
  readonly peer: string;
  readonly cluster?: string;
  readonly authMode?: CallerMode;
  readonly caller?: Caller;
  /** The id of the token: `JTI=<uuid>`. */
  readonly credentialId?: string;
  /** What was asked for, as it was sent; the identity itself where that is the caller's own. */
  readonly identity?: string;
  readonly decision: 'grant' | 'refuse';
  /** Why: the rule of a grant, the reason of a refusal. */
  readonly reason: Rule | ReasonCode | 'internal';
  readonly detail?: string;
  readonly callerPod?: ClusterPod;
  /** The live pod that makes a grant right. */
  readonly through?: ClusterPod;
  readonly spkiSha256?: string;
  readonly issued?: IssuedFacts;
  /** In place of `issued`: the signer that is to sign what is approved here. */
  readonly approvedFor?: string;
}

/** What is known of a request so far; becomes its audit line. */
export type AuditDraft = { -readonly [Name in keyof AuditRecord]?: AuditRecord[Name] };

/** Of what a caller sent, in an audit line. */
export const maxAuditText = 1_024;

export interface AuditLog {
  /** Resolves when the line is written. Rejects, with `audit.onFailure: refuse`, when it is not. */
  write(record: AuditRecord): Promise<void>;
  close(): Promise<void>;
}

/** Takes whole lines. */
export interface LineSink {
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

export interface AuditOptions {
  readonly sink: LineSink;
  readonly onFailure: 'refuse' | 'continue';
  readonly log: Logger;
  readonly metrics: Pick<AuthorityMetrics, 'auditFailures'>;
}

export function createAuditLog({ sink, onFailure, log, metrics }: AuditOptions): AuditLog {
  const lines = createGroupCommit(sink);
  let failing = false;
  return {
    async write(record) {
      try {
        await lines.append(`${JSON.stringify(record)}\n`);
        failing = false;
      } catch (error) {
        metrics.auditFailures.inc();
        if (!failing) log.error('the audit log cannot be written', { onFailure, ...errorFields(error) });
        failing = true;
        if (onFailure === 'refuse') {
          throw new SignetError('unavailable', 'the decision cannot be recorded', { cause: error, reason: 'audit-failed' });
        }
      }
    },
    close: lines.close,
  };
}

/** Writes the line of a decision and counts it: a grant, with what was issued, or the error that refuses. */
export async function recordDecision(
  { audit, metrics }: { readonly audit: AuditLog; readonly metrics: Pick<AuthorityMetrics, 'decisions'> },
  draft: AuditDraft,
  outcome: Pick<AuditRecord, 'issued' | 'approvedFor'> | SignetError,
): Promise<void> {
  const decided =
    outcome instanceof SignetError
      ? { decision: 'refuse', reason: reasonOf(outcome) ?? 'internal', detail: explainError(outcome).slice(0, maxAuditText) }
      : { decision: 'grant', ...outcome };
  const record = { ...draft, ...decided } as AuditRecord;
  metrics.decisions.inc({ decision: record.decision, reason: record.reason });
  await audit.write(record);
}

/** Lines that come while a write is under way wait for it and are the next one together. */
function createGroupCommit(sink: LineSink): LineSink {
  let waiting: { lines: string; readonly written: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    append(line) {
      if (waiting !== undefined) {
        waiting.lines += line;
        return waiting.written;
      }
      const batch = {
        lines: line,
        written: last.then(async () => {
          waiting = undefined;
          await sink.append(batch.lines);
        }),
      };
      waiting = batch;
      // Whoever wrote a line hears of the fault; the next write is tried all the same.
      last = batch.written.catch(() => undefined);
      return batch.written;
    },
    async close() {
      await last;
      await sink.close();
    },
  };
}

/** A file that is moved away, or removed, is noticed this long after. */
const checkMs = 1_000;

/** Appends to the file, mode 0600, and makes it anew where another program has moved it away. Throws when it cannot be opened. */
export async function openAuditFile(path: string, clock: Clock): Promise<LineSink> {
  let file = await openToAppend(path);
  let checkedAt = clock.monotonic();
  const follow = async (): Promise<void> => {
    if (clock.monotonic() - checkedAt < checkMs) return;
    checkedAt = clock.monotonic();
    const [ours, there] = [await file.stat(), await stat(path).catch(() => undefined)];
    if (there?.ino === ours.ino && there.dev === ours.dev) return;
    const next = await openToAppend(path);
    await file.close();
    file = next;
  };
  return {
    async append(lines) {
      await follow();
      await file.appendFile(lines);
    },
    close: async () => await file.close(),
  };
}

async function openToAppend(path: string): Promise<FileHandle> {
  return await open(path, 'a', 0o600).catch((error: unknown) => {
    throw new SignetError('unavailable', 'open the audit file', { cause: error, reason: 'audit-failed', fields: { path } });
  });
}

/** Standard output, which the command owns. */
export function createAuditOutput(write: (text: string) => void): LineSink {
  return {
    append: async (lines) => write(lines),
    close: async () => {},
  };
}
