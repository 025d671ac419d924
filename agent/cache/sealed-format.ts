// The form of a sealed file: one line that says what it is bound to, then the content, encrypted and authenticated together with
// that line (AES-256-GCM, NIST SP 800-38D). Pure; used by the sealed state.
// Promises: nothing of a file is believed before it decrypts; each seal has a nonce of its own; the boot and the node are in the
// file as hashes only, so that whoever copies it does not get along with it what its key is derived from.

import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import type { Fields } from '../runtime/errors.js';
import { SignetError } from '../runtime/errors.js';
import type { ReasonCode } from '../runtime/reasons.js';

/** What a sealed file belongs to; nowhere else it opens. */
export interface Binding {
  /** Of the kernel, new at each boot; empty where it tells none, and nothing is sealed. */
  readonly bootId: string;
  /** Of the Node object; empty where nothing tells it. */
  readonly nodeUid: string;
  readonly node: string;
  readonly trustDomain: string;
}

/** Which of two files is newer: counts starts of agents on the state, and writes since the start. */
export interface Generation {
  readonly start: number;
  readonly write: number;
}

export function isOlder(a: Generation, b: Generation): boolean {
  return a.start < b.start || (a.start === b.start && a.write < b.write);
}

const format = 1;
const magic = 'signet sealed state ';
const maxLineBytes = 2_048;
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The key of a boot and a node from a secret (RFC 5869). */
export function deriveKey(secret: Buffer, { bootId, nodeUid }: Binding): KeyObject {
  const info = Buffer.from(JSON.stringify(['signet sealed state', format, bootId, nodeUid]));
  const bytes = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, 32));
  try {
    return createSecretKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** Seals a content, which the caller wipes. */
export function seal(content: Buffer, binding: Binding, generation: Generation, key: KeyObject): Buffer {
  const line = Buffer.from(`${magic}${JSON.stringify({ ...labelsOf(binding), ...generation })}\n`);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(line);
  const sealed = [cipher.update(content), cipher.final()];
  return Buffer.concat([line, nonce, ...sealed, cipher.getAuthTag()]);
}

export interface Unsealed {
  /** In memory of its own, which the caller wipes. */
  readonly content: Buffer;
  readonly generation: Generation;
}

/** Opens a sealed file. Throws with reason `state-foreign` where it belongs to something else, `state-damaged` where it does not open. */
export function unseal(bytes: Buffer, binding: Binding, key: KeyObject): Unsealed {
  const header = readHeader(bytes);
  if (header === undefined) throw refuse('state-damaged', 'no header', { bytes: bytes.length });
  const foreign = Object.entries(labelsOf(binding)).find(([name, label]) => header.fields[name] !== label);
  if (foreign !== undefined) throw refuse('state-foreign', 'sealed for something else', { differs: foreign[0] });
  const nonceEnd = header.end + nonceBytes;
  const tagStart = bytes.length - tagBytes;
  if (tagStart < nonceEnd || header.generation === undefined) throw refuse('state-damaged', 'cut off', { bytes: bytes.length });
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(header.end, nonceEnd), { authTagLength: tagBytes });
  decipher.setAAD(bytes.subarray(0, header.end)).setAuthTag(bytes.subarray(tagStart));
  const content = decipher.update(bytes.subarray(nonceEnd, tagStart));
  try {
    decipher.final();
  } catch (cause) {
    content.fill(0);
    throw refuse('state-damaged', 'does not open', { bytes: bytes.length }, cause);
  }
  return { content, generation: header.generation };
}

/** What stands in the file of a binding. The names are those of the details in logs. */
function labelsOf({ bootId, nodeUid, node, trustDomain }: Binding) {
  return { format, 'boot': hash('boot', bootId), 'node uid': hash('node uid', nodeUid), node, 'trust domain': trustDomain };
}

function hash(what: string, value: string): string {
  return createHash('sha256').update(`${what}\0${value}`).digest('hex').slice(0, 32);
}

interface Header {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly generation: Generation | undefined;
  /** Where the line ends. */
  readonly end: number;
}

function readHeader(bytes: Buffer): Header | undefined {
  const end = bytes.subarray(0, maxLineBytes).indexOf('\n') + 1;
  const line = bytes.toString('utf8', 0, end);
  if (end === 0 || !line.startsWith(magic)) return undefined;
  try {
    const fields = JSON.parse(line.slice(magic.length)) as Readonly<Record<string, unknown>>;
    const { start, write } = fields;
    const isCounted = Number.isSafeInteger(start) && Number.isSafeInteger(write);
    return { fields, generation: isCounted ? { start: Number(start), write: Number(write) } : undefined, end };
  } catch {
    // Torn or overwritten: the caller says that there is no header.
    return undefined;
  }
}

function refuse(reason: ReasonCode, message: string, fields: Fields, cause?: unknown): SignetError {
  return new SignetError('invalid', message, { reason, fields, ...(cause === undefined ? {} : { cause }) });
}
