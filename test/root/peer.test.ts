// The peer policy on real processes in real cgroups, named as the kubelet and the container runtimes name them.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { PeerProcess } from '../../agent/sds/process.js';
import { idA, idB, podA, podB } from '../fixtures/cgroup-words.js';
import type { Cgroups } from '../fixtures/real-cgroups.js';
import { createCgroups, spawnIn, whyNoCgroups } from '../fixtures/real-cgroups.js';

type Test = Pick<typeof t, 'teardown'>;

const program = fileURLToPath(new URL('../fixtures/attest-here.js', import.meta.url));
const skip = whyNoCgroups() ?? false;
const slice = (uid: string, qos: string): string =>
  `kubepods.slice/kubepods-${qos}.slice/kubepods-${qos}-pod${uid.replaceAll('-', '_')}.slice`;
const containerd = (uid: string, qos: string, id: string): string => `${slice(uid, qos)}/cri-containerd-${id}.scope`;

/** An agent, as `attest-here` is one, in cgroups of its own if told so, and what it sees of each process that connects. */
async function agentIn(test: Test, within: readonly string[] = [], wrap: readonly string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  // Ordinary users are to get at the socket.
  chmodSync(directory, 0o755);
  const path = join(directory, 's', 's');
  const agent = spawnIn(within, [...wrap, process.execPath, program, path]);
  const lines = createInterface({ input: agent.stdout as NonNullable<ChildProcess['stdout']> })[Symbol.asyncIterator]();
  test.teardown(async () => {
    // unshare waits for its child and ignores all else.
    agent.kill('SIGKILL');
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
    rmSync(directory, { recursive: true });
  });
  // Connects until there is a socket, holds on until it is hung up on, and ends.
  const code = `const go = () => require('net').connect(${JSON.stringify(path)}).on('error', () => setTimeout(go, 20)).on('connect', function () { this.resume().on('close', () => process.exit()); }); go()`;
  return {
    path,
    async sees(
      cgroups: readonly string[],
      options: { uid?: number; wrap?: readonly string[]; before?: string } = {},
    ): Promise<PeerProcess & { ownPod?: string }> {
      const script = options.before === undefined ? code : `${options.before}; ${code}`;
      const peer = spawnIn(cgroups, [...(options.wrap ?? []), process.execPath, '-e', script], options);
      const exit = once(peer, 'exit');
      const { value } = (await lines.next()) as { value: string };
      await exit;
      return JSON.parse(value) as PeerProcess & { ownPod?: string };
    },
  };
}

/** The hierarchy of the PIDs, which needs no setting up. */
const pids = (cgroups: Cgroups): string | undefined => cgroups.v1.find((mount) => mount.endsWith('/pids'));

t.test('pods of both cgroup drivers, as root and as an ordinary user', { skip }, async (t) => {
  const [cgroups, agent] = [createCgroups(t), await agentIn(t)];
  t.same((await agent.sees([cgroups.make(cgroups.unified, containerd(podA, 'burstable', idA))])).place, { kind: 'pod', uid: podA });
  const mounts = [cgroups.unified, pids(cgroups)].filter((mount) => mount !== undefined);
  const everywhere = mounts.map((mount) => cgroups.make(mount, `kubepods/besteffort/pod${podB}/${idB}`));
  t.match(await agent.sees(everywhere, { uid: 65534 }), { uid: 65534, place: { kind: 'pod', uid: podB } });
  t.same((await agent.sees([cgroups.make(cgroups.unified, `${slice(podB, 'besteffort')}/crio-${idB}.scope/container`)])).place, {
    kind: 'pod',
    uid: podB,
  });
});

t.test('a child cgroup that a container names after another pod does not help it', { skip }, async (t) => {
  const [cgroups, agent] = [createCgroups(t), await agentIn(t)];
  const own = cgroups.make(cgroups.unified, containerd(podA, 'burstable', idA));
  const forged = join(own, containerd(podB, 'besteffort', idB));
  // The process makes the cgroup and moves there itself, as one may that has its own cgroup writable.
  const before = `const fs = require('fs'); fs.mkdirSync(${JSON.stringify(forged)}, { recursive: true }); fs.writeFileSync(${JSON.stringify(`${forged}/cgroup.procs`)}, String(process.pid))`;
  t.same((await agent.sees([own], { before })).place, { kind: 'pod', uid: podA });
});

t.test('hierarchies that name different pods are refused', { skip }, async (t) => {
  const [cgroups, agent] = [createCgroups(t), await agentIn(t)];
  const v1 = pids(cgroups);
  if (v1 === undefined) {
    t.comment('no cgroup v1 here');
    return;
  }
  const both = [cgroups.make(cgroups.unified, `kubepods/pod${podA}/${idA}`), cgroups.make(v1, `kubepods/pod${podB}/${idB}`)];
  t.match((await agent.sees(both)).place, { kind: 'unknown', detail: /disagree/ });
});

t.test('services are of the node, containers of others are not', { skip }, async (t) => {
  const [cgroups, agent] = [createCgroups(t), await agentIn(t)];
  t.same((await agent.sees([cgroups.make(cgroups.unified, 'system.slice/envoy.service')])).place, { kind: 'host', unit: 'envoy.service' });
  t.same((await agent.sees([cgroups.make(cgroups.unified, `system.slice/docker-${idA}.scope`)])).place, { kind: 'container' });
  t.same((await agent.sees([cgroups.make(cgroups.unified, `user.slice/user-0.slice/user@0.service/kubepods/pod${podA}/${idA}`)])).place, {
    kind: 'container',
  });
});

t.test('a process in a PID namespace of its own is not of the node, though its cgroup is', { skip }, async (t) => {
  const agent = await agentIn(t);
  t.equal((await agent.sees([])).place.kind, 'host');
  t.same((await agent.sees([], { wrap: ['unshare', '--pid', '--fork'] })).place, { kind: 'container' });
});

t.test('an agent in a pod with a cgroup namespace of its own', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  // In the other hierarchies at their roots, wherever this test itself was started.
  const agent = await agentIn(
    t,
    [...cgroups.v1, cgroups.make(cgroups.unified, containerd(podA, 'burstable', idA))],
    ['unshare', '--cgroup'],
  );
  t.same(
    (await agent.sees([cgroups.make(cgroups.unified, containerd(podB, 'burstable', idB))])).place,
    { kind: 'pod', uid: podB },
    'of the same class',
  );
  t.same(
    (await agent.sees([cgroups.make(cgroups.unified, containerd(podB, 'besteffort', idB))])).place,
    { kind: 'pod', uid: podB },
    'of another class',
  );
  t.same((await agent.sees([cgroups.make(cgroups.unified, `${slice(podA, 'burstable')}/cri-containerd-${idB}.scope`)])).place, {
    kind: 'beside-us',
  });
  t.same((await agent.sees([cgroups.make(cgroups.unified, containerd(podA, 'burstable', idA))])).place, { kind: 'our-container' });
  t.same((await agent.sees([cgroups.make(cgroups.unified, 'system.slice/envoy.service')])).place, { kind: 'host', unit: 'envoy.service' });
});

t.test('an agent in a pod without a cgroup namespace knows its own pod', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const agent = await agentIn(t, [cgroups.make(cgroups.unified, containerd(podA, 'burstable', idA))]);
  t.match(await agent.sees([cgroups.make(cgroups.unified, containerd(podB, 'burstable', idB))]), {
    ownPod: podA,
    place: { kind: 'pod', uid: podB },
  });
  t.match(await agent.sees([cgroups.make(cgroups.unified, `${slice(podA, 'burstable')}/cri-containerd-${idB}.scope`)]), {
    place: { kind: 'pod', uid: podA },
  });
});

t.test('an agent in a PID namespace of its own is told to use hostPID', { skip }, async (t) => {
  const agent = await agentIn(t, [], ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']);
  t.match(await agent.sees([]), { pid: 0, place: { kind: 'unknown', detail: /hostPID/ } });
});
