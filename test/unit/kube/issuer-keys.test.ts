// Tokens told apart by the kept keys of the API server: what is checked of them, and how the keys are kept.

import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, sign } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import { createIssuerKeys } from '../../../agent/kube/issuer-keys.js';
import type { ApiCall } from '../../fixtures/api-server.js';
import { advanceUntil, until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';

const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const { x, y, crv } = ec.publicKey.export({ format: 'jwk' });
const { n, e } = rsa.publicKey.export({ format: 'jwk' });
const set = {
  keys: [
    { kty: 'EC', kid: 'ec', alg: 'ES256', use: 'sig', crv, x, y },
    { kty: 'RSA', kid: 'rsa', alg: 'RS256', use: 'sig', n, e },
    { kty: 'XX', kid: 'new' },
    'none',
  ],
};
const issuer = 'https://kubernetes.default.svc';

const serve = (call: ApiCall): void => call.json(call.path === '/openid/v1/jwks' ? set : { issuer });

function createToken(claims: object, head: object = { alg: 'ES256', kid: 'ec' }, key: KeyObject = ec.privateKey): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(head)}.${part(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

async function createScene(t: Test, handle = serve) {
  const scene = await createKubeScene(t, handle);
  const keys = createIssuerKeys({ client: scene.client, audiences: ['signet-ca'], clock: scene.clock, log: scene.log });
  const stop = new AbortController();
  const running = keys.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await running;
  });
  const seconds = Math.floor(scene.clock.now() / 1_000);
  const claims = {
    'iss': issuer,
    'aud': ['signet-ca'],
    'exp': seconds + 600,
    'nbf': seconds,
    'sub': 'system:serviceaccount:shop:agent',
    'jti': 'one',
    'kubernetes.io': {
      namespace: 'shop',
      serviceaccount: { name: 'agent', uid: 'a' },
      pod: { name: 'agent-1', uid: 'uid-1' },
      node: { name: 'node-a', uid: 'n' },
    },
  };
  return { ...scene, keys, claims, seconds };
}

const outcome = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

t.test('a token of the API server, on either kind of key', async (t) => {
  const { keys, claims, server } = await createScene(t);
  t.match(
    outcome(() => keys.verify(createToken(claims))),
    { kind: 'unavailable' },
    'without keys nobody can tell',
  );
  await until(() => server.calls.length === 2);
  await until(() => !(outcome(() => keys.verify(createToken(claims))) instanceof Error));
  const holder = {
    namespace: 'shop',
    serviceAccount: 'agent',
    pod: { name: 'agent-1', uid: 'uid-1' },
    node: { name: 'node-a', uid: 'n' },
    credentialId: 'JTI=one',
  };
  t.strictSame(keys.verify(createToken(claims)), holder);
  t.strictSame(keys.verify(createToken(claims, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey)), holder);
  t.match(keys.verify(createToken({ ...claims, 'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'agent' } } })), {
    pod: undefined,
    node: undefined,
  });
});

t.test('what is not right about a token', async (t) => {
  const { keys, claims, seconds } = await createScene(t);
  await until(() => !(outcome(() => keys.verify(createToken(claims))) instanceof Error));
  const good = createToken(claims);
  const table: readonly (readonly [string, string, string])[] = [
    ['another key', createToken(claims, { alg: 'ES256', kid: 'ec' }, other.privateKey), 'token-refused'],
    ['an unknown key', createToken(claims, { alg: 'ES256', kid: 'other' }), 'token-refused'],
    ['no key id', createToken(claims, { alg: 'ES256' }), 'token-refused'],
    ['no algorithm', createToken(claims, { kid: 'ec' }), 'token-refused'],
    ['alg none', `${Buffer.from('{"alg":"none","kid":"ec"}').toString('base64url')}.${good.split('.')[1]}.`, 'token-refused'],
    ['the algorithm of another kind of key', createToken(claims, { alg: 'RS256', kid: 'ec' }), 'token-refused'],
    ['HMAC with the public key', createToken(claims, { alg: 'HS256', kid: 'ec' }), 'token-refused'],
    [
      'a changed claim',
      good.replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify({ ...claims, sub: 'x' })).toString('base64url')}.`),
      'token-refused',
    ],
    ['no signature', good.replace(/[^.]+$/, ''), 'token-refused'],
    ['a fourth part', `${good}.x`, 'token-refused'],
    ['another issuer', createToken({ ...claims, iss: 'https://elsewhere' }), 'token-refused'],
    ['expired', createToken({ ...claims, exp: seconds }), 'token-expired'],
    ['without an end', createToken({ ...claims, exp: undefined }), 'token-expired'],
    ['not valid yet', createToken({ ...claims, nbf: seconds + 61 }), 'token-refused'],
    ['another audience', createToken({ ...claims, aud: 'other' }), 'token-audience'],
    ['no audience', createToken({ ...claims, aud: undefined }), 'token-audience'],
    ['another subject', createToken({ ...claims, sub: 'system:serviceaccount:shop:other' }), 'caller-no-account'],
    ['no account', createToken({ ...claims, 'kubernetes.io': undefined }), 'caller-no-account'],
    ['no token', 'x', 'token-malformed'],
  ];
  for (const [name, token, reason] of table)
    t.match(
      outcome(() => keys.verify(token)),
      { kind: 'unauthenticated', reason },
      name,
    );
});

t.test('keys are read again, and kept while they cannot be', async (t) => {
  const { keys, claims, server, clock, log } = await createScene(t);
  await until(() => !(outcome(() => keys.verify(createToken(claims))) instanceof Error));
  server.handle = (call) => call.status(503, 'away');
  await clock.advance(300_000);
  await until(() => log.lines.length === 1);
  t.match(log.lines, [{ level: 'warn', message: /keeping what was read/ }]);
  t.match(keys.verify(createToken({ ...claims, exp: Math.floor(clock.now() / 1_000) + 60 })), { serviceAccount: 'agent' });
  server.handle = (call) => call.json(call.path === '/openid/v1/jwks' ? { keys: [] } : { issuer });
  await clock.advance(30_000);
  await until(() => outcome(() => keys.verify(createToken({ ...claims, exp: Math.floor(clock.now() / 1_000) + 60 }))) instanceof Error);
  t.equal(log.lines.length, 1, 'said once');
});

t.test('keys count for 15 minutes after they were read, and again once they are', async (t) => {
  const { keys, claims, server, clock, log } = await createScene(t);
  const verify = (): unknown => outcome(() => keys.verify(createToken({ ...claims, exp: Math.floor(clock.now() / 1_000) + 60 })));
  await until(() => !(verify() instanceof Error));
  server.handle = (call) => call.status(503, 'away');
  for (let elapsedMs = 0; elapsedMs < 900_000; elapsedMs += 30_000) {
    t.match(verify(), { serviceAccount: 'agent' });
    await clock.advance(30_000);
  }
  t.match(verify(), { serviceAccount: 'agent' }, 'up to the end');
  await clock.advance(1);
  t.match(verify(), { kind: 'unavailable', reason: 'kube-unavailable' });
  server.handle = serve;
  await advanceUntil(clock, 100, () => !(verify() instanceof Error), 'keys are read again');
  t.equal(log.lines.length, 1);
});
