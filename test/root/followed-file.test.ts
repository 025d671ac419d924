// The real binary where the node's inotify instances or watches are used up: files are polled, and nothing else is amiss.

import t from 'tap';
import { freePorts } from '../fixtures/free-ports.js';
import { createScene } from '../fixtures/scene.js';
import { createSignet } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';

for (const [code, limit] of [
  ['EMFILE', 'max_inotify_instances'],
  ['ENOSPC', 'max_inotify_watches'],
] as const) {
  t.test(`R112 no watch can be made (${code}): polling, one warning for each file, and the gauge counts them`, async (t) => {
    const scene = await createScene(t);
    const [port] = await freePorts(1);
    const signet = createSignet(scene, {
      accounts: ['cart'],
      config: { http: { address: `127.0.0.1:${port}` } },
      // In a user namespace of its own the limit is the namespace's (namespaces(7)).
      within: ['unshare', '--user', '--map-root-user', 'sh', '-c', `echo 0 > /proc/sys/user/${limit} && exec "$@"`, 'sh'],
    });
    await signet.start();
    const polled = async (): Promise<string | undefined> =>
      /^signet_files_polled (.*)$/m.exec(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())?.[1];
    // Pods and configuration.
    await until('both files are polled', 30_000, async () => (await polled()) === '2');

    signet.setAccounts(['cart', 'orders']);
    const fetched = await until('the new pod', 60_000, async () => {
      const result = await signet.command('fetch', 'shop/orders', '--pem');
      return result.code === 0 && result;
    });
    t.match(fetched.stdout, /BEGIN CERTIFICATE/);
    const warnings = signet
      .tail()
      .split('\n')
      .filter((line) => line.includes('cannot watch a directory'));
    t.equal(warnings.length, 2, 'one for each file, however often it is polled');
    for (const line of warnings) t.match(line, code);
    t.equal(await polled(), '2');
  });
}
