// The few system calls Node does not have, by koffi: who is at the other end of a Unix socket, datagrams to one, no dumps of this
// process, and acknowledgements at once. Used by the peer policy, the listeners, the word to systemd and the start of the commands;
// nothing else knows koffi. Linux only.
// Loading costs some 8 ms and 2 MiB, so it happens at the first `loadNative`, not at import.

import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { SignetError } from './errors.js';

/** Who called connect(2) or, on a client socket, listen(2); see unix(7), SO_PEERCRED. */
export interface PeerCredentials {
  /** 0 when the process is in a PID namespace that this process cannot see. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/** A handle on one process that stays with it when its PID is used again. */
export interface Pidfd {
  /** Whether the process has not ended yet. */
  alive(): boolean;
  close(): void;
}

export interface Native {
  peerCredentials(fd: number): PeerCredentials;
  /** The supplementary groups of the peer, of the same moment (SO_PEERGROUPS, Linux 4.13). */
  peerGroups(fd: number): readonly number[];
  /** The peer by SO_PEERPIDFD: `unsupported` before Linux 6.5, `exited` when the process is already gone. */
  peerPidfd(fd: number): Pidfd | 'unsupported' | 'exited';
  /**
   * Sends one datagram to a Unix socket, at once or not at all (unix(7)); `@` begins the name of an abstract one. Throws `internal`
   * with the errno.
   */
  sendDatagram(path: string, text: string): void;
  /** Sends what a TCP connection owes its peer in acknowledgements (TCP_QUICKACK); false when the kernel cannot. */
  acknowledge(fd: number): boolean;
  /** No core file, and no other process of this user may attach or read the memory (PR_SET_DUMPABLE 0, RLIMIT_CORE 0). */
  forbidDumps(): void;
}

// Values of the generic Linux ABI; Signet is built for x86-64 and arm64, which share them.
const AF_UNIX = 1;
// SOCK_DGRAM with SOCK_NONBLOCK and SOCK_CLOEXEC.
const SOCK_DGRAM_NOW = 0x8_0802;
const MSG_NOSIGNAL = 0x4000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const SO_PEERGROUPS = 59;
const SO_PEERPIDFD = 77;
const IPPROTO_TCP = 6;
const TCP_QUICKACK = 12;
const ENOPROTOOPT = 92;
const PR_SET_DUMPABLE = 4;
const RLIMIT_CORE = 4;
const POLLIN = 1;

/** Loads the C library of this process; rejects with `unavailable` where koffi has no build for the platform. */
export async function loadNative(): Promise<Native> {
  const koffi = await import('koffi').then(
    (module) => module.default,
    (error: unknown) => {
      throw new SignetError('unavailable', 'load the native library', { cause: error });
    },
  );
  const libc = koffi.load(null);
  const getsockopt = libc.func('int getsockopt(int, int, int, _Out_ void *, _Inout_ uint32_t *)');
  const setsockopt = libc.func('int setsockopt(int, int, int, const void *, uint32_t)');
  const openSocket = libc.func('int socket(int, int, int)');
  const sendto = libc.func('long sendto(int, const void *, size_t, int, const void *, uint32_t)');
  const poll = libc.func('int poll(_Inout_ void *, unsigned long, int)');
  const prctl = libc.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)');
  const setrlimit = libc.func('int setrlimit(int, const void *)');

  const on = Buffer.of(1, 0, 0, 0);
  const fail = (call: string): SignetError => new SignetError('internal', `${call} failed`, { fields: { errno: koffi.errno() } });
  const openPidfd = (pidfd: number): Pidfd => ({
    alive() {
      // struct pollfd; a pidfd becomes readable when its process ends, see pidfd_open(2).
      const entry = Buffer.alloc(8);
      entry.writeInt32LE(pidfd, 0);
      entry.writeInt16LE(POLLIN, 4);
      const ready: number = poll(entry, 1, 0);
      if (ready < 0) throw fail('poll');
      return ready === 0;
    },
    close: () => closeSync(pidfd),
  });

  return {
    peerCredentials(fd) {
      const out = Buffer.alloc(12);
      if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, out, [out.length]) !== 0) throw fail('getsockopt SO_PEERCRED');
      return { pid: out.readInt32LE(0), uid: out.readUInt32LE(4), gid: out.readUInt32LE(8) };
    },
    peerGroups(fd) {
      // gid_t is 4 bytes; the kernel allows 65536 groups (NGROUPS_MAX).
      const out = Buffer.alloc(4 * 65_536);
      const length = [out.length];
      if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, out, length) !== 0) throw fail('getsockopt SO_PEERGROUPS');
      return Array.from({ length: (length[0] ?? 0) / 4 }, (_, index) => out.readUInt32LE(4 * index));
    },
    peerPidfd(fd) {
      const out = Buffer.alloc(4);
      if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, out, [out.length]) === 0) return openPidfd(out.readInt32LE(0));
      // Every other error (ESRCH, EINVAL, by kernel) means that the process was reaped before we asked.
      return koffi.errno() === ENOPROTOOPT ? 'unsupported' : 'exited';
    },
    sendDatagram(path, text) {
      const address = Buffer.alloc(2 + Buffer.byteLength(path));
      address.writeUInt16LE(AF_UNIX, 0);
      address.write(path, 2);
      // The length ends a path as well as a zero byte would.
      if (path.startsWith('@')) address[2] = 0;
      const data = Buffer.from(text);
      const fd: number = openSocket(AF_UNIX, SOCK_DGRAM_NOW, 0);
      if (fd < 0) throw fail('socket');
      try {
        if (sendto(fd, data, data.length, MSG_NOSIGNAL, address, address.length) < 0) throw fail('sendto');
      } finally {
        closeSync(fd);
      }
    },
    acknowledge: (fd) => setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, on, on.length) === 0,
    forbidDumps() {
      if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) !== 0) throw fail('prctl PR_SET_DUMPABLE');
      // struct rlimit, both limits 0.
      if (setrlimit(RLIMIT_CORE, Buffer.alloc(16)) !== 0) throw fail('setrlimit RLIMIT_CORE');
    },
  };
}

/** The descriptor of a connected socket, undefined once it is closed. Valid only until control returns to the event loop. */
export function socketFd(socket: Socket): number | undefined {
  // Node has no public way to it; `_handle.fd` is the same in Node 20 to 26 (the tests of this file prove it).
  const fd = (socket as { _handle?: { fd?: unknown } | null })._handle?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}
