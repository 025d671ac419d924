// The shipped binary from outside: exit codes, help, signals, sockets that were passed in. Needs `npm run build`.

import t from 'tap';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Test } from 'tap';
import { idOf, podsOf } from '../fixtures/agent.js';
import { createLeaf, createRoot, createTestKey, keyPem } from '../fixtures/pki.js';
import { secretTypeUrl } from '../../agent/sds/wire.js';
import { envoy } from '#proto/sds.js';

const binary = resolve('dist/signet.cjs');

interface Place {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly sds: string;
}

function createPlace(t: Test): Place {
  const directory = mkdtempSync(join(tmpdir(), 'sc-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'pods.yaml'), podsOf('cart', 'checkout'));
  // Without NODE_OPTIONS, by which tap gives its loaders to every Node.
  const env = { PATH: process.env['PATH'], HOME: directory, XDG_RUNTIME_DIR: directory };
  return { directory, env, sds: join(directory, `signet-${process.getuid?.() ?? 0}`, 'sds', 'sds.sock') };
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function finished(child: ChildProcess): Promise<Finished> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

const run = ({ directory, env }: Place, ...args: readonly string[]): Promise<Finished> =>
  finished(spawn(process.execPath, [binary, ...args], { cwd: directory, env }));

/** Starts `signet dev` and waits until it says what it serves. */
async function serve(t: Test, { directory, env }: Place, ...args: readonly string[]): Promise<ChildProcess> {
  const command = [binary, 'dev', '--pods', 'pods.yaml', '--http-address', '127.0.0.1:0', '--log-level', 'error', ...args];
  const child = spawn(process.execPath, command, { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  for await (const chunk of child.stdout.setEncoding('utf8')) if (String(chunk).includes('Ctrl-C')) break;
  return child;
}

t.test('help stands on one screen', async (t) => {
  const place = createPlace(t);
  for (const args of [['--help'], ['dev', '--help'], ['fetch', '--help']]) {
    const { code, stdout } = await run(place, ...args);
    t.equal(code, 0);
    const lines = stdout.split('\n');
    t.ok(lines.length <= 40 && lines.every((line) => line.length <= 80), `${args.join(' ')}: ${lines.length} lines`);
  }
});

t.test('exit codes: usage and configuration 2, cannot reach 3', async (t) => {
  const place = createPlace(t);
  t.match(await run(place, 'serve'), { code: 2, stderr: /unknown command 'serve'/ });
  t.match(await run(place, 'fetch', '--jsn'), { code: 2, stderr: /unknown option '--jsn'/ });
  writeFileSync(join(place.directory, 'bad.yaml'), 'trustdomain: x\ncertificate: {lifetime: 1y}\n');
  const { code, stderr } = await run(place, 'check-config', '--config', 'bad.yaml');
  t.equal(code, 2);
  t.match(stderr, /trustdomain \(line 1\) is unknown; did you mean trustDomain\?/);
  t.match(stderr, /certificate\.lifetime \(line 2\) must be a duration/);
  t.match(stderr, /node is required/, 'all faults at once');
  t.match(await run(place, 'status', '--socket', '/nowhere'), { code: 3, stderr: /there is no control socket at this path/ });
  t.match(await run(place, 'fetch', 'ROOTCA', '--socket', '/nowhere'), { code: 3, stderr: /is the agent running/ });
});

t.test('exit codes of a running one: in use 3, no such identity 4, refused 5; 0 at SIGTERM', async (t) => {
  const place = createPlace(t);
  const child = await serve(t, place);
  t.match(await run(place, 'dev', '--pods', 'pods.yaml'), { code: 3, stderr: /another process listens on the socket/ });
  t.match(await run(place, 'fetch', 'shop/nope'), { code: 4, stderr: /no certificate for this name/ });
  const refused = await run(place, 'fetch');
  t.match(refused, { code: 5 });
  for (const account of ['cart', 'checkout']) t.ok(refused.stderr.includes(idOf(account)), 'the names that may be asked for');
  t.match(await run(place, 'fetch', 'shop/cart', '--pem'), { code: 0, stdout: /^-----BEGIN CERTIFICATE-----/, stderr: '' });
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
  t.notOk(existsSync(place.sds), 'its socket is gone');
});

t.test('an issuer that must not sign stops the start, and the check is named', async (t) => {
  const dayMs = 86_400_000;
  const times = { notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs };
  const weak = createRoot({ ...times, key: createTestKey('rsa-1024') });
  const noCa = createLeaf(createRoot(times), 'spiffe://example.org', times);
  const expired = createRoot({ notBefore: Date.now() - 2 * dayMs, notAfter: Date.now() - dayMs });
  for (const [issuer, privateKey, told] of [
    [weak, weak, /issuer key is weaker than allowed/],
    [noCa, noCa, /issuer certificate is not a CA certificate/],
    [createRoot(times), createRoot(times), /issuer key does not belong to the issuer certificate/],
    [expired, expired, /issuer certificate is expired/],
  ] as const) {
    const place = createPlace(t);
    const files = { certificate: join(place.directory, 'issuer.crt'), privateKey: join(place.directory, 'issuer.key') };
    writeFileSync(files.certificate, issuer.pem);
    writeFileSync(files.privateKey, keyPem(privateKey), { mode: 0o600 });
    writeFileSync(join(place.directory, 'dev.yaml'), JSON.stringify({ upstreams: [{ kind: 'built-in', issuer: files }] }));
    const { code, stderr } = await run(place, 'dev', '--pods', 'pods.yaml', '--config', 'dev.yaml');
    t.equal(code, 2);
    t.match(stderr, told);
    t.notMatch(stderr, /PRIVATE KEY/);
    t.notOk(existsSync(place.sds), 'no socket was made');
  }
});

t.test('R105 a socket that cannot be bound stops the start, and what to look at is named', async (t) => {
  const place = createPlace(t);
  // Not even root makes files in procfs.
  for (const [path, ...told] of [
    ['/proc/s.sock', 'path: /proc/s.sock', 'mode: 0666', `uid: ${process.getuid?.()}`, 'security labels (SELinux, AppArmor)'],
    ['/proc/self/signet/s.sock', 'make the directory of the socket', 'path: /proc/self/signet'],
  ] as const) {
    const { code, stderr } = await run(place, 'dev', '--pods', 'pods.yaml', '--sds-socket-path', path);
    t.equal(code, 3);
    for (const text of told) t.ok(stderr.includes(text), `${text} in ${stderr}`);
  }
});

t.test('after SIGKILL the next start binds the socket at once, 5 times', async (t) => {
  const place = createPlace(t);
  for (let times = 0; times < 5; times += 1) {
    const child = await serve(t, place);
    t.match(await run(place, 'fetch', 'shop/cart', '--pem'), { code: 0 });
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    t.ok(existsSync(place.sds), 'the stale socket was left');
  }
});

t.test('L03: SIGTERM with 1,000 open streams: GOAWAY, each ends with OK, exit 0 in under 5 s', async (t) => {
  const place = createPlace(t);
  const child = await serve(t, place);
  const session = connectHttp2('http://localhost', { createConnection: () => connect(place.sds) });
  const goaway = once(session, 'goaway');
  const headers = {
    ':method': 'POST',
    ':path': '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets',
    'content-type': 'application/grpc',
    'te': 'trailers',
  };
  const body = envoy.service.discovery.v3.DiscoveryRequest.encode({ typeUrl: secretTypeUrl, resourceNames: [idOf('cart')] }).finish();
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]);
  const streams = Array.from({ length: 1_000 }, () => {
    const stream = session.request(headers);
    stream.write(message);
    const answered = once(stream, 'data').then(() => stream.resume());
    const ended = once(stream, 'trailers').then(([trailers]) => (trailers as Record<string, unknown>)['grpc-status']);
    return { answered, ended };
  });
  await Promise.all(streams.map(({ answered }) => answered));
  const exit = once(child, 'exit');
  // The bound is the product's own promise; the process is ended by the test when it does not keep it.
  const bound = setTimeout(() => child.kill('SIGKILL'), 5_000);
  child.kill('SIGTERM');
  const statuses = await Promise.all(streams.map(({ ended }) => ended));
  t.same([...new Set(statuses)], ['0']);
  await goaway;
  t.same(await exit, [0, null]);
  clearTimeout(bound);
});

t.test('a second signal ends the process at once', async (t) => {
  const child = await serve(t, createPlace(t));
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  child.kill('SIGINT');
  const [code] = (await exit) as [number | null];
  t.ok(code === 0 || code === 1, `exit ${code}`);
});

/**
 * Runs with descriptor 3 as systemd would pass it: a listening socket at `path` that no other process accepts on. The shell
 * gives its own PID away by exec.
 */
async function activated({ directory, env }: Place, path: string, pid: string, door = 'sds'): Promise<ChildProcess> {
  const server = createServer().listen(`${path}.new`);
  await once(server, 'listening');
  const { fd } = (server as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const command = `LISTEN_FDS=1 LISTEN_FDNAMES=${door} LISTEN_PID=${pid} exec '${process.execPath}' '${binary}' dev --pods pods.yaml --http-address 127.0.0.1:0 --log-level warn`;
  const child = spawn('sh', ['-c', command], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe', fd] });
  // Closing removes the name that was bound; under the other one the socket lives on in the child.
  renameSync(`${path}.new`, path);
  server.close();
  return child;
}

t.test('a socket that systemd passes in is used, and left where it is', async (t) => {
  const place = createPlace(t);
  const path = join(place.directory, 'passed.sock');
  const child = await activated(place, path, '$$');
  t.teardown(() => child.kill('SIGKILL'));
  await untilOutput(child, 'Ctrl-C');
  t.match(await run(place, 'fetch', 'shop/cart', '--pem', '--socket', path), { code: 0, stdout: /BEGIN CERTIFICATE/ });
  t.notOk(existsSync(place.sds), 'no socket of its own was bound');
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
  t.ok(existsSync(path));
});

t.test('descriptors for another process are ignored with a warning', async (t) => {
  const place = createPlace(t);
  const child = await activated(place, join(place.directory, 'passed.sock'), '1');
  t.teardown(() => child.kill('SIGKILL'));
  const result = finished(child);
  await untilOutput(child, 'Ctrl-C');
  t.ok(existsSync(place.sds));
  child.kill('SIGTERM');
  t.match((await result).stderr, /LISTEN_FDS is ignored: LISTEN_PID names another process/);
});

t.test('a passed socket of a door that is closed is warned of', async (t) => {
  const place = createPlace(t);
  const child = await activated(place, join(place.directory, 'passed.sock'), '$$', 'local-ca');
  t.teardown(() => child.kill('SIGKILL'));
  const result = finished(child);
  await untilOutput(child, 'Ctrl-C');
  child.kill('SIGTERM');
  t.match((await result).stderr, /local-ca of systemd is not accepted on/);
});

function untilOutput(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk: string) => {
      if (String(chunk).includes(text)) resolve();
    });
  });
}
