// `signet ca rotate` against a scripted API server: what is asked for in the Secret, and what is told first.

import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import type { Test } from 'tap';
import type { RotateOutcome } from '../../../agent/commands/ca-rotate.js';
import { formatOutcome } from '../../../agent/commands/ca-rotate.js';
import { createCaCommand } from '../../../agent/commands/ca.js';
import { kindOf } from '../../../agent/runtime/errors.js';
import { writeKubeconfig } from '../../fixtures/cluster-credentials.js';
import { createIssuerScene, issuerSecretPath, tlsData } from '../../fixtures/issuer-scene.js';
import { createIntermediate, createRoot, dayMs } from '../../fixtures/pki.js';

const times = { notBefore: Date.now() - dayMs, notAfter: Date.now() + 30 * dayMs };
const root = createRoot(times);
const keyId = root.certificate.subjectKeyId ?? '';
const grant = (identity: string, notAfter = Date.now() + dayMs): string =>
  JSON.stringify({
    at: new Date(Date.now() - 1_000).toISOString(),
    decision: 'grant',
    identity,
    issued: { issuerKeyId: keyId, notAfter: new Date(notAfter).toISOString() },
  });

async function createRotateScene(t: Test, data = tlsData(root)) {
  const scene = await createIssuerScene(t);
  scene.put(data);
  const audit = [grant('web'), grant('gone', Date.now() - 1_000), '{"decision":"refuse"}', '{"decision":"grant"}', 'x'].join('\n');
  const directory = t.testdir({ 'audit.log': audit });
  const file = (name: string): string => join(directory, name);
  writeFileSync(file('ca.crt'), scene.server.ca);
  const kubeconfig = writeKubeconfig(file('kubeconfig'), { url: scene.server.url.href, caFile: file('ca.crt') }, { token: 'ours' });
  const settings = {
    trustDomain: 'example.org',
    kubeconfig,
    issuer: { secret: { namespace: 'signet-system', name: 'signet-ca-issuer' } },
  };
  const rotate = async (args: readonly string[], config: object = settings) => {
    writeFileSync(file('ca.yaml'), JSON.stringify(config));
    const out: string[] = [];
    const error: unknown = await createCaCommand({ out: (text) => out.push(text), err: () => {}, signal: new AbortController().signal })
      .enablePositionalOptions()
      .exitOverride()
      .parseAsync(['rotate', '--config', file('ca.yaml'), ...args], { from: 'user' })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    return { out: out.join(''), error };
  };
  const asked = (): object => JSON.parse(scene.text('signet.json') ?? '{}') as object;
  return { ...scene, rotate, asked, audit: file('audit.log') };
}

t.test('a rotation is asked for, once', async (t) => {
  const { rotate, asked } = await createRotateScene(t);
  const first = await rotate([]);
  t.equal(first.error, undefined);
  t.match(first.out, `The issuer is ${keyId}, until `);
  t.match(first.out, 'A rotation begins.\nThe next issuer signs 30m 0s after its root is everywhere; the former root goes 30m 0s later.\n');
  t.match(asked(), { requested: true });
  t.match((await rotate([])).out, 'A rotation was asked for before.');
  t.match(JSON.parse((await rotate(['--json'])).out), { asked: true, before: { issuer: keyId, requested: true, former: [] } });
});

t.test('a step by force: nothing is written before --yes', async (t) => {
  const { rotate, asked, audit, store } = await createRotateScene(t);
  const told = await rotate(['--force', 'switch', '--audit', audit]);
  t.equal(told.error, undefined);
  t.match(told.out, '2 lines of the audit log are none');
  t.match(told.out, 'The step switch breaks 1 identities:\n  web\n');
  t.match(told.out, 'Nothing was done');
  t.same(store.writes, []);
  const done = await rotate(['--force', 'switch', '--audit', audit, '--yes']);
  t.match(done.out, 'The step switch was asked for.');
  t.match(asked(), { requested: true, force: 'switch' });
  t.match((await rotate(['--force', 'retire', '--audit', audit])).out, 'The step retire breaks no certificate of the log.');
});

t.test('what is refused', async (t) => {
  const { rotate, audit, store } = await createRotateScene(t);
  const table: readonly (readonly [readonly string[], RegExp, object?])[] = [
    [['--force', 'switch'], /--force and --audit go together/],
    [['--audit', audit], /--force and --audit go together/],
    [['--yes'], /--yes is for --force/],
    [['--force', 'switch', '--audit', '/none'], /read the audit log/],
    [[], /names no issuer.secret/, { trustDomain: 'example.org' }],
    [[], /names no issuer.secret/, { trustDomain: 'example.org', issuer: { certificate: '/c', privateKey: '/k' } }],
  ];
  for (const [args, message, config] of table) {
    const { error } = await rotate(args, config);
    t.match(error, { message });
    t.equal(kindOf(error), 'invalid');
  }
  t.same(store.writes, []);
  const below = await createRotateScene(t, tlsData(createIntermediate(root, times), root));
  t.match((await below.rotate([])).error, { message: /below a root of its own/ });
  below.store.delete(issuerSecretPath);
  t.equal(kindOf((await below.rotate([])).error), 'notFound');
});

t.test('--status says where it stands and changes nothing', async (t) => {
  const { rotate, store, put } = await createRotateScene(t);
  const status = async (): Promise<RotateOutcome> => JSON.parse((await rotate(['--status', '--json'])).out) as RotateOutcome;
  t.match((await rotate(['--status'])).out, /^The issuer is .*\nThe next rotation begins by itself on .*\n$/);
  t.match(await status(), { asked: false, before: { phase: 'steady', issuer: keyId, requested: false } });
  const [next, former] = [createRoot(times), createRoot(times)];
  const now = Date.now();
  const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
  const state = {
    noted: String(root.pem),
    next: { certificate: String(next.pem), publishedAt: at(0) },
    former: [{ certificate: String(former.pem), until: at(5) }],
    longestLifetimeSeconds: 36_000,
    force: 'retire',
  };
  put({ ...tlsData(root), 'signet-next.key': 'x', 'signet.json': JSON.stringify(state) });
  t.match(await status(), {
    before: {
      phase: 'waiting',
      next: { issuer: next.certificate.subjectKeyId, publishedAt: at(0), signsAt: at(6.5) },
      former: [{ until: at(5) }],
      waits: { switchMs: 6.5 * 3_600_000, retireMs: 10.5 * 3_600_000 },
      force: 'retire',
    },
  });
  t.same(store.writes, []);
  t.equal(kindOf((await rotate(['--status', '--force', 'switch', '--audit', '/none', '--yes'])).error), 'invalid');
});

t.test('a rotation that is under way', (t) => {
  const before = {
    phase: 'publishing',
    issuer: 'aa',
    notAfter: '2027-01-01T00:00:00Z',
    next: { issuer: 'bb' },
    former: [{ root: 'cc', until: '2026-01-02T00:00:00Z' }],
    waits: { switchMs: 54_000_000, retireMs: 90_000_000 },
    requested: false,
  } as const;
  t.equal(
    formatOutcome({ asked: true, before }),
    'The issuer is aa, until 2027-01-01T00:00:00Z.\nThe root cc is published until 2026-01-02T00:00:00Z.\n' +
      'Next signs bb; its root is not everywhere yet.\n' +
      'The next issuer signs 15h 0m after its root is everywhere; the former root goes 1d 1h later.\n',
  );
  const published = {
    ...before,
    phase: 'waiting',
    former: [],
    next: { issuer: 'bb', publishedAt: '2026-01-01T00:00:00Z', signsAt: '2026-01-01T15:00:00Z' },
  } as const;
  t.equal(
    formatOutcome({ asked: true, force: 'switch', atRisk: [], before: published }),
    'The issuer is aa, until 2027-01-01T00:00:00Z.\nNext signs bb; its root is everywhere since 2026-01-01T00:00:00Z.\n' +
      'It signs from 2026-01-01T15:00:00Z on; the former root goes 1d 1h later.\n' +
      'The step switch breaks no certificate of the log.\nThe step switch was asked for.\n',
  );
  t.end();
});
