import t from 'tap';
import type { Offer } from '../../../agent/sds/offer.js';
import type { EncodedSecret } from '../../../agent/sds/secret.js';
import { createSecretIndex } from '../../../agent/sds/secret-index.js';
import { settle } from '../../fixtures/clock.js';
import { createIntermediate, createRoot } from '../../fixtures/pki.js';
import { createTestSecrets, uri } from '../../fixtures/secrets.js';

const a = uri('a');
const identity = { kind: 'identity', uri: a } as const;

function secretOf(offer: Offer | undefined): EncodedSecret {
  if (offer?.status !== 'ready') throw new Error(`not ready but ${offer?.status}`);
  return offer.secret;
}

void t.test('all that ask for one thing share one secret and one subscription', async (t) => {
  const secrets = createTestSecrets();
  secrets.issue(a);
  const index = createSecretIndex(secrets);
  const offers: Offer[] = [];
  const stops = Array.from({ length: 3 }, () => index.watch(identity, a, (offer) => offers.push(offer)));
  t.equal(new Set(offers.map(secretOf)).size, 1);
  t.equal(secrets.subscribers(), 1);
  let aliased: Offer | undefined;
  stops.push(index.watch(identity, 'default', (offer) => (aliased = offer)));
  t.equal(secretOf(aliased).name, 'default');
  t.equal(secretOf(aliased).version, secretOf(offers[0]).version);
  t.ok(secretOf(aliased).edition > secretOf(offers[0]).edition);
  t.equal(index.size, 2);
  for (const stop of stops) stop();
  for (const stop of stops) stop();
  t.equal(index.size, 0);
  t.equal(secrets.subscribers(), 0);
  t.ok(secretOf(offers[0]).retired, 'nobody needs the key any more');
});

void t.test('follows an identity through its states; equal content is encoded once', async (t) => {
  const secrets = createTestSecrets();
  const index = createSecretIndex(secrets);
  const offers: Offer[] = [];
  index.watch(identity, a, (offer) => offers.push(offer));
  secrets.wait(a);
  await settle();
  const svid = secrets.issue(a);
  await settle();
  secrets.give(svid);
  await settle();
  t.same(
    offers.map(({ status }) => status),
    ['absent', 'waiting', 'ready'],
  );
  secrets.issue(a);
  await settle();
  t.ok(secretOf(offers[2]).retired);
  t.ok(secretOf(offers[3]).edition > secretOf(offers[2]).edition);
  secrets.remove(a);
  await settle();
  t.match(offers.at(-1), { status: 'absent', reason: { code: 'not-on-node' } });
  t.ok(secretOf(offers[3]).retired);
});

void t.test('who comes after the end of a certificate and before anybody was told gets none', async (t) => {
  const secrets = createTestSecrets();
  secrets.issue(a);
  const index = createSecretIndex(secrets);
  const [early, late]: [Offer[], Offer[]] = [[], []];
  index.watch(identity, a, (offer) => early.push(offer));
  secrets.wait(a);
  index.watch(identity, a, (offer) => late.push(offer));
  t.match(late, [{ status: 'waiting' }]);
  t.match(early, [{ status: 'ready' }, { status: 'waiting' }], 'and those before are told');
  t.ok(secretOf(early[0]).retired);
  await settle();
  secrets.issue(a);
  await settle();
  t.match([early.at(-1), late.at(-1)], [{ status: 'ready' }, { status: 'ready' }]);
});

void t.test('roots: waits for the first, leaves out intermediates for the validator, never offers an empty set', async (t) => {
  const secrets = createTestSecrets();
  secrets.setRoots([]);
  const index = createSecretIndex(secrets);
  const plain: Offer[] = [];
  const validator: Offer[] = [];
  index.watch({ kind: 'roots' }, 'ROOTCA', (offer) => plain.push(offer));
  index.watch({ kind: 'spiffe-roots' }, 'ALL', (offer) => validator.push(offer));
  t.match([plain.at(-1), validator.at(-1)], [{ status: 'waiting', reason: { code: 'bundle-missing' } }, { status: 'waiting' }]);
  secrets.setRoots([createIntermediate(secrets.root)]);
  await settle();
  t.match([plain.at(-1), validator.at(-1)], [{ status: 'ready' }, { status: 'waiting' }]);
  secrets.setRoots([secrets.root]);
  await settle();
  t.match([plain.at(-1), validator.at(-1)], [{ status: 'ready' }, { status: 'ready' }]);
  secrets.setRoots([secrets.root, createRoot()]);
  await settle();
  t.equal(plain.length, 4);
  secrets.setRoots([]);
  await settle();
  t.match(plain.at(-1), { status: 'waiting' });
});

void t.test('a target without a secret is an offer and nothing is followed', async (t) => {
  const secrets = createTestSecrets();
  const index = createSecretIndex(secrets);
  const reason = { code: 'name-invalid', detail: '' } as const;
  const statuses: string[] = [];
  for (const kind of ['unknown', 'denied', 'undecided'] as const)
    index.watch({ kind, reason }, 'x', (offer) => statuses.push(offer.status))();
  t.same(statuses, ['unknown', 'denied', 'absent']);
  t.equal(index.size, 0);
});
