// Which of two ways tells who calls: the API server, or its keys while it is away.

import { Registry } from 'prom-client';
import t from 'tap';
import type { Test } from 'tap';
import { createTokenAuthenticator } from '../../../agent/kube/token-authenticator.js';
import { createAuthorityMetrics } from '../../../agent/metrics.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { createTestToken } from '../../fixtures/tokens.js';

const user = { username: 'system:serviceaccount:shop:agent', groups: ['system:serviceaccounts'], extra: {} };

async function createScene(t: Test, whenApiServerAway: 'unavailable' | 'jwks', handle: (call: ApiCall) => void) {
  const scene = await createKubeScene(t, handle);
  const callers = createTokenAuthenticator({
    client: scene.client,
    audiences: ['istio-ca'],
    whenApiServerAway,
    clock: scene.clock,
    log: scene.log,
    metrics: createAuthorityMetrics(new Registry()),
  });
  const end = new AbortController();
  const running = callers.run(end.signal);
  t.teardown(async () => {
    end.abort();
    await running;
  });
  return { callers, token: createTestToken({ expiresAt: scene.clock.now() + 3_600_000 }) };
}

t.test('the API server says who it is', async (t) => {
  const { callers, token } = await createScene(t, 'unavailable', (call) =>
    call.json({ status: { authenticated: true, audiences: ['istio-ca'], user } }, 201),
  );
  t.match(await callers.authenticate(token), { mode: 'token-review', holder: { namespace: 'shop', serviceAccount: 'agent' } });
});

t.test('while it is away nobody does, or its keys do', async (t) => {
  const away = (call: ApiCall): void => call.json({ kind: 'Status', message: 'away' }, 503);
  const without = await createScene(t, 'unavailable', away);
  await t.rejects(without.callers.authenticate(without.token), { kind: 'unavailable', message: 'the token could not be reviewed' });
  const keys = await createScene(t, 'jwks', away);
  await t.rejects(keys.callers.authenticate(keys.token), { name: 'SignetError', message: 'no keys of tokens are known' });
});

t.test('a refusal is one, whatever the keys say', async (t) => {
  const { callers, token } = await createScene(t, 'jwks', (call) => call.json({ status: { authenticated: false } }, 201));
  await t.rejects(callers.authenticate(token), { name: 'SignetError', kind: 'unauthenticated', reason: 'token-refused' });
});
