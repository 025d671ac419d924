// The wiring of the sockets: from the settings, or from what systemd passed in, to the listeners of SDS and control, and to the places
// of the doors that are reached over TCP; and who may use the control socket. Called by agent.ts. No logic of its own.

import type { Socket } from 'node:net';
import type { AdminPeer } from './admin.js';
import { createAdminClient } from './admin/client.js';
import type { Config } from './config.js';
import type { Listener } from './listen.js';
import { listenFd, listenUnix } from './listen.js';
import type { TcpPlace } from './listen/place.js';
import { createSelfProbe } from './listen/self-probe.js';
import type { Metrics } from './metrics.js';
import { findGroupId } from './runtime/group.js';
import type { Logger } from './runtime/log.js';
import type { Native } from './runtime/native.js';
import { socketFd } from './runtime/native.js';
import type { Clock } from './runtime/time.js';
import type { PassedFds } from './systemd.js';
import { passedFds } from './systemd.js';

type OnConnection = (socket: Socket) => void;

export interface SocketsOptions {
  readonly native: Native;
  readonly config: Config;
  /** May hold the descriptors that systemd passes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'socketUp'>;
}

export interface Sockets {
  /** Keeps the SDS socket until the signal aborts. */
  sds(this: void, signal: AbortSignal): Promise<void>;
  /** Settles as soon as the SDS socket is seen to be accepted on. */
  check(this: void, signal: AbortSignal): Promise<void>;
  /** Keeps the control socket until the signal aborts; until it is called, connections to it are closed. */
  admin(this: void, onConnection: OnConnection, signal: AbortSignal): Promise<void>;
}

/** Binds both sockets, or takes over those that systemd passed in under the names `sds` and `admin`. */
export async function openSockets({ native, config, env, clock, log, metrics }: SocketsOptions, onSds: OnConnection): Promise<Sockets> {
  const passed = findPassed(env);
  if (passed.warning !== undefined) log.warn(passed.warning);
  if (passed.fds.has('local-ca') && config.localCa.address === undefined) {
    log.warn('the socket local-ca of systemd is not accepted on, so its callers wait: localCa.address is not set');
  }
  const isSameAgent = async (): Promise<boolean> => {
    const other = await createAdminClient({ path: config.admin.socket.path, clock }).status(new AbortController().signal);
    return other.trustDomain === config.trustDomain && other.node === config.node;
  };
  const takeover = config.sds.socket.takeover ? { takeover: { native, isSameAgent } } : {};
  const open = async (
    name: 'sds' | 'admin',
    path: string,
    mode: number,
    group: string | undefined,
    onConnection: OnConnection,
  ): Promise<Listener> => {
    const shared = { pauseOnConnect: name === 'sds', log };
    const given = passed.fds.get(name);
    const onLook = (isInPlace: boolean): void => {
      if (name === 'sds') metrics.socketUp.set(isInPlace ? 1 : 0);
    };
    if (given !== undefined) {
      // It is kept in its place by whoever passed it in.
      onLook(true);
      return await listenFd(given, shared, onConnection);
    }
    return await listenUnix(
      { path, mode, ...(group === undefined ? {} : { gid: findGroupId(group) }), ...takeover, ...shared, onLook, clock },
      onConnection,
    );
  };
  let onAdmin: OnConnection = (socket) => socket.destroy();
  const { socket } = config.sds;
  // The control socket second: until then it is that of the agent which may be taken over.
  const probe = createSelfProbe({ path: socket.path, native }, onSds);
  const sds = await open('sds', socket.path, socket.mode, socket.group, probe.onConnection);
  const adminMode = config.admin.group === undefined ? 0o600 : 0o660;
  const admin = await open('admin', config.admin.socket.path, adminMode, config.admin.group, (connection) => onAdmin(connection)).catch(
    async (error: unknown) => {
      await sds.run(AbortSignal.abort());
      throw error;
    },
  );
  return {
    sds: (signal) => sds.run(signal),
    check: probe.check,
    admin: (onConnection, signal) => {
      onAdmin = onConnection;
      return admin.run(signal);
    },
  };
}

const findPassed = (env: SocketsOptions['env']): PassedFds => passedFds(env, process.pid, ['sds', 'admin', 'http', 'local-ca']);

/** Where a door is: on what systemd passed in under its name, else at its address, which an agent that may be replaced shares. */
export function tcpPlace(
  name: 'http' | 'local-ca',
  address: TcpPlace['address'],
  { config, env }: Pick<SocketsOptions, 'config' | 'env'>,
): TcpPlace {
  return { address, reusePort: config.sds.socket.takeover, fd: findPassed(env).fds.get(name) };
}

/** Who is at the other end of the control socket, and who may use it. */
export function adminPeers(native: Native, { admin }: Config) {
  return {
    peerOf(socket: Socket): AdminPeer | undefined {
      const fd = socketFd(socket);
      if (fd === undefined) return undefined;
      const { uid, gid } = native.peerCredentials(fd);
      return { uid, groups: [gid, ...native.peerGroups(fd)] };
    },
    uid: process.getuid?.() ?? 0,
    ...(admin.group === undefined ? {} : { groupId: findGroupId(admin.group) }),
  };
}
