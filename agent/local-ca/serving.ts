// What the local CA endpoint shows: a certificate under a root of this node, made here, or one from files. Made by the wiring; the
// endpoint opens it before it listens and runs it while it does.
// Promises: the root of the node is the same for all agents of this node that share the state directory, so that two at once are
// trusted alike; its file is whole or not there, and comes back when it is removed; files count when they fit together.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { prepareDirectory } from '../listen/directory.js';
import { createServingCertificate } from '../listen/serving-certificate.js';
import type { TlsIdentity } from '../listen/tls.js';
import type { Metrics } from '../metrics.js';
import { createBell } from '../runtime/bell.js';
import { SignetError, describeError } from '../runtime/errors.js';
import type { FileContent } from '../runtime/followed-file.js';
import { followFile, readRegularFile } from '../runtime/followed-file.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { sleep } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Issuer } from '../x509/issuer.js';
import { formatCertificates, readCertificates } from '../x509/pem.js';
import { openIssuer } from '../x509/self-signed.js';

export interface Serving {
  /** Why what is shown is not what it should be. */
  readonly reason: Watched<Reason | undefined>;
  /** What to begin with; the key belongs to the receiver. Throws a SignetError when there is nothing to show. */
  open(): Promise<TlsIdentity>;
  /** After `open`: gives each next one to `show` until the signal aborts. */
  run(show: (identity: TlsIdentity) => void, signal: AbortSignal): Promise<void>;
}

export interface NodeRootOptions {
  /** Where the root's key is, mode 0700. */
  readonly stateDirectory: string;
  /** Where the root is for others to read. */
  readonly rootDirectory: string;
  /** DNS names and addresses of the endpoint. */
  readonly names: readonly string[];
  readonly trustDomain: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'localCaServingExpiry'>;
}

/** How often the root file is looked at. */
const checkRootMs = 30_000;

export function createNodeRoot(options: NodeRootOptions): Serving {
  const { stateDirectory, rootDirectory, names, trustDomain, clock, log, metrics } = options;
  const path = join(rootDirectory, 'root-cert.pem');
  const reason = new WatchedValue<Reason | undefined>(undefined);
  let opened: { readonly issuer: Issuer; readonly certificate: ReturnType<typeof createServingCertificate> } | undefined;

  const keepRoot = async (pem: string, signal: AbortSignal): Promise<void> => {
    for (;;) {
      const ended = await sleep(clock, checkRootMs, signal).catch(() => 'ended' as const);
      if (ended !== undefined) return;
      try {
        if ((await readFile(path, 'utf8').catch(() => '')) !== pem) {
          await writeRoot(path, pem);
          log.warn('the root of the local ca was missing or another and is written again', { path });
        }
        reason.set(undefined);
      } catch (error) {
        if (reason.value === undefined) log.error('the root of the local ca cannot be written', { path, ...errorFields(error) });
        reason.set({ code: 'local-ca-serving', detail: describeError(error) });
      }
    }
  };

  return {
    reason,
    async open() {
      const issuer = await openIssuer({ directory: stateDirectory, name: 'local-ca', trustDomain, clock });
      await writeRoot(path, formatCertificates(issuer.roots));
      const certificate = createServingCertificate({
        issuer: new WatchedValue(issuer),
        names,
        clock,
        log,
        metrics: { servingExpiry: metrics.localCaServingExpiry },
      });
      opened = { issuer, certificate };
      return await certificate.create();
    },
    async run(show, signal) {
      if (opened === undefined) throw new Error('bug: run before open');
      await Promise.all([opened.certificate.run(show, signal), keepRoot(formatCertificates(opened.issuer.roots), signal)]);
    },
  };
}

/**
 * Whole, or not there, and so is its directory: readers take what they find, and the kubelet holds a pod that mounts the directory back
 * until there is one. ztunnel takes a root file that is missing at its start for a text, for good.
 */
async function writeRoot(path: string, pem: string): Promise<void> {
  const directory = dirname(path);
  try {
    if (!existsSync(directory)) await makeWith(directory, basename(path), pem);
    prepareDirectory(directory, 0o755, 'root');
    const temporary = join(directory, `.${randomBytes(8).toString('hex')}`);
    try {
      await writeReadable(temporary, pem);
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  } catch (cause) {
    throw new SignetError('unavailable', 'the root cannot be written', { cause, reason: 'local-ca-serving', fields: { path } });
  }
}

/** A directory that appears with the file in it, unless another process has made it meanwhile. */
async function makeWith(directory: string, name: string, text: string): Promise<void> {
  const temporary = join(dirname(directory), `.${basename(directory)}.${randomBytes(8).toString('hex')}`);
  try {
    prepareDirectory(temporary, 0o755, 'root');
    await writeReadable(join(temporary, name), text);
    await rename(temporary, directory).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' });
  // The umask takes bits from what writeFile gives, not from what chmod does.
  await chmod(path, 0o644);
}

export interface ServingFilesOptions {
  /** PEM: the certificate, then what is between it and its root. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'localCaServingExpiry' | 'reloads' | 'filesPolled'>;
}

/** Certificate and key are written one after the other; this long after the first change they are read together. */
const settleMs = 500;
/** Files that do not fit are looked at again without a change. */
const retryMs = 60_000;
const maxFileBytes = 256 * 1024;

export function createServingFiles(options: ServingFilesOptions): Serving {
  const { certificate, privateKey, clock, log, metrics } = options;
  const reason = new WatchedValue<Reason | undefined>(undefined);
  const read = async (): Promise<TlsIdentity> => {
    try {
      return await readPair(options);
    } catch (cause) {
      throw new SignetError('unavailable', 'the serving certificate cannot be used', {
        cause,
        reason: 'local-ca-serving',
        fields: { certificate, privateKey },
      });
    }
  };

  const replace = async (show: (identity: TlsIdentity) => void): Promise<void> => {
    try {
      show(await read());
      metrics.reloads.inc({ file: 'local-ca', result: 'ok' });
      reason.set(undefined);
    } catch (error) {
      metrics.reloads.inc({ file: 'local-ca', result: 'invalid' });
      if (reason.value === undefined) log.warn('serving files have a fault, what was shown before stays', errorFields(error));
      reason.set({ code: 'local-ca-serving', detail: describeError(error) });
    }
  };

  return {
    reason,
    open: read,
    async run(show, signal) {
      const bell = createBell(clock, signal);
      const onContent = (content: FileContent): void => {
        // Only the change counts: the files are read together. One of them is the key.
        if (Buffer.isBuffer(content)) content.fill(0);
        bell.ring();
      };
      const following = [certificate, privateKey].map((path) => followFile({ path, clock, log, metrics }, onContent).run(signal));
      while (!signal.aborted) {
        const rang = await bell.wait(reason.value === undefined ? maxWaitMs : retryMs);
        if (rang) await sleep(clock, settleMs, signal).catch(() => undefined);
        bell.forget();
        if (!signal.aborted && (rang || reason.value !== undefined)) await replace(show);
      }
      await Promise.all(following);
    },
  };
}

const maxWaitMs = 24 * 3_600_000;

async function readPair({ certificate, privateKey, metrics }: ServingFilesOptions): Promise<TlsIdentity> {
  const chain = (await readRegularFile(certificate, maxFileBytes)).toString('latin1');
  const [leaf] = readCertificates(chain, { source: certificate });
  if (leaf === undefined) throw new SignetError('invalid', 'the file holds no certificate', { fields: { certificate } });
  const key = await readRegularFile(privateKey, maxFileBytes);
  try {
    // Throws where the two do not belong together.
    createSecureContext({ cert: chain, key });
  } catch (error) {
    key.fill(0);
    throw error;
  }
  metrics.localCaServingExpiry.set(leaf.notAfter / 1_000);
  return { chain, privateKey: key };
}
