// What a setting is: its kind of value, what it means, and its default. Used by the tables of settings.

import type { Kind } from './kinds.js';

/** Whose settings: those of the agent, with its defaults or those of `dev`, or those of `signet ca`. */
export type Mode = 'agent' | 'dev' | 'ca';

/** What defaults may depend on. */
export interface Place {
  readonly mode: Mode;
  /** The directory of `dev`: ${XDG_RUNTIME_DIR:-/tmp}/signet-<uid>. */
  readonly directory: string;
  /** The uid that starts the process. */
  readonly uid: number;
  /** $NODE_NAME, else the one in the credential of the kubeconfig. */
  readonly nodeName: string | undefined;
}

export interface Setting<V, Suffix extends string = ''> extends Kind<V, Suffix> {
  /** What it means, for the reference page. */
  readonly sentence: string;
  /** The default as it would stand in the file; undefined when there is none. */
  defaultIn(place: Place): unknown;
}

type Default = string | number | boolean | readonly unknown[] | Readonly<Record<string, unknown>> | ((place: Place) => unknown) | undefined;

export function setting<V, Suffix extends string>(kind: Kind<V, Suffix>, sentence: string, value?: Default): Setting<V, Suffix> {
  return { ...kind, sentence, defaultIn: (place) => (typeof value === 'function' ? value(place) : value) };
}
