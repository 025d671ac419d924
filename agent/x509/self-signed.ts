// The issuer that Signet makes for itself on first start, and finds again afterwards. Used where no issuer files are given.
// Promises: a crash at any step leaves nothing that the next start cannot complete; processes that race agree on one issuer;
// what exists is never overwritten.

import { createPublicKey, randomBytes } from 'node:crypto';
import { access, link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import { Certificate } from './certificate.js';
import * as der from './der.js';
import type { Issuer } from './issuer.js';
import { createSigner, loadIssuer, readKeyFile } from './issuer.js';
import { formatPem } from './pem.js';
import { generateKey } from './private-key.js';
import type { Signer } from './sign.js';
import { keyIdOf, signCertificate } from './sign.js';

export interface OpenIssuerOptions {
  /** Made with mode 0700 when missing, its parents as the umask says; else it must be ours and closed to others. */
  readonly directory: string;
  /** Of its files there: `<name>.key` and `<name>.crt`. Default: issuer. */
  readonly name?: string;
  readonly trustDomain: string;
  readonly clock: Clock;
}

/** Of an issuer that nobody gave another one: ten years. */
export const issuerLifetimeMs = 3_652 * 24 * 3_600_000;
/** Clocks of verifiers may be behind. */
const backdateMs = 3_600_000;

/** The issuer in the directory, made there when there is none. Throws with an `issuer-…` reason. */
export async function openIssuer(options: OpenIssuerOptions): Promise<Issuer> {
  const { directory, name = 'issuer', trustDomain, clock } = options;
  const files = { certificate: join(directory, `${name}.crt`), privateKey: join(directory, `${name}.key`) };
  await prepareDirectory(directory);
  // A key without a certificate is what a crash left; a certificate without its key is damage, which loading reports.
  if (!(await exists(files.certificate))) {
    if (!(await exists(files.privateKey))) await createKey(files.privateKey);
    // Read back: another process may have been first.
    const key = await readKeyFile(files.privateKey);
    const publicKeySpki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const certificate = await selfSign(createSigner(key), publicKeySpki, { trustDomain, now: clock.now(), lifetimeMs: issuerLifetimeMs });
    await createOnce(files.certificate, Buffer.from(formatPem('CERTIFICATE', certificate)));
  }
  const issuer = await loadIssuer(files, clock.now());
  await removeTemporaries(directory, name);
  return issuer;
}

const temporaryPrefix = (name: string): string => `.${name}.`;

async function createKey(path: string): Promise<void> {
  const key = await generateKey('ec-p256');
  const pem = key.pkcs8Pem();
  key.wipe();
  try {
    await createOnce(path, pem);
  } finally {
    pem.fill(0);
  }
}

export interface SelfSignOptions {
  readonly trustDomain: string;
  /** ms since the epoch. */
  readonly now: number;
  readonly lifetimeMs: number;
}

/** A new issuer with a new key, as PEM (PKCS#8) in a buffer that the caller wipes. */
export async function generateIssuer(options: SelfSignOptions): Promise<{ certificate: Certificate; privateKeyPem: Buffer }> {
  const key = await generateKey('ec-p256');
  try {
    return { certificate: Certificate.fromDer(await selfSign(key, key.publicKeySpki, options)), privateKeyPem: key.pkcs8Pem() };
  } finally {
    key.wipe();
  }
}

async function selfSign(signer: Signer, publicKeySpki: Buffer, { trustDomain, now, lifetimeMs }: SelfSignOptions): Promise<Buffer> {
  const keyId = keyIdOf(publicKeySpki);
  // Unique by the key, so that two issuers are never told apart by signature alone. X.520 bounds an organisation to 64 characters.
  const subject = der.encode(
    der.name([
      ['2.5.4.10', trustDomain.slice(0, 64)],
      ['2.5.4.3', `signet issuer ${keyId.slice(0, 16)}`],
    ]),
  );
  return await signCertificate(
    signer,
    { subject, keyId },
    {
      profile: 'ca',
      subject,
      publicKeySpki,
      // SPIFFE X.509-SVID §4.2: a signing certificate names the trust domain, without a path.
      uri: `spiffe://${trustDomain}`,
      notBefore: now - backdateMs,
      notAfter: now + lifetimeMs,
    },
  );
}

async function prepareDirectory(directory: string): Promise<void> {
  const about = await attempt(directory, async () => {
    // Not closed like the directory itself: others stand beside it, such as that of the SDS socket.
    await mkdir(dirname(directory), { recursive: true }).catch(allowExisting);
    await mkdir(directory, { mode: 0o700 }).catch(allowExisting);
    return await stat(directory);
  });
  const uid = process.geteuid?.();
  if (about.uid === uid && (about.mode & 0o077) === 0) return;
  throw new SignetError('denied', 'issuer directory is open to others', {
    reason: 'issuer-directory-unsafe',
    fields: { directory, mode: (about.mode & 0o777).toString(8), owner: about.uid, uid },
  });
}

function allowExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

/** Writes a file that did not exist, whole and on disk, mode 0600. The first of several wins; the others change nothing. */
async function createOnce(path: string, content: Buffer): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, temporaryPrefix(parse(path).name) + randomBytes(8).toString('hex'));
  await attempt(directory, async () => {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    try {
      // Unlike rename, link fails when the name is taken.
      await link(temporary, path);
    } catch (error) {
      // ENOENT: the process that won has tidied up already.
      if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error;
    } finally {
      await rm(temporary, { force: true });
    }
    await syncDirectory(directory);
  });
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What a crash left behind, a copy of the key perhaps. Both files exist by now, so that nobody needs a temporary one. */
async function removeTemporaries(directory: string, name: string): Promise<void> {
  await attempt(directory, async () => {
    const left = (await readdir(directory)).filter((entry) => entry.startsWith(temporaryPrefix(name)));
    await Promise.all(left.map((entry) => rm(join(directory, entry), { force: true })));
  });
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function attempt<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new SignetError('unavailable', 'issuer directory cannot be used', {
      cause,
      reason: 'issuer-unwritable',
      fields: { directory, code: codeOf(cause) },
    });
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
