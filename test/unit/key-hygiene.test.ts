import t from 'tap';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { ReceivedSecret } from '../../agent/sds/client.js';
import { idOf, podsOf, startTestAgent } from '../fixtures/agent.js';
import { formsOf } from '../fixtures/key-forms.js';

const never = new AbortController().signal;

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const found = statSync(path);
    return found.isDirectory() ? filesBelow(path) : found.isFile() ? [path] : [];
  });
}

t.test('no key of an identity turns up in logs, metrics, status, streams, errors or files', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart', 'checkout'), flags: { 'pods-linger': '0s', 'log-level': 'debug' } });
  t.teardown(() => running.stop());
  const keys: string[] = [];
  const outputs: Buffer[] = [];
  const keep = (secret: ReceivedSecret | undefined): void => {
    if (secret === undefined || secret.kind !== 'certificate') return;
    keys.push(secret.privateKeyPem.toString());
    const { privateKeyPem: _, ...shown } = secret;
    outputs.push(Buffer.from(inspect(shown, { depth: 8 })));
  };
  const { host, port } = await new Promise<{ host: string; port: number }>((resolve) => {
    running.agent.http.subscribe((address) => address !== undefined && resolve(address));
  });
  const look = async (): Promise<void> => {
    for (const path of ['metrics', 'readyz', 'readyz?verbose'])
      outputs.push(Buffer.from(await (await fetch(`http://${host}:${port}/${path}`)).text()));
    outputs.push(
      Buffer.from(JSON.stringify(await running.admin.status(never))),
      Buffer.from(JSON.stringify(await running.admin.streams(never))),
    );
  };

  // A life: issued, served to a stream, renewed under it, gone, asked for in vain, back again.
  const gone = new AbortController();
  let serials = 0;
  await running.sds.watch(
    [idOf('cart')],
    ({ secret }) => {
      keep(secret);
      if (secret === undefined) {
        gone.abort();
        return;
      }
      serials += 1;
      if (serials < 3) running.admin.renew(idOf('cart'), never).catch((error: unknown) => t.fail(String(error)));
      else running.writePods(podsOf('checkout'));
    },
    { signal: gone.signal },
  );
  await look();
  await running.sds
    .fetchOnce([idOf('cart')], { deadlineMs: 5_000, signal: never })
    .catch((error: unknown) => outputs.push(Buffer.from(inspect(error))));
  running.writePods(podsOf('cart', 'checkout'));
  const back = new AbortController();
  await running.sds.watch([idOf('cart')], ({ secret }) => (keep(secret), secret !== undefined && back.abort()), { signal: back.signal });
  await look();
  for (const path of filesBelow(running.directory)) outputs.push(readFileSync(path));
  outputs.push(Buffer.from(running.logs.join('')));

  t.equal(new Set(keys).size, 4, 'each certificate had a fresh key');
  const shown = Buffer.concat(outputs);
  t.ok(shown.includes(idOf('cart')), 'the outputs hold what they are to hold');
  for (const key of keys) for (const form of formsOf(key)) t.notOk(shown.includes(form), 'no form of the key is in any output');
  t.equal(
    formsOf(keys[0] ?? '').filter((form) => Buffer.from(keys[0] ?? '').includes(form)).length > 0,
    true,
    'the search finds what is there',
  );
});

t.test('the state directory is closed to others', async (t) => {
  const running = await startTestAgent({ pods: podsOf('cart') });
  t.teardown(() => running.stop());
  const state = join(running.directory, `signet-${process.getuid?.() ?? 0}`, 'state');
  t.equal(statSync(state).mode & 0o777, 0o700);
  for (const path of filesBelow(state)) t.equal(statSync(path).mode & 0o777, 0o600, path);
});
