// `signet ca explain` and `signet ca audit verify` on files, as people and scripts use them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createCaCommand } from '../../../agent/commands/ca.js';
import { kindOf } from '../../../agent/runtime/errors.js';
import { apiPod } from '../../fixtures/api-server.js';
import { createServiceScene } from '../../fixtures/certificate-service.js';
import { caIdOf } from '../../fixtures/cluster-pods.js';

const pod = (namespace: string, account: string, node: string, phase = 'Running', name = account) =>
  apiPod(name, { account, phase, metadata: { namespace, uid: `uid-${namespace}-${name}` }, spec: { nodeName: node } });
const pods = {
  kind: 'List',
  items: [
    pod('signet-system', 'signet-agent', 'node-a', 'Running', 'agent-a'),
    pod('signet-system', 'signet-agent', 'node-b', 'Running', 'agent-b'),
    pod('shop', 'web', 'node-a'),
    pod('shop', 'cart', 'node-b'),
    pod('shop', 'job', 'node-a', 'Succeeded'),
    pod('kube-system', 'dns', 'node-a'),
    pod('shop', 'lone', 'node-c'),
  ],
};

async function run(t: Test, args: readonly string[], files: Readonly<Record<string, string>>) {
  const directory = t.testdir({ 'ca.yaml': 'trustDomain: example.org\n', ...files });
  const out: string[] = [];
  const command = createCaCommand({ out: (text) => out.push(text), err: () => {}, signal: new AbortController().signal });
  const [name = '', ...rest] = args;
  const whole = [
    ...name.split(' '),
    '--config',
    join(directory, 'ca.yaml'),
    ...rest.map((arg) => (Object.hasOwn(files, arg) ? join(directory, arg) : arg)),
  ];
  const error: unknown = await command
    .enablePositionalOptions()
    .exitOverride()
    .parseAsync(whole, { from: 'user' })
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  return { out: out.join(''), error };
}

const files = { 'pods.json': JSON.stringify(pods) };

t.test('explain: what a thief of the node gets, and what refuses the rest', async (t) => {
  const { out, error } = await run(t, ['explain', '--node', 'node-a', '--pods', 'pods.json'], files);
  t.equal(error, undefined);
  t.match(out, /A thief of node node-a gets 3 identities/);
  t.match(out, /sa\/web +as node agent +signet-system\/agent-a +shop\/web \(Running\)/);
  t.match(out, /sa\/dns +own token +kube-system\/dns/);
  t.match(out, /Refused: 3 identities/);
  t.match(out, /sa\/cart +identity-not-on-node/);
  t.match(out, /sa\/job +identity-finished/);
});

t.test('explain: as JSON, for one identity, and where no agent is', async (t) => {
  const json = await run(t, ['explain', '--node', 'node-a', '--json', '--identity', caIdOf('shop/web'), '--pods', 'pods.json'], files);
  t.match(JSON.parse(json.out), {
    node: 'node-a',
    obtainable: [{ identity: caIdOf('shop/web'), rule: 'node', through: { name: 'web' } }],
    refused: [],
  });
  const foreign = await run(
    t,
    ['explain', '--node', 'node-a', '--json', '--identity', 'spiffe://example.com/ns/shop/sa/web', '--pods', 'pods.json'],
    files,
  );
  t.match(JSON.parse(foreign.out), { obtainable: [], refused: [{ reason: 'identity-foreign' }] });
  const lone = await run(t, ['explain', '--node', 'node-c', '--json', '--pods', 'pods.json'], files);
  t.match(JSON.parse(lone.out), { obtainable: [{ identity: caIdOf('shop/lone'), rule: 'own' }] });
  t.ok((JSON.parse(lone.out) as { refused: { reason: string }[] }).refused.every(({ reason }) => reason === 'caller-no-node-agent'));
  const none = await run(t, ['explain', '--node', 'none', '--pods', 'pods.json'], files);
  t.match(none.out, /^No pod is on a node of the name none\.\nA thief of node none gets no identity/, 'it may be another name');
  const short = await run(t, ['explain', '--node', 'node-a', '--identity', 'shop/web', '--pods', 'pods.json'], files);
  t.match(short.out, new RegExp(`gets 1 identity, each .*\\n.*\\n${caIdOf('shop/web')} +as node agent`));
});

t.test('explain: the difference of two nodes', async (t) => {
  const text = await run(t, ['explain', '--node', 'node-a', '--diff', 'node-b', '--pods', 'pods.json'], files);
  t.match(text.out, /^- node-a, with 4 pods\n\+ node-b, with 2 pods\n/);
  t.match(text.out, `- ${caIdOf('shop/web')}\n`);
  t.match(text.out, /From both: 1 identity\n$/);
  t.match(text.out, `+ ${caIdOf('shop/cart')}\n`);
  const json = await run(t, ['explain', '--node', 'node-a', '--diff', 'node-b', '--json', '--pods', 'pods.json'], files);
  t.match(JSON.parse(json.out), { first: { node: 'node-a', pods: 4 }, onlySecond: [caIdOf('shop/cart')], both: 1 });
});

t.test('explain: YAML too, and what is no list of pods', async (t) => {
  const yaml = `items:\n- metadata: {name: web, namespace: shop, uid: a}\n  spec: {nodeName: node-a, serviceAccountName: web}\n`;
  t.match((await run(t, ['explain', '--node', 'node-a', '--pods', 'pods.yaml'], { 'pods.yaml': yaml })).out, /gets 1 identity/);
  for (const text of ['{', 'a: b', '[]'])
    t.equal(kindOf((await run(t, ['explain', '--node', 'a', '--pods', 'x'], { x: text })).error), 'invalid');
  t.equal(kindOf((await run(t, ['explain', '--node', 'a', '--pods', '/none'], {})).error), 'invalid');
});

t.test('audit verify: a log of the service is sound, and one that was changed is not', async (t) => {
  const scene = createServiceScene();
  await scene.call({ identity: caIdOf('shop/web') });
  await scene.call({ identity: caIdOf('shop/orders') });
  const [grant, refusal] = scene.audit.map((record) => JSON.stringify(record)) as [string, string];
  const verify = (text: string) => run(t, ['audit verify', 'audit.log'], { 'audit.log': text });
  const sound = await verify(`${grant}\n${refusal}\n`);
  t.equal(sound.error, undefined);
  t.match(sound.out, '2 lines, 0 of them with a fault');

  const changed = (change: (record: Record<string, Record<string, unknown>>) => void): string => {
    const record = JSON.parse(grant) as Record<string, Record<string, unknown>>;
    change(record);
    return JSON.stringify(record);
  };
  const approved = changed((record) => Object.assign(record, { issued: undefined, approvedFor: 'example.com/other' }));
  t.match((await verify(`${approved}\n${approved}\n`)).out, '2 lines, 0 of them with a fault', 'signed by another, no serial number');
  const table: readonly (readonly [string, RegExp])[] = [
    [
      changed(({ through }) => Object.assign(through ?? {}, { node: 'node-b' })),
      /line 1 grants .*web, which is refused: identity-not-on-node/,
    ],
    [changed(({ through }) => Object.assign(through ?? {}, { phase: 'Failed' })), /identity-finished/],
    [changed(({ caller }) => Object.assign(caller ?? {}, { pod: { name: 'signet-agent', uid: 'x' } })), /caller-pod-replaced/],
    [changed((record) => Object.assign(record, { identity: 'spiffe://example.com/ns/shop/sa/web' })), /identity-foreign/],
    [changed((record) => Object.assign(record, { reason: 'own' })), /by the rule own, but it is node/],
    [changed((record) => delete record['issued']), /without what it was decided on/],
    [changed((record) => delete record['through']), /without what it was decided on/],
    [changed((record) => Object.assign(record, { through: { uid: 1 } })), /is no audit line/],
    [`${grant}\n${grant}`, /line 2 has the serial number/],
    ['x', /line 1 is no audit line/],
    ['null', /line 1 is no audit line/],
  ];
  for (const [text, expected] of table) {
    const { out, error } = await verify(text);
    t.match(out, expected);
    t.equal(kindOf(error), 'denied', 'exit code 5');
  }
  writeFileSync(join(t.testdirName, 'ca.yaml'), '');
  t.equal(kindOf((await run(t, ['audit verify', '/none'], {})).error), 'invalid');
});
