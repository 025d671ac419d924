// Reads the YAML (or JSON) text of a configuration file into plain values that remember their lines. Used by config.ts.
// The failsafe schema of YAML is used: every scalar stays the text that was written, and the settings decide what it is.

import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Node } from 'yaml';

/** One thing that is wrong, with the place it was found at. */
export interface Fault {
  /** The setting or key, e.g. `upstreams[0].issuer.certificate`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** The line in the file, from 1. */
  readonly line?: number;
  /** The variable or flag that gave the value, when it is not the file. */
  readonly from?: string;
}

export interface FileValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** The line of a path, or of the nearest one above it that the file has. */
  lineOf(path: readonly PropertyKey[]): number | undefined;
  readonly faults: readonly Fault[];
}

export const maxFileBytes = 1024 * 1024;

export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

export function parseFile(text: string): FileValues {
  const counter = new LineCounter();
  const document = parseDocument(text, { schema: 'failsafe', lineCounter: counter, prettyErrors: false });
  const lines = new Map<string, number>();
  const faults: Fault[] = [];
  const note = (path: readonly PropertyKey[], offset: number | undefined): void => {
    if (offset !== undefined) lines.set(formatPath(path), counter.linePos(offset).line);
  };
  const visit = (node: unknown, path: readonly PropertyKey[]): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        const below = [...path, isScalar(key) ? String(key.value) : ''];
        note(below, (key as Node).range?.[0]);
        // Schemas leave this key out without a word, and a rule with fewer labels matches more.
        if (below.at(-1) === '__proto__') faults.push({ path: formatPath(below), message: 'is no key', line: lineOf(below) ?? 1 });
        visit(value, below);
      }
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => {
        note([...path, index], (item as Node).range?.[0]);
        visit(item, [...path, index]);
      });
    }
  };
  const lineOf = (path: readonly PropertyKey[]): number | undefined => {
    for (let length = path.length; length > 0; length -= 1) {
      const line = lines.get(formatPath(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  };
  visit(document.contents, []);
  for (const { code, message, pos } of document.errors) {
    const text = code === 'MULTIPLE_DOCS' ? 'must hold a single YAML document' : `is not valid YAML: ${message}`;
    faults.push({ path: '', message: text, line: counter.linePos(pos[0]).line });
  }
  if (faults.length > 0) return { values: {}, lineOf, faults };
  return { ...plainValues(document), lineOf };
}

function plainValues(document: ReturnType<typeof parseDocument>): Pick<FileValues, 'values' | 'faults'> {
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === '')) return { values: {}, faults: [] };
  if (!isMap(document.contents)) return { values: {}, faults: [{ path: '', message: 'must be a mapping of settings', line: 1 }] };
  try {
    return { values: document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>, faults: [] };
  } catch (error) {
    // An alias without anchor, or a bomb of aliases: the parser finds both only here.
    return { values: {}, faults: [{ path: '', message: `is not valid YAML: ${error instanceof Error ? error.message : String(error)}` }] };
  }
}
