// What systemd passes to a service it activates by socket (sd_listen_fds(3)). Called by the wiring of both servers, which gives it the
// environment. Pure.

export interface PassedFds {
  /** By the names of the doors. */
  readonly fds: ReadonlyMap<string, number>;
  /** Why descriptors that seem to be there are not used. */
  readonly warning: string | undefined;
}

const firstFd = 3;
const maxFds = 64;

/**
 * The descriptors of LISTEN_FDS, if they are meant for the process `pid`, each for the door that FileDescriptorName= of its socket unit
 * names. One that comes alone and names no door is that of the first.
 */
export function passedFds(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
  doors: readonly [string, ...(readonly string[])],
): PassedFds {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names = '' } = env;
  const none = (warning?: string): PassedFds => ({ fds: new Map(), warning });
  if (count === undefined) return none();
  if (owner !== String(pid)) return none('LISTEN_FDS is ignored: LISTEN_PID names another process');
  const length = /^[0-9]{1,2}$/.test(count) ? Number(count) : Number.NaN;
  if (!(length >= 0 && length <= maxFds)) return none('LISTEN_FDS is ignored: not a number of descriptors');
  const given = names.split(':');
  const fds = new Map<string, number>();
  const unused: string[] = [];
  for (let index = 0; index < length; index += 1) {
    const name = given[index] ?? '';
    const door = length === 1 && !doors.includes(name) ? doors[0] : name;
    if (doors.includes(door) && !fds.has(door)) fds.set(door, firstFd + index);
    else unused.push(name);
  }
  return {
    fds,
    warning: unused.length === 0 ? undefined : `sockets of systemd are not used: ${unused.join(', ')} (of ${doors.join(', ')})`,
  };
}
