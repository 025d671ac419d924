// The rotation of the CA's own issuer, as pure functions: what a Secret says of it, which roots verifiers must know meanwhile, and
// the next step. Used by the owner of the issuer, which writes each step before anything follows from it. Promises: whoever
// crashes between two steps leaves a state from which any replica goes on; at each moment the published roots verify every
// unexpired leaf, and every leaf that a replica may still sign.

import type { Certificate } from '../x509/certificate.js';

export interface RotationState {
  /** What signs now. Others may replace it too, by writing the Secret. */
  readonly issuer: { readonly certificate: Certificate; readonly roots: readonly Certificate[] };
  /** The roots of the issuer when they were last noted: those that it lost since then still verify leaves. */
  readonly noted: readonly Certificate[];
  /** What signs next, with a key of its own; its root is itself. */
  readonly next?: NextIssuer | undefined;
  readonly former: readonly FormerRoot[];
  /** No leaf was handed out for longer than this. */
  readonly longestLifetimeMs: number;
  /** Somebody wants a rotation to begin. */
  readonly requested: boolean;
  /** Somebody wants this step without its wait. */
  readonly force?: ForcedStep | undefined;
}

export interface NextIssuer {
  readonly certificate: Certificate;
  /** When every target was seen with its root, ms since the epoch. */
  readonly publishedAt?: number | undefined;
}

export interface FormerRoot {
  readonly certificate: Certificate;
  /** No leaf under it is valid from then on, ms since the epoch. */
  readonly until: number;
}

export type ForcedStep = 'switch' | 'retire';

export interface RotationLag {
  /** How long a replica may go on with a state that is not the newest any more, in ms. */
  readonly lagMs: number;
}

/** What the state does not say. */
export interface RotationFacts extends RotationLag {
  /** The roots that every target holds; undefined as long as that is not known. */
  readonly confirmed: readonly Certificate[] | undefined;
  /** When a target was last seen with what others wrote, ms since the epoch. */
  readonly lapsedAt?: number | undefined;
  /** Roots that were published and that the state lacks, since an older copy of it was put back. */
  readonly lost?: readonly Certificate[];
  /** The longest life that this CA gives a leaf, in ms. */
  readonly leafLifetimeMs: number;
}

/**
 * - `note`: the issuer's roots, or the longest lifetime, are not what was noted, or roots were lost; those that are gone become
 *   former ones;
 * - `prepare`: make the next issuer; its root is published from then on;
 * - `confirm`: every target holds the next root;
 * - `lapse`: one was seen with something else since, which clients may have read: the wait begins anew when all hold it again;
 * - `switch`: the next issuer signs;
 * - `retire`: former roots under which no leaf is valid any more go.
 */
export type StepName = 'note' | 'prepare' | 'confirm' | 'lapse' | 'switch' | 'retire';

export type NextStep =
  | { readonly step: StepName }
  /** Nothing to do before that moment (ms since the epoch), unless state or facts change. */
  | { readonly step: 'wait'; readonly until: number };

/** More former roots than this are a rotation that is forced in a loop. */
const maxFormer = 8;

export function nextStep(state: RotationState, now: number, facts: RotationFacts): NextStep {
  const { issuer, next, former, force } = state;
  if (next?.publishedAt !== undefined && facts.lapsedAt !== undefined && facts.lapsedAt >= next.publishedAt) return { step: 'lapse' };
  const isNoted = isSame(issuer.roots, state.noted) && without(facts.lost ?? [], publishedRoots(state)).length === 0;
  if (!isNoted || facts.leafLifetimeMs > state.longestLifetimeMs) return { step: 'note' };
  if (force === 'retire' || former.some(({ until }) => until <= now)) return { step: 'retire' };
  const retireAt = Math.min(...former.map(({ until }) => until));
  if (next === undefined) {
    if (!isOwnRoot(state) || former.length >= maxFormer) return { step: 'wait', until: retireAt };
    const dueAt = rotationDueAt(state);
    return state.requested || now >= dueAt ? { step: 'prepare' } : { step: 'wait', until: Math.min(dueAt, retireAt) };
  }
  if (force === 'switch') return { step: 'switch' };
  const dueAt = switchAt(state, facts);
  if (dueAt === undefined) return isConfirmed(state, facts) ? { step: 'confirm' } : { step: 'wait', until: retireAt };
  return now >= dueAt ? { step: 'switch' } : { step: 'wait', until: Math.min(dueAt, retireAt) };
}

/** When the next issuer signs, ms since the epoch; undefined while its root is not everywhere. */
export function switchAt(state: RotationState, facts: RotationLag): number | undefined {
  return state.next?.publishedAt === undefined ? undefined : state.next.publishedAt + overlapMs(state, facts);
}

/** The state after a step; `prepared` is the certificate that `prepare` made. */
export function takeStep(state: RotationState, step: StepName, now: number, facts: RotationFacts, prepared?: Certificate): RotationState {
  const { issuer, next, force } = state;
  switch (step) {
    case 'note': {
      const longestLifetimeMs = Math.max(state.longestLifetimeMs, facts.leafLifetimeMs);
      const until = now + retentionMs({ longestLifetimeMs }, facts);
      const gone = without([...state.noted, ...without(facts.lost ?? [], publishedRoots(state))], issuer.roots);
      const former = state.former.filter(({ certificate }) => without([certificate], gone).length > 0);
      return {
        ...state,
        noted: issuer.roots,
        former: [...former, ...gone.map((certificate) => ({ certificate, until }))],
        longestLifetimeMs,
        // Whoever gave the issuer a root above it has ended our rotation.
        next: isOwnRoot(state) ? next : undefined,
      };
    }
    case 'prepare':
      return { ...state, requested: false, next: prepared && { certificate: prepared } };
    case 'confirm':
      return { ...state, next: next && { ...next, publishedAt: now } };
    case 'lapse':
      return { ...state, next: next && { certificate: next.certificate } };
    case 'switch': {
      if (next === undefined) return state;
      const { certificate } = next;
      const roots = [certificate, ...without(issuer.roots, [issuer.certificate])];
      return { ...state, issuer: { certificate, roots }, next: undefined, force: undefined };
    }
    case 'retire': {
      const isForced = force === 'retire';
      return { ...state, former: isForced ? [] : state.former.filter(({ until }) => until > now), force: isForced ? undefined : force };
    }
  }
}

/** The roots that verifiers have to know now: those of the issuer first. */
export function publishedRoots({ issuer, next, noted, former }: RotationState): readonly Certificate[] {
  const all = [
    ...issuer.roots,
    ...(next === undefined ? [] : [next.certificate]),
    ...noted,
    ...former.map(({ certificate }) => certificate),
  ];
  return [...new Map(all.map((certificate) => [certificate.fingerprint, certificate])).values()];
}

/** Whether the issuer is a root, which alone can be replaced by one that we make. */
export function isOwnRoot({ issuer }: RotationState): boolean {
  return issuer.roots.some(({ fingerprint }) => fingerprint === issuer.certificate.fingerprint);
}

/**
 * When a rotation begins by itself, ms since the epoch: early enough that it, and the leaves of the old issuer, end before that
 * issuer does; never in the first half of its life.
 */
export function rotationDueAt({ issuer: { certificate }, longestLifetimeMs }: RotationState): number {
  const life = certificate.notAfter - certificate.notBefore;
  return certificate.notAfter - Math.min(Math.max(life / 5, 3 * longestLifetimeMs), life / 2);
}

/**
 * Clients such as ztunnel learn of a root with their next certificate, at half of its life: half of the longest lifetime, and a
 * tenth of it for those who are late. A replica that has not heard of the next root yet may have answered the last of them.
 */
export function overlapMs({ longestLifetimeMs }: Pick<RotationState, 'longestLifetimeMs'>, { lagMs }: RotationLag): number {
  return Math.ceil(longestLifetimeMs * 0.6) + lagMs;
}

/** How long leaves of an issuer that signs no more are valid: some replica may not have heard of that yet. */
export function retentionMs({ longestLifetimeMs }: Pick<RotationState, 'longestLifetimeMs'>, { lagMs }: RotationLag): number {
  return longestLifetimeMs + lagMs;
}

function isConfirmed(state: RotationState, { confirmed }: RotationFacts): boolean {
  return confirmed !== undefined && without(publishedRoots(state), confirmed).length === 0;
}

/** Those that are not among the others. */
export function without(certificates: readonly Certificate[], others: readonly Certificate[]): readonly Certificate[] {
  const known = new Set(others.map(({ fingerprint }) => fingerprint));
  return certificates.filter(({ fingerprint }) => !known.has(fingerprint));
}

/** In any order. */
function isSame(a: readonly Certificate[], b: readonly Certificate[]): boolean {
  return a.length === b.length && without(a, b).length === 0;
}
