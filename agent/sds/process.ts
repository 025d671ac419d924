// Who is at the other end of an accepted socket: process, user, and where its cgroup puts it. Called by the peer policy at accept.
// Promises: what is read from /proc is of the process that connected, never of a later one with the same PID.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Native } from '../runtime/native.js';
import type { Place, Standpoint } from './cgroup.js';
import { locate, parseCgroup, takeStandpoint } from './cgroup.js';

/** The process at the other end of a socket, as the kernel tells it. */
export interface PeerProcess {
  readonly pid: number;
  readonly uid: number;
  readonly place: Place;
}

export interface Attestor {
  /** Who connected; the descriptor is that of the accepted socket. A peer that cannot be told is at an unknown place. */
  attest(fd: number): PeerProcess;
}

export interface AttestorOptions {
  readonly native: Pick<Native, 'peerCredentials' | 'peerPidfd'>;
  readonly standpoint: Standpoint;
  /** Where procfs is. Default `/proc`. */
  readonly proc?: string;
}

/** Where this process and the node are. It is read once, at start: neither moves. */
export function readStandpoint(proc = '/proc'): Standpoint {
  const self = parseCgroup(readFileSync(join(proc, 'self/cgroup'), 'utf8'));
  try {
    return takeStandpoint(self, parseCgroup(readFileSync(join(proc, '1/cgroup'), 'utf8')));
  } catch {
    // Where procfs hides the processes of others, none of them can be told either: they are at an unknown place.
    return takeStandpoint(self, new Map());
  }
}

export function createAttestor({ native, standpoint, proc = '/proc' }: AttestorOptions): Attestor {
  const read = (name: string): string => readFileSync(join(proc, name), 'utf8');

  const locateProcess = (pid: number): Place => {
    const place = locate(parseCgroup(read(`${pid}/cgroup`)), standpoint);
    // A process of the node shares our view of PIDs; in a namespace of its own it is in a container, whatever its cgroup is called.
    const isOfNode = place.kind === 'host' || place.kind === 'our-container';
    return isOfNode && depthOfPidNamespace(read(`${pid}/status`)) > 1 ? { kind: 'container' } : place;
  };

  const attestByPidfd = (fd: number, pid: number): Place | 'unsupported' => {
    const pidfd = native.peerPidfd(fd);
    if (pidfd === 'unsupported') return pidfd;
    if (pidfd === 'exited') return exited;
    try {
      const place = locateProcess(pid);
      // While it lives nobody else has its PID, so what was read before this line is its own.
      return pidfd.alive() ? place : exited;
    } finally {
      pidfd.close();
    }
  };

  // A PID that was used again belongs to a process that is younger than the connection.
  const attestByStartTime = (pid: number): Place => {
    const acceptedAt = secondsSinceBoot(read('uptime'));
    const before = startTicks(read(`${pid}/stat`));
    const place = locateProcess(pid);
    const isSame = startTicks(read(`${pid}/stat`)) === before;
    return isSame && before / ticksPerSecond <= acceptedAt ? place : exited;
  };

  return {
    attest(fd) {
      const { pid, uid } = native.peerCredentials(fd);
      if (pid === 0) return { pid, uid, place: hidden };
      try {
        const place = attestByPidfd(fd, pid);
        return { pid, uid, place: place === 'unsupported' ? attestByStartTime(pid) : place };
      } catch {
        // Gone between two reads, or hidden by the mount options of procfs: both mean that nothing is known.
        return { pid, uid, place: exited };
      }
    },
  };
}

const exited: Place = { kind: 'unknown', detail: 'the process ended, or /proc hides it' };
const hidden: Place = { kind: 'unknown', detail: 'the process is in another PID namespace; run the agent with hostPID' };

/** USER_HZ, a constant of the Linux ABI on the platforms that Signet is built for. */
const ticksPerSecond = 100;

/** Field 22 of proc_pid_stat(5); the name of the process before it may hold anything, brackets included. */
function startTicks(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

function secondsSinceBoot(uptime: string): number {
  return Number(uptime.split(' ')[0]);
}

/** NSpid of proc_pid_status(5): one PID for each namespace from ours down to that of the process. */
function depthOfPidNamespace(status: string): number {
  return (/^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? '').split(/\s+/).length;
}
