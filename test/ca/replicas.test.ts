// Two replicas of `signet ca` as they are shipped, under load by the agent's own client: killed while they issue, killed after each
// step of a rotation while they hold the Lease, ended by SIGTERM one after the other. No call fails past its retry, at each moment
// the published roots verify every leaf that is valid, there is one issuer, and no key is lost.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatCertificates } from '../../agent/x509/pem.js';
import type { CaAnswer } from '../fixtures/authority.js';
import { createRawCaClient, readAuditLines } from '../fixtures/authority.js';
import { startApiProxy } from '../fixtures/api-proxy.js';
import type { ApiProxy, ProxiedCall } from '../fixtures/api-proxy.js';
import type { CaReplica } from '../fixtures/ca-installation.js';
import { caLeasePath, installCa, issuerSecretPath, untilReady } from '../fixtures/ca-installation.js';
import { startCaLoad } from '../fixtures/ca-load.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { followIssuer } from '../fixtures/issuer-history.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const scene = await createScene(t);
const installation = await installCa(t, scene, cluster);
/** The waits of a rotation are far longer than it takes another replica to have the Lease, so that none can stand in for one. */
const lifetimeMs = 20_000;
const environment = {
  SIGNET_CERTIFICATE_LIFETIME: '20s',
  SIGNET_CERTIFICATE_MAX_LIFETIME: '20s',
  SIGNET_ROTATION_LAG: '10s',
  SIGNET_LEASE_DURATION: '3s',
};
const history = followIssuer(t, cluster, { namespace: 'signet-system', name: 'signet-ca-issuer' }, installation.caller.namespace);

interface Member {
  readonly replica: CaReplica;
  /** Between it and the API server. */
  readonly proxy: ApiProxy;
}

async function startMember(name: string): Promise<Member> {
  const proxy = await startApiProxy(scene, cluster);
  return { replica: await installation.startReplica(name, { api: proxy, environment }), proxy };
}

const members = [await startMember('one'), await startMember('two')] as const;
for (const { replica } of members) await untilReady(replica);
await until('the roots', 60_000, () => history.roots.value.length === 1);
const ports = members.map(({ replica }) => replica.port) as [number, number];
const load = startCaLoad(t, { ports, caller: installation.caller, roots: history.roots, lifetimeMs, onLeaf: history.add });

interface Lease {
  readonly metadata: { readonly resourceVersion: string };
  /** Empty when it was given back. */
  readonly spec: { readonly holderIdentity?: string };
}

const readLease = (): Promise<Lease> => cluster.admin.get<Lease>(caLeasePath);

/** Who holds the Lease, once somebody has written it since it was read. */
async function nextHolder(since: Lease): Promise<string> {
  return await until('a holder of the lease', 60_000, async () => {
    const { metadata, spec } = await readLease();
    return metadata.resourceVersion !== since.metadata.resourceVersion && spec.holderIdentity;
  });
}

async function killAndStart({ replica }: Member): Promise<void> {
  await replica.child().stop('SIGKILL');
  replica.start();
}

/** Certificates come on: some more than there were. */
async function untilMore(): Promise<void> {
  const before = load.granted();
  await until('more certificates', 60_000, () => load.granted() > before + 20);
}

const isWriteOfSecret = ({ method, path }: ProxiedCall): boolean => method === 'PATCH' && path.startsWith(issuerSecretPath);

await t.test('a replica that is killed in the middle of issuing: its calls are answered by the other', async (t) => {
  await untilMore();
  for (const member of members) {
    await load.untilWhole();
    const before = load.retried();
    // Calls wait for the review of their token, which is asked for anew every 10 s, when it is killed.
    await new Promise<void>((resolve) => {
      member.proxy.onCall = ({ path }) => {
        if (!path.includes('tokenreviews')) return undefined;
        member.proxy.onCall = () => undefined;
        resolve();
        return new Promise(() => {});
      };
    });
    await killAndStart(member);
    await untilReady(member.replica);
    await untilMore();
    t.ok(load.retried() > before, `calls to ${member.replica.name} had to be made again`);
  }
  t.same(load.failures, []);
});

/** What a write of the Secret is about. */
function stepOf({ body }: ProxiedCall): string {
  const operations = JSON.parse(body) as readonly { readonly op: string; readonly path: string; readonly value?: string }[];
  const text = operations.find(({ path }) => path === '/data/signet.json')?.value ?? '';
  const { next, former = [] } = JSON.parse(Buffer.from(text, 'base64').toString()) as {
    next?: { publishedAt?: string };
    former?: unknown[];
  };
  if (operations.some(({ op }) => op === 'move')) return 'switch';
  if (next !== undefined) return next.publishedAt === undefined ? 'prepare' : 'confirm';
  return former.length > 0 ? 'note' : 'retire';
}

await t.test('a rotation whose leader is killed after each step, before it hears that the step is written', async (t) => {
  await load.untilWhole();
  const killed: string[] = [];
  const holders: string[] = [];
  let dying = Promise.resolve();
  const kill = async (member: Member, step: string): Promise<void> => {
    await load.untilWhole();
    const elapsed = stopwatch();
    await killAndStart(member);
    holders.push(await nextHolder(await readLease()));
    t.comment(`killed after ${step}; a holder after ${Math.round(elapsed())} ms`);
    await untilReady(member.replica);
  };
  for (const member of members) {
    member.proxy.onAnswer = (call) => {
      const step = isWriteOfSecret(call) ? stepOf(call) : undefined;
      if (step === undefined || killed.includes(step)) return undefined;
      killed.push(step);
      dying = dying.then(() => kill(member, step));
      return new Promise(() => {});
    };
  }
  const asked = await installation.command('rotate');
  t.equal(asked.code, 0, asked.stderr);
  await until('the last of them', 300_000, () => killed.includes('retire'));
  await dying;
  await until('only the next root is published', 60_000, () => history.roots.value.length === 1);
  await untilMore();
  t.same(killed, ['prepare', 'confirm', 'switch', 'note', 'retire']);
  t.ok(new Set(holders).size > 1, 'others took over');
  t.same(load.failures, []);
  t.same(history.faults, []);
  t.equal(history.issuers.length, 2);
  t.same([...new Set(history.leaves.map(({ authorityKeyId }) => authorityKeyId))], history.issuers, 'two issuers, none beside them');
  t.equal(history.roots.value[0]?.subjectKeyId, history.issuers[1]);
  for (const { replica } of members) {
    const keys = readAuditLines(replica.auditFile).flatMap(({ issued }) => (issued === undefined ? [] : [issued.issuerKeyId]));
    const turns = keys.filter((key, index) => key !== keys[index - 1]);
    t.ok(turns.length <= 2, `${replica.name} never goes back to the issuer of before`);
  }
});

await t.test('SIGTERM to one replica after the other: no call fails, though nobody makes one again', async (t) => {
  await load.stop();
  const rootsFile = join(scene.directory, 'roots.pem');
  writeFileSync(rootsFile, formatCertificates(history.roots.value));
  const { token, identity } = installation.caller;
  const answers: CaAnswer[] = [];
  let isOver = false;
  const work = async (target: string): Promise<void> => {
    // Without a connection a call waits; one that was sent is never made again.
    const client = createRawCaClient(target, rootsFile, { waitForReady: true });
    while (!isOver) answers.push(await client.call({ token, identity, seconds: lifetimeMs / 1_000 }));
    client.close();
  };
  const [one, two] = ports.map((port) => `127.0.0.1:${port}`);
  const working = Promise.all(
    [`ipv4:${one},${two}`, `ipv4:${two},${one}`].flatMap((target) => Array.from({ length: 8 }, () => work(target))),
  );
  const untilGranted = async (): Promise<void> => {
    const before = answers.length;
    await until('more answers', 60_000, () => answers.length > before + 100);
  };
  const lines = (replica: CaReplica): number => readAuditLines(replica.auditFile).length;
  for (const { replica } of members) {
    await untilGranted();
    const heard = lines(replica);
    await until(`${replica.name} is called`, 60_000, () => lines(replica) > heard);
    replica.child().signal('SIGTERM');
    t.equal(await replica.child().ended, 0);
    const elapsed = stopwatch();
    await nextHolder(await readLease());
    t.comment(`a holder of the lease ${Math.round(elapsed())} ms after the end of ${replica.name}`);
    replica.start();
    await untilReady(replica);
  }
  await untilGranted();
  isOver = true;
  await working;
  t.comment(`${answers.length} calls`);
  t.same(
    answers.filter(({ code }) => code !== 0).map(({ code, details }) => `${code} ${details}`),
    [],
  );
});
