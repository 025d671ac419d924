// The account of a pod: its files change under the process, are gone for a moment, or expire.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { Access } from '../../../agent/kube/credentials.js';
import { createInClusterCredential, expiryOf, inClusterServer, sameConnection } from '../../../agent/kube/credentials.js';
import { reasonOf } from '../../../agent/runtime/errors.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

const server = new URL('https://10.0.0.1:443');

function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.x`;
}

function scene(t: Test, files: Record<string, string>) {
  const directory = t.testdir(files);
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const credential = createInClusterCredential({
    server,
    tokenFile: join(directory, 'token'),
    caFile: join(directory, 'ca.crt'),
    clock,
    log,
    metrics,
  });
  const bearer = async (): Promise<string | undefined> => (await credential.access()).authorization?.slice('Bearer '.length);
  const code = async (): Promise<string | undefined> =>
    await credential.access().then(
      () => 'ok',
      (error: unknown) => reasonOf(error),
    );
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  return { directory, clock, log, read, credential, bearer, code, write };
}

t.test('where the API server is', (t) => {
  t.equal(inClusterServer({ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' })?.href, 'https://10.0.0.1/');
  t.equal(inClusterServer({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' })?.href, 'https://[fd00::1]:6443/');
  t.equal(inClusterServer({}), undefined);
  t.end();
});

t.test('the end of a token', (t) => {
  t.equal(expiryOf(jwt({ exp: 5 })), 5_000);
  for (const other of ['', 'opaque', 'a.b.c', jwt({}), jwt({ exp: 'soon' })]) t.equal(expiryOf(other), Infinity, other);
  t.end();
});

t.test('F011: a token that is rotated is used within ten seconds', async (t) => {
  const { bearer, clock, write, credential } = scene(t, { 'token': 'one\n', 'ca.crt': 'root' });
  t.equal(await bearer(), 'one');
  write('token', 'two');
  await clock.advance(9_999);
  t.equal(await bearer(), 'one');
  await clock.advance(1);
  t.equal(await bearer(), 'two');
  write('ca.crt', 'other root');
  await clock.advance(10_000);
  t.equal((await credential.access()).tls.ca, 'other root');
});

t.test('R048, F046: a volume whose directory is swapped by a symlink', async (t) => {
  const { bearer, clock, directory } = scene(t, {});
  const place = (version: string, token: string): void => {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'token'), token);
    writeFileSync(join(directory, version, 'ca.crt'), 'root');
    symlinkSync(version, join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  };
  place('..v1', 'one');
  for (const name of ['token', 'ca.crt']) symlinkSync(join('..data', name), join(directory, name));
  t.equal(await bearer(), 'one');
  place('..v2', 'two');
  await clock.advance(10_000);
  t.equal(await bearer(), 'two');
});

t.test('R049: a token that is gone or empty for a moment is kept, with one line at debug', async (t) => {
  const { bearer, clock, write, log, directory } = scene(t, { 'token': jwt({ exp: 4e9 }), 'ca.crt': 'root' });
  const first = await bearer();
  write('token', '');
  await clock.advance(10_000);
  t.equal(await bearer(), first);
  renameSync(join(directory, 'token'), join(directory, 'away'));
  await clock.advance(10_000);
  t.equal(await bearer(), first);
  t.same(
    log.lines.map(({ level }) => level),
    ['debug'],
  );
  write('token', 'two');
  await clock.advance(10_000);
  t.equal(await bearer(), 'two');
});

t.test('R050, F010: no call with an expired token, and the next one as soon as the file is new', async (t) => {
  const clock = createFakeClock();
  const { code, write, read } = scene(t, { 'token': jwt({ exp: clock.now() / 1_000 }), 'ca.crt': 'root' });
  t.equal(await code(), 'kube-token-expired');
  t.equal(await read('signet_kube_token_expired'), 1);
  write('token', jwt({ exp: clock.now() / 1_000 + 60 }));
  t.equal(await code(), 'ok');
  t.equal(await read('signet_kube_token_expired'), 0);
});

t.test('nothing to call with', async (t) => {
  const { code, write } = scene(t, {});
  t.equal(await code(), 'kube-token-missing');
  write('token', 'one');
  t.equal(await code(), 'kube-config-invalid');
  write('ca.crt', 'root');
  t.equal(await code(), 'kube-config-invalid', 'read again when it is due');
});

t.test('F116: after a refusal the files are read at once, and the token before is tried while it is valid', async (t) => {
  const { credential, write, clock } = scene(t, { 'token': 'one', 'ca.crt': 'root' });
  const other = async (refused: Access): Promise<string | undefined> => (await credential.accessAfter(refused))?.authorization;
  const one = await credential.access();
  t.equal(await other(one), undefined);
  write('token', 'two');
  t.equal(await other(one), 'Bearer two');
  const two = await credential.access();
  t.equal(two.authorization, 'Bearer two');
  t.equal(await other(two), 'Bearer one', 'this server may not know the new one yet');
  write('token', jwt({ exp: clock.now() / 1_000 + 1 }));
  t.match(await other(two), /^Bearer ey/);
  await clock.advance(1_000);
  t.equal(await other({ ...two, authorization: 'Bearer x' }), 'Bearer two', 'an expired one is left out');
});

t.test('what makes another connection', (t) => {
  const access: Access = { server, tls: { ca: 'a' } };
  t.ok(sameConnection(access, { server, tls: { ca: Buffer.from('a') }, authorization: 'Bearer other' }));
  t.notOk(sameConnection(access, { ...access, server: new URL('https://other:6443') }));
  for (const tls of [{ ca: 'b' }, { ca: 'a', cert: 'c' }, { ca: 'a', serverName: 'c' }, { ca: 'a', pin: 'c' }])
    t.notOk(sameConnection({ server, tls }, access));
  t.end();
});
