import t from 'tap';
import type { Pidfd } from '../../../agent/runtime/native.js';
import { createAttestor, readStandpoint } from '../../../agent/sds/process.js';
import { idA, podA, podB } from '../../fixtures/cgroup-words.js';
import { createFakeProc } from '../../fixtures/proc.js';

type Test = Pick<typeof t, 'teardown'>;

const inPodA = `0::/kubepods/burstable/pod${podA}/${idA}\n`;

/** The kernel's answers for one connection by process 42 of uid 7. */
function scene(t: Test, kernel: { pid?: number; pidfd?: 'unsupported' | 'exited'; onAsk?: () => void } = {}) {
  const proc = createFakeProc(t);
  proc.set('self', { cgroup: '0::/system.slice/signet.service\n' });
  proc.set(1, { cgroup: '0::/init.scope\n' });
  let alive = true;
  let open = 0;
  const pidfd: Pidfd = {
    alive: () => alive,
    close: () => {
      open -= 1;
    },
  };
  const attestor = createAttestor({
    proc: proc.path,
    standpoint: readStandpoint(proc.path),
    native: {
      peerCredentials: () => ({ pid: kernel.pid ?? 42, uid: 7, gid: 8 }),
      peerPidfd: () => {
        kernel.onAsk?.();
        if (kernel.pidfd !== undefined) return kernel.pidfd;
        open += 1;
        return pidfd;
      },
    },
  });
  return { proc, attest: () => attestor.attest(0).place, whole: () => attestor.attest(0), die: () => (alive = false), open: () => open };
}

const unknown = { kind: 'unknown' };

t.test('by pidfd: a process that lives is where its cgroup says', async (t) => {
  const s = scene(t);
  s.proc.set(42, { cgroup: inPodA, startTicks: 99_999_999 });
  t.same(s.whole(), { pid: 42, uid: 7, place: { kind: 'pod', uid: podA } });
  t.equal(s.open(), 0, 'the pidfd is closed');
});

t.test('by pidfd: a process that ended while it was looked at is nobody, whoever has its PID now', async (t) => {
  const s = scene(t);
  s.proc.set(42, { cgroup: inPodA });
  s.die();
  t.match(s.attest(), unknown);
  s.proc.end(42);
  t.match(s.attest(), unknown);
  t.equal(s.open(), 0);
  const gone = scene(t, { pidfd: 'exited' });
  gone.proc.set(42, { cgroup: inPodA });
  t.match(gone.attest(), unknown);
});

t.test('without pidfd: a process older than the connection is believed, a younger one is not', async (t) => {
  const s = scene(t, { pidfd: 'unsupported' });
  s.proc.setUptime(10);
  s.proc.set(42, { cgroup: inPodA, startTicks: 1_000 });
  t.same(s.attest(), { kind: 'pod', uid: podA });
  s.proc.set(42, { cgroup: inPodA, startTicks: 1_001 });
  t.match(s.attest(), unknown);
  s.proc.end(42);
  t.match(s.attest(), unknown);
});

t.test('a PID of another namespace says to use hostPID', async (t) => {
  const s = scene(t, { pid: 0 });
  t.match(s.attest(), { kind: 'unknown', detail: /hostPID/ });
});

t.test('a process in a PID namespace of its own is no process of the node, whatever its cgroup is called', async (t) => {
  const s = scene(t);
  s.proc.set(42, { cgroup: '0::/system.slice/envoy.service\n' });
  t.same(s.attest(), { kind: 'host', unit: 'envoy.service' });
  s.proc.set(42, { cgroup: '0::/system.slice/envoy.service\n', nspid: '42\t7' });
  t.same(s.attest(), { kind: 'container' });
  s.proc.set(42, { cgroup: `0::/kubepods/pod${podB}/${idA}\n`, nspid: '42\t7' });
  t.same(s.attest(), { kind: 'pod', uid: podB });
});

t.test('where procfs hides others, only ourselves are known', async (t) => {
  const proc = createFakeProc(t);
  proc.set('self', { cgroup: `0::/kubepods/burstable/pod${podA}/${idA}\n` });
  t.equal(readStandpoint(proc.path).pod, podA);
});

t.test('the standpoint of this very process can be read', async (t) => {
  t.type(readStandpoint().origins.size, 'number');
  t.ok(readStandpoint().origins.size > 0);
});
