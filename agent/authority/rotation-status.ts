// Where a rotation stands and when it goes on: what `signet ca rotate` says of it and what metrics show. Pure.

import type { RotationLag, RotationState } from './rotation.js';
import { isOwnRoot, publishedRoots, rotationDueAt, switchAt } from './rotation.js';

/**
 * - `steady`: none is under way;
 * - `requested`: somebody wants one; the replica with the Lease has not begun yet;
 * - `publishing`: there is a next issuer, whose root is not everywhere yet;
 * - `waiting`: it is everywhere, and clients get the time to learn of it;
 * - `retiring`: the next issuer signs, and a former root is still published.
 */
export const rotationPhases = ['steady', 'requested', 'publishing', 'waiting', 'retiring'] as const;

export type RotationPhase = (typeof rotationPhases)[number];

export interface RotationStatus {
  readonly phase: RotationPhase;
  /** When it goes on because of the time, ms since the epoch: begins, switches or retires a root. Undefined: not by the time alone. */
  readonly nextAt: number | undefined;
}

export function rotationStatus(state: RotationState, lag: RotationLag): RotationStatus {
  const { next, former, requested, issuer } = state;
  if (next !== undefined) {
    const nextAt = switchAt(state, lag);
    return { phase: nextAt === undefined ? 'publishing' : 'waiting', nextAt };
  }
  if (requested) return { phase: 'requested', nextAt: undefined };
  const retireAt = former.length === 0 ? undefined : Math.min(...former.map(({ until }) => until));
  // Right after the switch the former root is published and not noted yet.
  if (publishedRoots(state).length > issuer.roots.length) return { phase: 'retiring', nextAt: retireAt };
  return { phase: 'steady', nextAt: isOwnRoot(state) ? rotationDueAt(state) : undefined };
}
