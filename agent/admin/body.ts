// Reads a body that comes over the control socket, at either end of it. Promise: no more is kept than allowed.

import type { IncomingMessage } from 'node:http';
import { SignetError } from '../runtime/errors.js';

/** The body as text; `what` it is, for the error when it has more bytes. */
export async function readBody(message: IncomingMessage, what: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new SignetError('exhausted', `${what} is too large`, { fields: { maxBytes } });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
