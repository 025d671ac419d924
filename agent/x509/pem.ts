// PEM (RFC 7468): one tolerant reader for whatever CAs, files and people deliver, and one canonical form to write.
// Used by everything that reads certificates from outside. What it refuses it never quotes: it may be a key.

import { SignetError } from '../runtime/errors.js';
import { Certificate } from './certificate.js';

export interface ReadCertificatesOptions {
  /** Where the text came from, for error fields: a path, or which answer. */
  readonly source: string;
  /** Largest input in bytes. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Most certificates in the input. Default 1000. */
  readonly maxCertificates?: number;
}

/**
 * Reads all certificates in the order of the input. Line ends, blanks, text around the blocks and blocks glued together
 * do not matter; a damaged block, or one that is no certificate (a key among them), refuses the whole input. No block at
 * all gives an empty list. Throws `invalid`, reason `pem-invalid`, and `exhausted`, reason `answer-too-large`.
 */
export function readCertificates(input: Buffer | string, options: ReadCertificatesOptions): Certificate[] {
  const { source, maxBytes = 1024 * 1024, maxCertificates = 1000 } = options;
  if (input.length > maxBytes) throw tooLarge('pem input is too large', { source, bytes: input.length, maxBytes });
  const text = typeof input === 'string' ? input : input.toString('latin1');
  const certificates: Certificate[] = [];
  for (const block of readBlocks(text, source)) {
    const fields = { source, index: certificates.length };
    if (certificates.length === maxCertificates) throw tooLarge('too many certificates', { source, maxCertificates });
    if (!certificateLabels.has(block.label)) {
      throw new SignetError('invalid', 'pem block is not a certificate', {
        reason: 'pem-invalid',
        fields: { ...fields, label: block.label },
      });
    }
    try {
      certificates.push(Certificate.fromDer(readBase64(block.body)));
    } catch (cause) {
      throw new SignetError('invalid', 'certificate cannot be read', { cause, reason: 'pem-invalid', fields });
    }
  }
  return certificates;
}

/** Canonical PEM: blocks of 64 columns, LF, one after the other. */
export function formatCertificates(certificates: readonly Certificate[]): string {
  return certificates.map((certificate) => formatPem('CERTIFICATE', certificate.der)).join('');
}

/** One block of public data. Keys take `PrivateKey.pkcs8Pem`, which leaves no string behind. */
export function formatPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

// RFC 7468 §5.1: parsers may treat the older label as the same.
const certificateLabels: ReadonlySet<string> = new Set(['CERTIFICATE', 'X509 CERTIFICATE']);

interface Block {
  readonly label: string;
  readonly body: string;
}

function* readBlocks(text: string, source: string): Generator<Block> {
  let open: { label: string; start: number } | undefined;
  // Markers are found anywhere, not at line ends, which may be missing. They must pair up: a lone one is a damaged block,
  // and to skip it would lose a certificate without a word.
  for (const marker of text.matchAll(/-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----/g)) {
    const [whole, kind, label = ''] = marker;
    if ((kind === 'BEGIN') === (open !== undefined) || (open !== undefined && open.label !== label)) throw unpaired(source);
    if (open === undefined) {
      open = { label, start: marker.index + whole.length };
    } else {
      yield { label, body: text.slice(open.start, marker.index) };
      open = undefined;
    }
  }
  if (open !== undefined) throw unpaired(source);
}

function unpaired(source: string): SignetError {
  return new SignetError('invalid', 'pem block has no matching begin and end', { reason: 'pem-invalid', fields: { source } });
}

function tooLarge(message: string, fields: Readonly<Record<string, string | number>>): SignetError {
  return new SignetError('exhausted', message, { reason: 'answer-too-large', fields });
}

function readBase64(body: string): Buffer {
  const digits = body.replace(/\s+/g, '');
  // Buffer.from skips what is not base64; a block with anything else in it is damaged.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits) || digits.length % 4 !== 0) throw new SignetError('invalid', 'malformed base64');
  return Buffer.from(digits, 'base64');
}
