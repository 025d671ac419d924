import t from 'tap';
import type { RotationState } from '../../../agent/authority/rotation.js';
import type { Grant } from '../../../agent/authority/rotation-risk.js';
import { identitiesAtRisk } from '../../../agent/authority/rotation-risk.js';
import { createRoot, hourMs, testTime } from '../../fixtures/pki.js';

const [old, current, next] = [createRoot(), createRoot(), createRoot()].map(({ certificate }) => certificate);
if (old === undefined || current === undefined || next === undefined) throw new Error('no certificate');

const state: RotationState = {
  issuer: { certificate: current, roots: [current] },
  noted: [current],
  former: [{ certificate: old, until: testTime + hourMs }],
  longestLifetimeMs: hourMs,
  requested: false,
};
const grant = (identity: string, at: number, issuer = current, notAfter = testTime + hourMs): Grant => ({
  identity,
  at: testTime + at,
  notAfter,
  issuerKeyId: issuer.subjectKeyId ?? '',
});
const grants = [
  grant('web', -10),
  grant('cart', -2, old),
  grant('web', -20, old),
  grant('gone', -30, old, testTime),
  grant('cart', -2),
  grant('late', -1),
];

t.test('the identities that a forced step breaks', (t) => {
  t.same(identitiesAtRisk(state, 'retire', grants, testTime), ['cart', 'web'], 'retire: a valid certificate under a former root');
  t.same(identitiesAtRisk(state, 'switch', grants, testTime), ['cart', 'late', 'web'], 'switch, before a root is published: all');
  const published: RotationState = { ...state, next: { certificate: next, publishedAt: testTime - 5 } };
  t.same(identitiesAtRisk(published, 'switch', grants, testTime), ['web'], 'after that: who has no certificate since');
  t.same(identitiesAtRisk(published, 'switch', [], testTime), []);
  t.end();
});
