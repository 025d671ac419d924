// Proxies of Istio that run istio-agent (sidecars, waypoints, gateways) take their certificates from a socket that is there already:
// what istio-agent makes of ours before it starts Envoy, and an Envoy as it starts it. See suites.md.

import { lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { startEchoApp } from '../fixtures/echo-app.js';
import { startEnvoy } from '../fixtures/envoy.js';
import { wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { bootstrap, cluster, idOf, listener } from '../fixtures/envoy-config.js';
import type { JsonObject } from '../fixtures/envoy-examples.js';
import { connectRaw, frameType } from '../fixtures/http2-raw.js';
import { createScene } from '../fixtures/scene.js';
import { accepts, createSignet } from '../fixtures/signet.js';
import { outcome } from '../fixtures/traffic.js';
import { until } from '../fixtures/until.js';
import { clientIdentity } from './client-identity.js';

/** Istio's own bootstrap (envoy_bootstrap.json): where secrets come from, and the names by which its listeners ask for them. */
const secretSource: JsonObject = {
  api_config_source: {
    api_type: 'GRPC',
    grpc_services: [{ envoy_grpc: { cluster_name: 'sds-grpc' } }],
    set_node_on_first_message_only: true,
    transport_api_version: 'V3',
  },
  initial_fetch_timeout: '0s',
  resource_api_version: 'V3',
};
const tlsContext: JsonObject = {
  name: 'envoy.transport_sockets.tls',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
    'require_client_certificate': true,
    'common_tls_context': {
      tls_certificate_sds_secret_configs: [{ name: 'default', sds_config: secretSource }],
      combined_validation_context: {
        default_validation_context: {},
        validation_context_sds_secret_config: { name: 'ROOTCA', sds_config: secretSource },
      },
    },
  },
};
const sdsCluster = (path: string): JsonObject => ({
  name: 'sds-grpc',
  type: 'STATIC',
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      'explicit_http_config': { http2_protocol_options: {} },
    },
  },
  connect_timeout: '1s',
  lb_policy: 'ROUND_ROBIN',
  load_assignment: { cluster_name: 'sds-grpc', endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path } } } }] }] },
});

await t.test('the Envoy of istio-agent gets its certificate and its roots by the names default and ROOTCA', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['server'] });
  await signet.start();
  // In a pod the directory of the socket is mounted there, and WORKLOAD_IDENTITY_SOCKET_FILE names the socket in it.
  const mount = join(scene.directory, 'pod/var/run/secrets/workload-spiffe-uds');
  mkdirSync(dirname(mount), { recursive: true });
  symlinkSync(dirname(signet.socket), mount);
  const path = join(mount, 'sds.sock');

  const app = await startEchoApp(scene);
  const listeners = [listener({ name: 'server', cluster: 'app', transportSocket: tlsContext })];
  const config = bootstrap({ socket: path, clusters: [sdsCluster(path), cluster('app', app.port)], listeners });
  const envoy = await startEnvoy(scene, { name: 'proxy', version: wholeSuiteEnvoy, config });
  await envoy.ready();
  const port = await envoy.port('server');
  const tls = await clientIdentity(scene, signet.socket, 'server');
  t.equal(await outcome({ port, tls }), '200 app saw GET /');
  t.match(await outcome({ port, tls: {} }), /^failed/, 'and nobody without a certificate');
  t.equal(await envoy.stat(/^sds\..*\.update_rejected$/), 0);

  const before = await envoy.stat(/^sds\.default\.update_success$/);
  t.equal((await signet.command('renew', idOf('server'))).code, 0);
  await until('the renewed certificate', 60_000, async () => (await envoy.stat(/^sds\.default\.update_success$/)) > before);
  t.equal(await outcome({ port, tls }), '200 app saw GET /');
});

// istio-agent looks once, as it starts: a file that is no regular one, on which a gRPC connection is ready within a second. A socket
// that is dead it removes, where it may, and then serves certificates itself.
await t.test('the socket as istio-agent looks at it', async (t) => {
  const scene = await createScene(t);
  const signet = createSignet(scene, { accounts: ['server'] });
  await signet.start();
  t.ok(lstatSync(signet.socket).isSocket());
  const client = await connectRaw(signet.socket);
  t.teardown(() => client.close());
  // By which gRPC takes a connection to be ready.
  await until('the settings of the server', 60_000, () => client.frames.some(({ type }) => type === frameType.settings));
  client.close();

  await signet.kill();
  t.notOk(await accepts(signet.socket), 'after a crash it is dead');
  rmSync(signet.socket);
  await signet.start();
  t.ok(await accepts(signet.socket), 'and there again with the next start');

  rmSync(signet.socket);
  await until('the socket is put back in its place', 60_000, () => accepts(signet.socket));
  t.ok(await accepts(signet.socket));
});
