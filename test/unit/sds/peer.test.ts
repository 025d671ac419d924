import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import type { PeerRule } from '../../../agent/config.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { SpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { Pod } from '../../../agent/pods/pod.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Place } from '../../../agent/sds/cgroup.js';
import type { Grant } from '../../../agent/sds/grant.js';
import type { ConnectionLimits, PeerPolicyOptions } from '../../../agent/sds/peer.js';
import { createPeerPolicy } from '../../../agent/sds/peer.js';
import { podA, podB } from '../../fixtures/cgroup-words.js';
import { createFakeClock, settle } from '../../fixtures/clock.js';
import { defaultLimits } from '../../fixtures/limits.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

type Test = Pick<typeof t, 'teardown'>;

const podOf = (uid: string, serviceAccount: string): Pod => ({
  uid,
  namespace: 'web',
  name: `${serviceAccount}-0`,
  serviceAccount,
  phase: 'Running',
  labels: {},
  hostNetwork: false,
  mirror: false,
});
const front = podOf(podA, 'front');
const idOfFront = createSpiffeId('example.org', 'web', 'front');
const ownRule: PeerRule = { pod: {}, grant: 'own' };

/** As much of an accepted socket as the policy looks at. */
const socketOf = (fd?: number): Socket =>
  Object.assign(new EventEmitter(), { _handle: fd === undefined ? null : { fd } }) as unknown as Socket;

function scene(
  t: Test,
  options: Partial<Omit<PeerPolicyOptions, 'rules' | 'limits'>> & { limits?: Partial<ConnectionLimits>; rules?: readonly PeerRule[] } = {},
) {
  const [clock, log, metrics, stop] = [createFakeClock(), createRecordingLogger(), createTestMetrics(), new AbortController()];
  const pods = new WatchedValue<ReadonlyMap<string, Pod>>(new Map([[podA, front]]));
  const identities = new WatchedValue<ReadonlyMap<string, SpiffeId>>(new Map([[podA, idOfFront]]));
  const rules = new WatchedValue<readonly PeerRule[]>(options.rules ?? [ownRule]);
  let place: Place = { kind: 'pod', uid: podA };
  let uid = 1000;
  const policy = createPeerPolicy({
    index: { pods, identities, idOf: (pod) => identities.value.get(pod) },
    attestor: { attest: () => ({ pid: 42, uid, place }) },
    clock,
    log,
    metrics: metrics.metrics,
    ...options,
    rules,
    limits: { ...defaultLimits, ...options.limits },
  });
  const ended = policy.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await ended;
    if (pods.subscribers + identities.subscribers + rules.subscribers !== 0) throw new Error('a subscription was left');
  });
  return {
    ...{ policy, pods, identities, rules, clock, log, metrics },
    /** A connection of a process at that place, by a socket of its own. */
    connect(from: Place = place, ofUid = uid) {
      place = from;
      uid = ofUid;
      const socket = socketOf(9);
      return { peer: policy.admit(socket), close: () => socket.emit('close') };
    },
    refused: async () => (await metrics.read('signet_peer_connections_total', { grant: 'refused' })) ?? 0,
    warnings: () => log.lines.filter((line) => line.message === 'connection refused').map((line) => line.fields),
  };
}

const pod = (uid: string): Place => ({ kind: 'pod', uid });
const host = (unit?: string): Place => ({ kind: 'host', unit });

t.test('a pod gets its own identity, and its key finds it until it closes', async (t) => {
  const s = scene(t);
  const { peer, close } = s.connect(pod(podA));
  t.same(peer?.grant.value, { kind: 'own', id: idOfFront });
  t.equal(peer?.owner, podA);
  t.match(peer?.fields, { pid: 42, uid: 1000, pod: 'web/front-0', podUid: podA });
  t.equal(s.policy.peerOf(peer?.key ?? ''), peer);
  t.not(s.connect(pod(podA)).peer?.key, peer?.key);
  t.equal(await s.metrics.read('signet_sds_connections'), 2);
  t.equal(await s.metrics.read('signet_peer_connections_total', { grant: 'own' }), 2);
  close();
  t.equal(s.policy.peerOf(peer?.key ?? ''), undefined);
  t.equal(await s.metrics.read('signet_sds_connections'), 1);
});

t.test('rules decide for pods and processes of the node', async (t) => {
  const s = scene(t, {
    rules: [
      { pod: { serviceAccount: 'web/front' }, grant: 'node' },
      { host: { unit: 'envoy.service' }, grant: ['spiffe://example.org/ns/web/sa/*'] },
    ],
  });
  t.same(s.connect(pod(podA)).peer?.grant.value, { kind: 'node' });
  const { peer } = s.connect(host('envoy.service'), 101);
  t.same(peer?.grant.value, { kind: 'patterns', patterns: ['spiffe://example.org/ns/web/sa/*'] });
  t.equal(peer?.owner, 'uid:101');
  t.match(peer?.fields, { uid: 101, unit: 'envoy.service' });
});

for (const { name, place, rules, reason = 'peer-unknown', detail } of [
  { name: 'a process of the node without a rule', place: host(), detail: /no rule/ },
  {
    name: 'a process that a rule grants nothing',
    place: host(),
    rules: [{ host: { uid: 1000 }, grant: 'none' }],
    reason: 'peer-denied',
    detail: /grants nothing/,
  },
  {
    name: 'a pod without a rule',
    place: pod(podA),
    rules: [{ host: { uid: 1000 }, grant: 'node' }],
    reason: 'peer-denied',
    detail: /no rule/,
  },
  { name: 'a static pod', place: { kind: 'static-pod' }, detail: /static pod/ },
  {
    name: 'a container that is no pod, with a rule for its uid',
    place: { kind: 'container' },
    rules: [{ host: { uid: 1000 }, grant: 'node' }],
    detail: /container that is no pod/,
  },
  {
    name: 'an unknown place',
    place: { kind: 'unknown', detail: 'the process is in another PID namespace; run the agent with hostPID' },
    detail: /hostPID/,
  },
  {
    name: 'our own container, with a rule for its uid',
    place: { kind: 'our-container' },
    rules: [{ host: { uid: 1000 }, grant: 'node' }],
    detail: /pod of the agent/,
  },
  { name: 'beside us', place: { kind: 'beside-us' }, detail: /pod of the agent/ },
] as readonly { name: string; place: Place; rules?: readonly PeerRule[]; reason?: string; detail: RegExp }[]) {
  t.test(`refused at accept: ${name}`, async (t) => {
    const s = scene(t, rules === undefined ? {} : { rules });
    t.equal(s.connect(place).peer, undefined);
    t.equal(await s.refused(), 1);
    t.match(s.warnings(), [{ uid: 1000, reason, detail }]);
    t.equal(await s.metrics.read('signet_sds_connections'), 0);
  });
}

t.test('in development our own container is a part of the node', async (t) => {
  const s = scene(t, { ownContainer: 'host', rules: [{ host: { uid: 1000 }, grant: 'node' }] });
  t.same(s.connect({ kind: 'our-container' }).peer?.grant.value, { kind: 'node' });
  t.equal(s.connect({ kind: 'our-container' }, 1001).peer, undefined);
  t.equal(s.connect({ kind: 'beside-us' }, 1000).peer, undefined);
});

t.test('our own pod is a pod, and never a delegate for the node', async (t) => {
  const s = scene(t, { ownPod: podA, rules: [{ pod: {}, grant: 'node' }] });
  for (const place of [pod(podA), { kind: 'our-container' }, { kind: 'beside-us' }] as const) {
    t.same(s.connect(place).peer?.grant.value, { kind: 'own', id: idOfFront });
  }
  s.pods.set(
    new Map([
      [podA, front],
      [podB, podOf(podB, 'back')],
    ]),
  );
  t.same(s.connect(pod(podB)).peer?.grant.value, { kind: 'node' });
});

t.test('a connection waits for its pod, gets its grant when it is known, and loses it when it ends', async (t) => {
  const s = scene(t);
  const { peer } = s.connect(pod(podB));
  const seen: string[] = [];
  const code = (grant: Grant): string => (grant.kind === 'none' ? grant.reason.code : grant.kind);
  peer?.grant.subscribe((grant) => seen.push(code(grant)));
  t.same(seen, ['peer-unknown']);
  s.pods.set(new Map([[podB, podOf(podB, 'back')]]));
  await settle();
  t.same(seen, ['peer-unknown', 'peer-no-identity'], 'a pod without an identity may ask for nothing, and hears why');
  s.identities.set(new Map([[podB, createSpiffeId('example.org', 'web', 'back')]]));
  await settle();
  t.equal(seen.at(-1), 'own');
  s.rules.set([{ pod: {}, grant: 'node' }]);
  await settle();
  t.equal(seen.at(-1), 'node');
  s.rules.set([]);
  await settle();
  t.equal(seen.at(-1), 'peer-denied');
  s.rules.set([ownRule]);
  s.pods.set(new Map());
  await settle();
  t.equal(seen.at(-1), 'peer-unknown');
});

t.test('changes that change nothing for a peer are not passed on', async (t) => {
  const s = scene(t, { rules: [{ pod: { serviceAccount: 'web/back' }, grant: ['spiffe://example.org/ns/a/sa/*'] }, ownRule] });
  s.pods.set(
    new Map([
      [podA, front],
      [podB, podOf(podB, 'back')],
    ]),
  );
  let told = 0;
  for (const place of [pod(podA), pod(podB), pod('00000000-0000-0000-0000-000000000000')])
    s.connect(place).peer?.grant.subscribe(() => (told += 1));
  t.equal(told, 3);
  s.pods.set(new Map(s.pods.value));
  s.rules.set(structuredClone(s.rules.value));
  s.identities.set(new Map([[podA, createSpiffeId('example.org', 'web', 'front')]]));
  await settle();
  t.equal(told, 3);
});

t.test('connections are bounded for each owner and in all, and others stay welcome', async (t) => {
  const s = scene(t, { limits: { connections: 3, connectionsPerOwner: 2 }, rules: [ownRule, { host: { uid: 5 }, grant: 'node' }] });
  const first = s.connect(pod(podA));
  s.connect(pod(podA));
  t.equal(s.connect(pod(podA)).peer, undefined);
  t.equal(await s.metrics.read('signet_limit_reached_total', { limit: 'connections-per-owner' }), 1);
  t.ok(s.connect(host(), 5).peer, 'another owner');
  t.equal(s.connect(host(), 5).peer, undefined);
  t.equal(await s.metrics.read('signet_limit_reached_total', { limit: 'connections' }), 1);
  t.match(s.warnings(), [
    { reason: 'peer-limit', detail: 'connections-per-owner' },
    { reason: 'peer-limit', detail: 'connections' },
  ]);
  first.close();
  t.ok(s.connect(pod(podA)).peer, 'room again');
});

t.test('a refused owner is logged once in a minute', async (t) => {
  const s = scene(t, { rules: [] });
  for (let attempt = 0; attempt < 100; attempt += 1) s.connect(host(), 5);
  t.equal(s.warnings().length, 1);
  s.connect(host(), 6);
  t.equal(s.warnings().length, 2);
  await s.clock.advance(60_000);
  s.connect(host(), 5);
  t.equal(s.warnings().length, 3);
  t.equal(await s.refused(), 102);
});

t.test('a closed socket and a failing kernel are refusals', async (t) => {
  const s = scene(t, {
    attestor: {
      attest: () => {
        throw new SignetError('internal', 'getsockopt SO_PEERCRED failed');
      },
    },
  });
  t.equal(s.policy.admit(socketOf(9)), undefined);
  t.match(s.warnings(), [{ detail: /SO_PEERCRED failed/ }]);
  const closed = scene(t);
  t.equal(closed.policy.admit(socketOf()), undefined);
  t.match(closed.warnings(), [{ detail: /closed/ }]);
});
