// What SDS is shown of certificates and identities, with the real cache and a CA that can be down.

import t from 'tap';
import { createNodeSecrets } from '../../agent/node-secrets.js';
import type { Reason } from '../../agent/runtime/reasons.js';
import { SignetError } from '../../agent/runtime/errors.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import type { SecretState } from '../../agent/sds/service.js';
import { hourMs } from '../fixtures/pki.js';
import type { CacheScene } from '../fixtures/svid-cache.js';
import { createCacheScene, uriOf } from '../fixtures/svid-cache.js';

function create({ cache }: CacheScene, explain: (uri: string) => Reason = () => ({ code: 'not-on-node', detail: '' })) {
  const index = { identities: new WatchedValue(new Map()), explain };
  return createNodeSecrets({ trustDomain: 'example.org', index, cache, bundle: new WatchedValue(undefined) });
}

t.test('L05: while the CA is down, who comes anew gets the kept certificate until its notAfter, and not a moment longer', async (t) => {
  const scene = createCacheScene(t, { lifetimeMs: hourMs });
  const { ca, clock, svid, want, settled } = scene;
  const secrets = create(scene);
  /** What a stream that opens now is told first. */
  const asked = (): SecretState => {
    const states: SecretState[] = [];
    secrets.identity(uriOf('a')).subscribe((state) => states.push(state))();
    return states[0] ?? { status: 'absent', reason: { code: 'not-on-node', detail: 'never told' } };
  };
  await want('a');
  const kept = svid('a');
  ca.outcome = () => new SignetError('unavailable', 'connect to the ca');
  for (const share of [0.2, 0.5, 0.9]) {
    await clock.advance(kept.receivedAt + share * hourMs - clock.now());
    t.same(asked(), { status: 'ready', svid: kept }, `after ${share} of its life`);
  }
  await clock.advance(kept.notAfter - 1 - clock.now());
  t.equal(asked().status, 'ready');
  await clock.advance(1);
  t.match(asked(), { status: 'waiting', reason: { code: 'ca-unavailable' } });
  ca.outcome = () => undefined;
  secrets.urgent(uriOf('a'));
  await clock.advance(1_000);
  await settled();
  t.equal(asked().status, 'ready');
});

t.test('a name without an identity is absent, or unknown as long as nobody can tell', async (t) => {
  const scene = createCacheScene(t);
  let reason: Reason = { code: 'pods-unread', detail: '' };
  const secrets = create(scene, () => reason);
  t.same(secrets.identity(uriOf('a')).value, { status: 'waiting', reason });
  for (const code of ['not-on-node', 'not-selected', 'trust-domain-foreign', 'name-invalid'] as const) {
    reason = { code, detail: '' };
    t.same(secrets.identity(uriOf('a')).value, { status: 'absent', reason });
  }
  scene.ca.outcome = () => 'hang';
  await scene.want('a');
  t.match(secrets.identity(uriOf('a')).value, { status: 'waiting', reason: { code: 'issuing' } });
});
