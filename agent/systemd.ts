// What systemd passes to a service it activates by socket (sd_listen_fds(3)). Called by the wiring, which gives it the environment.
// Pure.

export interface PassedFd {
  readonly fd: number;
  /** FileDescriptorName= of the socket unit; `unknown` when systemd gave none. */
  readonly name: string;
}

export interface PassedFds {
  readonly fds: readonly PassedFd[];
  /** Why descriptors that seem to be there are not used. */
  readonly warning: string | undefined;
}

const firstFd = 3;
const maxFds = 64;

/** The descriptors of LISTEN_FDS, if they are meant for the process `pid`. */
export function passedFds(env: Readonly<Record<string, string | undefined>>, pid: number): PassedFds {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names } = env;
  if (count === undefined) return { fds: [], warning: undefined };
  const none = (warning: string): PassedFds => ({ fds: [], warning });
  if (owner !== String(pid)) return none('LISTEN_FDS is ignored: LISTEN_PID names another process');
  const fds = /^[0-9]{1,2}$/.test(count) ? Number(count) : Number.NaN;
  if (!(fds >= 0 && fds <= maxFds)) return none('LISTEN_FDS is ignored: not a number of descriptors');
  const given = names === undefined ? [] : names.split(':');
  return { fds: Array.from({ length: fds }, (_, index) => ({ fd: firstFd + index, name: given[index] ?? 'unknown' })), warning: undefined };
}
