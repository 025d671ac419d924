// `signet fetch NAME`: asks the SDS socket as a proxy would and shows what comes. The private key goes into files only.

import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import type { AdminClient } from '../admin/client.js';
import { SignetError, kindOf } from '../runtime/errors.js';
import { formatInstant, systemClock } from '../runtime/time.js';
import type { ReceivedSecret, SdsClient } from '../sds/client.js';
import { createSdsClient, wipeSecret } from '../sds/client.js';
import type { Certificate } from '../x509/certificate.js';
import { readCertificates } from '../x509/pem.js';
import type { SocketOptions } from './command.js';
import { createRunningAdminClient, findSocket } from './command.js';
import { formatDuration, formatTable } from './format.js';
import { toFullName } from './names.js';
import type { Terminal } from './terminal.js';
import { writeDirectory } from './write-directory.js';

interface Options extends Pick<SocketOptions, 'config' | 'socket'> {
  readonly json?: true;
  readonly pem?: true;
  readonly write?: string;
  readonly watch?: true;
  readonly timeout: number;
}

const rootsName = 'ROOTCA';

export function createFetchCommand(terminal: Terminal): Command {
  return new Command('fetch')
    .description('ask the SDS socket for a certificate or the roots, and show it')
    .argument('[name]', 'a SPIFFE ID, <namespace>/<service account>, default or ROOTCA', 'default')
    .option('--json', 'print JSON')
    .option('--pem', 'print the certificates only, leaf first')
    .option('--write <dir>', 'write svid.pem, svid.key (0600) and bundle.pem, all at once')
    .option('--watch', 'go on, and show or write each new one')
    .option('--timeout <seconds>', 'how long to wait', parseSeconds, 10)
    .option('--socket <path>', 'the SDS socket (default: that of the running agent)')
    .option('--config <file>', 'the configuration of the agent')
    .action(async (typed: string, options: Options) => {
      const { signal } = terminal;
      const { config } = options;
      const agent = createRunningAdminClient(config === undefined ? {} : { config });
      const name = await toFullName(typed, agent, signal);
      const path = findSocket('sds.socket.path', options);
      if (!existsSync(path))
        throw new SignetError('unavailable', 'there is no sds socket at this path; is the agent running?', { fields: { path } });
      const client = createSdsClient({ path, clock: systemClock });
      const show = (secrets: readonly ReceivedSecret[]): Promise<void> => present(secrets, name, options, terminal);
      const within = { deadlineMs: options.timeout * 1000, signal };
      // On its own first: a name that is refused ends its stream with the reason, beside others it is only missing.
      const secrets = await client.fetchOnce([name], within).catch(async (error: unknown) => {
        throw await explainMissing(error, name, agent, signal);
      });
      try {
        const roots = name === rootsName ? [] : await client.fetchOnce([rootsName], within);
        await show([...secrets, ...roots]);
      } finally {
        secrets.forEach(wipeSecret);
      }
      if (options.watch === true) await follow(client, [...new Set([name, rootsName])], show, terminal);
    });
}

/** SDS has one word for "not on this node" and "not yet", and none while it waits; the agent knows why, if this user may ask it. */
async function explainMissing(error: unknown, name: string, agent: Pick<AdminClient, 'explain'>, signal: AbortSignal): Promise<unknown> {
  const kind = kindOf(error);
  if ((kind !== 'notFound' && kind !== 'deadline') || name === rootsName || name === 'default') return error;
  const reason = await agent.explain(name, signal).catch(() => undefined);
  // Who may not ask, or asks at a socket that some other agent serves, is told what SDS said.
  if (reason === undefined) return error;
  const { code, detail } = reason;
  return new SignetError(kind, 'no certificate for this name', {
    ...(kind === 'deadline' ? { cause: error } : {}),
    reason: code,
    fields: { name, ...(detail === '' ? {} : { detail }) },
  });
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('It must be a number of seconds up to 86400.');
  return seconds;
}

/** Shows each change once all names have a secret; while one is missing nothing is shown. */
async function follow(
  client: SdsClient,
  names: readonly string[],
  show: (secrets: readonly ReceivedSecret[]) => Promise<void>,
  terminal: Terminal,
): Promise<void> {
  const latest = new Map<string, ReceivedSecret>();
  let shown = 0;
  // One after the other: a later write must not be overtaken by an earlier one, nor a key be wiped before it is written.
  let showing = Promise.resolve();
  const failed = new AbortController();
  const signal = AbortSignal.any([terminal.signal, failed.signal]);
  const replace = (name: string, secret: ReceivedSecret | undefined): void => {
    const former = latest.get(name);
    if (secret === undefined) latest.delete(name);
    else latest.set(name, secret);
    showing = showing.then(() => wipeSecret(former));
  };
  try {
    await client.watch(
      names,
      ({ name, secret }) => {
        replace(name, secret);
        if (secret === undefined) terminal.err(`signet: ${name} is not there any more; waiting for it\n`);
        if (latest.size < names.length) return;
        shown += 1;
        // The first one is what fetchOnce has shown.
        if (shown === 1) return;
        const secrets = names.flatMap((each) => latest.get(each) ?? []);
        showing = showing.then(() => show(secrets)).catch((error: unknown) => failed.abort(error));
      },
      { signal, onRetry: (_error, delayMs) => terminal.err(`signet: lost the connection, trying again in ${formatDuration(delayMs)}\n`) },
    );
  } finally {
    await showing;
    latest.forEach(wipeSecret);
  }
  failed.signal.throwIfAborted();
}

async function present(secrets: readonly ReceivedSecret[], name: string, options: Options, terminal: Terminal): Promise<void> {
  const chain = secrets.flatMap((secret) => (secret.kind === 'certificate' ? [secret] : []))[0];
  const roots = secrets.flatMap((secret) => (secret.kind === 'roots' ? [secret] : []))[0];
  if (options.write !== undefined) await write(options.write, chain, roots);
  const certificates = readCertificates(chain?.chainPem ?? roots?.rootsPem ?? '', { source: name });
  const pem = (chain?.chainPem ?? roots?.rootsPem ?? Buffer.alloc(0)).toString();
  if (options.json === true) terminal.out(`${JSON.stringify(describe(name, certificates, pem, roots), undefined, 2)}\n`);
  else if (options.pem === true) terminal.out(pem);
  else terminal.out(formatSecret(certificates, roots, options.write) + (options.write === undefined ? pem : ''));
}

type Chain = Extract<ReceivedSecret, { kind: 'certificate' }>;
type Roots = Extract<ReceivedSecret, { kind: 'roots' }>;

async function write(directory: string, chain: Chain | undefined, roots: Roots | undefined): Promise<void> {
  await writeDirectory(directory, [
    ...(chain === undefined
      ? []
      : [
          { name: 'svid.pem', content: chain.chainPem, mode: 0o644 },
          { name: 'svid.key', content: chain.privateKeyPem, mode: 0o600 },
        ]),
    ...(roots === undefined ? [] : [{ name: 'bundle.pem', content: roots.rootsPem, mode: 0o644 }]),
  ]);
}

/** The JSON of --json; no key in it. */
function describe(name: string, certificates: readonly Certificate[], pem: string, roots: Roots | undefined): unknown {
  const [first] = certificates;
  if (first === undefined) throw new SignetError('internal', 'bug: a secret without certificates');
  return {
    name,
    spiffeId: first.uriSans[0] ?? null,
    serial: first.serial,
    notBefore: formatInstant(first.notBefore),
    notAfter: formatInstant(first.notAfter),
    key: describeKey(first.publicKey),
    certificates: certificates.length,
    pem,
    roots: roots?.rootsPem.toString() ?? null,
  };
}

function formatSecret(certificates: readonly Certificate[], roots: Roots | undefined, written: string | undefined): string {
  const [first] = certificates;
  const rootList = roots === undefined ? [] : readCertificates(roots.rootsPem, { source: rootsName });
  return formatTable([
    ...(first?.isCa === false ? formatLeaf(first, certificates.length - 1) : []),
    ...rootList.map((root) => ['root', `${root.serial}, ${formatValidity(root)}`]),
    ...(written === undefined ? [] : [['written to', written]]),
  ]);
}

function formatLeaf(leaf: Certificate, intermediates: number): readonly (readonly string[])[] {
  return [
    ['SPIFFE ID', leaf.uriSans[0] ?? ''],
    ['serial', leaf.serial],
    ['valid', formatValidity(leaf)],
    ['key', describeKey(leaf.publicKey)],
    ['chain', `the certificate and ${intermediates} ${intermediates === 1 ? 'intermediate' : 'intermediates'}`],
  ];
}

function formatValidity({ notBefore, notAfter }: Certificate): string {
  return `${formatInstant(notBefore)} to ${formatInstant(notAfter)}, ${formatDuration(notAfter - systemClock.now())} left`;
}

function describeKey(key: KeyObject): string {
  const details = key.asymmetricKeyDetails;
  return details?.namedCurve === undefined ? `RSA ${details?.modulusLength ?? ''}` : `EC ${details.namedCurve}`;
}
