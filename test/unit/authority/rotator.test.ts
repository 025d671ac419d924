import t from 'tap';
import type { Test } from 'tap';
import type { SecretIssuer } from '../../../agent/authority/issuer-owner.js';
import { createSecretIssuer, openIssuerSecret } from '../../../agent/authority/issuer-owner.js';
import type { Rotator } from '../../../agent/authority/rotator.js';
import { createRotator, requestRotation } from '../../../agent/authority/rotator.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Certificate } from '../../../agent/x509/certificate.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import type { IssuerScene } from '../../fixtures/issuer-scene.js';
import { createIssuerScene, tlsData } from '../../fixtures/issuer-scene.js';
import { never } from '../../fixtures/kube.js';
import { createIntermediate, createRoot, hourMs, testTime } from '../../fixtures/pki.js';

const root = createRoot();
const middle = createIntermediate(root);

/** Short: while the fake clock runs, watches are opened anew for real. */
const leafLifetimeMs = 600_000;
const lagMs = 60_000;

interface Scene extends IssuerScene {
  readonly owner: SecretIssuer;
  readonly rotator: Rotator;
  readonly targets: {
    readonly confirmed: WatchedValue<readonly Certificate[] | undefined>;
    readonly lapsedAt: WatchedValue<number | undefined>;
  };
  /** Targets hold what is published now. */
  confirm(): void;
  readonly steps: () => readonly unknown[];
  readonly stop: () => Promise<void>;
}

async function createScene(t: Test, data: Readonly<Record<string, Buffer>> = tlsData(root)): Promise<Scene> {
  const scene = await createIssuerScene(t);
  scene.put(data);
  const options = { ...scene.options, leafLifetimeMs, lagMs };
  const owner = createSecretIssuer({ ...options, initial: await openIssuerSecret(options, never) });
  const confirmed = new WatchedValue<readonly Certificate[] | undefined>(undefined);
  const targets = { confirmed, lapsedAt: new WatchedValue<number | undefined>(undefined) };
  const rotator = createRotator({ ...options, secret: owner.secret, lost: owner.lost, targets });
  scene.start(owner);
  const stop = scene.start(rotator);
  await until(() => owner.reason.value === undefined);
  const steps = (): readonly unknown[] => scene.log.lines.flatMap(({ fields }) => (fields['step'] === undefined ? [] : [fields['step']]));
  return { ...scene, options, owner, rotator, targets, confirm: () => confirmed.set(owner.roots.value), steps, stop };
}

t.test('a rotation that somebody asks for', async (t) => {
  const { owner, clock, options, confirm, steps, text, stop } = await createScene(t);
  const before = owner.issuer.value;
  await requestRotation(options, { begin: true }, never);
  await until(() => owner.roots.value.length === 2, 'the next root is published');
  t.equal(owner.issuer.value, before, 'and does not sign yet');
  await clock.advance(leafLifetimeMs);
  t.same(steps(), ['prepare'], 'nor before every target has it');
  confirm();
  await until(() => steps().length === 2);
  await clock.advance(leafLifetimeMs * 0.6 + lagMs - 10_000);
  t.equal(owner.issuer.value, before, 'nor before every client may know it');
  await advanceUntil(clock, 200, () => owner.issuer.value !== before);
  const { certificate } = owner.issuer.value;
  t.same(
    owner.roots.value.map(({ fingerprint }) => fingerprint),
    [certificate.fingerprint, root.certificate.fingerprint],
  );
  await until(() => steps().length === 4);
  await clock.advance(leafLifetimeMs);
  t.equal(owner.roots.value.length, 2);
  await advanceUntil(clock, 200, () => owner.roots.value.length === 1);
  t.same(steps(), ['prepare', 'confirm', 'switch', 'note', 'retire']);
  t.equal(owner.issuer.value.certificate, certificate);
  t.notOk(text('signet-next.key'));
  await stop();
});

t.test('one that the age of the issuer asks for', async (t) => {
  const { clock, steps } = await createScene(t, tlsData(createRoot({ notBefore: testTime, notAfter: testTime + 2 * hourMs })));
  await clock.advance(85 * 60_000);
  t.same(steps(), []);
  await advanceUntil(clock, 500, () => steps().length === 1);
  t.same(steps(), ['prepare']);
});

t.test('force does the named step at once', async (t) => {
  const { owner, options, steps } = await createScene(t);
  const before = owner.issuer.value;
  await t.rejects(requestRotation(options, { force: 'switch' }, never), { name: 'SignetError', kind: 'invalid' }, 'nothing to force');
  await requestRotation(options, { begin: true, force: 'switch' }, never);
  await until(() => steps().length === 3);
  t.same(steps(), ['prepare', 'switch', 'note']);
  await until(() => owner.issuer.value !== before);
  t.equal(owner.roots.value.length, 2, 'the old root stays');
  await requestRotation(options, { force: 'retire' }, never);
  await until(() => owner.roots.value.length === 1);
  t.same(steps(), ['prepare', 'switch', 'note', 'retire']);
});

t.test('an issuer with a root of its own is not rotated', async (t) => {
  const { options } = await createScene(t, tlsData(middle, root));
  await t.rejects(requestRotation(options, { begin: true }, never), {
    name: 'SignetError',
    kind: 'invalid',
    message: /replace the secret/,
  });
});

t.test('a target that others change while clients learn of the next root', async (t) => {
  const { owner, clock, options, targets, confirm, steps } = await createScene(t);
  const before = owner.issuer.value;
  await requestRotation(options, { begin: true }, never);
  await until(() => owner.roots.value.length === 2);
  confirm();
  await until(() => owner.secret.value.state.next?.publishedAt !== undefined);
  await clock.advance(leafLifetimeMs * 0.6);
  targets.lapsedAt.set(clock.now());
  await until(() => steps().length === 4);
  t.same(steps(), ['prepare', 'confirm', 'lapse', 'confirm']);
  await clock.advance(leafLifetimeMs * 0.6 + lagMs - 10_000);
  t.equal(owner.issuer.value, before, 'the wait began anew');
  await advanceUntil(clock, 200, () => owner.issuer.value !== before);
});

t.test('two that believe to hold the Lease take each step once', async (t) => {
  const scene = await createScene(t);
  const { owner, options, targets, start, steps, store } = scene;
  start(createRotator({ ...options, secret: owner.secret, lost: owner.lost, targets }));
  await requestRotation(options, { begin: true }, never);
  await until(() => owner.secret.value.state.next !== undefined);
  await until(() => store.writes.length >= 3);
  t.same(steps(), ['prepare']);
});

t.test('a step that another took, which this one has not heard of, is none of its faults', async (t) => {
  const { owner, clock, options, targets, log, store, start, steps } = await createScene(t);
  await requestRotation(options, { begin: true }, never);
  await until(() => owner.secret.value.state.next !== undefined);
  const stale = new WatchedValue(owner.secret.value);
  await requestRotation(options, { force: 'switch' }, never);
  await until(() => steps().length === 3);
  // Its operations do not fit any more: the key of the next issuer is not there.
  stale.set({ ...stale.value, state: { ...stale.value.state, force: 'switch' } });
  const late = createRotator({ ...options, secret: stale, lost: owner.lost, targets });
  const { length } = store.writes;
  start(late);
  await advanceUntil(clock, 500, () => store.writes.length >= length + 2, 'it tried, heard why not, and tries again');
  t.equal(late.reason.value, undefined);
  t.same(steps(), ['prepare', 'switch', 'note']);
  t.notOk(log.lines.some(({ level }) => level === 'warn'));
});

t.test('a step that cannot be written is a reason', async (t) => {
  const { owner, options, rotator, store, clock, log } = await createScene(t);
  const rotating = ({ body }: ApiCall): boolean => JSON.stringify(body ?? '').includes('signet-next.key');
  store.refuse = (call) => (rotating(call) ? 403 : undefined);
  await requestRotation(options, { begin: true }, never);
  await until(() => rotator.reason.value !== undefined);
  t.match(rotator.reason.value, { code: 'kube-denied', detail: /^step of the rotation: / });
  t.ok(log.lines.some(({ level, message }) => level === 'warn' && message === 'cannot write a step of the rotation'));
  store.refuse = () => undefined;
  await advanceUntil(clock, 500, () => rotator.reason.value === undefined);
  t.ok(owner.secret.value.state.next);
});

t.test('an older copy of the Secret is put back: what was signed meanwhile is known until it ends', async (t) => {
  const { owner, clock, options, confirm, put, steps, text, start, stop } = await createScene(t);
  await requestRotation(options, { begin: true, force: 'switch' }, never);
  await until(() => steps().length === 3, 'the next issuer signs');
  confirm();
  const { certificate } = owner.issuer.value;
  t.not(certificate.fingerprint, root.certificate.fingerprint);
  // So that the copy is not noted anew before it is looked at.
  await stop();
  put(tlsData(root));
  await until(() => owner.issuer.value.certificate.fingerprint === root.certificate.fingerprint);
  const published = (): readonly string[] => owner.roots.value.map(({ fingerprint }) => fingerprint);
  const both = [root.certificate.fingerprint, certificate.fingerprint];
  t.same(published(), both, 'at once, by each replica that knows of it');
  const { confirmed, lapsedAt } = { confirmed: new WatchedValue(undefined), lapsedAt: new WatchedValue(undefined) };
  start(createRotator({ ...options, secret: owner.secret, lost: owner.lost, targets: { confirmed, lapsedAt } }));
  await until(() => owner.lost.value.length === 0, 'the Secret has it');
  t.same(steps(), ['prepare', 'switch', 'note', 'note']);
  t.match(JSON.parse(text('signet.json') ?? ''), { generation: 1, former: [{}] });
  t.same(published(), both);
  await clock.advance(leafLifetimeMs);
  t.same(published(), both);
  await advanceUntil(clock, 200, () => published().length === 1);
  t.equal(steps().at(-1), 'retire');
});
