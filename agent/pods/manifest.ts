// The text of a pods file to pods: YAML documents, JSON, Lists. Called by file-source.ts at each change of the file; pure.
// All or nothing: at one fault anywhere it throws, and the error names document, line and what is wrong there.

import type { Document, DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';
import { isNode, isScalar, parseAllDocuments, visit } from 'yaml';
import { SignetError } from '../runtime/errors.js';
import type { ManifestObject } from './manifest-shape.js';
import { readManifest } from './manifest-shape.js';
import type { Pod } from './pod.js';
import { dataplaneModeLabel } from './pod.js';

export interface Manifests {
  /** The pods of this node, by UID. */
  readonly pods: ReadonlyMap<string, Pod>;
  /** Kinds in the file that are neither pods nor namespaces, sorted. */
  readonly otherKinds: readonly string[];
  /** The parsed parts of the text; given to the next call, they spare it the parts that did not change. */
  readonly parts: Parts;
}

type Objects = readonly ManifestObject[];

/** By the text of the part, the objects of each document in it. */
type Parts = ReadonlyMap<string, readonly Objects[]>;

export interface ManifestOptions {
  /** Name of this node: pods with another spec.nodeName are left out, pods with none count as ours. */
  readonly node: string;
  /** `parts` of the call before. Default: none. */
  readonly known?: Parts;
}

/** Where a document stands: part of the text, index in the part, and what lies before the part. */
interface Place {
  readonly text: string;
  readonly index: number;
  readonly documentsBefore: number;
  readonly linesBefore: number;
}

interface Located {
  readonly object: ManifestObject;
  readonly place: Place;
}

// The library reads some 1 MB/s, on the event loop; JSON is far quicker and may be as large as the file.
const maxYamlLength = 2 * 1024 * 1024;

const yamlOptions: ParseOptions & DocumentOptions & SchemaOptions = {
  schema: 'core',
  stringKeys: true,
  prettyErrors: false,
  // The library compares each key with all before it: minutes for a large mapping. duplicateKey() needs one pass.
  uniqueKeys: false,
};

/** Parses a whole pods file. Throws `invalid` (reason pods-file-invalid) with the fields document, line and fault. */
export function parseManifests(content: Buffer, { node, known }: ManifestOptions): Manifests {
  const parts = new Map<string, readonly Objects[]>();
  const found: Located[] = [];
  let place: Place = { text: '', index: 0, documentsBefore: 0, linesBefore: 0 };
  let yamlLength = 0;
  for (const text of split(decode(content))) {
    place = { ...place, text };
    yamlLength += looksLikeJson(text) ? 0 : text.length;
    if (yamlLength > maxYamlLength) throw faultOnLine(place, 1, 'more than 2 MiB of YAML: JSON may be larger');
    const documents = known?.get(text) ?? parts.get(text) ?? readPart(place);
    parts.set(text, documents);
    for (const [index, objects] of documents.entries()) {
      for (const object of objects) found.push({ object, place: { ...place, index } });
    }
    place = { ...place, documentsBefore: place.documentsBefore + documents.length, linesBefore: place.linesBefore + countLines(text) };
  }

  return { pods: podsOfNode(found, node), otherKinds: otherKinds(found), parts };
}

function podsOfNode(found: readonly Located[], node: string): ReadonlyMap<string, Pod> {
  const pods = new Map<string, Pod>();
  const names = new Set<string>();
  const namespaceModes = new Map<string, string | undefined>();
  for (const { object } of found) if (object.kind === 'namespace') namespaceModes.set(object.name, object.dataplaneMode);
  for (const { object, place } of found) {
    if (object.kind !== 'pod' || (object.node ?? node) !== node) continue;
    const { pod, path } = object;
    const name = `${pod.namespace}/${pod.name}`;
    if (names.has(name)) throw faultAt(place, [...path, 'metadata', 'name'], `pod ${name} is there twice`);
    if (pods.has(pod.uid)) throw faultAt(place, [...path, 'metadata', 'uid'], `uid ${pod.uid} is there twice`);
    names.add(name);
    const mode = pod.labels[dataplaneModeLabel] ?? namespaceModes.get(pod.namespace);
    // Istio's CNI never takes in a pod on the host network.
    pods.set(pod.uid, mode === 'ambient' && !pod.hostNetwork ? { ...pod, ambient: true } : pod);
  }
  return pods;
}

function otherKinds(found: readonly Located[]): readonly string[] {
  const kinds = new Set(found.flatMap(({ object }) => (object.kind === 'other' ? [object.name] : [])));
  return [...kinds].sort();
}

function decode(content: Buffer): string {
  try {
    // Drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (error) {
    throw manifestFault(1, 1, 'the file is not valid UTF-8', error);
  }
}

/**
 * Cuts the text before each line `---`: a document marker wherever it stands (YAML 1.2 §9.1.2), so an edit of one document
 * leaves the other parts as they are. Directives (`%YAML`) belong to the document after the next marker: then one part.
 */
function split(text: string): readonly string[] {
  return /^%/m.test(text) ? [text] : text.split(/(?<=\n)(?=---(?:[ \t\r\n]|$))/);
}

function readPart(place: Place): readonly Objects[] {
  const json = parseJson(place.text);
  if (json !== undefined) return [readDocument(json, place)];
  if (place.text.length > maxYamlLength) throw faultOnLine(place, 1, 'not valid JSON');
  return guard(place, () =>
    parseAllDocuments(place.text, yamlOptions).map((document, index) => {
      const at = { ...place, index };
      checkSyntax(document, at);
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      // Nothing but comments, or an empty document.
      return value === null ? [] : readDocument(value, at, document);
    }),
  );
}

function looksLikeJson(text: string): boolean {
  return /^(?:---\s)?\s*\{/.test(text);
}

function parseJson(text: string): unknown {
  if (!looksLikeJson(text)) return undefined;
  try {
    return JSON.parse(text.replace(/^---/, '')) as unknown;
  } catch {
    // Perhaps YAML in flow style; if not, the YAML parser names the line, which JSON.parse does not.
    return undefined;
  }
}

function checkSyntax(document: Document.Parsed, place: Place): void {
  // A warning is a tag that the schema does not know.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const fault = problem.code === 'RESOURCE_EXHAUSTION' ? tooDeep : problem.message;
    throw faultOnLine(place, lineAt(place.text, problem.pos[0]), fault);
  }
  const duplicate = duplicateKey(document);
  if (duplicate !== undefined) throw faultOnLine(place, lineAt(place.text, duplicate.offset), `key ${duplicate.key} is there twice`);
}

function duplicateKey(document: Document.Parsed): { readonly key: string; readonly offset: number } | undefined {
  let found: { readonly key: string; readonly offset: number } | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = { key: String(key.value), offset: key.range?.[0] ?? 0 };
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function readDocument(value: unknown, place: Place, document?: Document.Parsed): Objects {
  try {
    return readManifest(value);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    throw faultAt(place, error.fields['path'] as readonly string[], String(error.fields['fault']), document);
  }
}

const tooDeep = 'the nesting is too deep';

/** Runs the YAML library, which throws at too many aliases and overflows the stack at absurd nesting. */
function guard<T>(place: Place, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SignetError) throw error;
    throw faultOnLine(place, 1, error instanceof RangeError ? tooDeep : error instanceof Error ? error.message : String(error), error);
  }
}

/** A fault of the field at `path`. Positions of JSON, and of earlier calls, are not kept: only a fault has the text parsed for them. */
function faultAt(place: Place, path: readonly string[], fault: string, document?: Document.Parsed): SignetError {
  const { text, index } = place;
  if (document === undefined && text.length > maxYamlLength) return faultOnLine(place, 1, fault);
  const tree = document ?? parseAllDocuments(text, yamlOptions)[index];
  // A field that is missing is looked for where it should stand: in the nearest parent that exists.
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = tree?.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return faultOnLine(place, lineAt(text, node.range[0]), fault);
  }
  return faultOnLine(place, lineAt(text, tree?.contents?.range[0] ?? 0), fault);
}

/** `line` counts from 1 at the start of the part. */
function faultOnLine(place: Place, line: number, fault: string, cause?: unknown): SignetError {
  return manifestFault(place.documentsBefore + place.index + 1, place.linesBefore + line, fault, cause);
}

function manifestFault(document: number, line: number, fault: string, cause?: unknown): SignetError {
  return new SignetError('invalid', 'pods file is not valid', { cause, reason: 'pods-file-invalid', fields: { document, line, fault } });
}

/** The line of an offset, counted from 1. */
function lineAt(text: string, offset: number): number {
  return countLines(text.slice(0, offset)) + 1;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
