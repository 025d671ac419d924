// The API server is away for longer than certificates live: with the built-in issuer all are renewed, with istiod all are served to
// their end and renewed when it is back. See suites.md for the long form.

import t from 'tap';
import { startControlPlane } from '../fixtures/cluster.js';
import type { ClusterAgent } from '../fixtures/cluster-agent.js';
import { createClusterAgent } from '../fixtures/cluster-agent.js';
import { createAccounts, createPods } from '../fixtures/cluster-crowd.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { createNamespace, createNode } from '../fixtures/cluster-objects.js';
import { needs } from '../fixtures/cluster-version.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import type { ManifestComponent } from '../fixtures/manifests.js';
import { agentAccount, applyManifests, readManifests } from '../fixtures/manifests.js';
import { createScene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import type { SecretWatch } from '../fixtures/secret-watch.js';
import type { Served } from '../fixtures/served.js';
import { followServed } from '../fixtures/served.js';
import { pause, stopwatch, until } from '../fixtures/until.js';

const long = process.env['SIGNET_OUTAGE'] === 'long';
const leafSeconds = long ? 120 : 20;
const outageMs = (long ? 300 : 30) * 1_000;
const concurrency = 4;
const accountCount = 24;

const scene = await createScene(t);
const cluster = await startControlPlane(scene);
const components: readonly ManifestComponent[] = ['pods-as-node', 'workload-tokens'];
await applyManifests(cluster, readManifests(components));
const namespace = await createNamespace(cluster, 'outage');
const accounts = await createAccounts(cluster, namespace, 'app', accountCount);
const names = accounts.map((account) => `spiffe://cluster.local/ns/${namespace}/sa/${account}`);
const istiod = await startIstiod(scene, cluster, { trustedNodeAccounts: [`${agentAccount.namespace}/${agentAccount.account}`] });

interface Watched {
  readonly agent: ClusterAgent;
  readonly served: Served;
  readonly stream: SecretWatch;
  /** The most requests to the CA that were seen under way at once. */
  readonly most: () => number;
  stop(): Promise<void>;
}

/** An agent on a node of its own with a pod of each account, all of them served, and what is seen of it from now on. */
async function startAgent(name: string, upstream: (shipped: JsonObject) => JsonObject, more: JsonObject = {}): Promise<Watched> {
  const node = await createNode(cluster);
  await createPods(cluster, { namespace, accounts, node: node.name }, accountCount);
  const agent = await createClusterAgent(scene, cluster, {
    name,
    node,
    components,
    caRoots: istiod.roots,
    config: (shipped) => ({
      upstreams: [upstream(shipped.upstream)],
      certificate: { lifetime: `${leafSeconds}s`, concurrency },
      ...more,
    }),
  });
  await agent.start();
  const sds = connectSds(scene, agent.socket);
  const stream = sds.watch('delta', names);
  await until(`${name} serves all`, 60_000, () =>
    names.every((each) => stream.received.some(({ name: of, chain }) => of === each && chain !== '')),
  );
  const served = followServed(sds, names);
  let most = 0;
  let stopped = false;
  const sampling = (async (): Promise<void> => {
    while (!stopped) {
      most = Math.max(most, (await agent.metric('signet_svid_requests_in_flight')) ?? 0);
      await pause(100);
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await Promise.all([sampling, served.stop()]);
  };
  scene.add({ name: `${name}: what is seen of it`, tail: () => served.faults.join('\n'), stop });
  return { agent, served, stream, most: () => most, stop };
}

await t.test(`${outageMs / 1_000} s without the API server, certificates of ${leafSeconds} s`, needs('impersonation'), async (t) => {
  const at = { endpoints: [`localhost:${istiod.port()}`] };
  const builtIn = await startAgent('built-in', () => ({ kind: 'built-in' }), { trustBundle: { sources: [{ kind: 'issuer' }] } });
  const asNode = await startAgent('node', (shipped) => {
    const tokenFile = '/var/run/secrets/signet/ca-token/token';
    return { ...shipped, ...at, auth: 'node', tokenFile };
  });
  const asWorkload = await startAgent('workload', (shipped) => ({ ...shipped, ...at }));
  const all = { builtIn, asNode, asWorkload };
  const identities = accountCount + 1;

  await cluster.stopApiServer();
  const seen = new Map([...builtIn.served.serials].map(([name, serials]) => [name, serials.size]));
  await pause(outageMs);
  for (const [name, { agent }] of Object.entries(all)) {
    const { identities: kept, sources } = await agent.status();
    t.equal(kept.length, identities, `${name}: no identity is forgotten`);
    t.ok(
      kept.every(({ pods }) => pods.length > 0),
      `${name}: nor a pod`,
    );
    t.match(sources.find(({ of }) => of === 'pods')?.reason, { code: 'kube-unavailable' }, `${name}: the source of the pods says why`);
  }
  const isRenewed = ([name, serials]: readonly [string, ReadonlySet<string>]): boolean => serials.size >= (seen.get(name) ?? 0) + 2;
  await until('the built-in issuer has renewed each certificate twice', 60_000, () => [...builtIn.served.serials].every(isRenewed));
  for (const [name, { agent, served }] of Object.entries({ asNode, asWorkload })) {
    await until(`${name}: every certificate has ended`, 60_000, () => served.lapsed.size === accountCount);
    const [identity] = (await agent.status()).identities;
    t.match(identity, { state: 'unavailable' });
    t.match(`${identity?.reason?.sentence} ${identity?.reason?.action}`, /API server/, `${name}: the reason names the API server`);
    t.comment(`${name}: ${identity?.reason?.code}: ${identity?.reason?.detail}`);
  }

  const before = new Map(Object.values(all).map(({ stream }) => [stream, stream.received.length]));
  const sinceStart = stopwatch();
  await cluster.startApiServer();
  const elapsed = stopwatch();
  for (const [name, { agent }] of Object.entries(all)) {
    await until(`${name} has renewed all`, 60_000, async () => {
      const { identities: now } = await agent.status();
      return now.length === identities && now.every(({ state }) => state === 'issued');
    });
    t.comment(
      `${name}: all issued ${Math.round(elapsed())} ms after the API server was ready, ${Math.round(sinceStart())} ms after its start`,
    );
  }
  for (const [name, { served, stream, most, stop }] of Object.entries(all)) {
    await stop();
    t.same(served.faults, [], `${name}: served to the end and never past it`);
    const sent = (of: string): boolean => stream.received.slice(before.get(stream)).some((each) => each.name === of && each.chain !== '');
    await until(`${name} sent all`, 60_000, () => names.every(sent));
    t.equal(stream.status(), undefined, `${name}: on the stream that was open all the time`);
    t.notOk(
      stream.received.some(({ removed }) => removed),
      `${name}: no secret was taken back`,
    );
    t.ok(most() <= concurrency, `${name}: at most ${most()} requests at once`);
  }
  t.equal(builtIn.served.lapsed.size, 0, 'with the built-in issuer none has ended');
});
