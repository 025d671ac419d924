// `signet status`: what the agent knows, from its control socket, for people or as JSON.

import { Command } from 'commander';
import type { CheckStatus, IdentityStatus, LocalCaStatus, ReasonStatus, Status, StreamsStatus } from '../admin/client.js';
import { parseInstant, systemClock } from '../runtime/time.js';
import type { SocketOptions } from './command.js';
import { createRunningAdminClient } from './command.js';
import { formatDuration, formatTable } from './format.js';
import type { Terminal } from './terminal.js';

interface Options extends SocketOptions {
  readonly json?: true;
}

/** What is shown of a stream; the agent's answer holds more. */
interface StreamFacts {
  readonly protocol: string;
  readonly peer: Readonly<Record<string, unknown>>;
  readonly nodeId: string;
  readonly nameCount: number;
  readonly names: readonly { readonly name: string; readonly state: string }[];
}

export function createStatusCommand(terminal: Terminal): Command {
  return new Command('status')
    .description('identities with state, expiry and reason; streams; sources')
    .option('--json', 'print JSON')
    .option('--socket <path>', 'the control socket (default: that of the running agent)')
    .option('--config <file>', 'the configuration of the agent')
    .action(async ({ json, ...options }: Options) => {
      const client = createRunningAdminClient(options);
      const [status, streams] = [await client.status(terminal.signal), await client.streams(terminal.signal)];
      if (json === true) terminal.out(`${JSON.stringify({ ...status, streams }, undefined, 2)}\n`);
      else terminal.out(formatStatus(status, streams as StreamsStatus<StreamFacts>, systemClock.now()));
    });
}

/** The status for people; the state of the agent first, then what is wrong, then identities and streams. */
export function formatStatus(status: Status, streams: StreamsStatus<StreamFacts>, now: number): string {
  const facts = [
    [
      'agent',
      `${status.version}, pid ${status.pid}, up ${formatDuration(status.uptimeSeconds * 1000)}, ${status.ready ? 'ready' : 'NOT READY'}`,
    ],
    ['node', `${status.node} in trust domain ${status.trustDomain}`],
    ['roots', status.bundle === undefined ? 'none' : `${status.bundle.roots}, first expiry in ${until(status.bundle.notAfter, now)}`],
    [
      'CA outage',
      status.outageBudgetSeconds === undefined
        ? '–'
        : `the first identity lapses after ${formatDuration(status.outageBudgetSeconds * 1000)} without a CA`,
    ],
    ...(status.localCa === undefined ? [] : [['local CA', formatLocalCa(status.localCa)]]),
    ...(status.selfCheck.checks.length === 0 ? [] : [['self-check', formatSelfCheck(status.selfCheck, now)]]),
    ...status.sources.map((source) => [
      `${source.of} (${source.name})`,
      source.reason === undefined ? 'ok' : formatReasonStatus(source.reason),
    ]),
    ...status.reasons.map((reason) => [`! ${reason.gate}`, formatReasonStatus(reason)]),
  ];
  const handedOut = status.localCa === undefined ? [] : formatHandedOut(status.localCa, now);
  return [formatTable(facts), formatIdentities(status.identities, now), ...handedOut, formatStreams(streams)].join('\n');
}

/** Its faults stand among the reasons. */
function formatSelfCheck({ lookedAt, checks }: Status['selfCheck'], now: number): string {
  if (lookedAt === undefined) return 'not done yet';
  const count = (wanted: CheckStatus['state']): number => checks.filter(({ state }) => state === wanted).length;
  const faults = count('fault');
  const unknown = checks.filter(({ state }) => state === 'unknown').map(({ name }) => name);
  const ago = formatDuration(now - (parseInstant(lookedAt) ?? now));
  const counted = [
    ...(faults === 0 ? [] : [`${faults} at fault`]),
    ...(unknown.length === 0 ? [] : [`${unknown.length} could not be told (${unknown.join(', ')})`]),
    `${count('ok')} ok`,
  ];
  return `${counted.join(', ')}, ${ago} ago`;
}

function formatLocalCa({ address, certificates }: LocalCaStatus): string {
  const where = address === undefined ? 'does not listen' : `on port ${address.port}`;
  const lapsed = certificates.filter(({ state }) => state === 'lapsed').length;
  return `${where}, certificates of ${certificates.length} identities handed out${lapsed === 0 ? '' : `, ${lapsed} lapsed`}`;
}

function formatHandedOut({ certificates }: LocalCaStatus, now: number): readonly string[] {
  if (certificates.length === 0) return [];
  const rows = certificates.map(({ name, notAfter, state }) => [name, state === 'lapsed' ? 'lapsed' : until(notAfter, now)]);
  return [formatTable([['HANDED OUT BY THE LOCAL CA', 'EXPIRES IN'], ...rows])];
}

function formatIdentities(identities: readonly IdentityStatus[], now: number): string {
  if (identities.length === 0) return 'no identities on this node\n';
  const rows = identities.map((identity) => [
    identity.name,
    identity.state,
    identity.notAfter === undefined ? '–' : until(identity.notAfter, now),
    identity.nextAttempt === undefined ? '–' : until(identity.nextAttempt, now),
    [identity.reason, identity.unverified].flatMap((reason) => (reason === undefined ? [] : formatReasonStatus(reason))).join(' '),
  ]);
  return formatTable([['IDENTITY', 'STATE', 'EXPIRES IN', 'NEXT IN', 'REASON'], ...rows]);
}

function formatStreams({ total, streams }: StreamsStatus<StreamFacts>): string {
  if (total === 0) return 'no open streams\n';
  const rows = streams.map(({ protocol, peer, nodeId, nameCount, names }) => [
    protocol,
    Object.entries(peer)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' '),
    nodeId === '' ? '–' : nodeId,
    names.map(({ name, state }) => `${name} ${state}`).join(', ') + (nameCount > names.length ? `, … (${nameCount} in all)` : ''),
  ]);
  return formatTable([['STREAM', 'PEER', 'NODE ID', 'NAMES'], ...rows]) + (total > streams.length ? `… ${total} streams in all\n` : '');
}

const until = (instant: string, now: number): string => formatDuration((parseInstant(instant) ?? now) - now);

function formatReasonStatus({ code, sentence, detail, action }: ReasonStatus): string {
  return `${code}: ${sentence} ${detail === '' ? '' : `(${detail}) `}${action}`;
}
