// The peer policy: who is on the SDS socket and what that peer may ask for, decided at accept, before any HTTP/2 byte.
// Called for each accepted socket; the SDS service asks it who made a call.
// Promises: who cannot be told is refused; a grant follows its pod, the rules and the identities for as long as the connection lasts.

import type { Socket } from 'node:net';
import type { SpiffeId } from '../identity/spiffe-id.js';
import type { Metrics } from '../metrics.js';
import type { Pod } from '../pods/pod.js';
import type { Fields } from '../runtime/errors.js';
import { describeError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { socketFd } from '../runtime/native.js';
import type { ReasonCode } from '../runtime/reasons.js';
import type { Clock } from '../runtime/time.js';
import { aborted } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import { WatchedValue } from '../runtime/watched.js';
import type { Grant, Peer } from './grant.js';
import type { PeerRule, Subject } from './peer-rules.js';
import { matchRules } from './peer-rules.js';
import type { Attestor, PeerProcess } from './process.js';
import { createSeldom } from './seldom.js';

/** What the policy knows of the node; the identity index is one. */
export interface NodePods {
  /** Pods that have not ended, by UID. */
  readonly pods: Watched<ReadonlyMap<string, Pod>>;
  /** Changes whenever `idOf` may answer otherwise. */
  readonly identities: Watched<unknown>;
  idOf(uid: string): SpiffeId | undefined;
}

export interface PeerPolicyOptions {
  readonly index: NodePods;
  readonly rules: Watched<readonly PeerRule[]>;
  readonly attestor: Attestor;
  /** The UID of the pod that this process runs in; undefined when it is in none, or does not know. */
  readonly ownPod?: string | undefined;
  /** What a process in the very container of this process is: one of the node (`dev`), or of our own pod. Default `pod`. */
  readonly ownContainer?: 'host' | 'pod';
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** From the settings `sds.limits`, where the defaults stand. */
export interface ConnectionLimits {
  /** Open connections in all. */
  readonly connections: number;
  /** Open connections of one owner. */
  readonly connectionsPerOwner: number;
}

export interface PeerPolicy {
  /** Admits the peer of a socket that was just accepted and counts it until the socket closes; undefined when it is refused. */
  admit(socket: Socket): Peer | undefined;
  /** The peer of an open connection by its key. */
  peerOf(key: string): Peer | undefined;
  /** Keeps all grants current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** A peer as rules see it: a pod by UID, known or not yet, or a process of the node. */
type Identified =
  | { readonly kind: 'pod'; readonly uid: string; readonly isOwn: boolean }
  | { readonly kind: 'host'; readonly uid: number; readonly unit: string | undefined };

interface Admitted extends Peer {
  readonly identified: Identified;
  readonly grant: WatchedValue<Grant>;
}

/** Why a connection is refused, for the log. */
interface Refusal {
  readonly reason: ReasonCode;
  readonly detail: string;
}

/** A refused owner is logged once in this time, and so is one that met a limit. */
const logEveryMs = 60_000;

export function createPeerPolicy(options: PeerPolicyOptions): PeerPolicy {
  const { index, rules, attestor, limits, clock, log, metrics } = options;
  const peers = new Map<string, Admitted>();
  const connectionsOf = new Map<string, number>();
  const mayLog = createSeldom(clock, logEveryMs);
  let accepted = 0;

  const refuse = (owner: string, refusal: Refusal, fields: Fields): undefined => {
    metrics.peers.inc({ grant: 'refused' });
    if (mayLog(`${owner} ${refusal.reason}`)) log.warn('connection refused', { ...fields, ...refusal });
    return undefined;
  };
  const refuseByLimit = (limit: 'connections' | 'connections-per-owner', owner: string, fields: Fields): undefined => {
    metrics.limits.inc({ limit });
    return refuse(owner, { reason: 'peer-limit', detail: limit }, fields);
  };
  const enter = (peer: Admitted, socket: Socket): void => {
    peers.set(peer.key, peer);
    connectionsOf.set(peer.owner, (connectionsOf.get(peer.owner) ?? 0) + 1);
    metrics.connections.set(peers.size);
    metrics.peers.inc({ grant: peer.grant.value.kind });
    socket.once('close', () => {
      peers.delete(peer.key);
      const left = (connectionsOf.get(peer.owner) ?? 1) - 1;
      if (left === 0) connectionsOf.delete(peer.owner);
      else connectionsOf.set(peer.owner, left);
      metrics.connections.set(peers.size);
    });
  };

  return {
    admit(socket) {
      if (peers.size >= limits.connections) return refuseByLimit('connections', '', {});
      const found = ask(socket, attestor);
      if ('reason' in found) return refuse('', found, {});
      const identified = identify(found, options);
      const fields = describe(found, identified, index);
      if ('reason' in identified) return refuse(`uid:${found.uid}`, identified, fields);
      const owner = identified.kind === 'pod' ? identified.uid : `uid:${identified.uid}`;
      if ((connectionsOf.get(owner) ?? 0) >= limits.connectionsPerOwner) return refuseByLimit('connections-per-owner', owner, fields);
      const grant = decide(identified, index, rules.value);
      // The news of a pod may come later than its process; of a process of the node there is no more to come.
      if (grant.kind === 'none' && (identified.kind === 'host' || grant.reason.code === 'peer-denied')) {
        return refuse(owner, { reason: grant.reason.code, detail: grant.reason.detail }, fields);
      }
      const peer: Admitted = {
        key: `peer-${(accepted += 1)}`,
        owner,
        fields,
        identified,
        grant: new WatchedValue<Grant>(grant, sameGrant),
      };
      enter(peer, socket);
      return peer;
    },
    peerOf: (key) => peers.get(key),
    async run(signal) {
      const refresh = (): void => {
        for (const peer of peers.values()) peer.grant.set(decide(peer.identified, index, rules.value));
      };
      index.pods.subscribe(refresh, signal);
      index.identities.subscribe(refresh, signal);
      rules.subscribe(refresh, signal);
      await aborted(signal);
    },
  };
}

function ask(socket: Socket, attestor: Attestor): PeerProcess | Refusal {
  const fd = socketFd(socket);
  try {
    return fd === undefined ? { reason: 'peer-unknown', detail: 'the connection is closed' } : attestor.attest(fd);
  } catch (error) {
    return { reason: 'peer-unknown', detail: describeError(error) };
  }
}

function identify({ uid, place }: PeerProcess, { ownPod, ownContainer = 'pod' }: PeerPolicyOptions): Identified | Refusal {
  const unknown = (detail: string): Refusal => ({ reason: 'peer-unknown', detail });
  switch (place.kind) {
    case 'pod':
      return { kind: 'pod', uid: place.uid, isOwn: place.uid === ownPod };
    case 'host':
      return { kind: 'host', uid, unit: place.unit };
    case 'our-container':
    case 'beside-us':
      if (place.kind === 'our-container' && ownContainer === 'host') return { kind: 'host', uid, unit: undefined };
      return ownPod === undefined ? unknown('the process is in the pod of the agent') : { kind: 'pod', uid: ownPod, isOwn: true };
    case 'static-pod':
      return unknown('the process is in a static pod, which has no identity');
    case 'container':
      return unknown('the process is in a container that is no pod of this node');
    case 'unknown':
      return unknown(place.detail);
  }
}

/** What the peer may ask for now. A pod with `peer-denied` is given nothing by the rules, so there is no point in talking to it. */
function decide(peer: Identified, index: NodePods, rules: readonly PeerRule[]): Grant {
  const none = (code: ReasonCode, detail: string): Grant => ({ kind: 'none', reason: { code, detail } });
  const subject = subjectOf(peer, index);
  // A process can be faster than the news of its pod: the connection waits for the pod without a grant.
  if (subject === undefined) return none('peer-unknown', 'the pod is not known on this node, or has ended');
  const granted = matchRules(rules, subject);
  if (granted === undefined) return none(peer.kind === 'host' ? 'peer-unknown' : 'peer-denied', 'no rule under peers matches');
  if (granted === 'none') return none('peer-denied', 'a rule under peers grants nothing');
  if (granted !== 'own' && granted !== 'node') return { kind: 'patterns', patterns: granted };
  // Our own pod holds every key already; a neighbour in it is no delegate.
  if (granted === 'node' && !(peer.kind === 'pod' && peer.isOwn)) return { kind: 'node' };
  const id = peer.kind === 'pod' ? index.idOf(peer.uid) : undefined;
  return id === undefined ? none('peer-no-identity', 'the pod has no identity') : { kind: 'own', id };
}

function subjectOf(peer: Identified, { pods }: NodePods): Subject | undefined {
  if (peer.kind === 'host') return peer;
  const pod = pods.value.get(peer.uid);
  return pod === undefined ? undefined : { kind: 'pod', pod };
}

function sameGrant(a: Grant, b: Grant): boolean {
  if (a.kind === 'own') return b.kind === 'own' && a.id.uri === b.id.uri;
  if (a.kind === 'none') return b.kind === 'none' && a.reason.code === b.reason.code && a.reason.detail === b.reason.detail;
  if (a.kind === 'patterns') return b.kind === 'patterns' && a.patterns.join(' ') === b.patterns.join(' ');
  return a.kind === b.kind;
}

function describe({ pid, uid }: PeerProcess, identified: Identified | Refusal, { pods }: NodePods): Fields {
  if ('reason' in identified) return { pid, uid };
  if (identified.kind === 'host') return { pid, uid, unit: identified.unit };
  const pod = pods.value.get(identified.uid);
  return { pid, uid, podUid: identified.uid, pod: pod === undefined ? undefined : `${pod.namespace}/${pod.name}` };
}
