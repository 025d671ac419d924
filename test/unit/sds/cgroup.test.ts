import fc from 'fast-check';
import t from 'tap';
import { locate, parseCgroup, takeStandpoint } from '../../../agent/sds/cgroup.js';
import { idA, podA, podB } from '../../fixtures/cgroup-words.js';
import { cgroupExamples } from '../../fixtures/cgroups.js';

for (const { name, self, init, peer, place } of cgroupExamples) {
  t.test(`place of a process: ${name}`, async (t) => {
    t.same(locate(parseCgroup(peer), takeStandpoint(parseCgroup(self), parseCgroup(init))), place);
  });
}

t.test('our own pod is known where our path shows it', async (t) => {
  const own = (path: string, init: string) => takeStandpoint(parseCgroup(`0::${path}\n`), parseCgroup(`0::${init}\n`)).pod;
  t.equal(own(`/kubepods/burstable/pod${podA}/${idA}`, '/init.scope'), podA);
  t.equal(own('/', '/../../../../init.scope'), undefined);
  t.equal(own('/system.slice/signet.service', '/init.scope'), undefined);
  t.equal(own(`/kubepods/burstable/pod${podA}/${idA}`, `/kubepods/burstable/pod${podA}/${idA}`), undefined, 'a pod that is the node');
});

const budget = { numRuns: 500 };
const onHost = takeStandpoint(parseCgroup('0::/system.slice/signet.service\n'), parseCgroup('0::/init.scope\n'));
const inPod = takeStandpoint(parseCgroup('0::/\n'), parseCgroup('0::/../../../../init.scope\n'));
const segment = fc.oneof(
  fc.constantFrom(
    'kubepods',
    'burstable',
    'besteffort',
    'kubelet',
    'docker',
    'system.slice',
    'user.slice',
    'a.service',
    'b.scope',
    'kubepods.slice',
    'init.scope',
    '..',
  ),
  fc.constantFrom(
    `pod${podA}`,
    `pod${podB}`,
    `kubepods-pod${podB.replaceAll('-', '_')}.slice`,
    idA,
    `cri-containerd-${idA}.scope`,
    `docker-${idA}.scope`,
  ),
  fc.stringMatching(/^[a-z0-9:@_.-]{1,12}$/),
);
const segments = fc.array(segment, { maxLength: 8 });
/** Names that a directory can have. */
const names = segments.map((all) => all.filter((name) => name !== '..' && name !== '.'));
const path = segments.map((all) => `/${all.join('/')}`);

t.test('whatever is below the container of a pod changes nothing', async () => {
  fc.assert(
    fc.property(names, (below) => {
      for (const container of [
        `/kubepods/burstable/pod${podA}/${idA}`,
        `/kubepods.slice/kubepods-pod${podA.replaceAll('-', '_')}.slice/crio-${idA}.scope`,
      ]) {
        const place = locate(parseCgroup(`0::${[container, ...below].join('/')}\n`), onHost);
        if (place.kind !== 'pod' || place.uid !== podA) throw new Error(`${below.join('/')}: ${JSON.stringify(place)}`);
      }
    }),
    budget,
  );
});

t.test('whatever is below a container that is no pod makes it neither a pod nor the host', async () => {
  fc.assert(
    fc.property(names, (below) => {
      for (const container of [`/docker/${idA}`, `/system.slice/docker-${idA}.scope`, '/machine.slice/web.scope', '/lxc.payload.web']) {
        const place = locate(parseCgroup(`0::${[container, ...below].join('/')}\n`), onHost);
        if (place.kind !== 'container') throw new Error(`${below.join('/')}: ${JSON.stringify(place)}`);
      }
    }),
    budget,
  );
});

t.test('whatever a user names in a delegated unit is no pod', async () => {
  fc.assert(
    fc.property(segments, (below) => {
      const place = locate(parseCgroup(`0::${['/user.slice/user-1000.slice/user@1000.service', ...below].join('/')}\n`), onHost);
      if (place.kind === 'pod' || (place.kind === 'host' && place.unit !== undefined)) throw new Error(JSON.stringify(place));
    }),
    budget,
  );
});

t.test('any two lines never make more of a process than each of them alone', async () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      const both = takeStandpoint(parseCgroup('1:name=systemd:/\n0::/\n'), parseCgroup('1:name=systemd:/init.scope\n0::/init.scope\n'));
      const of = (text: string) => locate(parseCgroup(text), both);
      const [first, second, joined] = [of(`1:name=systemd:${one}\n`), of(`0::${other}\n`), of(`1:name=systemd:${one}\n0::${other}\n`)];
      if (joined.kind === 'pod' && ![first, second].some((place) => place.kind === 'pod' && place.uid === joined.uid))
        throw new Error('a pod of neither');
      if (joined.kind === 'host' && (first.kind !== 'host' || second.kind !== 'host')) throw new Error('a host process of a container');
      if (first.kind === 'pod' && second.kind === 'pod' && first.uid !== second.uid && joined.kind !== 'unknown')
        throw new Error('disagreement');
    }),
    budget,
  );
});

t.test('any text is read without an error', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        path.map((text) => `0::${text}\n`),
      ),
      (text) => {
        locate(parseCgroup(text), onHost);
        locate(parseCgroup(text), inPod);
        takeStandpoint(parseCgroup(text), parseCgroup(text));
      },
    ),
    budget,
  );
});
