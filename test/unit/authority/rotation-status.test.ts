import t from 'tap';
import type { RotationStatus } from '../../../agent/authority/rotation-status.js';
import { rotationStatus } from '../../../agent/authority/rotation-status.js';
import type { RotationState } from '../../../agent/authority/rotation.js';
import { createIntermediate, createRoot, dayMs, hourMs, testTime } from '../../fixtures/pki.js';

const life = { notBefore: testTime, notAfter: testTime + 1_000 * dayMs };
const root = createRoot(life);
const [one, two, three] = [root, createRoot(life), createRoot(life)].map(({ certificate }) => certificate) as [C, C, C];
type C = RotationState['issuer']['certificate'];
const below = createIntermediate(root, life).certificate;
const steady: RotationState = {
  issuer: { certificate: one, roots: [one] },
  noted: [one],
  former: [],
  longestLifetimeMs: 10 * hourMs,
  requested: false,
};
const former = [three, two].map((certificate, index) => ({ certificate, until: testTime + (2 - index) * dayMs }));

t.test('where a rotation stands, and when it goes on', (t) => {
  const table: readonly (readonly [what: string, state: Partial<RotationState>, expected: RotationStatus])[] = [
    ['none', {}, { phase: 'steady', nextAt: testTime + 800 * dayMs }],
    ['an issuer below a root', { issuer: { certificate: below, roots: [one] } }, { phase: 'steady', nextAt: undefined }],
    ['asked for', { requested: true }, { phase: 'requested', nextAt: undefined }],
    ['asked for while a root retires', { requested: true, former }, { phase: 'requested', nextAt: undefined }],
    ['prepared', { next: { certificate: two } }, { phase: 'publishing', nextAt: undefined }],
    ['confirmed', { next: { certificate: two, publishedAt: testTime } }, { phase: 'waiting', nextAt: testTime + 7 * hourMs }],
    ['switched', { issuer: { certificate: two, roots: [two] } }, { phase: 'retiring', nextAt: undefined }],
    ['noted: the first of them', { former }, { phase: 'retiring', nextAt: testTime + dayMs }],
  ];
  for (const [what, state, expected] of table) t.same(rotationStatus({ ...steady, ...state }, { lagMs: hourMs }), expected, what);
  t.end();
});
