import t from 'tap';
import { passedFds } from '../../agent/systemd.js';

const pid = 4711;

for (const { name, env, fds, warning } of [
  { name: 'nothing is passed', env: {}, fds: [] },
  { name: 'one', env: { LISTEN_FDS: '1', LISTEN_PID: '4711' }, fds: [{ fd: 3, name: 'unknown' }] },
  {
    name: 'several with names',
    env: { LISTEN_FDS: '2', LISTEN_PID: '4711', LISTEN_FDNAMES: 'sds:admin' },
    fds: [
      { fd: 3, name: 'sds' },
      { fd: 4, name: 'admin' },
    ],
  },
  { name: 'of another process', env: { LISTEN_FDS: '1', LISTEN_PID: '4712' }, fds: [], warning: /another process/ },
  { name: 'without a process', env: { LISTEN_FDS: '1' }, fds: [], warning: /another process/ },
  { name: 'no number', env: { LISTEN_FDS: 'x', LISTEN_PID: '4711' }, fds: [], warning: /not a number/ },
  { name: 'absurdly many', env: { LISTEN_FDS: '65', LISTEN_PID: '4711' }, fds: [], warning: /not a number/ },
  { name: 'none', env: { LISTEN_FDS: '0', LISTEN_PID: '4711' }, fds: [] },
] as { name: string; env: Record<string, string>; fds: object[]; warning?: RegExp }[]) {
  t.test(`descriptors from systemd: ${name}`, async (t) => {
    const found = passedFds(env, pid);
    t.same(found.fds, fds);
    if (warning === undefined) t.equal(found.warning, undefined);
    else t.match(found.warning, warning);
  });
}
