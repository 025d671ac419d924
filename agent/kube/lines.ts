// Lines of a stream of bytes, for watches: one JSON document a line. Pure but for reading. Used by kube/client.ts.

import { SignetError } from '../runtime/errors.js';

const newline = 0x0a;

/**
 * The lines, without their end and without empty ones. Cut as bytes, so that a character may lie across chunks: no byte of a
 * UTF-8 sequence is a line feed. Throws `exhausted` when a line is longer than `maxBytes`; what follows the last line feed is
 * half a line and is left out.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, end));
      const line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      parts = [];
      size = 0;
      start = end + 1;
      if (line.length > 0) yield line;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxBytes) throw new SignetError('exhausted', 'a line is too long', { fields: { maxBytes } });
  }
}
