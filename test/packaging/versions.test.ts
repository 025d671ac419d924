// Two versions of the agent on one node: the newer takes over from the older and back, each reads what the other has sealed, and a client
// never goes without its certificate. With another CA: versions-ca.test.ts.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runToEnd } from '../fixtures/child.js';
import { buildTree, currentBuild, previousBuild } from '../fixtures/builds.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import type { Signet } from '../fixtures/signet.js';
import { createSignet } from '../fixtures/signet.js';
import { createTmpfsDirectory, whyNoTmpfs } from '../fixtures/tmpfs.js';
import { until } from '../fixtures/until.js';

const skip = whyNoTmpfs() ?? false;
const fetch = ['fetch', 'spiffe://example.org/ns/shop/sa/cart', '--pem', '--timeout', '60'];
const builds = t.testdir({});
const older = await previousBuild(join(builds, 'older'));
const newer = await currentBuild();
t.comment(`${older.version} and ${newer.version}`);

interface SealingAgent extends Signet {
  /** Where it seals. */
  readonly state: string;
}

/** Starts an agent that has its certificate from what an earlier start has sealed: the end of a process waits for that. */
async function startSealed(scene: Scene, launcher: string): Promise<SealingAgent> {
  const state = join(createTmpfsDirectory(scene), 'state');
  const environment = { SIGNET_SDS_SOCKET_TAKEOVER: 'true', SIGNET_STATE_DIRECTORY: state };
  const agent = createSignet(scene, { mode: 'agent', accounts: ['cart', 'checkout'], environment });
  agent.use(launcher);
  await agent.start();
  await fetched(agent);
  await agent.stop();
  await agent.start();
  return { ...agent, state };
}

/** Certificate and key, as soon as there are any. */
async function fetched(agent: Signet): Promise<string> {
  return await until('a certificate', 60_000, async () => (await agent.command(...fetch)).stdout || undefined);
}

interface LiveClient {
  /** Certificate and key of each answer. */
  readonly answers: readonly string[];
  /** What was said in the place of an answer. */
  readonly failures: readonly string[];
}

/** Asks for the certificate, each time over a connection of its own, until the scene ends. */
function startClient(scene: Scene, agent: Signet): LiveClient {
  const answers: string[] = [];
  const failures: string[] = [];
  let stopped = false;
  const ask = async (): Promise<void> => {
    while (!stopped) {
      const { code, stdout, stderr } = await agent.command(...fetch);
      if (code === 0) answers.push(stdout);
      else failures.push(stderr);
    }
  };
  const asking = ask();
  const stop = async (): Promise<void> => {
    stopped = true;
    await asking;
  };
  scene.add({ name: 'client', tail: () => failures.join(''), stop });
  return { answers, failures };
}

/** Waits until the client has been answered once more, from a question that was asked after this. */
async function answerOf({ answers }: LiveClient): Promise<string> {
  const before = answers.length;
  await until('two more answers', 60_000, () => answers.length >= before + 2);
  return answers.at(-1) ?? '';
}

/** Forms of what is sealed in the directory. */
function formatsIn(state: string): ReadonlySet<number> {
  const texts = readdirSync(state, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(state, entry.name), 'latin1'));
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(/"format":(\d+)/g), ([, format]) => Number(format))));
}

async function versionOf(agent: Signet): Promise<string> {
  return (await agent.command('status')).stdout.split(',')[0] ?? '';
}

t.test('take-over to the newer and back to the older, under a client that asks all the time: the same certificate', { skip }, async (t) => {
  const scene = await createScene(t);
  const agent = await startSealed(scene, older.launcher);
  const client = startClient(scene, agent);
  const first = await answerOf(client);
  for (const build of [newer, older, newer]) {
    agent.use(build.launcher);
    t.equal(await agent.upgrade(), 0, 'the one before ended cleanly');
    t.equal(await answerOf(client), first, `the bytes from before, of ${build.version}`);
    t.match(await versionOf(agent), build.version);
  }
  t.same(client.failures, []);
  t.comment(`${client.answers.length} answers`);
});

t.test('killed, and started as the other version: the same certificate', { skip }, async (t) => {
  const scene = await createScene(t);
  const agent = await startSealed(scene, newer.launcher);
  const first = await fetched(agent);
  for (const build of [older, newer]) {
    await agent.kill();
    agent.use(build.launcher);
    await agent.start();
    t.equal(await fetched(agent), first, `of ${build.version}`);
  }
});

t.test('a sealed state in a form that the other does not know: another certificate, and no client goes without', { skip }, async (t) => {
  const scene = await createScene(t);
  const future = await buildTree(join(builds, 'future'), '9.9.9', [
    ['agent/cache/sealed-format.ts', 'const format = 1;', 'const format = 2;'],
  ]);
  const agent = await startSealed(scene, newer.launcher);
  const client = startClient(scene, agent);
  await answerOf(client);
  for (const build of [future, newer]) {
    agent.use(build.launcher);
    t.equal(await agent.upgrade(), 0);
    await answerOf(client);
    t.match(await versionOf(agent), build.version);
    t.match(agent.tail(), /state-foreign/, 'it says that it does not use what it found');
    const format = build === future ? 2 : 1;
    await until('it has sealed in its own form', 60_000, () => formatsIn(agent.state).has(format));
  }
  t.same(client.failures, []);
});

t.test('a configuration for a later version: refused by the older, which leaves the running agent alone', { skip }, async (t) => {
  const scene = await createScene(t);
  const agent = await startSealed(scene, newer.launcher);
  const client = startClient(scene, agent);
  const first = await answerOf(client);
  const file = join(scene.directory, 'later.json');
  const socket = { path: agent.socket, takeover: true };
  writeFileSync(
    file,
    JSON.stringify({ trustDomain: 'example.org', node: 'node-a', upstreams: [{ kind: 'built-in' }], sds: { socket }, later: true }),
  );
  const { code, stderr } = await runToEnd(process.execPath, [older.launcher, 'agent', '--config', file]);
  t.equal(code, 2);
  t.match(stderr, /later/);
  t.equal(await answerOf(client), first);
  t.same(client.failures, []);
});
