// What survives a restart, wired, in shared memory; what each part does with it is in the tests of that part.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { evaluateConfig } from '../../agent/config.js';
import type { Environment } from '../../agent/config.js';
import type { SvidState } from '../../agent/cache/svid-cache.js';
import { createIdentityIndex } from '../../agent/pods/identity-index.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import { openSealing } from '../../agent/sealing.js';
import type { RootSource } from '../../agent/trust-bundle.js';
import { createWatchedRootSource } from '../../agent/trust-bundle.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { testTime } from '../fixtures/pki.js';
import { createFakePodSource, createPod } from '../fixtures/pods.js';
import { createServices } from '../fixtures/reasons.js';
import { cartUri, stateRoot, svidOf } from '../fixtures/sealed-state.js';
import { whyNoTmpfs } from '../fixtures/tmpfs.js';

const skip = whyNoTmpfs() ?? false;
const settings = 'trustDomain: example.org\nnode: node-a\nupstreams: [{kind: built-in}]\n';

function createScene(t: Test) {
  const directory = mkdtempSync('/dev/shm/signet-');
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { config } = evaluateConfig({ defaults: 'agent', env: {} }, `${settings}state: {directory: ${directory}/state}\n`, 'agent.yaml');
  return {
    directory,
    files: () => readdirSync(join(directory, 'state')).sort(),
    open: (env: Environment = {}) => openSealing({ config, env, ...createServices() }),
  };
}

function rootSource(name: string, ...roots: readonly Certificate[]): RootSource {
  return createWatchedRootSource(name, new WatchedValue(roots));
}

/** What the owners have at the end of an agent. */
function createOwners() {
  const source = createFakePodSource('apiserver', 'cluster');
  source.set([createPod('cart')]);
  const services = createServices();
  const index = createIdentityIndex({ sources: [source], trustDomain: 'example.org', select: new WatchedValue({}), ...services });
  void index.run(new AbortController().signal);
  const state: SvidState = { status: 'issued', svid: svidOf(), renewAt: testTime };
  const cache = { changes: new WatchedValue(0), states: () => new Map([[cartUri, state]]) };
  return { index, cache, namespaces: { names: new WatchedValue<ReadonlySet<string> | 'unread'>(new Set(['shop'])) } };
}

t.test('what the owners have at the end, the next start has', { skip }, async (t) => {
  const { open } = createScene(t);
  const first = open();
  t.equal(first.svids([]).size, 0);
  first.keepRoots(rootSource('roots.pem', stateRoot.certificate));
  await first.run(createOwners(), AbortSignal.abort());

  const next = open();
  t.same(next.pods, [{ source: 'cluster', pod: createPod('cart') }]);
  t.same(next.namespaces, ['shop']);
  const kept = next.keepRoots(rootSource('roots.pem'));
  t.equal(kept.roots.value?.[0]?.fingerprint, stateRoot.certificate.fingerprint);
  t.equal(kept.reason.value?.code, 'bundle-restored');
  t.same([...next.svids([kept]).keys()], [cartUri]);
});

t.test('the secret is the credential of the unit where it has one', { skip }, async (t) => {
  const { open, directory, files } = createScene(t);
  const env = { CREDENTIALS_DIRECTORY: directory };
  await open(env).run(createOwners(), AbortSignal.abort());
  t.ok(files().includes('sealed-key'), 'credentials for something else are none');
  rmSync(join(directory, 'state'), { recursive: true });
  writeFileSync(join(directory, 'signet-state-key'), Buffer.alloc(32, 'x'), { mode: 0o400 });
  await open(env).run(createOwners(), AbortSignal.abort());
  t.same(files(), ['sealed-generation', 'sealed-state']);
  t.equal(open(env).pods.length, 1);
  t.equal(open().pods.length, 0);
  t.ok(readFileSync(join(directory, 'state', 'sealed-state')).includes('"node":"node-a"'));
});
