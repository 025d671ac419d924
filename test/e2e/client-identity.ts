// A certificate for clients that are not Envoy: fetched over SDS, as any workload could.

import { bundleName, idOf } from '../fixtures/envoy-config.js';
import type { Scene } from '../fixtures/scene.js';
import { connectSds } from '../fixtures/secret-watch.js';
import type { TlsOptions } from '../fixtures/traffic.js';

/** Client certificate of the account and the roots to check the server with. */
export async function clientIdentity(scene: Scene, socket: string, account: string): Promise<TlsOptions> {
  const connection = connectSds(scene, socket);
  const own = await connection.watch('sotw', [idOf(account)]).first(idOf(account));
  const bundle = await connection.watch('sotw', [bundleName]).first(bundleName);
  connection.close();
  return { certificate: own.chain, privateKey: own.privateKey, roots: bundle.roots };
}
