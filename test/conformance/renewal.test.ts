// When the next certificate is on the stream of a client that subscribed once: from the real cache, by a clock that the test moves. What
// comes, comes while that clock stands still.

import t from 'tap';
import { createNodeSecrets } from '../../agent/node-secrets.js';
import { WatchedValue } from '../../agent/runtime/watched.js';
import type { Certificate } from '../../agent/x509/certificate.js';
import { readCertificates } from '../../agent/x509/pem.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { DeltaResponse } from '../fixtures/sds-script.js';
import { secretsOf, node, typeUrl } from '../fixtures/sds-script.js';
import { bundleOf } from '../fixtures/secrets.js';
import { createCacheScene, uriOf } from '../fixtures/svid-cache.js';
import { createRoot } from '../fixtures/pki.js';

const second = 1_000;
const minute = 60 * second;

const names = Array.from({ length: 5 }, (_, index) => `n${index}`);

/** The leaf of each secret in a response, by its name. */
function leavesOf(response: DeltaResponse): (readonly [string, Certificate])[] {
  return secretsOf(response).flatMap(({ name, tlsCertificate }) => {
    const [leaf] = readCertificates(Buffer.from(tlsCertificate?.certificateChain?.inlineBytes ?? []), { source: name });
    return leaf === undefined ? [] : [[name, leaf] as const];
  });
}

/** When clients such as ztunnel want the next one. */
const halfOf = ({ notBefore, notAfter }: Certificate): number => (notBefore + notAfter) / 2;

const cases = [
  ['of 24 h, dated back by 2 min', 24 * 60 * minute, 2 * minute],
  ['of 10 min, dated back by 2 min', 10 * minute, 2 * minute],
  ['of 10 s, dated back by 1 s', 10 * second, second],
] as const;

for (const [what, lifeMs, backdatedMs] of cases) {
  void t.test(`certificates ${what}: replaced on the stream before half of their validity, again and again`, async (t) => {
    // A CA whose clock is behind dates its certificates back, and they end sooner by as much.
    const { cache, clock, want } = createCacheScene(t, { lifetimeMs: lifeMs + backdatedMs, aheadMs: -backdatedMs });
    const served = createNodeSecrets({
      trustDomain: 'example.org',
      index: { identities: new WatchedValue(new Map()), explain: () => ({ code: 'not-on-node', detail: '' }) },
      cache,
      bundle: new WatchedValue(bundleOf([createRoot()])),
    });
    const { client } = await openSdsScene(t, { served, clock });
    await want(...names);
    const stream = client.delta();
    stream.send({ node, typeUrl, resourceNamesSubscribe: names.map(uriOf) });
    const held = new Map<string, Certificate>();
    const take = async (): Promise<void> => {
      const response = await stream.next();
      for (const [name, leaf] of leavesOf(response)) held.set(name, leaf);
      stream.send({ typeUrl, responseNonce: response.nonce });
    };
    await take();
    t.equal(held.size, names.length, 'all of them with the first answer');

    // Always the one whose half comes first; the others may be replaced meanwhile.
    for (let step = 1; step <= 2 * names.length; step += 1) {
      const [name = '', leaf] = [...held].sort(([, one], [, other]) => halfOf(one) - halfOf(other))[0] ?? [];
      if (leaf === undefined) throw new Error('holds nothing');
      await clock.advance(Math.max(0, halfOf(leaf) - 1 - clock.now()));
      while (held.get(name) === leaf) await take();
      t.ok(clock.now() < halfOf(leaf), `${name}: before half`);
    }
  });
}
