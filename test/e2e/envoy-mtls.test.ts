// Mutual TLS between Envoys, both identities from Signet; state of the world and delta. See suites.md.

import t from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import { startEnvoy } from '../fixtures/envoy.js';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { bootstrap, bundleName, cluster, idOf, listener, serverTls } from '../fixtures/envoy-config.js';
import { createScene } from '../fixtures/scene.js';
import { createSignet } from '../fixtures/signet.js';
import { outcome } from '../fixtures/traffic.js';
import { until } from '../fixtures/until.js';
import { clientIdentity } from './client-identity.js';
import { bothDirections } from './scenes.js';

for (const protocol of ['sotw', 'delta'] as const) {
  await t.test(`mutual TLS both ways, ${protocol}`, (t) => bothDirections(t, { version: wholeSuiteEnvoy, protocol }));
}

for (const bundle of ['ROOTCA', 'ALL']) {
  await t.test(`mutual TLS with the roots named ${bundle}`, (t) =>
    bothDirections(t, { version: wholeSuiteEnvoy, protocol: 'delta', bundle }),
  );
}

await t.test('mutual TLS with the agent of a node, configured in full', (t) =>
  bothDirections(t, { version: wholeSuiteEnvoy, protocol: 'sotw', mode: 'agent' }),
);

const mixedUp = {
  'an identity in the place of the roots': { own: { name: idOf('server') }, bundle: idOf('server') },
  'the roots in the place of an identity': { own: { name: bundleName }, bundle: bundleName },
  'names mixed up both ways': { own: { name: bundleName }, bundle: idOf('server') },
};

for (const [what, names] of Object.entries(mixedUp)) {
  await t.test(`${what} opens no door`, async (t) => {
    const scene = await createScene(t);
    const signet = createSignet(scene, { accounts: ['client', 'server'] });
    await signet.start();
    const client = await clientIdentity(scene, signet.socket, 'client');
    const app = await startEchoApp(scene);
    const transportSocket = serverTls({ ...names, protocol: 'sotw' });
    const listeners = [listener({ name: 'server', cluster: 'app', transportSocket })];
    const config = bootstrap({ socket: signet.socket, clusters: [cluster('app', app.port)], listeners });
    const envoy = await startEnvoy(scene, { name: 'server', version: wholeSuiteEnvoy, config });
    await until('Envoy rejects the secret', 60_000, async () => (await envoy.stat(/^sds\..*\.update_rejected$/)) > 0);
    const port = await envoy.port('server');
    // Envoy lets a handshake wait for a secret that it can use: the patience of the caller ends it.
    const outcomes = await Promise.all([client, {}].map((tls) => outcome({ port, tls, deadlineMs: 1_000 })));
    for (const answer of outcomes) t.match(answer, /^failed/, 'a client is refused, with and without a certificate');
    t.equal(app.requests(), 0, 'nothing reached the application');
  });
}
