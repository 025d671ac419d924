// Kubeconfigs of every kind against a real HTTPS server: client certificates that rotate, tokens, exec plugins, and what is refused.

import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createKubeClient } from '../../../agent/kube/client.js';
import { createKubeconfigCredential } from '../../../agent/kube/kubeconfig.js';
import { describeError, reasonOf } from '../../../agent/runtime/errors.js';
import { createApiServer, longLife } from '../../fixtures/api-server.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { never } from '../../fixtures/kube.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';
import { createLeaf, keyPem } from '../../fixtures/pki.js';

interface Parts {
  readonly user: object;
  readonly cluster?: object;
}

async function scene(t: Test, parts: (directory: string) => Parts) {
  const server = await createApiServer(t, (call) =>
    call.json({ client: call.client ?? '', authorization: call.headers.authorization ?? '' }),
  );
  const directory = t.testdir({ 'ca.crt': server.ca });
  const path = join(directory, 'kubeconfig');
  const { user, cluster } = parts(directory);
  const write = (of: object, where: object = {}): void =>
    writeFileSync(
      path,
      JSON.stringify({
        'apiVersion': 'v1',
        'kind': 'Config',
        'clusters': [{ name: 'c', cluster: { 'server': server.url.href, 'certificate-authority': join(directory, 'ca.crt'), ...where } }],
        'users': [{ name: 'u', user: of }],
        'contexts': [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
  write(user, cluster);
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const { metrics } = createTestMetrics();
  const credential = createKubeconfigCredential({ path, clock, log });
  const client = createKubeClient({ credential, clock, metrics });
  t.teardown(() => client.close());
  const call = async (): Promise<unknown> => await client.request({ path: '/version' }, never);
  /** PEM of certificate and key of a node in one file, as the kubelet has it. */
  const identity = (name: string): string => {
    const leaf = createLeaf(server.root, 'spiffe://test/node', { ...longLife, uris: [], subject: name, organization: 'system:nodes' });
    return `${leaf.pem.toString()}${keyPem(leaf).toString()}`;
  };
  return { server, directory, path, clock, log, credential, call, write, identity };
}

t.test("R109 the kubelet's own kubeconfig, whose certificate is swapped behind a symlink", async (t) => {
  const scenery = await scene(t, (directory) => {
    const pem = join(directory, 'kubelet-client-current.pem');
    return { user: { 'client-certificate': pem, 'client-key': pem } };
  });
  const { directory, identity, call, clock, server } = scenery;
  const rotate = (file: string, name: string): void => {
    writeFileSync(join(directory, file), identity(name));
    symlinkSync(file, join(directory, 'next'));
    renameSync(join(directory, 'next'), join(directory, 'kubelet-client-current.pem'));
  };
  rotate('one.pem', 'system:node:one');
  t.match(await call(), { client: 'system:node:one' });
  rotate('two.pem', 'system:node:two');
  t.match(await call(), { client: 'system:node:one' });
  await clock.advance(10_000);
  t.match(await call(), { client: 'system:node:two' });

  rotate('three.pem', 'system:node:three');
  const { handle } = server;
  server.handle = (request) => (request.client === 'system:node:two' ? request.status(401, 'Unauthorized') : handle(request));
  t.match(await call(), { client: 'system:node:three' }, 'the old one is refused: at once');
});

t.test('a token and a password', async (t) => {
  const { call, write, clock } = await scene(t, () => ({ user: { token: 'abc' } }));
  t.match(await call(), { authorization: 'Bearer abc' });
  write({ username: 'me', password: 'secret' });
  await clock.advance(10_000);
  t.match(await call(), { authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` });
});

t.test('an exec plugin', async (t) => {
  const { call } = await scene(t, () => {
    const credential = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-plugin' },
    });
    return {
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: process.execPath,
          args: ['-p', JSON.stringify(credential)],
          interactiveMode: 'Never',
        },
      },
    };
  });
  t.match(await call(), { authorization: 'Bearer from-plugin' });
});

t.test('what a plugin gives is used until it ends, and asked for anew when it is refused', async (t) => {
  const { call, directory, clock, server } = await scene(t, (at) => {
    const program = `
      const fs = require('node:fs');
      const runs = ${JSON.stringify(join(at, 'runs'))};
      fs.appendFileSync(runs, 'x');
      console.log(JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { token: 'token-' + fs.readFileSync(runs).length, expirationTimestamp: '2100-01-01T00:00:00Z' },
      }));`;
    return {
      user: {
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', program], interactiveMode: 'Never' },
      },
    };
  });
  t.match(await call(), { authorization: 'Bearer token-1' });
  await clock.advance(60_000);
  t.match(await call(), { authorization: 'Bearer token-1' }, 'kept, although the file was read again');
  const { handle } = server;
  server.handle = (request) => (request.headers.authorization === 'Bearer token-1' ? request.status(401, 'Unauthorized') : handle(request));
  t.match(await call(), { authorization: 'Bearer token-2' });
  t.equal(readFileSync(join(directory, 'runs'), 'utf8'), 'xx');
});

t.test('a plugin that takes long is started once, however many calls wait for it', async (t) => {
  const { call, directory } = await scene(t, (at) => {
    const program = `
      require('node:fs').appendFileSync(${JSON.stringify(join(at, 'runs'))}, 'x');
      setTimeout(() => console.log('{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"slow"}}'), 100);`;
    return {
      user: {
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', program], interactiveMode: 'Never' },
      },
    };
  });
  t.match(await Promise.all([call(), call(), call()]), Array(3).fill({ authorization: 'Bearer slow' }));
  t.equal(readFileSync(join(directory, 'runs'), 'utf8'), 'x');
});

t.test('a file that cannot be used for a moment changes nothing; after a refusal it is read at once', async (t) => {
  const { call, write, clock, path, log, credential } = await scene(t, () => ({ user: { token: 'abc' } }));
  await call();
  writeFileSync(path, 'clusters: [');
  await clock.advance(10_000);
  await call();
  await clock.advance(10_000);
  t.match(await call(), { authorization: 'Bearer abc' });
  t.equal(log.lines.length, 1);
  const refused = await credential.access();
  t.equal(await credential.accessAfter(refused), undefined);
  write({ token: 'new' });
  t.match(await credential.accessAfter(refused), { authorization: 'Bearer new' });
});

for (const [name, cluster, user, text] of [
  ['no verification', { 'insecure-skip-tls-verify': true }, {}, /insecure-skip-tls-verify/],
  ['a proxy', { 'proxy-url': 'http://127.0.0.1:1' }, {}, /proxy-url/],
  ['plain HTTP', { server: 'http://127.0.0.1:1' }, {}, /https/],
  ['a file with the token', {}, { tokenFile: '/token' }, /tokenFile of the user: not supported/],
  ['acting as another', {}, { 'as': 'me', 'as-groups': ['us'] }, /as and as-groups of the user: not supported/],
] as const) {
  t.test(`refused: ${name}`, async (t) => {
    const { call, server } = await scene(t, () => ({ user: { token: 'abc', ...user }, cluster }));
    const error = await call().catch((failure: unknown) => failure);
    t.equal(reasonOf(error), 'kube-config-invalid');
    t.match(describeError(error), text);
    t.equal(server.calls.length, 0);
  });
}

t.test('no kubeconfig, and one without a context', async (t) => {
  const { call, path } = await scene(t, () => ({ user: {} }));
  renameSync(path, `${path}.away`);
  t.equal(reasonOf(await call().catch((failure: unknown) => failure)), 'kube-config-invalid');
  writeFileSync(path, 'apiVersion: v1\nkind: Config\n');
  t.equal(reasonOf(await call().catch((failure: unknown) => failure)), 'kube-config-invalid');
});
