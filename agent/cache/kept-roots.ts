// The roots over a restart: each source has those of before until it has read its own, and what all of them have is known for the
// next start. Used by the wiring. Promise: no root is forgotten before the source that may still have it was read.

import type { RootSource } from '../trust-bundle.js';
import { createRestoredRootSource } from '../trust-bundle.js';
import type { Certificate } from '../x509/certificate.js';

type RootsByName = ReadonlyMap<string, readonly Certificate[]>;

export interface KeptRoots {
  /** The source with its roots of before, where there are any under its name; it is one of those whose roots are known. */
  keep(this: void, source: RootSource): RootSource;
  readonly sources: readonly RootSource[];
  /** What certificates from before the restart may chain to, where these sources decide. */
  anchors(sources: readonly RootSource[]): readonly Certificate[];
  /** By the name of their source, for the next start. */
  known(): RootsByName;
}

/** `before`: the roots of before, by the name of their source. */
export function createKeptRoots(before: RootsByName): KeptRoots {
  const sources: RootSource[] = [];
  return {
    sources,
    keep(source) {
      const roots = before.get(source.name);
      const kept = roots === undefined ? source : createRestoredRootSource(source, roots);
      sources.push(kept);
      return kept;
    },
    // A source under a new name may have any of the roots of before: nobody knows until it is read.
    anchors: (deciding) => deciding.flatMap(({ roots }) => roots.value ?? [...before.values()].flat()),
    known() {
      const read = sources.flatMap(({ name, roots: { value } }) => (value === undefined ? [] : [[name, value] as const]));
      return new Map(read.length < sources.length ? [...before, ...read] : read);
    },
  };
}
