import t from 'tap';
import { passedFds } from '../../agent/systemd.js';

const pid = 4711;

for (const { name, env, fds, warning } of [
  { name: 'nothing is passed', env: {}, fds: {} },
  { name: 'one', env: { LISTEN_FDS: '1', LISTEN_PID: '4711' }, fds: { sds: 3 } },
  { name: 'one that names no door', env: { LISTEN_FDS: '1', LISTEN_PID: '4711', LISTEN_FDNAMES: 'x.socket' }, fds: { sds: 3 } },
  { name: 'one of another door', env: { LISTEN_FDS: '1', LISTEN_PID: '4711', LISTEN_FDNAMES: 'http' }, fds: { http: 3 } },
  {
    name: 'several with names',
    env: { LISTEN_FDS: '3', LISTEN_PID: '4711', LISTEN_FDNAMES: 'http:sds:admin' },
    fds: { http: 3, sds: 4, admin: 5 },
  },
  {
    name: 'several, one of them without a door, one twice',
    env: { LISTEN_FDS: '3', LISTEN_PID: '4711', LISTEN_FDNAMES: 'unknown:sds:sds' },
    fds: { sds: 4 },
    warning: /not used: unknown, sds \(of sds, admin, http\)/,
  },
  { name: 'of another process', env: { LISTEN_FDS: '1', LISTEN_PID: '4712' }, fds: {}, warning: /another process/ },
  { name: 'without a process', env: { LISTEN_FDS: '1' }, fds: {}, warning: /another process/ },
  { name: 'no number', env: { LISTEN_FDS: 'x', LISTEN_PID: '4711' }, fds: {}, warning: /not a number/ },
  { name: 'absurdly many', env: { LISTEN_FDS: '65', LISTEN_PID: '4711' }, fds: {}, warning: /not a number/ },
  { name: 'none', env: { LISTEN_FDS: '0', LISTEN_PID: '4711' }, fds: {} },
] as { name: string; env: Record<string, string>; fds: object; warning?: RegExp }[]) {
  t.test(`descriptors from systemd: ${name}`, async (t) => {
    const found = passedFds(env, pid, ['sds', 'admin', 'http']);
    t.same(Object.fromEntries(found.fds), fds);
    if (warning === undefined) t.equal(found.warning, undefined);
    else t.match(found.warning, warning);
  });
}
