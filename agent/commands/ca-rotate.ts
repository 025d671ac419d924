// `signet ca rotate`: begins a rotation of the issuer in its Secret, says where it stands and when it goes on, or has a step of it
// taken without its wait, after it has named whom that breaks. The replica with the Lease does what is asked for.

import { Command, Option } from 'commander';
import type { AuditRecord } from '../authority/audit.js';
import type { Grant } from '../authority/rotation-risk.js';
import { identitiesAtRisk } from '../authority/rotation-risk.js';
import type { RotationPhase } from '../authority/rotation-status.js';
import { rotationStatus } from '../authority/rotation-status.js';
import type { ForcedStep, RotationLag, RotationState } from '../authority/rotation.js';
import { overlapMs, retentionMs } from '../authority/rotation.js';
import type { RotationAccess } from '../authority/rotator.js';
import { readRotation, requestRotation } from '../authority/rotator.js';
import type { CaConfig } from '../config.js';
import { SignetError } from '../runtime/errors.js';
import { formatInstant, parseInstant, systemClock } from '../runtime/time.js';
import { readLog } from './ca-audit.js';
import { loadFromCaOptions, toJson, withKubeClient } from './ca-options.js';
import { formatDuration } from './format.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly status?: true;
  readonly force?: ForcedStep;
  readonly audit?: string;
  readonly yes?: true;
  readonly json?: true;
}

export function createRotateCommand(terminal: Terminal): Command {
  const command = new Command('rotate')
    .description('begin a rotation of the issuer, say where it stands, or force a step of it')
    .option('--status', 'say where it stands and when it goes on; nothing is done')
    .addOption(new Option('--force <step>', 'take this step without its wait: needs --audit').choices(['switch', 'retire']))
    .option('--audit <file>', 'the audit logs of all replicas in one file: the identities that a forced step would break are named')
    .option('--yes', 'force the step; without it those identities are named and nothing is done')
    .option('--json', 'print JSON');
  return addCaSettingOptions(command).action(async ({ status, force, audit, yes, json, ...settings }: Options) => {
    const { config } = loadFromCaOptions(settings);
    const secret = secretOf(config);
    if ((force === undefined) !== (audit === undefined)) throw usage('--force and --audit go together: the log tells whom the step breaks');
    if (yes === true && force === undefined) throw usage('--yes is for --force');
    if (status === true && force !== undefined) throw usage('--status changes nothing, --force does');
    const grants = audit === undefined ? undefined : await readGrants(audit);
    const outcome = await withKubeClient(config, terminal.signal, (client) =>
      rotate(
        { ...secret, client, clock: systemClock },
        { isQuestion: status === true, force, grants, sure: yes === true, lag: config.rotation },
        terminal.signal,
      ),
    );
    terminal.out(json === true ? toJson(outcome) : formatOutcome(outcome));
  });
}

function usage(message: string): SignetError {
  return new SignetError('invalid', message);
}

function secretOf({ issuer }: CaConfig) {
  if (issuer !== undefined && 'secret' in issuer) return issuer.secret;
  throw usage('the configuration names no issuer.secret: only an issuer in a Secret is rotated');
}

interface Wanted {
  /** Only where it stands. */
  readonly isQuestion: boolean;
  readonly force: ForcedStep | undefined;
  readonly grants: Grants | undefined;
  /** Whether a forced step is to be taken. */
  readonly sure: boolean;
  readonly lag: RotationLag;
}

/** What was asked for, on which state. */
export interface RotateOutcome {
  readonly asked: boolean;
  readonly force?: ForcedStep;
  /** What the forced step breaks. */
  readonly atRisk?: readonly string[];
  /** Lines of the audit log that are none. */
  readonly unreadLines?: number;
  readonly before: ShownState;
}

/** Issuers and roots by their subject key identifiers, hex; instants of RFC 3339. */
export interface ShownState {
  readonly phase: RotationPhase;
  readonly issuer: string;
  readonly notAfter: string;
  /** When a rotation begins by itself; only while there is none. */
  readonly beginsAt?: string;
  readonly next?: { readonly issuer: string; readonly publishedAt?: string; readonly signsAt?: string };
  readonly former: readonly { readonly root: string; readonly until: string }[];
  /** From the moment that the next root is everywhere until the next issuer signs, and from then until the former root goes. */
  readonly waits: { readonly switchMs: number; readonly retireMs: number };
  readonly requested: boolean;
  /** A step that was asked for and is not taken yet. */
  readonly force?: ForcedStep;
}

async function rotate(access: RotationAccess, wanted: Wanted, signal: AbortSignal): Promise<RotateOutcome> {
  const { isQuestion, force, grants, sure, lag } = wanted;
  if (isQuestion) return { asked: false, before: shown(await readRotation(access, signal), lag) };
  if (force === undefined || grants === undefined) {
    return { asked: true, before: shown(await requestRotation(access, { begin: true }, signal), lag) };
  }
  // A key that was stolen is replaced at once: switch begins what it ends.
  const begin = force === 'switch';
  const state = sure ? await requestRotation(access, { begin, force }, signal) : await readRotation(access, signal);
  const atRisk = identitiesAtRisk(state, force, grants.list, systemClock.now());
  return { asked: sure, force, atRisk, unreadLines: grants.unread, before: shown(state, lag) };
}

function shown(state: RotationState, lag: RotationLag): ShownState {
  const { issuer, next, former, requested, force } = state;
  const { phase, nextAt } = rotationStatus(state, lag);
  const at = nextAt === undefined ? undefined : formatInstant(nextAt);
  return {
    phase,
    issuer: issuer.certificate.subjectKeyId ?? '',
    notAfter: formatInstant(issuer.certificate.notAfter),
    ...(phase === 'steady' && at !== undefined ? { beginsAt: at } : {}),
    ...(next === undefined
      ? {}
      : {
          next: {
            issuer: next.certificate.subjectKeyId ?? '',
            ...(next.publishedAt === undefined ? {} : { publishedAt: formatInstant(next.publishedAt) }),
            ...(phase === 'waiting' && at !== undefined ? { signsAt: at } : {}),
          },
        }),
    former: former.map(({ certificate, until }) => ({ root: certificate.subjectKeyId ?? '', until: formatInstant(until) })),
    waits: { switchMs: overlapMs(state, lag), retireMs: retentionMs(state, lag) },
    requested,
    ...(force === undefined ? {} : { force }),
  };
}

/** For people. */
export function formatOutcome({ asked, force, atRisk = [], unreadLines = 0, before }: RotateOutcome): string {
  const begins = asked && force === undefined && before.phase !== 'requested' && before.next === undefined;
  const forced = [
    ...(unreadLines === 0 ? [] : [`${unreadLines} lines of the audit log are none and do not count.`]),
    atRisk.length === 0 ? `The step ${force} breaks no certificate of the log.` : `The step ${force} breaks ${atRisk.length} identities:`,
    ...atRisk.map((identity) => `  ${identity}`),
    asked ? `The step ${force} was asked for.` : 'Nothing was done; --yes does it.',
  ];
  return [
    `The issuer is ${before.issuer}, until ${before.notAfter}.`,
    ...before.former.map(({ root, until }) => `The root ${root} is published until ${until}.`),
    ...(begins ? ['A rotation begins.', waitsOf(before)] : formatRotation(before)),
    ...(force === undefined ? [] : forced),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function formatRotation(state: ShownState): readonly string[] {
  const { phase, beginsAt, next, force } = state;
  const pending = force === undefined ? [] : [`The step ${force} was asked for before.`];
  if (phase === 'requested') return ['A rotation was asked for before.', waitsOf(state), ...pending];
  if (next === undefined) {
    const none = beginsAt === undefined ? [] : [`The next rotation begins by itself on ${beginsAt}.`];
    return [...none, ...pending];
  }
  const { issuer, publishedAt, signsAt } = next;
  const published = publishedAt === undefined ? 'its root is not everywhere yet' : `its root is everywhere since ${publishedAt}`;
  const signs = signsAt === undefined ? waitsOf(state) : `It signs from ${signsAt} on; the former root goes ${retireWait(state)} later.`;
  return [`Next signs ${issuer}; ${published}.`, signs, ...pending];
}

function waitsOf(state: ShownState): string {
  return `The next issuer signs ${formatDuration(state.waits.switchMs)} after its root is everywhere; the former root goes ${retireWait(state)} later.`;
}

const retireWait = ({ waits }: ShownState): string => formatDuration(waits.retireMs);

interface Grants {
  readonly list: readonly Grant[];
  readonly unread: number;
}

async function readGrants(path: string): Promise<Grants> {
  const list: Grant[] = [];
  const { faults: unread } = await readLog(path, (line) => {
    const record = parse(line);
    if (record?.decision !== 'grant') return record !== undefined;
    const { identity, issued, at } = record;
    const [issuedAt, notAfter] = [parseInstant(at ?? ''), parseInstant(issued?.notAfter ?? '')];
    if (identity === undefined || issued === undefined || issuedAt === undefined || notAfter === undefined) return false;
    list.push({ identity, at: issuedAt, notAfter, issuerKeyId: issued.issuerKeyId });
    return true;
  });
  return { list, unread };
}

function parse(line: string): Partial<AuditRecord> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Partial<AuditRecord>) : undefined;
  } catch {
    return undefined;
  }
}
