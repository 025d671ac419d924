// Renewal and replaced roots under load, all scenes at once. See suites.md.

import t from 'tap';
import { shortRun, wholeSuiteEnvoy } from '../fixtures/envoy-binary.js';
import { renewalUnderLoad, rootsUnderLoad } from './renewal.js';

t.jobs = 4;
const renewals = shortRun ? 2 : 7;

void t.test('certificates are renewed under load', { buffered: true }, (t) => renewalUnderLoad(t, wholeSuiteEnvoy, renewals));

void t.test('root A, A and B, B under load', { buffered: true }, (t) =>
  rootsUnderLoad(t, wholeSuiteEnvoy, { change: 'bundle-file', names: ['root a', 'root b'] }),
);

void t.test('the same with equal subjects', { buffered: true }, (t) =>
  rootsUnderLoad(t, wholeSuiteEnvoy, { change: 'bundle-file', names: ['root', 'root'] }),
);

void t.test('a new issuer alone, with overlap by signet', { buffered: true }, (t) =>
  rootsUnderLoad(t, wholeSuiteEnvoy, { change: 'issuer-only', names: ['root', 'root'] }),
);
