import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SealedStateOptions } from '../../../agent/cache/sealed-state.js';
import type { Binding } from '../../../agent/cache/sealed-format.js';
import { settle } from '../../fixtures/clock.js';
import type { StateScene } from '../../fixtures/sealed-state.js';
import { binding, cartUri, contentOf, createStateScene, fitPlace, svidOf } from '../../fixtures/sealed-state.js';

/** Lets an agent live and end in the directory. */
async function leave(scene: StateScene, options: Partial<SealedStateOptions> = {}): Promise<string> {
  const svid = svidOf();
  await scene.open(options, contentOf(svid)).stop();
  return svid.fingerprint;
}

function restoredIn(scene: StateScene, options: Partial<SealedStateOptions> = {}): string | undefined {
  return scene.open(options).state.restored.svids[0]?.chain[0]?.fingerprint;
}

t.test('what an agent had, the next one has', async (t) => {
  const scene = createStateScene(t);
  const { state } = scene.open();
  t.same(state.restored, { pods: [], roots: new Map(), svids: [] }, 'at first there is nothing');
  const fingerprint = await leave(scene);
  const { restored, reason } = scene.open().state;
  t.equal(restored.svids[0]?.uri, cartUri);
  t.equal(restored.svids[0]?.chain[0]?.fingerprint, fingerprint);
  t.same(restored.pods, contentOf().pods);
  t.same([...restored.roots.keys()], ['roots.pem']);
  t.equal(reason.value, undefined);
  t.same(scene.log.lines, []);
  t.same(scene.files(), ['sealed-generation', 'sealed-key', 'sealed-state']);
  for (const file of scene.files()) t.equal(statSync(join(scene.directory, file)).mode & 0o777, 0o600, file);
  const key = svidOf().privateKeyPem().toString().split('\n')[1] ?? '';
  t.notOk(scene.file('sealed-state').includes(key.slice(0, 20)), 'no key in clear');
});

t.test('changes are written together, never sooner than 250 ms after the last write, and the last one at the end', async (t) => {
  const scene = createStateScene(t);
  const { content, stop } = scene.open();
  const written = (): string => scene.file('sealed-generation').toString();
  await scene.clock.advance(0);
  t.equal(written(), '1.1', 'soon after the start');
  for (let change = 0; change < 10; change += 1) {
    content.set(contentOf(svidOf()));
    await scene.clock.advance(20);
  }
  t.equal(written(), '1.1');
  await scene.clock.advance(50);
  t.equal(written(), '1.2', 'ten changes, one write');
  await scene.clock.advance(60_000);
  t.equal(written(), '1.2', 'no change, no write');
  content.set(contentOf(svidOf()));
  await settle();
  const last = svidOf();
  content.set(contentOf(last));
  await stop();
  t.equal(scene.clock.alarms, 0);
  t.equal(restoredIn(scene), last.fingerprint);
  t.equal(await scene.metrics.read('signet_sealed_state_writes_total', { result: 'ok' }), 3);
});

const others: readonly [string, Partial<Binding>][] = [
  ['boot', { bootId: 'boot-2' }],
  ['node uid', { nodeUid: 'uid-2' }],
  ['node', { node: 'node-b' }],
  ['trust domain', { trustDomain: 'example.com' }],
];
const flip = (scene: StateScene): void => {
  const bytes = scene.file('sealed-state');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
  scene.write('sealed-state', bytes);
};
const link = (scene: StateScene): void => {
  const path = join(scene.directory, 'sealed-state');
  writeFileSync(join(scene.directory, 'elsewhere'), readFileSync(path), { mode: 0o600 });
  rmSync(path);
  symlinkSync(join(scene.directory, 'elsewhere'), path);
};
const bad: readonly (readonly [string, string, (scene: StateScene) => void, Partial<SealedStateOptions>?])[] = [
  ['torn', 'state-damaged', (scene) => scene.write('sealed-state', scene.file('sealed-state').subarray(0, -1))],
  ['empty', 'state-damaged', (scene) => scene.write('sealed-state', Buffer.alloc(0))],
  ['with a flipped bit', 'state-damaged', flip],
  ['whose key is lost', 'state-damaged', (scene) => rmSync(join(scene.directory, 'sealed-key'))],
  ['whose key is torn', 'state-damaged', (scene) => scene.write('sealed-key', Buffer.alloc(31))],
  ['older than the last', 'state-replayed', (scene) => scene.write('sealed-generation', Buffer.from('1.2'))],
  ['of an earlier start', 'state-replayed', (scene) => scene.write('sealed-generation', Buffer.from('2.0'))],
  ['that others may read', 'state-unsafe', (scene) => chmodSync(join(scene.directory, 'sealed-state'), 0o640)],
  ['that is a link', 'state-unsafe', link],
  ...others.map(([what, other]) => [`of another ${what}`, 'state-foreign', () => {}, { binding: { ...binding, ...other } }] as const),
];
for (const [what, reason, spoil, options = {}] of bad) {
  t.test(`a state ${what} is not used, which is one line, and is replaced`, async (t) => {
    const scene = createStateScene(t);
    await leave(scene);
    spoil(scene);
    t.equal(restoredIn(scene, options), undefined);
    t.same(scene.reasons(), [reason]);
    const fingerprint = await leave(scene, options);
    t.equal(restoredIn(scene, options), fingerprint);
  });
}

t.test('a key that others could have read is made anew', async (t) => {
  const scene = createStateScene(t);
  await leave(scene);
  const key = scene.file('sealed-key');
  chmodSync(join(scene.directory, 'sealed-key'), 0o644);
  t.equal(restoredIn(scene), undefined);
  t.same(scene.reasons(), ['state-unsafe', 'state-damaged']);
  t.notOk(scene.file('sealed-key').equals(key));
});

t.test('after a crash between the two files the state is newer than what is known of it, and good', async (t) => {
  const scene = createStateScene(t);
  const fingerprint = await leave(scene);
  scene.write('sealed-generation', Buffer.from('1.0'));
  t.equal(restoredIn(scene), fingerprint);
  rmSync(join(scene.directory, 'sealed-generation'));
  t.equal(restoredIn(scene), fingerprint, 'also when nothing is known of it');
  scene.write('sealed-generation', Buffer.from('no number'));
  t.equal(restoredIn(scene), fingerprint);
});

t.test('of two agents the newer one has the file', async (t) => {
  const scene = createStateScene(t);
  const older = scene.open();
  await scene.clock.advance(0);
  const newer = scene.open();
  t.equal(newer.state.restored.svids.length, 1, 'it begins with what the older one had');
  const svid = svidOf();
  newer.content.set(contentOf(svid));
  await scene.clock.advance(0);
  older.content.set(contentOf(svidOf(), svidOf()));
  await scene.clock.advance(1_000);
  await older.stop();
  t.equal(scene.log.lines.filter(({ message }) => message === 'a newer agent has the sealed state').length, 1);
  t.equal(await scene.metrics.read('signet_sealed_state_writes_total', { result: 'ok' }), 2, 'one of each');
  t.equal(restoredIn(scene), svid.fingerprint);
  await newer.stop();
});

t.test('when the newer of two agents ends first, as in an upgrade that is taken back, the older one has the file again', async (t) => {
  const scene = createStateScene(t);
  const older = scene.open();
  await scene.clock.advance(0);
  const newer = scene.open();
  await scene.clock.advance(0);
  older.content.set(contentOf(svidOf()));
  await scene.clock.advance(1_000);
  t.equal(scene.file('sealed-generation').toString(), '2.1', 'not while that lives');
  await newer.stop();
  t.equal(scene.file('sealed-generation').toString(), '2.2 final');
  const svid = svidOf();
  older.content.set(contentOf(svid));
  await scene.clock.advance(1_000);
  t.equal(scene.file('sealed-generation').toString(), '3.1');
  t.equal(restoredIn(scene), svid.fingerprint);
  await older.stop();
});

t.test('switched off, nothing is read, nothing written, and what is there is removed', async (t) => {
  const scene = createStateScene(t);
  const older = scene.open();
  await scene.clock.advance(0);
  const before = scene.files();
  t.same(scene.read({ enabled: false }).restored.svids, []);
  t.same(scene.files(), before, 'until it runs: what is there may be that of an agent that serves');
  t.equal(restoredIn(scene, { enabled: false }), undefined);
  t.same(scene.files(), ['sealed-generation'], 'but for a number');
  await older.stop();
  t.same(scene.files(), ['sealed-generation'], 'which keeps the agent that is being replaced from writing again');
  rmSync(scene.directory, { recursive: true });
  const { state } = scene.open({ enabled: false });
  t.equal(state.reason.value, undefined, 'off is nothing to report');
  t.notOk(statSync(scene.directory, { throwIfNoEntry: false }), 'no directory is made');
  writeFileSync(scene.directory, 'no directory');
  const unfit = scene.open({ enabled: false });
  t.match(unfit.state.reason.value, { code: 'state-unsafe' });
  t.equal(scene.reasons().at(-1), 'state-unsafe');
});

t.test('where keys would not be safe nothing is sealed, which is one line', async (t) => {
  const scene = createStateScene(t);
  await leave(scene);
  const { state, stop } = scene.open({ lookAt: () => ({ ...fitPlace, isSwapOn: true }) });
  await stop();
  t.match(state.reason.value, { code: 'state-unfit', detail: /swap/ });
  t.same(scene.reasons(), ['state-unfit']);
  t.same(scene.files(), ['sealed-generation'], 'and what is there is removed');
});

t.test('without a boot id there is nothing to bind a key to', async (t) => {
  const scene = createStateScene(t);
  await leave(scene);
  const { state, stop } = scene.open({ binding: { ...binding, bootId: '' } });
  await stop();
  t.match(state.reason.value, { code: 'state-unusable', detail: 'the boot id is hidden from this process' });
  t.same(scene.files(), ['sealed-generation']);
});

t.test('a write that fails is said once and tried again every 10 s', async (t) => {
  const scene = createStateScene(t);
  const { state, content } = scene.open();
  await scene.clock.advance(0);
  chmodSync(scene.directory, 0o755);
  content.set(contentOf(svidOf()));
  await scene.clock.advance(25_000);
  t.match(state.reason.value, { code: 'state-unsafe' });
  t.same(scene.reasons(), ['state-unsafe']);
  t.equal(await scene.metrics.read('signet_sealed_state_writes_total', { result: 'denied' }), 3);
  chmodSync(scene.directory, 0o700);
  await scene.clock.advance(10_000);
  t.equal(state.reason.value, undefined);
});

for (const [what, lose] of [
  ['the directory', (scene) => rmSync(scene.directory, { recursive: true })],
  ['the secret', (scene) => rmSync(join(scene.directory, 'sealed-key'))],
] as const satisfies readonly (readonly [string, (scene: StateScene) => void])[]) {
  t.test(`${what} lost while it runs is made anew, so that the next start opens what is written`, async (t) => {
    const scene = createStateScene(t);
    const running = scene.open();
    await scene.clock.advance(0);
    lose(scene);
    const svid = svidOf();
    running.content.set(contentOf(svid));
    await scene.clock.advance(1_000);
    t.equal(restoredIn(scene), svid.fingerprint);
    t.same(scene.log.lines, []);
    t.equal(statSync(scene.directory).mode & 0o777, 0o700);
    await running.stop();
  });
}

t.test('nothing is written to what is under the tmpfs once that is unmounted', async (t) => {
  const scene = createStateScene(t);
  let place = fitPlace;
  const { state, content, stop } = scene.open({ lookAt: () => place });
  await scene.clock.advance(0);
  for (const name of scene.files()) rmSync(join(scene.directory, name));
  place = { ...fitPlace, type: 0xef53 };
  content.set(contentOf(svidOf()));
  await stop();
  t.equal(state.reason.value?.code, 'state-unfit');
  t.same(scene.files(), []);
});

t.test('the secret can be a credential of systemd', async (t) => {
  const scene = createStateScene(t);
  const credential = join(scene.directory, '..', 'credential');
  writeFileSync(credential, Buffer.alloc(40, 'secret'), { mode: 0o640 });
  const fingerprint = await leave(scene, { credential });
  t.same(scene.files(), ['sealed-generation', 'sealed-state'], 'none beside the state then');
  t.equal(restoredIn(scene, { credential }), fingerprint);
  writeFileSync(credential, Buffer.alloc(40, 'other'));
  t.equal(restoredIn(scene, { credential }), undefined, 'another secret does not open it');
  t.same(scene.reasons(), ['state-damaged']);
  for (const [what, spoil, reason] of [
    ['too short', () => writeFileSync(credential, 'short'), 'state-unusable'],
    ['open to others', () => (writeFileSync(credential, Buffer.alloc(40)), chmodSync(credential, 0o444)), 'state-unsafe'],
    ['gone', () => rmSync(credential), 'state-unusable'],
  ] as const) {
    spoil();
    t.equal(scene.open({ credential }).state.reason.value?.code, reason, what);
  }
});
