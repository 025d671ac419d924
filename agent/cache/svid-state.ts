// The states of an identity's certificate and the only moves between them. Pure; the cache applies it, status shows it.

import type { Reason } from '../runtime/reasons.js';
import type { Svid } from '../x509/svid.js';
import { renewAt } from './schedule.js';

export type SvidState =
  /** Issued on demand, and nobody has asked yet. */
  | { readonly status: 'idle'; readonly reason: Reason }
  /** No attempt has ended yet. */
  | { readonly status: 'pending'; readonly reason: Reason }
  | { readonly status: 'issued'; readonly svid: Svid; readonly renewAt: number }
  /** The renewal fails (`failures` > 0), or no published root verifies the certificate, which is still valid and served. */
  | {
      readonly status: 'retained';
      readonly svid: Svid;
      readonly reason: Reason;
      readonly retryAt: number;
      readonly failures: number;
      /** Why peers may refuse the certificate: no published root verifies it. */
      readonly unverified?: Reason;
    }
  /** There is no valid certificate. `failures`: failed attempts in a row. */
  | { readonly status: 'unavailable'; readonly reason: Reason; readonly retryAt: number; readonly failures: number };

export type SvidEvent =
  | { readonly kind: 'issued'; readonly svid: Svid }
  /** `failures`: attempts that failed since the last certificate came, this one included. */
  | { readonly kind: 'failed'; readonly reason: Reason; readonly retryAt: number; readonly failures: number }
  /** No published root verifies the certificate any more; `retryAt`: when its renewal is due. */
  | { readonly kind: 'root-withdrawn'; readonly reason: Reason; readonly retryAt: number }
  /** A published root verifies the certificate again; `isDue`: it is to be renewed nevertheless. */
  | { readonly kind: 'root-published'; readonly isDue: boolean }
  /** The retry was planned anew: somebody waits, roots arrived or the clock stepped. */
  | { readonly kind: 'hastened'; readonly retryAt: number }
  /** notAfter has passed. `retryAt` is when an attempt was or will be due. */
  | { readonly kind: 'expired'; readonly retryAt: number }
  /** A source knows a pod of an identity from before a restart; `wanted`: what it waits for without a certificate. */
  | { readonly kind: 'confirmed'; readonly wanted: Unserved }
  /** Somebody asked, for the first time or again. */
  | { readonly kind: 'asked' }
  /** The identity left this node. */
  | { readonly kind: 'gone' };

/** What an identity without a certificate waits for: its turn, a source that knows its pods, or somebody who asks. */
export type Unserved = 'issuing' | 'pods-restored' | 'issued-on-demand';

const lapsed: Reason = { code: 'certificate-expired', detail: 'not renewed in time' };

/** The first state of an identity; with a certificate from before a restart it is served as if it had never been away. */
export function firstState(unserved: Unserved, svid: Svid | undefined): SvidState {
  if (svid !== undefined) return { status: 'issued', svid, renewAt: renewAt(svid) };
  return { status: unserved === 'issued-on-demand' ? 'idle' : 'pending', reason: { code: unserved, detail: '' } };
}

/** The state after an event; undefined when the identity is gone. */
export function nextState(state: SvidState, event: SvidEvent): SvidState | undefined {
  switch (event.kind) {
    case 'issued':
      return { status: 'issued', svid: event.svid, renewAt: renewAt(event.svid) };
    case 'failed': {
      const { reason, retryAt, failures } = event;
      const svid = svidOf(state);
      return svid === undefined
        ? { status: 'unavailable', reason, retryAt, failures }
        : { status: 'retained', svid, reason, retryAt, failures, ...unverifiedIn(state) };
    }
    case 'root-withdrawn': {
      const { reason, retryAt } = event;
      if (state.status === 'retained') return { ...state, retryAt, unverified: reason };
      if (state.status !== 'issued') return state;
      return { status: 'retained', svid: state.svid, reason, retryAt, failures: 0, unverified: reason };
    }
    case 'root-published': {
      if (state.status !== 'retained' || state.unverified === undefined) return state;
      const { unverified: _, ...failing } = state;
      return event.isDue && failing.failures > 0 ? failing : { status: 'issued', svid: state.svid, renewAt: renewAt(state.svid) };
    }
    case 'hastened':
      return state.status === 'retained' || state.status === 'unavailable' ? { ...state, retryAt: event.retryAt } : state;
    case 'expired': {
      if (svidOf(state) === undefined) return state;
      // Without a failed renewal this is a certificate that ended while the machine slept or before the CA had its turn.
      const reason: Reason = state.status === 'retained' && state.failures > 0 ? state.reason : lapsed;
      return { status: 'unavailable', reason, retryAt: event.retryAt, failures: failuresOf(state) };
    }
    case 'confirmed':
      return state.status === 'pending' ? firstState(event.wanted, undefined) : state;
    case 'asked':
      return state.status === 'idle' ? firstState('issuing', undefined) : state;
    case 'gone':
      return undefined;
  }
}

/** The certificate that is served in this state. */
export function svidOf(state: SvidState | undefined): Svid | undefined {
  return state?.status === 'issued' || state?.status === 'retained' ? state.svid : undefined;
}

/** Why no published root verifies the certificate that is served; undefined when one does. */
export function unverifiedOf(state: SvidState): Reason | undefined {
  return state.status === 'retained' ? state.unverified : undefined;
}

function unverifiedIn(state: SvidState): { readonly unverified?: Reason } {
  const unverified = unverifiedOf(state);
  return unverified === undefined ? {} : { unverified };
}

/** Failed attempts in a row. */
export function failuresOf(state: SvidState): number {
  return state.status === 'retained' || state.status === 'unavailable' ? state.failures : 0;
}

/** Whether people and subscribers are told: not of another attempt that ended like the one before. */
export function isChange(before: SvidState, after: SvidState | undefined): boolean {
  if (after === undefined || before.status !== after.status || svidOf(before) !== svidOf(after)) return true;
  return before.status !== 'issued' && after.status !== 'issued' && before.reason.code !== after.reason.code;
}
