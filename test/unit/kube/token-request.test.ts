// Tokens bound to pods: the request on the wire, and the refusals of three Kubernetes versions.

import t from 'tap';
import { createTokenRequester, followRefusals } from '../../../agent/kube/token-request.js';
import { kindOf, reasonOf } from '../../../agent/runtime/errors.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { createKubeScene, never } from '../../fixtures/kube.js';

const wanted = {
  namespace: 'shop',
  serviceAccount: 'cart',
  pod: { name: 'cart-1', uid: 'u1' },
  audience: 'signet-ca',
  lifetimeSeconds: 60,
};

t.test('F157: a token', async (t) => {
  const { client, server } = await createKubeScene(t, (call) =>
    call.json({ status: { token: 'abc', expirationTimestamp: '2026-01-01T00:10:00Z' } }, 201),
  );
  t.same(await createTokenRequester(client)(wanted, never), { token: 'abc', expiresAt: Date.UTC(2026, 0, 1, 0, 10) });
  t.match(server.calls[0], {
    method: 'POST',
    path: '/api/v1/namespaces/shop/serviceaccounts/cart/token',
    body: {
      spec: {
        audiences: ['signet-ca'],
        expirationSeconds: 600,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'cart-1', uid: 'u1' },
      },
    },
  });
});

t.test('a token for the API server itself names no audience', async (t) => {
  const { client, server } = await createKubeScene(t, (call) =>
    call.json({ status: { token: 'abc', expirationTimestamp: '2026-01-01T00:10:00Z' } }, 201),
  );
  const { audience: _, ...rest } = wanted;
  await createTokenRequester(client)(rest, never);
  const [body] = server.calls.map((call) => call.body as { readonly spec: object });
  t.same(Object.keys(body?.spec ?? {}), ['expirationSeconds', 'boundObjectRef']);
});

const sa = 'serviceaccounts "cart" is forbidden:';
const refusals: readonly [status: number, message: string, reason: string | undefined, kind: string][] = [
  [403, `${sa} system:node:node-a is not authorized to request tokens for audience "signet-ca"`, 'token-audience-denied', 'denied'],
  [
    403,
    `${sa} audience "signet-ca" not found in pod spec volume, system:node:node-a is not authorized to request tokens for this audience`,
    'token-audience-denied',
    'denied',
  ],
  [
    403,
    `${sa} User "system:node:node-a" cannot create resource "serviceaccounts/token" in API group "" in the namespace "shop": node: no relationship found between node 'node-a' and this object`,
    'token-pod-denied',
    'denied',
  ],
  [
    403,
    `${sa} User "system:node:node-a" cannot create resource "serviceaccounts/token" in API group "" in the namespace "shop": no relationship found between node 'node-a' and this object`,
    'token-pod-denied',
    'denied',
  ],
  [403, `${sa} node requested token bound to a pod scheduled on a different node`, 'token-pod-denied', 'denied'],
  [
    403,
    `${sa} the UID in the bound object reference (0) does not match the UID in record. The object might have been deleted and then recreated`,
    'token-pod-denied',
    'denied',
  ],
  [
    403,
    `${sa} User "system:serviceaccount:signet-system:signet-agent" cannot create resource "serviceaccounts/token"`,
    'kube-denied',
    'denied',
  ],
  [404, 'serviceaccounts "cart" not found', 'token-pod-denied', 'notFound'],
  [409, 'the UID in the token request does not match the UID of the service account', 'token-pod-denied', 'conflict'],
  [500, 'etcd', 'kube-unavailable', 'unavailable'],
];
for (const [status, message, reason, kind] of refusals) {
  t.test(`${status} ${message.slice(0, 90)}`, async (t) => {
    const { client } = await createKubeScene(t, (call: ApiCall) => call.status(status, message));
    const error = await createTokenRequester(client)(wanted, never).catch((failure: unknown) => failure);
    t.equal(reasonOf(error), reason);
    t.equal(kindOf(error), kind);
  });
}

for (const answer of [{}, null, { status: { token: 'abc' } }, { status: { expirationTimestamp: '2026-01-01T00:10:00Z' } }]) {
  t.test(`an answer without a token: ${JSON.stringify(answer)}`, async (t) => {
    const { client } = await createKubeScene(t, (call: ApiCall) => call.json(answer, 201));
    t.equal(reasonOf(await createTokenRequester(client)(wanted, never).catch((failure: unknown) => failure)), 'kube-answer-invalid');
  });
}

t.test('the last refusal, until a token is given again', async (t) => {
  let status = 403;
  const { client } = await createKubeScene(t, (call: ApiCall) => {
    if (status === 403) call.status(403, 'not for you');
    else call.json({ status: { token: 'abc', expirationTimestamp: '2026-01-01T00:10:00Z' } }, 201);
  });
  const { createToken, refusal } = followRefusals(createTokenRequester(client));
  t.equal(refusal.value, undefined);
  await t.rejects(createToken(wanted, never), { name: 'SignetError', kind: 'denied' });
  t.match(refusal.value, { code: 'kube-denied', detail: /not for you/ });
  status = 201;
  await createToken(wanted, never);
  t.equal(refusal.value, undefined);
});
