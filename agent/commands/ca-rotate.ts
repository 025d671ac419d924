// `signet ca rotate`: begins a rotation of the issuer in its Secret, or has a step of it taken without its wait, after it has named
// whom that breaks. The replica with the Lease does what is asked for.

import { Command, Option } from 'commander';
import type { AuditRecord } from '../authority/audit.js';
import type { Grant } from '../authority/rotation-risk.js';
import { identitiesAtRisk } from '../authority/rotation-risk.js';
import type { ForcedStep, RotationState } from '../authority/rotation.js';
import type { RotationAccess } from '../authority/rotator.js';
import { readRotation, requestRotation } from '../authority/rotator.js';
import type { CaConfig } from '../config.js';
import { SignetError } from '../runtime/errors.js';
import { formatInstant, parseInstant, systemClock } from '../runtime/time.js';
import { readLog } from './ca-audit.js';
import { loadFromCaOptions, toJson, withKubeClient } from './ca-options.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly force?: ForcedStep;
  readonly audit?: string;
  readonly yes?: true;
  readonly json?: true;
}

export function createRotateCommand(terminal: Terminal): Command {
  const command = new Command('rotate')
    .description('begin a rotation of the issuer, or force a step of it')
    .addOption(new Option('--force <step>', 'take this step without its wait: needs --audit').choices(['switch', 'retire']))
    .option('--audit <file>', 'the audit logs of all replicas in one file: the identities that a forced step would break are named')
    .option('--yes', 'force the step; without it those identities are named and nothing is done')
    .option('--json', 'print JSON');
  return addCaSettingOptions(command).action(async ({ force, audit, yes, json, ...settings }: Options) => {
    const { config } = loadFromCaOptions(settings);
    const secret = secretOf(config);
    if ((force === undefined) !== (audit === undefined)) throw usage('--force and --audit go together: the log tells whom the step breaks');
    if (yes === true && force === undefined) throw usage('--yes is for --force');
    const grants = audit === undefined ? undefined : await readGrants(audit);
    const outcome = await withKubeClient(config, (client) =>
      rotate({ ...secret, client, clock: systemClock }, { force, grants, sure: yes === true }, terminal.signal),
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
  readonly force: ForcedStep | undefined;
  readonly grants: Grants | undefined;
  /** Whether a forced step is to be taken. */
  readonly sure: boolean;
}

/** What was asked for, on which state. */
export interface RotateOutcome {
  readonly asked: boolean;
  readonly force?: ForcedStep;
  /** What the forced step breaks. */
  readonly atRisk?: readonly string[];
  /** Lines of the audit log that are none. */
  readonly unreadLines?: number;
  /** Subject key identifiers, hex; instants of RFC 3339. */
  readonly before: {
    readonly issuer: string;
    readonly next?: { readonly issuer: string; readonly publishedAt?: string };
    readonly former: readonly { readonly root: string; readonly until: string }[];
    readonly requested: boolean;
  };
}

async function rotate(access: RotationAccess, { force, grants, sure }: Wanted, signal: AbortSignal): Promise<RotateOutcome> {
  if (force === undefined || grants === undefined) {
    return { asked: true, before: shown(await requestRotation(access, { begin: true }, signal)) };
  }
  // A key that was stolen is replaced at once: switch begins what it ends.
  const begin = force === 'switch';
  const state = sure ? await requestRotation(access, { begin, force }, signal) : await readRotation(access, signal);
  const atRisk = identitiesAtRisk(state, force, grants.list, systemClock.now());
  return { asked: sure, force, atRisk, unreadLines: grants.unread, before: shown(state) };
}

function shown({ issuer, next, former, requested }: RotationState): RotateOutcome['before'] {
  return {
    issuer: issuer.certificate.subjectKeyId ?? '',
    ...(next === undefined
      ? {}
      : {
          next: {
            issuer: next.certificate.subjectKeyId ?? '',
            ...(next.publishedAt === undefined ? {} : { publishedAt: formatInstant(next.publishedAt) }),
          },
        }),
    former: former.map(({ certificate, until }) => ({ root: certificate.subjectKeyId ?? '', until: formatInstant(until) })),
    requested,
  };
}

/** For people. */
export function formatOutcome({ asked, force, atRisk = [], unreadLines = 0, before }: RotateOutcome): string {
  const { issuer, next, former, requested } = before;
  const published = next?.publishedAt === undefined ? 'its root is not everywhere yet' : `its root is everywhere since ${next.publishedAt}`;
  const rotation =
    next === undefined ? (requested ? ['A rotation was asked for before.'] : []) : [`Next signs ${next.issuer}; ${published}.`];
  const begun = next === undefined && !requested ? ['A rotation begins.'] : rotation;
  const forced = [
    ...(unreadLines === 0 ? [] : [`${unreadLines} lines of the audit log are none and do not count.`]),
    atRisk.length === 0 ? `The step ${force} breaks no certificate of the log.` : `The step ${force} breaks ${atRisk.length} identities:`,
    ...atRisk.map((identity) => `  ${identity}`),
    asked ? `The step ${force} was asked for.` : 'Nothing was done; --yes does it.',
  ];
  return [
    `The issuer is ${issuer}.`,
    ...former.map(({ root, until }) => `The root ${root} is published until ${until}.`),
    ...(force === undefined ? begun : [...rotation, ...forced]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

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
