import t from 'tap';
import { createWorkloadAuth } from '../../../agent/ca/istio-auth.js';
import type { Token } from '../../../agent/ca/token.js';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { SpiffeId } from '../../../agent/identity/spiffe-id.js';
import { SignetError } from '../../../agent/runtime/errors.js';
import { createFakeClock } from '../../fixtures/clock.js';
import { createTestToken } from '../../fixtures/tokens.js';

const [cart, checkout] = [createSpiffeId('cluster.local', 'shop', 'cart'), createSpiffeId('cluster.local', 'shop', 'checkout')];
const signal = new AbortController().signal;

function scene() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const createToken = async (id: SpiffeId): Promise<string> => {
    asked.push(id.serviceAccount);
    return createTestToken({ account: `${id.namespace}/${id.serviceAccount}`, expiresAt: clock.now() + 600_000 });
  };
  const auth = createWorkloadAuth({ createToken, clock });
  const tokenFor = (id: SpiffeId): Promise<Token> => auth.tokenFor(id, signal);
  return { clock, asked, auth, tokenFor };
}

t.test('a token is made when it is needed, and serves the retries of that attempt only', async (t) => {
  const { asked, auth, tokenFor } = scene();
  const first = await tokenFor(cart);
  t.equal(first.claims.account, 'shop/cart');
  t.equal(await tokenFor(cart), first, 'the CA could not be reached: the same again');
  t.not(await tokenFor(checkout), first, 'each identity has its own');
  t.same(asked, ['cart', 'checkout']);
  auth.settled(cart);
  t.not(await tokenFor(cart), first, 'the CA saw it: the next attempt has a new one');
  t.same(asked, ['cart', 'checkout', 'cart']);
});

t.test('one that is about to expire is not kept', async (t) => {
  const { clock, asked, tokenFor } = scene();
  const first = await tokenFor(cart);
  await clock.advance(540_000);
  t.equal(await tokenFor(cart), first);
  await clock.advance(1);
  t.not(await tokenFor(cart), first);
  t.equal(asked.length, 2);
});

t.test('a refusal of the API server is passed on, and asked again', async (t) => {
  let refuses = true;
  const refusal = new SignetError('denied', 'token refused', { reason: 'kube-denied' });
  const createToken = async (): Promise<string> => {
    if (refuses) throw refusal;
    return createTestToken();
  };
  const auth = createWorkloadAuth({ createToken, clock: createFakeClock() });
  await t.rejects(auth.tokenFor(cart, signal), refusal);
  refuses = false;
  t.ok(await auth.tokenFor(cart, signal));
});
